{{- define "doorplate.labels" -}}
app.kubernetes.io/name: doorplate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: doorplate
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* It outlives the release, and installing again takes it back: what redirects need, which are answered on; what would be ordered anew. */}}
{{- define "doorplate.kept" -}}
annotations: {helm.sh/resource-policy: keep}
{{- end }}

{{/* What tenants may know: `kubectl doorplate check` decides by it as the operator does. Nothing that opens anything belongs here. */}}
{{- define "doorplate.public" -}}
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
graceTime: {{ .Values.graceTime }}
quarantineTime: {{ .Values.quarantineTime }}
apexOwnership: {{ .Values.apexOwnership }}
singleTenant: {{ .Values.singleTenant }}
defaultPlan: {{ .Values.defaultPlan | quote }}
caaIdentities: {{ .Values.caaIdentities | toJson }}
deniedNames: {{ .Values.deniedNames | toJson }}
redirector: {service: {{ .Release.Name }}-redirector, port: 80}
{{- end }}

{{- define "doorplate.config" -}}
{{ include "doorplate.public" . }}
plainHttp: {{ .Values.plainHttp | toJson }}
budgets: {{ .Values.budgets | toJson }}
maxWaitingHostnames: {{ .Values.maxWaitingHostnames | int }}
api:
  {{- with .Values.api }}
  enabled: {{ .enabled }}
  host: {{ .host | quote }}
  trustedProxies: {{ .trustedProxies | toJson }}
  withoutKey: {{ .withoutKey | toJson }}
  audience: {{ .audience | quote }}
  perServiceAccount: {{ .perServiceAccount | toJson }}
  requireAccount: {{ .requireAccount }}
  bans: {{ .bans | toJson }}
  audit: {{ .audit | toJson }}
  authorize: {{ .authorize | toJson }}
  replicas: {{ .replicas }}
  storage: {path: /var/lib/doorplate}
  page: {{ .page | toJson }}
  {{- end }}
valkey: {url: {{ .Values.valkey.url | quote }}}
operator: {deployment: {{ .Release.Name }}-operator, workers: {{ .Values.operator.workers }}}
leaderElection: {{ .Values.leaderElection | toJson }}
admissionPolicy: {{ pick .Values.admissionPolicy "enabled" "mode" "scope" | toJson }}
log: {{ .Values.log | toJson }}
{{- end }}

{{/* Stops helm where fewer requests are allowed in a day than in a minute. Arguments: name (of the value), quota. */}}
{{- define "doorplate.quotaHolds" -}}
{{- if lt (int .quota.requestsPerDay) (int .quota.requestsPerMinute) }}
{{- fail (printf "%s.requestsPerDay must be at least %s.requestsPerMinute" .name .name) }}
{{- end }}
{{- end }}

{{/* A time span, such as 15s, in milliseconds. */}}
{{- define "doorplate.milliseconds" -}}
{{- $unit := regexFind "[a-z]+$" . }}
{{- mul (trimSuffix $unit . | atoi) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) $unit) }}
{{- end }}

{{/* The image, by its digest where that is told. */}}
{{- define "doorplate.image" -}}
{{- with .Values.image }}
{{- if not .repository }}
{{- fail "image.repository is not set. Nobody publishes an image of Doorplate: build one with `make release`, push it to a registry of yours, and set image.repository to where it is. docs/install.md has the commands" }}
{{- end }}
{{- .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The labels by which the Pods of a role are found, and no others. Arguments: root, role. */}}
{{- define "doorplate.selector" -}}
{app.kubernetes.io/name: doorplate, app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .role }}}
{{- end }}

{{/* On which nodes the Pods of a role run. A spread without a labelSelector is one of the Pods of the role. Arguments: root, role. */}}
{{- define "doorplate.placement" -}}
{{- $values := get .root.Values .role }}
{{- range $field := list "nodeSelector" "affinity" "tolerations" "priorityClassName" }}
{{- with get $values $field }}
{{ $field }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ hasKey . "labelSelector" | ternary . (merge (dict "labelSelector" (dict "matchLabels" (include "doorplate.selector" $ | fromYaml))) .) | toJson }}
  {{- end }}
{{- end }}
{{- end }}

