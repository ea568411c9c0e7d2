-- Stops all work on an object; that of a VirtualMachine's deletion included.

local annotation = "apps.example.io/paused"
if obj.kind == "VirtualMachine" then
  annotation = "compute.example.com/paused"
end
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations[annotation] = "true"
return obj
