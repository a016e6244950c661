{{/* The start of every object's name. With `-redirector` it has at most 63 characters, as many as the name of a Service. */}}
{{- define "doorplate.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "doorplate.name" -}}
{{- .Values.nameOverride | default "doorplate" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "doorplate.labels" -}}
{{- include "doorplate.labelsWith" (dict "root" .) }}
{{- end }}

{{/*
Labels without a duplicate key: the chart's own replace those of a value, and those replace commonLabels. Arguments: root, own (more labels
of the chart), more (the labels that a value gives); the last two are optional.
*/}}
{{- define "doorplate.labelsWith" -}}
{{- with .root }}
{{- $own := dict "app.kubernetes.io/name" (include "doorplate.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/part-of" "doorplate" }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version) }}
{{- merge $own ($.own | default dict) ($.more | default dict) (.Values.commonLabels | default dict) | toYaml }}
{{- end }}
{{- end }}

{{/* The labels by which the Pods of a role are found, and no others. Arguments: root, role. */}}
{{- define "doorplate.selector" -}}
{app.kubernetes.io/name: {{ include "doorplate.name" .root | quote }}, app.kubernetes.io/instance: {{ .root.Release.Name | quote }}, app.kubernetes.io/component: {{ .role }}}
{{- end }}

{{/* The ServiceAccount of a role. Arguments: root, role. */}}
{{- define "doorplate.serviceAccount" -}}
{{- ((get .root.Values .role).serviceAccount | default dict).name | default (printf "%s-%s" (include "doorplate.fullname" .root) .role) }}
{{- end }}
