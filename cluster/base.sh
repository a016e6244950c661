# Sourced after env.sh: a storage for buildah, and a base image for the Dockerfile where no registry can be reached.

export BUILDAH_ISOLATION=chroot
STORAGE=${STORAGE:-$CACHE/image-storage}
bh() { buildah --root "$STORAGE" --runroot "$STORAGE/run" "$@"; }

# Prints the default of an ARG of the Dockerfile.
dockerfile_arg() { sed -n "s/^ARG $1=//p" "$ROOT/Dockerfile"; }
NODE_VERSION=$(dockerfile_arg NODE_VERSION)
BASE=$(dockerfile_arg BASE)
BASE=${BASE//'${NODE_VERSION}'/$NODE_VERSION}

# The programs that the Dockerfile's stages run, and their libraries.
BASE_PACKAGES="base-files base-passwd bash coreutils dash debianutils diffutils dpkg findutils gcc-12-base grep libacl1 libattr1 libbz2-1.0
  libc-bin libc6 libgcc-s1 libgmp10 liblzma5 libmd0 libpcre2-8-0 libselinux1 libstdc++6 libtinfo6 libzstd1 mawk sed tar zlib1g"
BASE_NPM=11.19.1

# stage_base ARCH FOLDER: writes the stand-in's files: Debian packages with dpkg's database of them, Node.js and npm from the npm registry.
stage_base() {
  local arch=$1 root=$2 apt=$2.apt deb name admin=$2/var/lib/dpkg cpu=${1/amd64/x64} release
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ "$release" = bookworm ] ||
    die "the stand-in for $BASE takes the packages of this machine's apt, which must be those of Debian 12 (bookworm), not '$release'. On other systems, build the image with docker"
  rm -rf "$root" "$apt" || return 1
  mkdir -p "$apt/lists" "$root/usr"/{bin,sbin,lib,lib64} "$root/tmp" "$admin/info" "$admin/updates" || return 1
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name" || return 1; done
  : >"$apt/status" && echo 1 >"$admin/info/format" || return 1
  cat >"$apt/apt.conf" <<END || return 1
APT { Architecture "$arch"; Architectures { "$arch"; }; Sandbox::User "root"; };
Dir { State { lists "$apt/lists"; status "$apt/status"; }; Cache "$apt/cache"; };
END
  (cd "$apt" && apt-get -qq -c apt.conf update && apt-get -qq -c apt.conf download $BASE_PACKAGES) || return 1
  for deb in "$apt"/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$root" --keep-directory-symlink -xf - || return 1
    name=$(dpkg-deb -f "$deb" Package) || return 1
    [ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || name+=:$arch
    dpkg-deb --fsys-tarfile "$deb" | tar -tf - | sed 's|^\.||; s|/$||; s|^$|/.|' >"$admin/info/$name.list" || return 1
    { dpkg-deb -f "$deb" | sed '1a Status: install ok installed' && echo; } >>"$admin/status" || return 1
  done
  ln -sf mawk "$root/usr/bin/awk" || return 1
  cp "$root"/usr/share/base-passwd/passwd.master "$root/etc/passwd" || return 1
  cp "$root"/usr/share/base-passwd/group.master "$root/etc/group" || return 1
  npm pack --silent --pack-destination "$apt" "node-linux-$cpu@$NODE_VERSION" "npm@$BASE_NPM" >/dev/null || return 1
  mkdir -p "$root/usr/local/bin" "$root/usr/local/lib/node_modules/npm" || return 1
  tar -xzf "$apt"/node-linux-*.tgz -C "$root/usr/local" --strip-components=1 package/bin/node package/LICENSE || return 1
  tar -xzf "$apt"/npm-*.tgz -C "$root/usr/local/lib/node_modules/npm" --strip-components=1 || return 1
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm" || return 1
  rm -rf "$apt"
}

# stand_in ARCH...: puts the stand-in for these processors into the storage, under the base image's name, as a manifest list. Its files
# are kept in the cache.
stand_in() {
  local arch key folder lock
  key=$( (declare -f stage_base; echo "$BASE" "$BASE_PACKAGES" $BASE_NPM) | sha256sum | cut -c1-12)
  mkdir -p "$STORAGE" "$CACHE/stand-in"
  [ "$(cat "$STORAGE/stand-in" 2>/dev/null)" != "$key $*" ] || return 0
  exec {lock}>"$CACHE/stand-in/.lock"; flock $lock
  # A process that had the lock before can have built it.
  [ "$(cat "$STORAGE/stand-in" 2>/dev/null)" != "$key $*" ] || { exec {lock}>&-; return 0; }
  say "building a stand-in for the base image $BASE, from Debian packages and the npm package node"
  bh manifest rm "$BASE" >/dev/null 2>&1 || true
  bh manifest create "$BASE" >/dev/null || return 1
  for arch; do
    folder=$CACHE/stand-in/$key-$arch
    [ -d "$folder" ] || { stage_base "$arch" "$folder.new" && mv "$folder.new" "$folder"; } || return 1
    printf '%s\n' 'FROM scratch' 'COPY . /' 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' |
      bh build -q --platform "linux/$arch" --timestamp 0 --manifest "$BASE" -f - "$folder" >/dev/null {lock}>&- || return 1
  done
  echo "$key $*" >"$STORAGE/stand-in"
  exec {lock}>&-
}

# official_base ARCH...: pulls the official base image for these processors.
official_base() {
  local arch
  for arch; do
    timeout 300 buildah --root "$STORAGE" --runroot "$STORAGE/run" pull -q --platform "linux/$arch" "docker.io/library/$BASE" >/dev/null || return 1
  done
}

# release_base ARCH...: puts the base image of a release into the storage, and sets base_name. It is the official image. If that cannot be
# pulled, it is the stand-in, but never on CI (CI is set): a published image always has the official base.
release_base() {
  base_name=$BASE
  ! official_base "$@" || return 0
  [ -z "${CI:-}" ] || die "the base image docker.io/library/$BASE could not be pulled. Run the workflow again when Docker Hub can be reached"
  say "the base image docker.io/library/$BASE could not be pulled. This image gets a stand-in: do not publish it" >&2
  base_name=localhost/stand-in-for-$BASE
  stand_in "$@" || die "the stand-in for $BASE"
}
