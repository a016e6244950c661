#!/usr/bin/env bash
# Installs everything around Doorplate on the cluster of the current context: DNS zones, cert-manager, Traefik, Pebble and an issuer.
# Needs kubectl and helm, and a node that has the images localhost/{coredns,traefik,pebble} of cluster/versions.env. cert-manager is
# left as it is if the namespace cert-manager has it already.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
manifests=$ROOT/cluster/manifests
scratch

say "Namespaces and Services"
apply <<'Y'
apiVersion: v1
kind: Namespace
metadata: {name: dns}
---
apiVersion: v1
kind: Namespace
metadata: {name: traefik}
---
apiVersion: v1
kind: Namespace
metadata: {name: pebble}
---
apiVersion: v1
kind: Service
metadata: {name: zones, namespace: dns}
spec:
  selector: {app: zones}
  ports:
    - {name: dns, port: 53, protocol: UDP}
    - {name: dns-tcp, port: 53, protocol: TCP}
Y
NODE_IP=$(node_ip)
DNS_IP=$(kubectl -n dns get service zones -o jsonpath='{.spec.clusterIP}')

say "DNS: the zones below test, at $DNS_IP; the cluster's DNS forwards test to it"
for file in "$ROOT"/cluster/zones/db.{test,platform.test,customer.test}; do render "$file" >"$TMP/${file##*/}"; done
kubectl -n dns create configmap zones --from-file="$TMP" --dry-run=client -o yaml | apply
render "$HERE/zones.yaml" | apply
kubectl -n dns rollout status deployment/zones --timeout=120s >/dev/null
kubectl -n kube-system get configmap coredns -o jsonpath='{.data.Corefile}' >"$TMP/before"
{
  printf '# doorplate: begin\ntest:53 {\n    errors\n    forward . %s\n}\n# doorplate: end\n' "$DNS_IP"
  sed '/^# doorplate: begin$/,/^# doorplate: end$/d' "$TMP/before"
} >"$TMP/Corefile"
if ! cmp -s "$TMP/before" "$TMP/Corefile"; then
  kubectl -n kube-system create configmap coredns --from-file="$TMP/Corefile" --dry-run=client -o yaml | kubectl replace -f - >/dev/null
  kubectl -n kube-system rollout restart deployment/coredns >/dev/null
fi
kubectl -n kube-system rollout status deployment/coredns --timeout=120s >/dev/null

if kubectl -n cert-manager get deployment cert-manager >/dev/null 2>&1; then
  say "cert-manager is installed already"
else
  say "cert-manager $CERT_MANAGER_VERSION"
  helm upgrade --install cert-manager cert-manager --repo https://charts.jetstack.io --version "$CERT_MANAGER_VERSION" \
    -n cert-manager --create-namespace -f "$HERE/cert-manager.yaml" --wait --timeout 5m >/dev/null
fi
# The webhook answers a little later than its Pod is Ready.
retry 60 "certificates of Pebble and the edge" kubectl apply --server-side --force-conflicts -f "$HERE/certificates.yaml"
kubectl -n pebble wait certificate/pebble-tls --for=condition=Ready --timeout=60s >/dev/null
kubectl -n traefik wait certificate/edge-tls --for=condition=Ready --timeout=60s >/dev/null

say "Traefik $TRAEFIK_VERSION, the edge, on ports 80 and 443 of the node $NODE_IP"
render "$manifests/traefik.yaml" | apply
say "Pebble $PEBBLE_VERSION, an ACME CA, and the issuer pebble"
# The fixed address of Pebble's Service belongs to the local cluster. Here, the API server chooses one.
render "$manifests/pebble.yaml" | sed '/clusterIP: @PEBBLE_IP@/d' | apply
kubectl -n traefik rollout status deployment/traefik --timeout=120s >/dev/null
kubectl -n pebble rollout status deployment/pebble --timeout=120s >/dev/null
# shellcheck disable=SC2034 # render reads it
PEBBLE_CA_BASE64=$(kubectl -n pebble get secret pebble-tls -o jsonpath='{.data.tls\.crt}')
render "$manifests/issuer.yaml" | apply
kubectl wait clusterissuer/pebble --for=condition=Ready --timeout=60s
