-- docs/how-to/gitops.md of Doorplate explains each state.
local health = {status = "Progressing", message = "Doorplate has not processed this version yet"}
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end

for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    health.message = condition.message
    if condition.status == "True" then
      health.status = "Healthy"
    end
  elseif condition.type == "Stalled" and condition.status == "True" then
    health.status = "Degraded"
  end
end
return health
