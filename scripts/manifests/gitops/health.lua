-- Judges the kinds of Quintant's operators for Argo CD, by what kstatus reads; see docs/gitops.md.
local status = obj.status or {}
local spec = obj.spec or {}

-- What is not stalled, and yet did work before: by kind, a field of the status and its values.
local outages = {
  Cluster = {"state", {FAILING_RECONCILIATION = true, NOTREADY = true, OFFLINE = true, UNHEALTHY = true}},
  EdgeDevice = {"edgedevicephase", {Failed = true, Unknown = true}},
  EdgeNode = {"phase", {Lost = true}},
  PortalExpose = {"phase", {Degraded = true}},
}

local function condition(type)
  for _, each in ipairs(status.conditions or {}) do
    if each.type == type then
      return each
    end
  end
  return {}
end

local function health(word, cause)
  local text = cause.message
  if text == nil or text == "" then
    text = cause.reason
  end
  return {status = word, message = text or ""}
end

local ready = condition("Ready")
if obj.metadata.deletionTimestamp ~= nil then
  return {status = "Progressing", message = "it is being deleted"}
end
if status.observedGeneration ~= nil and status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "its new spec was not looked at yet"}
end
if condition("Stalled").status == "True" then
  return health("Degraded", condition("Stalled"))
end
if condition("Paused").status == "True" or spec.paused == true or spec.suspend == true then
  return {status = "Suspended", message = "it is paused"}
end
if condition("Reconciling").status == "True" then
  return health("Progressing", condition("Reconciling"))
end
if ready.status == "True" then
  return health("Healthy", ready)
end
local outage = outages[obj.kind]
if outage ~= nil and outage[2][status[outage[1]]] then
  return health("Degraded", ready)
end
local failing = condition("Degraded")
if failing.status == "True" and failing.reason == "PodsFailing" then
  return health("Degraded", failing)
end
if ready.reason == "JobFailed" then
  return health("Degraded", ready)
end
if ready.status == nil and status.telemetryservicephase == "Running" then
  return {status = "Healthy", message = "Running"}
end
return health("Progressing", ready)
