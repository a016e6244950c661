{{/* The address of a page of docs/, outside the repository too. Arguments: root, page (its path in docs/ without `.md`). */}}
{{- define "doorplate.page" -}}
{{- with .root.Values.docsUrl | default .root.Chart.Home }}{{ trimSuffix "/" . }}/{{ $.page }}{{ else }}docs/{{ .page }}.md{{ end }}
{{- end }}

{{/* It outlives the release, and installing again takes it back: what redirects need, which are answered on; what would be ordered anew. */}}
{{- define "doorplate.kept" -}}
annotations: {helm.sh/resource-policy: keep}
{{- end }}

{{/* The annotations that a value gives, if any. Arguments: of (the value), kept (whether the object outlives the release). */}}
{{- define "doorplate.annotations" -}}
{{- with merge (ternary (dict "helm.sh/resource-policy" "keep") dict (.kept | default false)) (.of | default dict) -}}
annotations: {{ toJson . }}
{{- end }}
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
{{- if .Values.issuers }}
issuers: {{ .Values.issuers | toJson }}
{{- else }}
issuerRef: {{ .Values.issuerRef | toJson }}
budgets: {{ .Values.budgets | toJson }}
{{- end }}
issuerRecoveryTime: {{ .Values.issuerRecoveryTime }}
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
redirector: {service: {{ include "doorplate.fullname" . }}-redirector, port: 80}
{{- end }}

{{/* The budgets of values.yaml: the values contain them even if nobody has set any. */}}
{{- define "doorplate.defaultBudgets" -}}
account: [{limit: 300, per: 3h}]
registeredDomain: [{limit: 50, per: 7d}]
certificates: [{limit: 5, per: 7d}]
authorizations: [{limit: 5, per: 1h}]
failures: [{limit: 2, per: 1h}, {limit: 3, per: 1d}]
countRenewals: false
{{- end }}

{{/* The issuers, the preferred one first, as cert-manager refers to them: JSON. */}}
{{- define "doorplate.issuerRefs" -}}
{{- $refs := list }}
{{- range .Values.issuers }}
{{- $refs = append $refs (merge (dict) .issuerRef (dict "kind" "ClusterIssuer" "group" "cert-manager.io")) }}
{{- end }}
{{- $refs | default (list .Values.issuerRef) | toJson }}
{{- end }}

{{- define "doorplate.config" -}}
{{ include "doorplate.public" . }}
plainHttp: {{ .Values.plainHttp | toJson }}
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
operator: {deployment: {{ include "doorplate.fullname" . }}-operator, workers: {{ .Values.operator.workers }}}
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

{{/* The namespaces in which the platform itself writes: its own label can't be had by a tenant (see the policy "namespaces"). */}}
{{- define "doorplate.admission.namespaces" -}}
matchExpressions:
  - {key: kubernetes.io/metadata.name, operator: NotIn, values: [{{ .Release.Namespace | quote }}, kube-system]}
  - {key: doorplate.dev/admission, operator: NotIn, values: [except]}
{{- end }}

{{/* Who a write is not by, before it is looked at. The garbage collector may update all there is, Accounts too, and so counts as the platform. */}}
{{- define "doorplate.admission.writers" -}}
{{- $users := list (printf "system:serviceaccount:%s:%s" .Release.Namespace (include "doorplate.serviceAccount" (dict "root" . "role" "operator"))) }}
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
- name: not-by-the-platform # users who may update Accounts
  expression: >-
    !authorizer.group('doorplate.dev').resource('accounts').check('update').allowed()
{{- end }}

{{/* A route that cert-manager made to answer a challenge (its pkg/issuer/acme/http, podLabels). Nobody else takes the label off. */}}
{{- define "doorplate.admission.solver" -}}
'acme.cert-manager.io/http01-solver' in oldObject.metadata.?labels.orValue({})
{{- end }}

{{- define "doorplate.admission.collectors" -}}
- name: not-collected-by-kubernetes # the garbage collector, and the deletion of a Namespace
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
  name: {{ $root.Release.Namespace }}-{{ include "doorplate.fullname" $root }}-{{ .name }}
  labels:
    {{- include "doorplate.labels" $root | nindent 4 }}
spec:
  policyName: {{ $root.Release.Namespace }}-{{ include "doorplate.fullname" $root }}-{{ $.policy }}
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
