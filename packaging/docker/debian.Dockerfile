# exec-server in an image of Debian, or of what descends from it. Beside this file lies the program of a release.
# bubblewrap is for sandboxes and may be left out. On arm64 it is exec-server-aarch64-linux-gnu.
FROM debian:trixie-slim
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
COPY --chmod=755 exec-server-x86_64-linux-gnu /usr/local/bin/exec-server
