{{/* What the operator's pods and the pod of `helm test` have in common. */}}
{{- define "mooring.podSettings" -}}
{{- $settings := dict
  "securityContext" .Values.podSecurityContext
  "imagePullSecrets" .Values.imagePullSecrets
  "nodeSelector" .Values.nodeSelector
  "tolerations" .Values.tolerations
  "priorityClassName" .Values.priorityClassName
  "runtimeClassName" .Values.runtimeClassName
  "schedulerName" .Values.schedulerName
  "dnsPolicy" .Values.dnsPolicy
  "dnsConfig" .Values.dnsConfig }}
{{- range $name, $value := $settings }}
{{- if not $value }}
{{- $_ := unset $settings $name }}
{{- end }}
{{- end }}
{{- if kindIs "bool" .Values.hostUsers }}
{{- $_ := set $settings "hostUsers" .Values.hostUsers }}
{{- end }}
{{- with $settings }}
{{- toYaml . }}
{{- end }}
{{- end }}
