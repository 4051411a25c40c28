#!/bin/sh
# Installs a release as users do, from a server of this machine, and asks what was installed:
#
#   packaging/try_release.sh DIRECTORY     with all files of the release
set -eu

release=$(cd "$1" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

# Where the script that was made for this release looks, but for the server's name.
version=$(sed -n "s/^VERSION='\(.*\)'$/\1/p" "$release/install.sh")
mkdir -p "$work/served/download"
ln -s "$release" "$work/served/download/v$version"

# The server says on which port, once it listens.
python3 -u -m http.server --bind 127.0.0.1 --directory "$work/served" 0 >"$work/server" 2>"$work/asked" &
server=$!
port=
while [ -z "$port" ]; do
  kill -0 "$server"
  sleep 0.1
  port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server")
done
EXEC_SERVER_RELEASES=http://127.0.0.1:$port
export EXEC_SERVER_RELEASES

curl -fsSL "$EXEC_SERVER_RELEASES/download/v$version/install.sh" | sh -s -- --to "$work/bin"
cd "$work"
said=$(env -i "$work/bin/exec-server" --version)
[ "$said" = "exec-server $version" ]
answer=$(echo '{"id":1,"method":"initialize","params":{"clientName":"try"}}' | env -i "$work/bin/exec-server" --listen stdio)
case $answer in
  '{"id":1,"result":'*) echo "$said answers" ;;
  *)
    echo "it answered: $answer" >&2
    exit 1
    ;;
esac
