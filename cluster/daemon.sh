#!/usr/bin/env bash
# daemon.sh NAME: becomes the daemon NAME. Every daemon and its flags stand here, in the order of their start.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$STATE/pki"
peer=http://127.0.0.1:$((ETCD_PORT + 1))
outer() { exec nsenter --net=/proc/self/fd/7 socat "$@"; } # file descriptor 7 is the machine's own network
[[ $1 == *-out* ]] || exec 7>&-
case $1 in
*-2) # a daemon of the second node: the same command line in its namespaces
  export DOORPLATE_NODE=2
  exec nsenter -t "$(cat "$RUN/node-2/pid")" --net --mount "$HERE/daemon.sh" "${1%-2}" ;;
etcd) # the state is thrown away: no fsync
  exec etcd --data-dir "$STATE/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" ;;
kube-apiserver) # --advertise-address may not be a loopback address, and pods must be able to reach it
  exec kube-apiserver --etcd-servers "http://127.0.0.1:$ETCD_PORT" \
    --bind-address 0.0.0.0 --secure-port "$API_PORT" --advertise-address "$NODE_IP" \
    --tls-cert-file apiserver.crt --tls-private-key-file apiserver.key --client-ca-file ca.crt \
    --service-account-key-file sa.key --service-account-signing-key-file sa.key \
    --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range "$SERVICE_CIDRS" \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --allow-privileged \
    --kubelet-certificate-authority ca.crt --kubelet-client-certificate apiserver-kubelet-client.crt \
    --kubelet-client-key apiserver-kubelet-client.key --kubelet-preferred-address-types InternalIP \
    --audit-policy-file "$HERE/config/audit.yaml" --audit-log-path "$STATE/audit.log" --audit-log-mode blocking --audit-log-maxsize 10240 ;;
containerd) exec containerd -c "$STATE/config/containerd.toml" ;;
kube-controller-manager) # at the usual 20 requests a second it takes 5 s to get itself ready
  exec kube-controller-manager --kubeconfig "$STATE/users/kube-controller-manager" \
    --service-account-private-key-file sa.key --root-ca-file ca.crt --use-service-account-credentials \
    --leader-elect=false --bind-address 127.0.0.1 --kube-api-qps 500 --kube-api-burst 1000 --flex-volume-plugin-dir "$STATE/kubelet-plugins" ;;
kube-scheduler)
  exec kube-scheduler --kubeconfig "$STATE/users/kube-scheduler" --leader-elect=false --bind-address 127.0.0.1 ;;
kubelet)
  exec kubelet --config "$STATE/config/kubelet.yaml" --kubeconfig "$STATE/users/kubelet" \
    --root-dir "$STATE/kubelet" --hostname-override "$NODE" --node-ip "$NODE_IPS" \
    --tls-cert-file kubelet.crt --tls-private-key-file kubelet.key --cert-dir "$STATE/pki" ;;
kube-proxy) # every conntrack setting 0: the machine's limits are left alone
  exec kube-proxy --kubeconfig "$STATE/users/kube-proxy" --proxy-mode iptables \
    --hostname-override "$NODE" --cluster-cidr "$CLUSTER_CIDR" --kube-api-qps 100 --kube-api-burst 200 \
    --conntrack-max-per-core 0 --conntrack-tcp-timeout-established 0s --conntrack-tcp-timeout-close-wait 0s \
    --healthz-bind-address 127.0.0.1:10256 --metrics-bind-address 127.0.0.1:10249 ;;

# Forwarders: name-in listens on a unix socket and goes to an address of the cluster, name-out listens on a port of the
# machine's loopback and goes to that socket. The mounts are the same, only the network differs.
*-in) target=$(awk -v n="${1%-in}" '$1 == n {print $4; exit}' "$STATE/forwards")
  exec socat "UNIX-LISTEN:$RUN/$1.sock,fork,unlink-early,backlog=128" "TCP:$target,nodelay" ;;
*-in-udp) target=$(awk -v n="${1%-in-udp}" '$1 == n {print $4; exit}' "$STATE/forwards") # type 5, SOCK_SEQPACKET, keeps the borders of datagrams
  exec socat -T 6 "UNIX-LISTEN:$RUN/$1.sock,type=5,fork,unlink-early,backlog=128" "UDP:$target" ;;
*-out) port=$(awk -v n="${1%-out}" '$1 == n {print $3; exit}' "$STATE/forwards")
  outer "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork,backlog=128,nodelay" "UNIX-CONNECT:$RUN/${1%-out}-in.sock" ;;
*-out-udp) port=$(awk -v n="${1%-out-udp}" '$1 == n {print $3; exit}' "$STATE/forwards")
  outer -T 6 "UDP4-RECVFROM:$port,bind=127.0.0.1,fork" "UNIX-CONNECT:$RUN/${1%-out-udp}-in-udp.sock,type=5" ;;
*) die "no daemon $1" ;;
esac
