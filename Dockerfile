# The image of Doorplate, for docker, podman and buildah: `docker buildx build .` needs the checkout alone. Another processor's image
# needs no emulation: each RUN executes programs of the building machine. `make image` and `make release` replace the stages `bundle`
# and `rootfs` by folders with the same contents (--build-context), which takes seconds.
ARG NODE_VERSION=24.21.0
ARG BASE=node:${NODE_VERSION}-bookworm-slim

FROM $BASE AS target
WORKDIR /

# The bundle is JavaScript, the same for each processor. Nothing that a package brings is run before the bundle.
FROM --platform=$BUILDPLATFORM $BASE AS packages
WORKDIR /src
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

FROM packages AS bundle
COPY . .
RUN cluster/bundle.sh /app

FROM --platform=$BUILDPLATFORM $BASE AS rootfs
COPY --from=target / /target/
COPY cluster/rootfs.sh /
RUN sh /rootfs.sh /target /rootfs

FROM scratch
COPY --from=rootfs /rootfs/ /
COPY --from=bundle /app/ /app/
ARG BASE VERSION= SOURCE= REVISION=
LABEL org.opencontainers.image.title=doorplate \
      org.opencontainers.image.description="Lets a platform's customers bring their own domains" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.source=$SOURCE \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.base.name=$BASE
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "/app/main.js"]
