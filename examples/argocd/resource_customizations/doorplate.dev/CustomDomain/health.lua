-- docs/how-to/gitops.md of Doorplate explains each state.
local health = {status = "Progressing", message = "Doorplate has not processed this version yet"}
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end

local ready, stalled
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    ready = condition
  elseif condition.type == "Stalled" and condition.status == "True" then
    stalled = condition
  end
end
if ready == nil then
  return health
end
health.message = ready.message

if ready.status == "True" then
  -- With another reason, the hostname is served for a limited time: its DNS has moved away, the plan no longer allows it, or the
  -- certificate is not renewed.
  health.status = ready.reason == "Serving" and "Healthy" or "Degraded"
elseif stalled ~= nil then
  health.status = "Degraded"
else
  -- Ready has the reason of the hostname that it describes. A missing DNS record is not a fault.
  for _, host in ipairs(obj.status.hosts or {}) do
    if host.reason == ready.reason then
      if host.phase == "AwaitingVerification" then
        health.status = "Suspended"
      end
      break
    end
  end
end
return health
