#!/usr/bin/env bash
# Everything that runs inside the namespaces, in the order of its start. up.sh calls it once, in fresh namespaces.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
[ -e "$RUN/init-ready" ] || die "only inside the namespaces: use make cluster-up"
export KUBECONFIG=$ADMIN
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
k() { kubectl "$@"; }
launch() { setsid "$HERE/supervise.sh" "$1" </dev/null >/dev/null 2>&1 & }

# --- network. The bridge is made first: its address is the node's. A bridge without a MAC address of its own takes the lowest one of its
# ports. That changes when a Pod ends, and the other Pods' IPv6 packets go nowhere until they ask for it again.
ip link add "$BRIDGE" address 0a:58:0a:f4:00:01 type bridge
ip addr add "$NODE_IP/${POD_CIDR#*/}" dev "$BRIDGE"
ip link set "$BRIDGE" up
ip route add default via "$NODE_IP" dev "$BRIDGE" # without a default route nothing here reaches a ClusterIP
sysctl -qw net.ipv4.ip_forward=1
if [ "$NODES" = 2 ]; then
  ip addr add "$NODE_IP6/${POD_CIDR6#*/}" dev "$BRIDGE" nodad
  ip -6 route add default dev "$BRIDGE"
  sysctl -qw net.ipv6.conf.all.forwarding=1
fi
# Pods reach the node and each other, nothing beyond. 192.0.2.0/24 (TEST-NET-1) swallows packets: a server that is dead.
iptables -w -I FORWARD -i "$BRIDGE" ! -o "$BRIDGE" -j REJECT
for chain in FORWARD OUTPUT; do iptables -w -I $chain -d 192.0.2.0/24 -j DROP; done

# --- keys
cd "$STATE/pki"
newkey() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@" 2>>"$STATE/log/openssl.log"; }
ca() { newkey -x509 -keyout "$1.key" -out "$1.crt" -days 3650 -subj "/CN=$1" -addext keyUsage=critical,keyCertSign,cRLSign; }
cert() { # NAME CA SUBJECT SAN
  newkey -keyout "$1.key" -out "$1.csr" -subj "$3"
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -set_serial "0x$(openssl rand -hex 8)" -days 3650 -out "$1.crt" 2>>"$STATE/log/openssl.log" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$4")
  rm "$1.csr"
}
user() { # NAME SUBJECT: a kubeconfig
  [ -f "$1.crt" ] || cert "$1" ca "$2" "DNS:$1"
  cat >"$STATE/users/$1" <<K
apiVersion: v1
kind: Config
clusters: [{name: doorplate, cluster: {server: "https://$NODE_IP:$API_PORT", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: doorplate, context: {cluster: doorplate, user: $1}}]
current-context: doorplate
K
}
ca ca
openssl ecparam -name prime256v1 -genkey -noout -out sa.key
cert apiserver ca /CN=kube-apiserver "IP:127.0.0.1,IP:$NODE_IP,IP:$API_SERVICE_IP,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
cert apiserver-kubelet-client ca /O=system:masters/CN=apiserver-kubelet-client DNS:apiserver

# --- control plane; the container runtime and the remaining keys meanwhile
launch etcd
launch kube-apiserver
for f in containerd.toml kubelet.yaml; do render "$HERE/config/$f" >"$STATE/config/$f"; done
render "$HERE/config/cni.conflist" >"$STATE/config/cni/10-bridge.conflist"
echo "nameserver $DNS_IP" >"$STATE/config/resolv.conf"
copy_images() { # Layers never change, so they are linked, not copied; the databases do.
  cp -al "$SEED" "$STATE/$1" 2>/dev/null || { rm -rf "$STATE/$1"; cp -a "$SEED" "$STATE/$1"; }
  find "$STATE/$1" -name '*.db' | while read -r f; do cp "$f" "$f.copy"; mv "$f.copy" "$f"; done
}
copy_images containerd
launch containerd
user admin /O=system:masters/CN=admin
(umask 077; sed "s|https://$NODE_IP:$API_PORT|https://127.0.0.1:$(awk '$1 == "api" {print $3}' "$STATE/forwards")|" "$ADMIN" >"$STATE/kubeconfig")
while read -r name proto _; do
  suffix=; [ "$proto" = tcp ] || suffix=-$proto
  launch "$name-in$suffix"; launch "$name-out$suffix"
done <"$STATE/forwards"
user kube-controller-manager /CN=system:kube-controller-manager
user kube-scheduler /CN=system:kube-scheduler
user kube-proxy /CN=system:kube-proxy
cert kubelet ca "/O=system:nodes/CN=system:node:$NODE" "DNS:$NODE,IP:$NODE_IP"
user kubelet -
ca pebble-ca
cert pebble pebble-ca /CN=pebble DNS:pebble.pebble.svc,DNS:pebble.pebble.svc.cluster.local,DNS:localhost,IP:127.0.0.1
cert edge ca /CN=edge DNS:*.apps.platform.test
for f in "$HERE"/zones/db.*; do render "$f" >"$STATE/zones/${f##*/}"; done
wait_for 30 containerd ctr -a "$CRI" version
say "keys, containerd with its images"
wait_for 90 kube-apiserver k get --raw /readyz
say "kube-apiserver ready"
for d in kube-controller-manager kubelet kube-scheduler kube-proxy; do launch $d; done

# --- what runs on it: applied at once, it starts as soon as the node is ready
cd "$HERE"
PEBBLE_CA_BASE64=$(base64 -w0 "$STATE/pki/pebble-ca.crt")
for m in coredns traefik pebble issuer; do render "manifests/$m.yaml" >"$STATE/config/$m.yaml"; done
helm upgrade --install cert-manager "$CHARTS/cert-manager-$CERT_MANAGER_VERSION" -n cert-manager --create-namespace \
  -f manifests/cert-manager-values.yaml >"$STATE/log/helm.log" 2>&1 &
helm=$!
k apply --server-side -f "$STATE/config/coredns.yaml" -f "$STATE/config/traefik.yaml" -f "$STATE/config/pebble.yaml" >"$STATE/log/apply.log" 2>&1 || die "kubectl apply: $(tail -5 "$STATE/log/apply.log")"
k -n traefik create secret tls edge-tls --cert "$STATE/pki/edge.crt" --key "$STATE/pki/edge.key" >/dev/null
k -n pebble create secret tls pebble-tls --cert "$STATE/pki/pebble.crt" --key "$STATE/pki/pebble.key" >/dev/null
wait_for 60 "node registered" k get node "$NODE"
k wait node "$NODE" --for=condition=Ready --timeout=60s >/dev/null || die "node not Ready: see $STATE/log/kubelet.log"
say "node Ready"
wait $helm || die "helm: $(tail -5 "$STATE/log/helm.log")"
say "cert-manager's chart applied"
for d in kube-system/coredns traefik/traefik pebble/pebble cert-manager/cert-manager-webhook cert-manager/cert-manager-cainjector cert-manager/cert-manager; do
  k -n "${d%/*}" rollout status "deploy/${d#*/}" --timeout=120s >/dev/null || { k get pods -A; die "$d not Ready"; }
done
say "CoreDNS, Traefik, Pebble and cert-manager Ready"
# The webhook answers a little after its pod is Ready.
wait_for 60 "cert-manager's webhook" k apply --server-side -f "$STATE/config/issuer.yaml"
k wait clusterissuer pebble --for=condition=Ready --timeout=60s >/dev/null || die "issuer pebble not Ready"
say "issuer Ready"
[ "$NODES" = 1 ] || . "$HERE/second-node.sh"
trap - EXIT
