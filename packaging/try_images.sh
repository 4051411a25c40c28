#!/bin/sh
# Builds the image of the Dockerfile, and those of the recipes with its program, and asks the server in each to run
# something. The recipes are written for x86_64; this needs docker.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
container=
trap '[ -z "$container" ] || docker rm --force "$container" >/dev/null; rm -rf "$work"' EXIT

# Asks for a directory, and for the one program that all of them have, and keeps the input open until its end is told, or for 30 s.
ask() {
  printf '%s\n' '{"id":1,"method":"initialize","params":{"clientName":"images"}}' '{"method":"initialized"}' \
    '{"id":3,"method":"fs/readDirectory","params":{"path":"file:///usr/local/bin"}}' \
    '{"id":2,"method":"process/start","params":{"processId":"p","argv":["/usr/local/bin/exec-server","--version"],"cwd":"file:///","env":{},"tty":false}}'
  rounds=0
  while [ $rounds -lt 60 ] && ! grep -q -e '"process/closed"' -e '"error"' "$work/said"; do
    sleep 0.5
    rounds=$((rounds + 1))
  done
}

# answers NAME COMMAND…: whether a server finds that program, and says what it wrote.
answers() {
  name=$1
  shift
  : >"$work/said"
  ask | "$@" >"$work/said" || true
  if ! grep -q '^{"id":3,.*"fileName":"exec-server"' "$work/said" ||
    ! grep -q "\"chunk\":\"$(printf 'exec-server %s\n' "$version" | base64)\"" "$work/said"; then
    echo "$name does not answer as it should:" >&2
    cat "$work/said" >&2
    exit 1
  fi
  echo "$name answers"
}

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' deno.json)
docker build --tag exec-server .
answers Dockerfile docker run --rm --interactive exec-server

program=$work/exec-server-x86_64-linux-gnu
container=$(docker create exec-server)
docker cp "$container:/usr/local/bin/exec-server" "$program"
for recipe in debian distroless alpine; do
  docker build --tag "exec-server-$recipe" --file "packaging/docker/$recipe.Dockerfile" "$work"
  answers "$recipe" docker run --rm --interactive --entrypoint /usr/local/bin/exec-server "exec-server-$recipe" --listen stdio
done

# The oldest C library that install.sh lets pass, and the next.
for image in ubuntu:18.04 debian:10; do
  docker pull --quiet "$image"
  answers "$image" docker run --rm --interactive --volume "$program:/usr/local/bin/exec-server:ro" "$image" \
    /usr/local/bin/exec-server --listen stdio
done
