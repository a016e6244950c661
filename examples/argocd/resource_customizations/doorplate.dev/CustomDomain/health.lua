-- Each state is explained in docs/how-to/gitops.md of Doorplate.
local health = {status = "Progressing", message = "Doorplate has not looked at this yet"}
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
  -- What is served for another reason will not be for ever: the DNS has moved away, the plan no longer allows it, or the
  -- certificate is not renewed.
  health.status = ready.reason == "Serving" and "Healthy" or "Degraded"
elseif stalled ~= nil then
  health.status = "Degraded"
else
  -- Ready has the reason of the hostname that it describes. A DNS record that somebody still has to create is no fault.
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
