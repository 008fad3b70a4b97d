-- Health of an OCM ManifestWork: without this Argo CD calls it healthy as soon as it exists, and sync waves do not wait.
-- Two things are read. The conditions are the work agent's: Applied (the manifests were written on the cluster), Available
-- (they exist), Degraded and Progressing (what the work's own condition rules say). The feedback values are what the
-- controllers on the cluster say of each object; the work asks for them by name. Tests: health_test.yaml.

local function health(status, message)
  return { status = status, message = message }
end

local metadata = obj.metadata or {}
if metadata.deletionTimestamp ~= nil then
  return health("Progressing", "the work agent is removing the manifests from the cluster")
end

local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  if condition.type ~= nil then
    conditions[condition.type] = condition
  end
end

-- What a condition says about an older generation is no longer true.
local function is_current(condition)
  return condition.observedGeneration == nil
    or metadata.generation == nil
    or condition.observedGeneration >= metadata.generation
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

-- The values that say whether an object works, and the conditions that they come from, in the order in which they count.
local VALUES = {
  { name = "accepted", condition = "Accepted" },
  { name = "attached", condition = "Attached" },
  { name = "programmed", condition = "Programmed" },
  { name = "enforced", condition = "Enforced" },
}
-- Reasons of a condition that is False for now.
local WAITING = { Pending = true, Waiting = true, Unknown = true }
-- A policy that gives way to another does what the hub says (GEP-713).
local INTENDED = { Overridden = true }

local function key(group, resource, namespace, name)
  return (group or "") .. "/" .. (resource or "") .. "/" .. (namespace or "") .. "/" .. (name or "")
end

-- What came back of each object: its values by name, and what it is called.
local reported = {}
for _, manifest in ipairs((status.resourceStatus or {}).manifests or {}) do
  local meta = manifest.resourceMeta or {}
  local values = {}
  for _, value in ipairs((manifest.statusFeedback or {}).values or {}) do
    if value.name ~= nil and value.fieldValue ~= nil then
      values[value.name] = value.fieldValue.string
    end
  end
  reported[key(meta.group, meta.resource, meta.namespace, meta.name)] = { kind = meta.kind, values = values }
end

-- The worst that the objects say: a refusal counts before something that is not known yet.
local refused, waiting
for _, config in ipairs(((obj.spec or {}).manifestConfigs) or {}) do
  local identifier = config.resourceIdentifier or {}
  local asked = {}
  for _, rule in ipairs(config.feedbackRules or {}) do
    for _, path in ipairs(rule.jsonPaths or {}) do
      if path.name ~= nil then
        asked[path.name] = true
      end
    end
  end
  local found = reported[key(identifier.group, identifier.resource, identifier.namespace, identifier.name)]
  local values = (found or {}).values or {}
  local is_gateway = identifier.resource == "gateways"
  local title = ((found or {}).kind or identifier.resource or "object")
    .. " " .. (identifier.namespace or "") .. "/" .. (identifier.name or "")
  for _, wanted in ipairs(VALUES) do
    local value = values[wanted.name]
    local reason = values[wanted.name .. "Reason"]
    local because = ""
    if reason ~= nil and reason ~= "" then
      because = " (" .. reason .. ")"
    end
    -- Not every kind has Programmed; those that were accepted without it are ready.
    local is_optional = wanted.name == "programmed" and not is_gateway and values["accepted"] == "True"
    if not asked[wanted.name] or value == "True" then
      -- As it should be, or nobody asks.
    elseif value == "False" and INTENDED[reason or ""] then
      -- As the hub says.
    elseif value == "False" and not WAITING[reason or ""] and not (is_gateway and wanted.name == "programmed") then
      refused = refused or (title .. ": " .. wanted.condition .. " is False" .. because)
    elseif value == "False" then
      -- A Gateway that was accepted is programmed later: its addresses may take minutes.
      waiting = waiting or (title .. ": " .. wanted.condition .. " is False" .. because)
    elseif value ~= nil then
      waiting = waiting or (title .. ": " .. wanted.condition .. " is " .. value .. because)
    elseif not is_optional then
      waiting = waiting or (title .. ": the cluster has not reported " .. wanted.condition .. " yet")
    end
  end
end

if refused ~= nil then
  return health("Degraded", refused)
end
local degraded = conditions["Degraded"]
if degraded ~= nil and degraded.status == "True" and is_current(degraded) then
  return health("Degraded", says(degraded, "a manifest is degraded"))
end

local available = conditions["Available"]
if available == nil or not is_current(available) then
  return health("Progressing", "the work agent has not reported what is available yet")
end
if waiting ~= nil then
  return health("Progressing", waiting)
end
if applied.status ~= "True" or available.status ~= "True" then
  return health("Progressing", says(available, "not all manifests are available"))
end
local progressing = conditions["Progressing"]
if progressing ~= nil and progressing.status == "True" and is_current(progressing) then
  return health("Progressing", says(progressing, "a manifest is not ready yet"))
end
return health("Healthy", says(available, "all manifests are available"))
