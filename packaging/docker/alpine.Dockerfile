# exec-server in an image of Alpine, whose C library, musl, it cannot use (nor with gcompat): the GNU one is put where
# only programs made for it look, and Alpine's own go on with musl. On arm64 the names are
# exec-server-aarch64-linux-gnu, aarch64-linux-gnu, and /lib/ld-linux-aarch64.so.1 for the first file.
FROM alpine:3.22
COPY --from=debian:trixie-slim /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 /lib64/
COPY --from=debian:trixie-slim \
  /usr/lib/x86_64-linux-gnu/libc.so.6 \
  /usr/lib/x86_64-linux-gnu/libdl.so.2 \
  /usr/lib/x86_64-linux-gnu/libgcc_s.so.1 \
  /usr/lib/x86_64-linux-gnu/libm.so.6 \
  /usr/lib/x86_64-linux-gnu/libpthread.so.0 \
  /usr/lib/x86_64-linux-gnu/librt.so.1 \
  /usr/lib/x86_64-linux-gnu/
COPY --chmod=755 exec-server-x86_64-linux-gnu /usr/local/bin/exec-server
