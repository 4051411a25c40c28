#!/bin/sh
# Installs exec-server, or brings it up to date: fetches the program for this machine from a release, compares its
# SHA-256 sum, tries it and only then puts it in its place, in one step. Changes nothing else, and needs no root.
#
#   sh install.sh [--to DIRECTORY] [--version VERSION]
#
#   --to DIRECTORY      where the program goes; else EXEC_SERVER_INSTALL_DIR, else /usr/local/bin for root and
#                       ~/.local/bin for everybody else
#   --version VERSION   of which release; else the one that this script came with
#
# EXEC_SERVER_RELEASES names another place that holds download/vVERSION/FILE, such as a mirror (https, or this machine).
set -eu

# Both are written by the workflow that makes a release. In the sources nobody knows them.
RELEASES='@RELEASES@'
VERSION='@VERSION@'

# What the runtime inside asks for. Source: the newest symbol version that its executables name, GLIBC_2.27.
GLIBC_MAJOR=2
GLIBC_MINOR=27

fail() {
  echo "install: $*" >&2
  exit 1
}

# Nothing happens before the last line of the script has arrived.
main() {
  releases=${EXEC_SERVER_RELEASES:-$RELEASES}
  version=$VERSION
  directory=${EXEC_SERVER_INSTALL_DIR:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --version)
        [ -n "${2:-}" ] || fail "$1 needs a value"
        if [ "$1" = --to ]; then directory=$2; else version=${2#v}; fi
        shift 2
        ;;
      *) fail "unexpected argument '$1' (there are --to DIRECTORY and --version VERSION)" ;;
    esac
  done
  case $releases in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    @*) fail "this copy belongs to the sources and knows no release: take the one of a release, or set EXEC_SERVER_RELEASES" ;;
    *) fail "EXEC_SERVER_RELEASES has to be an https address, and is '$releases'" ;;
  esac
  case $version in
    @*) fail "which release? Say --version VERSION" ;;
    *[!0-9A-Za-z.+-]*) fail "'$version' is no version" ;;
  esac
  program=$(program_name)
  if [ -z "$directory" ]; then directory=$(usual_directory); fi
  install_program
}

# The name of the file for this machine.
program_name() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux | Darwin) ;;
    MINGW* | MSYS* | CYGWIN*) fail "this script is not for Windows: download the .exe of the release $version by hand" ;;
    *) fail "there is no exec-server for $system, only for Linux, macOS and Windows" ;;
  esac
  case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no exec-server for $machine machines, only for x86_64 and aarch64" ;;
  esac
  if [ "$system" = Darwin ]; then
    # A shell that is being translated calls an arm64 machine x86_64.
    if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then machine=aarch64; fi
    echo "exec-server-$machine-apple-darwin"
    return
  fi
  if [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 32 ]; then
    fail "the programs of this system are 32-bit ones, and exec-server is a 64-bit one"
  fi
  require_glibc
  echo "exec-server-$machine-linux-gnu"
}

require_glibc() {
  needed="exec-server needs the GNU C library (glibc) $GLIBC_MAJOR.$GLIBC_MINOR or newer"
  # "glibc 2.36"
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
  if [ -z "$found" ]; then
    # The GNU one ends its first line with the version: "ldd (Debian GLIBC 2.36-9) 2.36". That of musl says who it is.
    found=$(ldd --version 2>&1 || true)
    found=${found%%
*}
    case $found in
      *musl*) fail "$needed, and the one of this system is musl, as on Alpine" ;;
      *GLIBC* | *"GNU libc"* | *"GNU C Library"*) ;;
      *) fail "$needed, and this system has none that getconf or ldd could tell the version of" ;;
    esac
  fi
  libc_version=${found##* }
  major=${libc_version%%.*}
  minor=${libc_version#*.}
  minor=${minor%%[!0-9]*}
  case $major:$minor in
    *[!0-9:]* | :* | *:) fail "$needed, and this system says of its own '$found'" ;;
  esac
  if [ "$major" -lt $GLIBC_MAJOR ] || { [ "$major" -eq $GLIBC_MAJOR ] && [ "$minor" -lt $GLIBC_MINOR ]; }; then
    fail "$needed, and the one of this system is $libc_version"
  fi
}

usual_directory() {
  if [ "$(id -u)" = 0 ]; then
    echo /usr/local/bin
  elif [ -n "${HOME:-}" ]; then
    echo "$HOME/.local/bin"
  else
    fail "HOME is not set: say where to install with --to DIRECTORY"
  fi
}

install_program() {
  target=$directory/exec-server
  [ ! -d "$target" ] || fail "$target is a directory"
  mkdir -p "$directory" 2>/dev/null || fail "cannot make $directory: say where to install with --to DIRECTORY"
  # Beside its target, for the last step is a rename; and where it can be run if the target can.
  work=$(mktemp -d "$directory/.exec-server-install.XXXXXX" 2>/dev/null) ||
    fail "cannot write to $directory: say where to install with --to DIRECTORY"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  from=$releases/download/v$version
  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  expected=$(listed_sum "$program" <"$work/SHA256SUMS")
  [ -n "$expected" ] || fail "the release $version has no $program"
  download "$from/$program" "$work/exec-server"
  actual=$(sum_of "$work/exec-server")
  [ "$actual" = "$expected" ] ||
    fail "$from/$program is not what SHA256SUMS says: its sum is $actual and not $expected"

  chmod 755 "$work/exec-server"
  if ! said=$("$work/exec-server" --version 2>&1); then
    fail "the program does not run in $directory: ${said%%
*}"
  fi
  [ "$said" = "exec-server $version" ] || fail "the program of the release $version says that it is '$said'"
  mv -f "$work/exec-server" "$target" || fail "cannot replace $target"
  echo "$said is installed: $target"
  case :${PATH:-}: in
    *":$directory:"*) ;;
    *) echo "$directory is not on your PATH" ;;
  esac
}

download() {
  # A wget that is not GNU's may not look at certificates.
  if command -v curl >/dev/null 2>&1; then
    case $1 in
      https://*) set -- "$1" "$2" --proto =https --tlsv1.2 ;;
    esac
    address=$1
    file=$2
    shift 2
    said=$(curl --fail --silent --show-error --location --retry 3 --connect-timeout 30 "$@" \
      --output "$file" "$address" 2>&1) || fail "cannot download $address: ${said%%
*}"
  elif wget --version 2>/dev/null | grep -q '^GNU Wget'; then
    wget --quiet --tries=3 --timeout=60 --output-document="$2" "$1" || fail "cannot download $1"
  else
    fail "curl is needed to download, or GNU wget"
  fi
}

# The sum that a list on the standard input has for a file.
listed_sum() {
  while read -r sum name; do
    if [ "${name#\*}" = "$1" ]; then
      echo "$sum"
      return
    fi
  done
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sum=$(sha256sum "$1")
  elif command -v shasum >/dev/null 2>&1; then
    sum=$(shasum -a 256 "$1")
  else
    fail "sha256sum or shasum is needed to verify what was downloaded"
  fi
  echo "${sum%% *}"
}

main "$@"