{{/* A Pod of Doorplate. Arguments: root, role, as (optional): it runs once, with the rights and the values of this role. */}}
{{- define "doorplate.pod" -}}
{{- $root := .root }}
{{- $as := .as | default .role }}
{{- $values := get $root.Values $as }}
{{- $isApi := eq .role "api" }}
{{- $trusted := or $root.Values.caBundle.configMap $root.Values.caBundle.secret }}
metadata:
  labels:
    {{- include "doorplate.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    doorplate.dev/config: {{ include "doorplate.config" $root | sha256sum | trunc 16 | quote }}
spec:
  serviceAccountName: {{ $root.Release.Name }}-{{ $as }}
  {{- if .as }}
  restartPolicy: Never
  {{- end }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}{{ if $isApi }}, fsGroup: 65532{{ end }}}
  terminationGracePeriodSeconds: 30
  {{- with include "doorplate.placement" (dict "root" $root "role" $as) | trim }}
  {{- nindent 2 . }}
  {{- end }}
  containers:
    - name: {{ .role }}
      image: {{ include "doorplate.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .role }}]
      env:
        - {name: DOORPLATE_CONFIG, value: /etc/doorplate/config.yaml}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
        {{- with $root.Values.proxy }}
        {{- if and (eq $as "operator") .url }}
        - {name: HTTPS_PROXY, value: {{ .url | quote }}}
        - {name: NO_PROXY, value: {{ prepend .exceptions "$(KUBERNETES_SERVICE_HOST)" | join "," | quote }}} # the API server is never asked by it
        {{- end }}
        {{- end }}
        {{- if $trusted }}
        - {name: NODE_EXTRA_CA_CERTS, value: /etc/doorplate-ca/ca.crt}
        {{- end }}
        {{- with $root.Values.valkey.passwordSecret }}
        {{- if and $isApi .name }}
        - {name: VALKEY_PASSWORD, valueFrom: {secretKeyRef: {{ toJson . }}}}
        {{- end }}
        {{- end }}
      {{- if not .as }}
      ports:
        - {name: health, containerPort: 8081}
        {{- if eq .role "redirector" }}
        - {name: http, containerPort: 8080}
        {{- end }}
        {{- if $isApi }}
        - {name: api, containerPort: 8082}
        {{- if $root.Values.api.authorize.enabled }}
        - {name: authorize-grpc, containerPort: 8083}
        - {name: authorize-http, containerPort: 8084}
        {{- end }}
        {{- end }}
      livenessProbe: {httpGet: {path: /healthz, port: health}, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 5}
      readinessProbe: {httpGet: {path: /readyz, port: health}, periodSeconds: 1, timeoutSeconds: 5}
      {{- end }}
      terminationMessagePolicy: FallbackToLogsOnError # kubectl describe says why it did not start
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      resources: {{ toJson $values.resources }}
      volumeMounts:
        - {name: config, mountPath: /etc/doorplate, readOnly: true}
        {{- if $trusted }}
        - {name: ca, mountPath: /etc/doorplate-ca, readOnly: true}
        {{- end }}
        {{- if $isApi }}
        - {name: ledger, mountPath: /var/lib/doorplate}
        {{- end }}
  volumes:
    - {name: config, configMap: {name: {{ $root.Release.Name }}-config}}
    {{- with $root.Values.caBundle }}
    {{- $items := list (dict "key" .key "path" "ca.crt") }}
    {{- if .configMap }}
    - {name: ca, configMap: {{ dict "name" .configMap "items" $items | toJson }}}
    {{- else if .secret }}
    - {name: ca, secret: {{ dict "secretName" .secret "items" $items | toJson }}}
    {{- end }}
    {{- end }}
    {{- if $isApi }}
    {{- if include "doorplate.api.claim" $root }}
    - {name: ledger, persistentVolumeClaim: {claimName: {{ $root.Release.Name }}-api}}
    {{- else }}
    - {name: ledger, emptyDir: {sizeLimit: {{ $root.Values.api.storage.size }}}}
    {{- end }}
    {{- end }}
{{- end }}

{{/* What an eviction leaves of a role: all but one. Of a single Pod nothing, or no node could be drained. Arguments: root, role, replicas. */}}
{{- define "doorplate.disruption" -}}
{{- if gt (int .replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .role }}
  labels:
    {{- include "doorplate.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ include "doorplate.selector" . }}
{{- end }}
{{- end }}

{{/* Whether the ledger of the API outlives its Pod; with Valkey there is none. */}}
{{- define "doorplate.api.claim" -}}
{{- if and .Values.api.storage.className (not .Values.valkey.url) }}yes{{ end }}
{{- end }}

{{/* The namespaces in which the platform itself writes: its own label can't be had by a tenant (see the policy "namespaces"). */}}
{{- define "doorplate.admission.namespaces" -}}
matchExpressions:
  - {key: kubernetes.io/metadata.name, operator: NotIn, values: [{{ .Release.Namespace | quote }}, kube-system]}
  - {key: doorplate.dev/admission, operator: NotIn, values: [except]}
{{- end }}

{{/* Who a write is not by, before it is looked at. The garbage collector may update all there is, Accounts too, and so counts as the platform. */}}
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

{{/* A route that cert-manager made to answer a challenge (its pkg/issuer/acme/http, podLabels). Nobody else takes the label off. */}}
{{- define "doorplate.admission.solver" -}}
'acme.cert-manager.io/http01-solver' in oldObject.metadata.?labels.orValue({})
{{- end }}

{{- define "doorplate.admission.collectors" -}}
- name: not-collected-by-kubernetes # the garbage collector, the end of a Namespace
  expression: >-
    request.operation != 'DELETE' || !(request.userInfo.username == 'system:kube-controller-manager'
    || 'system:serviceaccounts:kube-system' in request.userInfo.?groups.orValue([]))
{{- end }}

{{/*
What an update may change: the status of kinds whose status nobody trusts, and what the API server keeps of each write. An owner that
is gone would have the garbage collector delete the object; with another owner cert-manager would not know its route again, and with a
finalizer a route would be served on after it was removed.
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
- name: sameMetadata
  expression: >-
    dyn(object.metadata).all(k, k in ['managedFields', 'generation'] || (k in dyn(oldObject.metadata) && dyn(object.metadata)[k] == dyn(oldObject.metadata)[k]))
    && dyn(oldObject.metadata).all(k, k in ['managedFields', 'generation'] || k in dyn(object.metadata))
- name: unchanged
  expression: request.operation == 'UPDATE' && variables.sameContent && variables.sameStatus && variables.sameMetadata
{{- end }}

{{/*
The bindings of a policy that meets what other teams write: one by mode, where scope says; and one for the rest of the cluster, which
refuses nothing and says nothing, but to the audit log and the API server's metrics. Arguments: root, policy, except (API groups, optional).
*/}}
{{- define "doorplate.admission.bindings" -}}
{{- $root := .root }}
{{- $actions := dict "Audit" (list "Audit") "Warn" (list "Warn" "Audit") "Deny" (list "Deny") }}
{{- $byMode := dict "name" .policy "actions" (get $actions $root.Values.admissionPolicy.mode) }}
{{- $bindings := list $byMode }}
{{- if eq $root.Values.admissionPolicy.scope "Accounts" }}
{{- $elsewhere := dict "name" (printf "%s-elsewhere" .policy) "actions" (list "Audit") "match" "DoesNotExist" }}
{{- $bindings = list (set $byMode "match" "Exists") $elsewhere }}
{{- end }}
{{- range $bindings }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $root.Release.Namespace }}-{{ $root.Release.Name }}-{{ .name }}
  labels:
    {{- include "doorplate.labels" $root | nindent 4 }}
spec:
  policyName: {{ $root.Release.Namespace }}-{{ $root.Release.Name }}-{{ $.policy }}
  validationActions: {{ toJson .actions }}
  {{- if or .match $.except }}
  matchResources:
    {{- with .match }}
    namespaceSelector: {matchExpressions: [{key: doorplate.dev/account, operator: {{ . }}}]}
    {{- end }}
    {{- with $.except }}
    excludeResourceRules: [{operations: ["*"], apiGroups: {{ toJson . }}, apiVersions: ["*"], resources: ["*/*"]}]
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
