{{- define "doorplate.labels" -}}
app.kubernetes.io/name: doorplate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: doorplate
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "doorplate.config" -}}
platform:
  zone: {{ .Values.platform.zone | quote }}
  {{- with .Values.platform.installation }}
  installation: {{ . | quote }}
  {{- end }}
  tls: {{ .Values.platform.tls }}
edge: {{ .Values.edge | toJson }}
issuerRef: {{ .Values.issuerRef | toJson }}
ingressClassName: {{ .Values.ingressClassName | quote }}
dns: {{ .Values.dns | toJson }}
propagationTime: {{ .Values.propagationTime }}
verificationExpiresAfter: {{ .Values.verificationExpiresAfter }}
issuanceStalledAfter: {{ .Values.issuanceStalledAfter }}
budgets: {{ .Values.budgets | toJson }}
graceTime: {{ .Values.graceTime }}
quarantineTime: {{ .Values.quarantineTime }}
apexOwnership: {{ .Values.apexOwnership }}
singleTenant: {{ .Values.singleTenant }}
defaultPlan: {{ .Values.defaultPlan | quote }}
caaIdentities: {{ .Values.caaIdentities | toJson }}
deniedNames: {{ .Values.deniedNames | toJson }}
redirector: {service: {{ .Release.Name }}-redirector, port: 80}
leaderElection: {{ .Values.leaderElection | toJson }}
log: {{ .Values.log | toJson }}
{{- end }}

{{/* A Pod of Doorplate. Arguments: root, role, ports. */}}
{{- define "doorplate.pod" -}}
{{- $root := .root }}
metadata:
  labels:
    {{- include "doorplate.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    doorplate.dev/config: {{ include "doorplate.config" $root | sha256sum | trunc 16 | quote }}
spec:
  serviceAccountName: {{ $root.Release.Name }}-{{ .role }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  terminationGracePeriodSeconds: 30
  containers:
    - name: {{ .role }}
      image: "{{ $root.Values.image.repository }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}"
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .role }}]
      env:
        - {name: DOORPLATE_CONFIG, value: /etc/doorplate/config.yaml}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      ports:
        - {name: health, containerPort: 8081}
        {{- if eq .role "redirector" }}
        - {name: http, containerPort: 8080}
        {{- end }}
      livenessProbe: {httpGet: {path: /healthz, port: health}, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 5}
      readinessProbe: {httpGet: {path: /readyz, port: health}, periodSeconds: 1, timeoutSeconds: 5}
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      resources: {{ toJson .resources }}
      volumeMounts: [{name: config, mountPath: /etc/doorplate, readOnly: true}]
  volumes:
    - {name: config, configMap: {name: {{ $root.Release.Name }}-config}}
{{- end }}
