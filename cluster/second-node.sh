# Sourced by start.sh when all is Ready on the first node: a second node, with a network and mounts of its own in the cluster's
# process namespace. Its files are in .cluster/node-2, its daemons are containerd-2, kubelet-2 and kube-proxy-2.
as_second() (
  export DOORPLATE_NODE=2
  . "$HERE/env.sh"
  "$@"
)

second_files() {
  mkdir -p "$STATE"/{pki,users,config/cni,log} "$RUN"
  for f in containerd.toml kubelet.yaml; do render "$HERE/config/$f" >"$STATE/config/$f"; done
  render "$HERE/config/cni.conflist" >"$STATE/config/cni/10-bridge.conflist"
  echo "nameserver $DNS_IP" >"$STATE/config/resolv.conf"
  create_cgroups
}

second_namespaces() {
  setsid unshare --net --mount bash -euc '
    for d in /var/lib/cni /var/lib/kubelet /var/log/containers; do mount -t tmpfs -o mode=755 tmpfs "$d"; done
    ip link set lo up
    echo $$ >"$1.new"; mv "$1.new" "$1"
    exec sleep infinity' - "$RUN/pid" </dev/null >"$STATE/log/namespaces.log" 2>&1 &
  wait_for 10 "the second node's namespaces" test -e "$RUN/pid"
}

# A link joins the nodes, and each has a route to the other's Pods.
second_network() {
  local d
  ip link add node-2 type veth peer name eth0 netns "$(cat "$RUN/pid")"
  ip addr add 10.244.255.1/30 dev node-2
  ip addr add fd00:10:244:ff::1/64 dev node-2 nodad
  ip link set node-2 up
  inside() { nsenter -t "$(cat "$RUN/pid")" --net "$@"; }
  inside sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  inside ip link add "$BRIDGE" address 0a:58:0a:f4:01:01 type bridge
  inside ip addr add "$NODE_IP/${POD_CIDR#*/}" dev "$BRIDGE"
  inside ip addr add "$NODE_IP6/${POD_CIDR6#*/}" dev "$BRIDGE" nodad
  inside ip addr add 10.244.255.2/30 dev eth0
  inside ip addr add fd00:10:244:ff::2/64 dev eth0 nodad
  for d in "$BRIDGE" eth0; do inside ip link set "$d" up; done
  inside ip route add default via 10.244.255.1 src "$NODE_IP"
  inside ip -6 route add default via fd00:10:244:ff::1 src "$NODE_IP6"
  ip route add "$POD_CIDR" via 10.244.255.2
  ip -6 route add "$POD_CIDR6" via fd00:10:244:ff::2
  # Before the rule of start.sh that refuses what leaves the bridge.
  iptables -w -I FORWARD -i "$BRIDGE" -o node-2 -j ACCEPT
}

as_second second_files
as_second second_namespaces
as_second second_network
cd "$STATE/pki"
copy_images node-2/containerd
cert kubelet-2 ca /O=system:nodes/CN=system:node:local-2 DNS:local-2,IP:10.244.1.1,IP:fd00:10:244:1::1
user kubelet-2 -
cp ca.crt "$STATE/node-2/pki/"
for f in crt key; do mv "kubelet-2.$f" "$STATE/node-2/pki/kubelet.$f"; done
mv "$STATE/users/kubelet-2" "$STATE/node-2/users/kubelet"
cp "$STATE/users/kube-proxy" "$STATE/node-2/users/"
for d in containerd kubelet kube-proxy; do launch $d-2; done
wait_for 60 "node local-2 registered" k get node local-2
k wait node local-2 --for=condition=Ready --timeout=60s >/dev/null || die "node local-2 not Ready: see $STATE/log/kubelet-2.log"
say "node local-2 Ready"
