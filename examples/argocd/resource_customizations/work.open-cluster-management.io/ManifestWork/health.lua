-- Health of an OCM ManifestWork: without this Argo CD calls it healthy as soon as it exists, and sync waves do not wait.
-- The conditions are the work agent's: Applied (the manifests were written on the cluster) and Available (they exist).

local function health(status, message)
  return { status = status, message = message }
end

if obj.metadata ~= nil and obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "the work agent is removing the manifests from the cluster")
end

local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type ~= nil then
      conditions[condition.type] = condition
    end
  end
end

-- What a condition says about an older generation is no longer true.
local function is_current(condition)
  return condition.observedGeneration == nil
    or obj.metadata.generation == nil
    or condition.observedGeneration >= obj.metadata.generation
end

local function says(condition, fallback)
  if condition.message ~= nil and condition.message ~= "" then
    return condition.message
  end
  return fallback
end

local applied = conditions["Applied"]
if applied == nil then
  return health("Progressing", "the work agent has not seen this work yet")
end
if not is_current(applied) then
  return health("Progressing", "the work agent has not seen the latest change yet")
end
if applied.status == "False" then
  return health("Degraded", says(applied, "a manifest could not be applied"))
end

local degraded = conditions["Degraded"]
if degraded ~= nil and degraded.status == "True" and is_current(degraded) then
  return health("Degraded", says(degraded, "a manifest is degraded"))
end

local available = conditions["Available"]
if available == nil or not is_current(available) then
  return health("Progressing", "the work agent has not reported what is available yet")
end
if applied.status == "True" and available.status == "True" then
  return health("Healthy", says(available, "all manifests are available"))
end
return health("Progressing", says(available, "not all manifests are available"))
