{{/* The start of every object's name. */}}
{{- define "doorplate.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "doorplate.name" -}}
{{- .Values.nameOverride | default "doorplate" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "doorplate.labels" -}}
app.kubernetes.io/name: {{ include "doorplate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: doorplate
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The labels by which the Pods of a role are found, and no others. Arguments: root, role. */}}
{{- define "doorplate.selector" -}}
{app.kubernetes.io/name: {{ include "doorplate.name" .root }}, app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .role }}}
{{- end }}

{{/* The ServiceAccount of a role. Arguments: root, role. */}}
{{- define "doorplate.serviceAccount" -}}
{{- (get .root.Values .role).serviceAccount.name | default (printf "%s-%s" (include "doorplate.fullname" .root) .role) }}
{{- end }}
