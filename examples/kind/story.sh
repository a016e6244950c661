#!/usr/bin/env bash
# Installs Doorplate's charts on the cluster of the current context, and takes a customer's hostname to Live. Each step is checked.
# Needs kubectl, helm and curl, and the surroundings: DNS zones, an edge, cert-manager with the issuer `pebble`. Run it again at any time.
#
#   DOORPLATE_IMAGE   image of Doorplate, REPOSITORY:TAG; the node has it, or pulls it
#   EDGE_HTTPS        where the edge's port 443 is reached from here (default 127.0.0.1:8443)
#   DNS_IP            the server of the zones (default: the Service `zones` of surroundings.sh)
#   ZONE_COMMAND      called as `ZONE_COMMAND set ZONE RECORD...` (default: zone.sh beside this script)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${DOORPLATE_IMAGE:?names the image of Doorplate, REPOSITORY:TAG}" "${EDGE_HTTPS:=127.0.0.1:8443}" "${ZONE_COMMAND:=$HERE/zone.sh}"
DNS_IP=${DNS_IP:-$(kubectl -n dns get service zones -o jsonpath='{.spec.clusterIP}')}
NODE_IP=$(node_ip)
demo=$ROOT/examples/demo
scratch

k() { kubectl -n acme "$@"; }
# edge CURL-ARGUMENT...: a request to the edge, whose certificate must chain to Pebble's root.
edge() { curl --silent --show-error --max-time 20 --cacert "$TMP/root.pem" --connect-to "::$EDGE_HTTPS" "$@"; }
# answers URL TEXT: whether the URL answers 200 with the text in its body.
answers() { edge --fail "$1" | grep -F -- "$2"; }
# reasons REASON: whether both hostnames have the reason.
reasons() { [ "$(k get customdomain docs -o jsonpath='{.status.hosts[*].reason}')" = "$1 $1" ]; }

say "Doorplate's charts, with the image $DOORPLATE_IMAGE"
apply <<'Y'
apiVersion: v1
kind: Namespace
metadata: {name: doorplate-system, labels: {pod-security.kubernetes.io/enforce: restricted}}
Y
helm upgrade --install doorplate-crds "$ROOT/charts/doorplate-crds" -n doorplate-system --wait --timeout 3m >/dev/null
helm upgrade --install doorplate "$ROOT/charts/doorplate" -n doorplate-system -f "$demo/values.yaml" \
  --set-string "image.repository=${DOORPLATE_IMAGE%:*},image.tag=${DOORPLATE_IMAGE##*:}" \
  --set-string "edge.addresses={$NODE_IP},dns.recursive={$DNS_IP}" --wait --timeout 3m >/dev/null
kubectl -n doorplate-system get deployments

say "The platform creates an account for a customer, on the plan pro, and a namespace (examples/demo/platform.yaml)"
apply <"$demo/platform.yaml"
kubectl wait account/acme --for=condition=Ready --timeout=60s

say "The customer publishes a project (examples/demo/project.yaml)"
k delete customdomain docs --ignore-not-found --timeout=60s
"$ZONE_COMMAND" set customer.test
apply <"$demo/project.yaml"
k wait project/docs --for=condition=Ready --timeout=180s
target=$(k get project docs -o jsonpath='{.status.host}')
kubectl get --raw /api/v1/namespaces/pebble/services/https:pebble:15000/proxy/roots/0 >"$TMP/root.pem"
retry 60 "the default hostname $target" answers "https://$target/" "hello from acme"
echo "https://$target/ answers with its own certificate"

say "The customer attaches two hostnames (examples/demo/custom-domain.yaml). Their DNS records are missing"
apply <"$demo/custom-domain.yaml"
retry 60 "both hostnames have the reason RecordMissing" reasons RecordMissing
k get customdomain docs -o jsonpath='{range .status.dnsRecords[*]}{.type} {.name} {.value}: {.state}{"\n"}{end}'

say "The customer creates the records at the DNS provider"
"$ZONE_COMMAND" set customer.test "docs IN CNAME $target." "old IN CNAME $target."
k wait customdomain/docs --for=condition=Ready --timeout=240s
k get customdomain docs

say "Both hostnames are Live"
retry 30 "https://docs.customer.test/" answers https://docs.customer.test/ "hello from acme"
edge https://docs.customer.test/
moved=$(edge --output /dev/null --write-out '%{http_code} %{redirect_url}' 'https://old.customer.test/a?b=c')
[ "$moved" = "301 https://docs.customer.test/a?b=c" ] || die "https://old.customer.test/a?b=c answers: $moved"
echo "https://old.customer.test/a?b=c -> $moved"
say "done"
