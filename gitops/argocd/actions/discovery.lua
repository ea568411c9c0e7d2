-- Which of pause and resume can be done.

local annotation = "apps.example.io/paused"
if obj.kind == "VirtualMachine" then
  annotation = "compute.example.com/paused"
end
local paused = obj.metadata.annotations ~= nil and obj.metadata.annotations[annotation] == "true"
return {pause = {disabled = paused}, resume = {disabled = not paused}}
