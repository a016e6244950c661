# Sourced: what the cluster needs of the machine. What is missing is named with its remedy; on Debian as root it is installed.
. "$HERE/packages.sh"
[ "$(uname -s)" = Linux ] || die "this needs Linux. Use a virtual machine"
[ "$(id -u)" = 0 ] || die "root is needed (namespaces, mounts, a kubelet): sudo make ..."

declare -A package=(
  [runc]=runc [/usr/lib/cni/bridge]=containernetworking-plugins [/usr/lib/cni/host-local]=containernetworking-plugins
  [/usr/lib/cni/portmap]=containernetworking-plugins [/usr/lib/cni/loopback]=containernetworking-plugins
  [iptables]=iptables [ip6tables]=iptables [conntrack]=conntrack [ipset]=ipset [ethtool]=ethtool [socat]=socat [buildah]=buildah
  [/bin/busybox]=busybox-static [ip]=iproute2 [ss]=iproute2 [openssl]=openssl [curl]=curl [dig]=bind9-dnsutils [git]=git
  [unshare]=util-linux [nsenter]=util-linux [flock]=util-linux [sysctl]=procps
)
missing() { # as lacking, and only a static busybox can stand alone in an image
  local out=; out=$(lacking package) || true
  [ ! -x /bin/busybox ] || ! ldd /bin/busybox >/dev/null 2>&1 || out+=' busybox-static'
  [ -z "$out" ] || { echo "$out"; return 1; }
}
packages=$(missing) || install_packages "$packages" missing

unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || die "namespaces cannot be created here: CAP_SYS_ADMIN is needed
  (in a container: start it with --privileged --cgroupns=host)"
unshare --net ip link add name probe type bridge 2>/dev/null || die "a bridge cannot be created here: CAP_NET_ADMIN and the kernel's module bridge are needed (modprobe bridge br_netfilter)"
unshare --net iptables -w -t nat -L -n >/dev/null 2>&1 || die "iptables does not work here. Load the kernel's modules ip_tables and iptable_nat (or nf_tables)"
[ -w /sys/fs/cgroup ] || [ -w /sys/fs/cgroup/memory ] || die "/sys/fs/cgroup is read-only, but the kubelet creates cgroups there. In a container, use --privileged"
