local ends = obj.metadata.deletionTimestamp ~= nil

return {
  rotate = { disabled = ends, iconClass = "fa fa-fw fa-key", displayName = "Replace the password" },
  reconcile = { iconClass = "fa fa-fw fa-refresh", displayName = "Reconcile now" },
}
