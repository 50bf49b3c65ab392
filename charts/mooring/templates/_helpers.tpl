{{- define "mooring.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Names of objects: at most 63 characters, including suffixes such as -leader-election. A release may have dots in its name, but a Service may not. */}}
{{- define "mooring.fullname" -}}
{{- $release := .Release.Name | replace "." "-" }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 47 | trimSuffix "-" }}
{{- else if contains (include "mooring.name" .) $release }}
{{- $release | trunc 47 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" $release (include "mooring.name" .) | trunc 47 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "mooring.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "mooring.serviceAccountName" -}}
{{- default (include "mooring.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "mooring.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mooring.name" . | toYaml }}
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{/* Labels and annotations of an object: (list $ $labels $annotations). The chart's own labels win. */}}
{{- define "mooring.metadata" -}}
{{- $root := index . 0 }}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" ($root.Chart.AppVersion | replace "+" "_")
  "app.kubernetes.io/part-of" "mooring"
  "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- include "mooring.labelsAndAnnotations" (list $root (merge $own (include "mooring.selectorLabels" $root | fromYaml) (default dict (index . 1))) (default dict (index . 2))) }}
{{- end }}

{{/* The same for pods, which must not be replaced only because the chart's version changes. */}}
{{- define "mooring.podMetadata" -}}
{{- $root := index . 0 }}
{{- include "mooring.labelsAndAnnotations" (list $root (merge (index . 1) (include "mooring.selectorLabels" $root | fromYaml) (default dict $root.Values.podLabels)) (merge (index . 2) (default dict $root.Values.podAnnotations))) }}
{{- end }}

{{- define "mooring.labelsAndAnnotations" -}}
{{- $root := index . 0 -}}
labels:
  {{- toYaml (merge dict (index . 1) (default dict $root.Values.commonLabels)) | nindent 2 }}
{{- with merge dict (index . 2) (default dict $root.Values.commonAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "mooring.crdMetadata" -}}
{{- $annotations := default dict .Values.crds.annotations }}
{{- /* Argo CD heeds Helm's annotation only when a whole Application is deleted: without its own, it prunes what is no longer rendered. */ -}}
{{- $name := "argocd.argoproj.io/sync-options" }}
{{- $options := list "Prune=false" (coalesce (get $annotations $name) (get (default dict .Values.commonAnnotations) $name)) | compact | join "," }}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep" $name $options) dict .Values.crds.keep }}
{{- include "mooring.metadata" (list . dict (merge $keep $annotations)) }}
{{- end }}

{{- define "mooring.image" -}}
{{- with .Values.image }}
{{- $name := list .registry .repository | compact | join "/" }}
{{- if .digest }}
{{- printf "%s@%s" $name .digest }}
{{- else }}
{{- printf "%s:%s" $name (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether to render an object of monitoring.coreos.com: (list $ $kind $values). */}}
{{- define "mooring.renderMonitor" -}}
{{- $root := index . 0 }}
{{- $kind := index . 1 }}
{{- with index . 2 }}
{{- if .enabled }}
{{- include "mooring.checks" $root }}
{{- $known := $root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" $kind) }}
{{- if or $known (eq .renderMode "alwaysRender") }}true
{{- else if eq .renderMode "failIfMissing" }}
{{- fail (printf "The cluster does not know %ss of monitoring.coreos.com/v1: install the Prometheus operator first, or set renderMode to skipIfMissing or alwaysRender" $kind) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* How a ServiceMonitor or PodMonitor scrapes: (list $ $values). */}}
{{- define "mooring.scrape" -}}
port: metrics
path: /metrics
{{- if (index . 0).Values.metrics.secure.enabled }}
scheme: https
{{- end }}
{{- with index . 1 }}
{{- with .authorization }}
authorization:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if .honorLabels }}
honorLabels: true
{{- end }}
{{- with .relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
