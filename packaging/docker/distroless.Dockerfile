# exec-server in an image without a shell or a package manager. It needs the GNU C library and libgcc, so `cc` and not
# `static` or `base`. There is no program for it to run but those that you add: it is for files and HTTP requests then.
# `docker run --rm -i IMAGE --listen stdio` serves one client; with --init as well, if programs of yours start others.
# Without a shell it warns that programs would outlive a server that is killed; the end of the container ends them.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --chmod=755 exec-server-x86_64-linux-gnu /usr/local/bin/exec-server
ENTRYPOINT ["/usr/local/bin/exec-server"]
