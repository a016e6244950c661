FROM scratch
COPY contour /bin/contour
ENTRYPOINT ["/bin/contour"]
