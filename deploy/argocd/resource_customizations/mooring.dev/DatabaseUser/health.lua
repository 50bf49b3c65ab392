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
  return { status = "Progressing", message = ready.message or "It is being deleted" }
end
if annotations["mooring.dev/paused"] == "true" then
  return { status = "Suspended", message = ready.message or "Paused by annotation mooring.dev/paused" }
end
if status.observedGeneration ~= obj.metadata.generation or ready.status == nil then
  return { status = "Progressing", message = "Waiting for Mooring to look at it" }
end
if is("Stalled", "True") or is("Ready", "False") then
  return { status = "Degraded", message = ready.message }
end
-- A cluster that is suspended as its spec says, or an object on one, which goes on when the cluster runs again.
if ready.reason == "Suspended" or ready.reason == "ClusterSuspended" then
  return { status = "Suspended", message = ready.message }
end
if is("Reconciling", "True") or is("Ready", "Unknown") then
  return { status = "Progressing", message = ready.message }
end
return { status = "Healthy", message = ready.message }
