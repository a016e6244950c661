# Envoy's binary is linked with glibc: the loader and its libraries come from the building machine.
FROM scratch
COPY envoy /bin/envoy
COPY *.so.* /lib/
COPY ld-linux* /lib64/
ENTRYPOINT ["/bin/envoy"]
