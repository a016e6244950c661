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

{{/* The namespaces in which the platform itself writes: its own label can't be had by a tenant (see the policy "namespaces"). */}}
{{- define "doorplate.admission.namespaces" -}}
matchExpressions:
  - {key: kubernetes.io/metadata.name, operator: NotIn, values: [{{ .Release.Namespace | quote }}, kube-system]}
  - {key: doorplate.dev/admission, operator: NotIn, values: [except]}
{{- end }}

{{/* Who a write is not by, before it is looked at. Kubernetes' own controllers need no exception: all they write passes as unchanged. They also delete, see below. */}}
{{- define "doorplate.admission.writers" -}}
{{- $users := list (printf "system:serviceaccount:%s:%s-operator" .Release.Namespace .Release.Name) }}
{{- range .Values.admissionPolicy.certManager.serviceAccounts }}
{{- $users = append $users (printf "system:serviceaccount:%s:%s" $.Values.admissionPolicy.certManager.namespace .) }}
{{- end }}
- name: not-by-doorplate-or-cert-manager
  expression: >-
    !(request.userInfo.username in {{ concat $users .Values.admissionPolicy.exceptUsers | toJson }})
{{- with .Values.admissionPolicy.exceptGroups }}
- name: not-by-an-excepted-group
  expression: >-
    !request.userInfo.?groups.orValue([]).exists(g, g in {{ toJson . }})
{{- end }}
{{ include "doorplate.admission.platform" . }}
{{- end }}

{{- define "doorplate.admission.platform" -}}
- name: not-by-the-platform # who may update Accounts
  expression: >-
    !authorizer.group('doorplate.dev').resource('accounts').check('update').allowed()
{{- end }}

{{- define "doorplate.admission.collectors" -}}
- name: not-collected-by-kubernetes # the garbage collector, the end of a Namespace
  expression: >-
    request.operation != 'DELETE' || !(request.userInfo.username == 'system:kube-controller-manager'
    || 'system:serviceaccounts:kube-system' in request.userInfo.?groups.orValue([]))
{{- end }}

{{/*
What an update may change: managedFields, ownerReferences, and the status of kinds whose status nobody trusts. Finalizers
may go, never come: a route with a stranger's finalizer would be served on after it was removed.
*/}}
{{- define "doorplate.admission.unchanged" -}}
- name: sameContent
  expression: >-
    dyn(object).all(k, k in ['apiVersion', 'kind', 'metadata', 'status'] || (k in dyn(oldObject) && dyn(object)[k] == dyn(oldObject)[k]))
    && dyn(oldObject).all(k, k in ['apiVersion', 'kind', 'metadata', 'status'] || k in dyn(object))
- name: sameStatus
  expression: >-
    request.?subResource.orValue('') != 'status' || !(request.resource.group in ['cert-manager.io', 'acme.cert-manager.io', 'doorplate.dev'])
    || dyn(object).?status == dyn(oldObject).?status
- name: sameLabels
  expression: object.metadata.?labels.orValue({}) == oldObject.metadata.?labels.orValue({})
- name: sameAnnotations
  expression: object.metadata.?annotations.orValue({}) == oldObject.metadata.?annotations.orValue({})
- name: noNewFinalizer
  expression: object.metadata.?finalizers.orValue([]).all(f, f in oldObject.metadata.?finalizers.orValue([]))
- name: unchanged
  expression: >-
    request.operation == 'UPDATE' && variables.sameContent && variables.sameStatus
    && variables.sameLabels && variables.sameAnnotations && variables.noNewFinalizer
{{- end }}
