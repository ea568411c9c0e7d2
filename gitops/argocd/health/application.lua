-- Health of an Application in an Application: without it, a wave does not wait for those of the wave before.

if obj.status ~= nil and obj.status.health ~= nil and obj.status.health.status ~= nil then
  return {status = obj.status.health.status, message = obj.status.health.message or ""}
end
return {status = "Progressing", message = ""}
