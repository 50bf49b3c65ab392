local suspended = obj.spec.state == "Suspended"
local ends = obj.metadata.deletionTimestamp ~= nil

return {
  suspend = { disabled = suspended or ends, iconClass = "fa fa-fw fa-pause", displayName = "Suspend the cluster" },
  resume = { disabled = not suspended or ends, iconClass = "fa fa-fw fa-play", displayName = "Resume the cluster" },
  rotate = { disabled = ends, iconClass = "fa fa-fw fa-key", displayName = "Replace the password" },
  reconcile = { iconClass = "fa fa-fw fa-refresh", displayName = "Reconcile now" },
}
