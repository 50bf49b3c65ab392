-- Health of Mooring's resources. They are compatible with kstatus: status.observedGeneration, and the conditions Ready (False
-- only when something is wrong), Reconciling and Stalled.
local status = obj.status or {}
local annotations = obj.metadata.annotations or {}

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local ready = conditions["Ready"] or {}

local function is(type, value)
  return conditions[type] ~= nil and conditions[type].status == value
end

if obj.metadata.deletionTimestamp ~= nil then
  -- Before 3.6 Argo CD shows Progressing, whatever is returned here.
  local blocked = is("Ready", "False")
  return { status = blocked and "Degraded" or "Progressing", deletionMessage = ready.message or "It is being deleted" }
end
if status.observedGeneration ~= obj.metadata.generation or ready.status == nil then
  return { status = "Progressing", message = "Waiting for Mooring to look at it" }
end
if is("Stalled", "True") or is("Ready", "False") then
  return { status = "Degraded", message = ready.message }
end
-- Argo CD goes on to the next wave, and to the next commit, only if all is Healthy. What rests as its spec says must not hold it
-- up, nor what waits until somebody resumes a cluster: the next commit may be the one that does.
if ready.reason == "ClusterSuspended" then
  return { status = "Healthy", message = ready.message }
end
if is("Reconciling", "True") or is("Ready", "Unknown") then
  local paused = annotations["mooring.dev/paused"] == "true"
  return { status = paused and "Suspended" or "Progressing", message = ready.message }
end
return { status = "Healthy", message = ready.message }
