obj.spec.state = "Suspended"
return obj
