# An image of the server, made from the sources:
#
#   docker build -t exec-server .
#   docker run --rm -i exec-server                                   one client on standard input and output
#   docker run --rm -p 127.0.0.1:8765:8765 -v ./token:/token:ro exec-server \
#     --listen ws://0.0.0.0:8765 --ws-auth capability-token --ws-token-file /token
#
# Add --sandbox external if the container is sandbox enough: the usual profiles of containers forbid those inside it.
FROM denoland/deno:debian-2.9.6 AS build
WORKDIR /src
COPY . .
RUN deno task compile

FROM debian:trixie-slim
# tini: what programs leave behind when they end needs somebody to wait for it.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates tini \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 1000 user
COPY --from=build /src/dist/exec-server /usr/local/bin/exec-server
COPY --from=build /src/LICENSE /src/dist/THIRD_PARTY_NOTICES.txt /usr/share/doc/exec-server/
# No HEALTHCHECK and no EXPOSE: as it is, it has no port. With --listen ws://… let the orchestrator ask GET /readyz.
USER 1000:1000
WORKDIR /home/user
ENTRYPOINT ["tini", "--", "exec-server"]
CMD ["--listen", "stdio"]
