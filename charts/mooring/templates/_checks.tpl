{{/* Refuses values that contradict each other, or with which the operator would not start. Each message says what is wrong and what to do. */}}
{{- define "mooring.checks" -}}
{{- $elects := .Values.leaderElection.enabled }}
{{- if and (gt (int .Values.replicaCount) 1) (not $elects) }}
{{- fail "replicaCount is more than 1 without leader election, so several pods would act at once: set leaderElection.enabled to true, or replicaCount to 1" }}
{{- end }}
{{- $strategy := default dict .Values.strategy }}
{{- $type := default "RollingUpdate" $strategy.type }}
{{- if and $strategy (eq $type "RollingUpdate") (not $elects) }}
{{- fail "strategy.type RollingUpdate lets two pods run at once, which needs leader election: set leaderElection.enabled to true, or strategy.type to Recreate" }}
{{- end }}
{{- if and (eq $type "Recreate") $strategy.rollingUpdate }}
{{- fail "strategy.rollingUpdate has no meaning with strategy.type Recreate: remove one of them" }}
{{- end }}
{{- if and .Values.leaderElection.shardBySpace (not $elects) }}
{{- fail "leaderElection.shardBySpace has no effect without leaderElection.enabled: set leaderElection.enabled to true, or leaderElection.shardBySpace to false" }}
{{- end }}
{{- if $elects }}
{{- $times := .Values.leaderElection }}
{{- $lease := include "mooring.milliseconds" $times.leaseDuration | int64 }}
{{- $deadline := include "mooring.milliseconds" $times.renewDeadline | int64 }}
{{- $retry := include "mooring.milliseconds" $times.retryPeriod | int64 }}
{{- if not $retry }}
{{- fail (printf "leaderElection.retryPeriod %s is zero: set 1s or more" $times.retryPeriod) }}
{{- end }}
{{- if ge $deadline $lease }}
{{- fail (printf "leaderElection.renewDeadline %s is not shorter than leaseDuration %s, so two could lead at once: make it shorter, or leaseDuration longer" $times.renewDeadline $times.leaseDuration) }}
{{- end }}
{{- if le (mul $deadline 10) (mul $retry 12) }}
{{- fail (printf "leaderElection.renewDeadline %s is not longer than 1.2 times retryPeriod %s, so there is no time for a second attempt: make it longer, or retryPeriod shorter" $times.renewDeadline $times.retryPeriod) }}
{{- end }}
{{- end }}
{{- $byte := "(25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])" }}
{{- $ipv4 := printf "(%s\\.){3}%s" $byte $byte }}
{{- $last := printf "([0-9a-f]{1,4}|%s)" $ipv4 }}
{{- $ipv6 := printf "(([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|([0-9a-f]{1,4}:){6}%s|(([0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})?::(([0-9a-f]{1,4}:){0,6}%s)?)" $ipv4 $last }}
{{- $network := printf "(?i)^(%s(/(3[0-2]|[12]?[0-9]))?|%s(/(12[0-8]|1[01][0-9]|[0-9]?[0-9]))?)$" $ipv4 $ipv6 }}
{{- range .Values.allowedNetworks }}
{{- if not (regexMatch $network .) }}
{{- fail (printf "allowedNetworks has %q, which is not a network: write it like 10.20.0.0/16 or fd00::/8" .) }}
{{- end }}
{{- end }}
{{- $port := "(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{0,4}))?" }}
{{- $name := "[^\\s/?#@:%<>|^\\[\\]\\\\]+" }}
{{- $baseURL := printf "(?i)^https?://(%s|\\[%s\\])%s(/[^?#\\s]*)?$" $name $ipv6 $port }}
{{- $isNumber := "^https?://([^/]*\\.)?[0-9]+\\.?(:[0-9]*)?(/|$)" }}
{{- $isIPv4 := printf "^https?://%s([:/]|$)" $ipv4 }}
{{- /* The operator, too, takes a comma as the end of a URL. */ -}}
{{- range $item := .Values.allowedBaseURLs }}
{{- range $part := splitList "," $item }}
{{- $url := trim $part }}
{{- if or (not (regexMatch $baseURL $url)) (and (regexMatch $isNumber $url) (not (regexMatch $isIPv4 $url))) }}
{{- fail (printf "allowedBaseURLs has %q, which is not a base URL: write it like https://cloud.example.com, without user, ? or #" (regexReplaceAll "//.*@" $url "//***@")) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $index, $name := .Values.watchNamespaces }}
{{- if has $name (slice $.Values.watchNamespaces 0 $index) }}
{{- fail (printf "watchNamespaces has %s more than once, and each gets one Role: name it once" $name) }}
{{- end }}
{{- end }}
{{- with .Values.podDisruptionBudget }}
{{- if .enabled }}
{{- if and (not (kindIs "invalid" .minAvailable)) (not (kindIs "invalid" .maxUnavailable)) }}
{{- fail "podDisruptionBudget takes minAvailable or maxUnavailable, not both: remove one of them" }}
{{- end }}
{{- range $name := list "minAvailable" "maxUnavailable" }}
{{- $value := index $.Values.podDisruptionBudget $name }}
{{- if and (kindIs "string" $value) (not (regexMatch "^(100|[0-9]{1,2})%$" $value)) }}
{{- fail (printf "podDisruptionBudget.%s %q is neither a number nor a percentage: write it like 1 or 50%%" $name $value) }}
{{- end }}
{{- end }}
{{- /* A percentage is rounded up to whole pods. */ -}}
{{- $pods := int $.Values.replicaCount }}
{{- $stay := mul (int .minAvailable) 100 }}
{{- if kindIs "string" .minAvailable }}
{{- $stay = mul (trimSuffix "%" .minAvailable | int) $pods }}
{{- end }}
{{- if and $pods (gt (int $stay) (mul (sub $pods 1) 100 | int)) }}
{{- fail (printf "podDisruptionBudget.minAvailable %v with replicaCount %v keeps every node from being drained: raise replicaCount, or set maxUnavailable instead" .minAvailable $.Values.replicaCount) }}
{{- end }}
{{- if has (toString .maxUnavailable) (list "0" "0%" "00%") }}
{{- fail (printf "podDisruptionBudget.maxUnavailable %v keeps every node from being drained: set 1 or more" .maxUnavailable) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}
{{- fail "serviceAccount.create is false and serviceAccount.name is not set: name an existing ServiceAccount" }}
{{- end }}
{{- if and .Values.rbac.aggregateToEdit (not .Values.rbac.aggregateToAdmin) }}
{{- fail "rbac.aggregateToAdmin false has no effect with rbac.aggregateToEdit, as the ClusterRole admin includes everything in edit: set aggregateToEdit to false, or aggregateToAdmin to true" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.service.enabled) }}
{{- fail "metrics.serviceMonitor needs the Service: set service.enabled to true, or use metrics.podMonitor" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
{{- fail "metrics.serviceMonitor and metrics.podMonitor would both scrape the same pods: enable one of them" }}
{{- end }}
{{- if and .Values.metrics.secure.enabled (not .Values.metrics.secure.secretName) }}
{{- fail "metrics.secure.enabled needs a certificate: name a Secret of type kubernetes.io/tls in metrics.secure.secretName" }}
{{- end }}
{{- $secure := .Values.metrics.secure.enabled }}
{{- if and $secure .Values.metrics.podMonitor.enabled (not .Values.metrics.podMonitor.authorization) }}
{{- fail "metrics.podMonitor would scrape without a token, which metrics.secure refuses: set metrics.podMonitor.authorization, or use metrics.serviceMonitor" }}
{{- end }}
{{- if eq (int .Values.metrics.port) (int .Values.health.port) }}
{{- fail "metrics.port and health.port are the same: change one of them" }}
{{- end }}
{{- $flags := dict
  "allow-http" "allowHTTP"
  "allowed-base-urls" "allowedBaseURLs"
  "allowed-networks" "allowedNetworks"
  "concurrency" "concurrency"
  "health-address" "health.port"
  "leader-elect" "leaderElection.enabled"
  "leader-elect-lease-duration" "leaderElection.leaseDuration"
  "leader-elect-renew-deadline" "leaderElection.renewDeadline"
  "leader-elect-retry-period" "leaderElection.retryPeriod"
  "shard-by-space" "leaderElection.shardBySpace"
  "log-format" "log.format"
  "log-level" "log.level"
  "metrics-address" "metrics.port"
  "metrics-cert-file" "metrics.secure.secretName"
  "metrics-key-file" "metrics.secure.secretName"
  "metrics-secure" "metrics.secure.enabled"
  "namespaces" "watchNamespaces"
  "secrets" "rbac.secrets" }}
{{- /* No other part of the chart uses clouds and networks, and perhaps only a ConfigMap names them. */ -}}
{{- $free := list "allow-http" "allowed-base-urls" "allowed-networks" }}
{{- range .Values.extraEnv }}
{{- $variable := .name }}
{{- range $flag, $value := $flags }}
{{- if and (eq $variable (printf "MOORING_%s" ($flag | upper | replace "-" "_"))) (not (has $flag $free)) }}
{{- fail (printf "extraEnv has %s, which the chart sets itself: set %s instead" $variable $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- $before := "" }}
{{- range $argument := .Values.extraArgs }}
{{- $flag := regexReplaceAll "^--(no-)?([^=]*).*$" $argument "${2}" }}
{{- with get $flags $flag }}
{{- fail (printf "extraArgs has %s, which the chart sets itself: set %s instead" $argument .) }}
{{- end }}
{{- if and (ne $flag "kubeconfig") (or (hasPrefix "-" $argument) (ne $before "--kubeconfig")) }}
{{- fail (printf "extraArgs has %s, which the operator does not know, so it would not start: see its flags in docs/operator.md" $argument) }}
{{- end }}
{{- $before = $argument }}
{{- end }}
{{- end }}

{{/* The milliseconds of a duration such as 1m30s. */}}
{{- define "mooring.milliseconds" -}}
{{- $total := 0 }}
{{- range regexFindAll "[0-9]+(ms|h|m|s)" . -1 }}
{{- $unit := regexFind "[a-z]+" . }}
{{- $total = add $total (mul (trimSuffix $unit . | atoi) (get (dict "h" 3600000 "m" 60000 "s" 1000 "ms" 1) $unit)) }}
{{- end }}
{{- $total }}
{{- end }}
