return {
  reconcile = { iconClass = "fa fa-fw fa-refresh", displayName = "Reconcile now" },
}
