local os = require("os")

obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["mooring.dev/reconcile-at"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
