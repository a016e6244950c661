{{/* The image, by its digest where that is told. */}}
{{- define "doorplate.image" -}}
{{- with .Values.image }}
{{- if not .repository }}
{{- fail "image.repository is not set. No prebuilt image is published. Build the image with `make release`, push it to your registry, and set image.repository to its name. The page Install (docs/how-to/install.md) has the commands" }}
{{- end }}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
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

{{/*
A Pod of Doorplate. Arguments: root, role; as (optional): it runs once, with the rights and the values of this role; account (optional): it
has the rights of this ServiceAccount.
*/}}
{{- define "doorplate.pod" -}}
{{- $root := .root }}
{{- $as := .as | default .role }}
{{- $values := get $root.Values $as }}
{{- $isApi := eq .role "api" }}
{{- $trusted := or $root.Values.caBundle.configMap $root.Values.caBundle.secret }}
{{- $env := list "DOORPLATE_CONFIG" "POD_NAMESPACE" "POD_NAME" "POD_UID" }}
{{- $proxied := and (eq $as "operator") ($root.Values.proxy | default dict).url }}
{{- $more := dict "NODE_OPTIONS" $values.heapMegabytes "NODE_EXTRA_CA_CERTS" $trusted "HTTPS_PROXY" $proxied "NO_PROXY" $proxied }}
{{- $_ := set $more "VALKEY_PASSWORD" (and $isApi ($root.Values.valkey.passwordSecret | default dict).name) }}
{{- range $name, $isSet := $more }}
{{- if $isSet }}{{ $env = append $env $name }}{{ end }}
{{- end }}
{{- range $values.extraEnv }}
{{- if has .name $env }}
{{- fail (printf "%s.extraEnv sets %s, but another entry, the chart, heapMegabytes, caBundle, proxy or valkey sets it already. Remove the entry" $as .name) }}
{{- end }}
{{- $env = append $env .name }}
{{- end }}
metadata:
  labels:
    {{- include "doorplate.labelsWith" (dict "root" $root "own" (dict "app.kubernetes.io/component" .role) "more" $values.podLabels) | nindent 4 }}
  annotations:
    {{- $config := include "doorplate.config" $root | sha256sum | trunc 16 }}
    {{- merge (dict "doorplate.dev/config" $config) ($values.podAnnotations | default dict) | toYaml | nindent 4 }}
spec:
  serviceAccountName: {{ .account | default (include "doorplate.serviceAccount" (dict "root" $root "role" $as)) }}
  {{- if .as }}
  restartPolicy: Never
  {{- end }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  securityContext: {{ merge dict ($root.Values.podSecurityContext | default dict) (ternary (dict "fsGroup" 65532) dict $isApi) | toJson }}
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
        {{- with $values.heapMegabytes }}
        - {name: NODE_OPTIONS, value: --max-old-space-size={{ int . }}}
        {{- end }}
        {{- range $values.extraEnv }}
        - {{ toJson . }}
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
      {{- range $probe, $path := dict "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
      {{- if kindIs "map" (get $root.Values $probe) }}
      {{ $probe }}: {{ merge (dict "httpGet" (dict "path" $path "port" "health")) (get $root.Values $probe) | toJson }}
      {{- end }}
      {{- end }}
      {{- end }}
      terminationMessagePolicy: FallbackToLogsOnError # kubectl describe shows the cause of a failed start
      securityContext: {{ $root.Values.securityContext | default dict | toJson }}
      resources: {{ toJson $values.resources }}
      volumeMounts:
        - {name: config, mountPath: /etc/doorplate, readOnly: true}
        {{- if $trusted }}
        - {name: ca, mountPath: /etc/doorplate-ca, readOnly: true}
        {{- end }}
        {{- if $isApi }}
        - {name: ledger, mountPath: /var/lib/doorplate}
        {{- end }}
        {{- range $values.extraVolumeMounts }}
        - {{ toJson . }}
        {{- end }}
  volumes:
    - {name: config, configMap: {name: {{ include "doorplate.fullname" $root }}-config}}
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
    - {name: ledger, persistentVolumeClaim: {claimName: {{ include "doorplate.fullname" $root }}-api}}
    {{- else }}
    - {name: ledger, emptyDir: {sizeLimit: {{ $root.Values.api.storage.size }}}}
    {{- end }}
    {{- end }}
    {{- range $values.extraVolumes }}
    - {{ toJson . }}
    {{- end }}
{{- end }}

{{/* What an eviction leaves of a role: all but one. Of a single Pod nothing, or no node could be drained. Arguments: root, role, replicas. */}}
{{- define "doorplate.disruption" -}}
{{- $budget := (get .root.Values .role).podDisruptionBudget | default dict }}
{{- if and $budget.enabled (gt (int .replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "doorplate.fullname" .root }}-{{ .role }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "doorplate.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  maxUnavailable: {{ toJson $budget.maxUnavailable }}
  selector:
    matchLabels: {{ include "doorplate.selector" . }}
{{- end }}
{{- end }}

{{/* Whether the ledger of the API outlives its Pod; with Valkey there is none. */}}
{{- define "doorplate.api.claim" -}}
{{- if and .Values.api.storage.className (not .Values.valkey.url) }}yes{{ end }}
{{- end }}
