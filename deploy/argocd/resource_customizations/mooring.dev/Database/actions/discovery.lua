return {
  reconcile = { iconClass = "fa fa-fw fa-refresh", displayName = "Look at it now" },
}
