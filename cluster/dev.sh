#!/usr/bin/env bash
# dev.sh [ROLE]: a role (operator or redirector) from source on the cluster that runs, in place of its Deployment.
# nodemon restarts it when a file of operator/ changes. Node.js's compile cache halves the time that a restart takes. Ctrl-C ends the
# role, and the Deployment runs again.
#   INSPECT=1   a debugger can attach to 127.0.0.1:9229
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
role=${1:-operator} namespace=doorplate-system
case $role in operator | redirector) ;; *) sed -n '2,5s/^# \?//p' "$0"; exit 2 ;; esac
export KUBECONFIG=$STATE/kubeconfig
init_pid >/dev/null || die "no cluster runs. Run make demo, then this command again"
deployment=doorplate-$role
replicas=$(kubectl get deployment -n "$namespace" "$deployment" -o 'jsonpath={.spec.replicas}') || die "Doorplate is not installed. Run make demo, then this command again"

work=$STATE/dev
mkdir -p "$work"
forward=
back() {
  trap - EXIT INT TERM
  [ -z "$forward" ] || kill $forward 2>/dev/null || true
  kubectl scale -n "$namespace" "deployment/$deployment" --replicas="$replicas" >/dev/null && say "the Deployment $deployment runs again"
}
trap back EXIT INT TERM
((replicas > 0)) || replicas=1
kubectl scale -n "$namespace" "deployment/$deployment" --replicas=0 >/dev/null
kubectl wait pod -n "$namespace" -l "app.kubernetes.io/component=$role" --for=delete --timeout=60s >/dev/null

# With the settings, the rights and the DNS of its Pod.
volume='{.spec.template.spec.volumes[?(@.name=="config")].configMap.name}'
config=$(kubectl get deployment -n "$namespace" "$deployment" -o "jsonpath=$volume")
kubectl get configmap -n "$namespace" "$config" -o 'jsonpath={.data.config\.yaml}' >"$work/config.yaml"
token=$(kubectl create token -n "$namespace" "$deployment" --duration=24h)
(umask 077; kubectl config view --kubeconfig "$ADMIN" --raw -o json |
  TOKEN=$token node -e 'const c = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    c.users = c.users.map((u) => ({...u, user: {token: process.env.TOKEN}})); console.log(JSON.stringify(c))' >"$work/kubeconfig")
printf 'nameserver %s\noptions ndots:5\nsearch %s.svc.cluster.local svc.cluster.local cluster.local\n' "$DNS_IP" "$namespace" >"$work/resolv.conf"

inspect=
if [ -n "${INSPECT-}" ]; then
  inspect=--inspect=127.0.0.1:9229
  "$HERE/enter.sh" socat "UNIX-LISTEN:$work/inspect.sock,fork,unlink-early" TCP:127.0.0.1:9229 &
  socat TCP-LISTEN:9229,bind=127.0.0.1,reuseaddr,fork "UNIX-CONNECT:$work/inspect.sock" &
  forward="$! $(jobs -p | head -1)"
  say "a debugger can attach to 127.0.0.1:9229"
fi
say "$deployment runs from source: an edit in operator/ restarts it. Stop it with Ctrl-C"
cd "$ROOT"
"$HERE/enter.sh" unshare --mount sh -c 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"' sh "$work/resolv.conf" \
  env DOORPLATE_CONFIG="$work/config.yaml" KUBECONFIG="$work/kubeconfig" POD_NAMESPACE="$namespace" POD_NAME="dev-$(hostname)" \
  NODE_COMPILE_CACHE="$work/compile-cache" \
  "$ROOT/node_modules/.bin/nodemon" --quiet --watch operator --ext ts --delay 200ms --signal SIGTERM \
  --exec "$ROOT/node_modules/.bin/node $inspect operator/main.ts $role" || true
