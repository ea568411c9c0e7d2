-- Lets work on an object go on.

local annotation = "apps.example.io/paused"
if obj.kind == "VirtualMachine" then
  annotation = "compute.example.com/paused"
end
if obj.metadata.annotations ~= nil then
  obj.metadata.annotations[annotation] = nil
end
return obj
