-- Health of VirtualMachines, ProviderConfigs, AppAutoscalers and MyApps: what kstatus makes of their conditions, but for
-- a stalled object that is being deleted and for a paused one.

local function condition(name)
  if obj.status ~= nil and obj.status.conditions ~= nil then
    for _, each in ipairs(obj.status.conditions) do
      if each.type == name then
        return each
      end
    end
  end
  return {status = "", reason = "", message = ""}
end

local function told(status, of)
  return {status = status, message = of.reason .. ": " .. of.message}
end

local ready, synced = condition("Ready"), condition("Synced")
local reconciling, stalled = condition("Reconciling"), condition("Stalled")

-- What is told of an earlier generation is not true of this one yet.
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "the operator has not looked at this version yet"}
end

-- Only a person can help, also with a deletion.
if stalled.status == "True" then
  return told("Degraded", stalled)
end

if obj.metadata.deletionTimestamp ~= nil then
  if reconciling.status == "True" then
    return told("Progressing", reconciling)
  elseif synced.status ~= "" then
    return told("Progressing", synced)
  end
  return {status = "Progressing", message = "it is being deleted"}
end

-- Nothing more is going to happen, which is as a person wants it. Suspended or Progressing would let a wave wait for what
-- does not come, and hold up everything that has nothing to do with this object.
if synced.reason == "Paused" then
  return {status = "Healthy", message = "paused by annotation"}
end

if reconciling.status == "True" then
  return told("Progressing", reconciling)
end

if ready.status == "True" then
  return told("Healthy", ready)
end

if ready.status == "" then
  return {status = "Progressing", message = "the operator has told nothing yet"}
end
return told("Progressing", ready)
