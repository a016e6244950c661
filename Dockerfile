# The context is dist/image, which `make image` stages: the Node.js binary with its libraries and a user, then the bundle.
FROM scratch
COPY rootfs/ /
COPY app/ /app/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "/app/main.js"]
