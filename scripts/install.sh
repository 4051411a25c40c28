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

# All of it stands in one pair of braces: of a script that did not arrive whole no shell runs anything.
{
set -eu
# Ranges of letters are those of ASCII, and what commands say is what is looked for.
LC_ALL=C
export LC_ALL

# Both are written by the workflow that makes a release. In the sources nobody knows them.
RELEASES='@RELEASES@'
VERSION='@VERSION@'

# What the runtime inside asks for. Source: the newest symbol version that its executables name, GLIBC_2.27.
GLIBC_MAJOR=2
GLIBC_MINOR=27

NEWLINE='
'
# What is made on the way, and does not stay.
work=

# Not echo, which in some shells takes backslashes for more than they are.
say() {
  printf '%s\n' "$*"
}

fail() {
  say "install: $*" >&2
  exit 1
}

main() {
  releases=${EXEC_SERVER_RELEASES:-$RELEASES}
  releases=${releases%/}
  version=$VERSION
  directory=${EXEC_SERVER_INSTALL_DIR:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --version)
        [ -n "${2:-}" ] || fail "$1 needs a value"
        if [ "$1" = --to ]; then directory=$2; else version=${2#v}; fi
        shift 2
        ;;
      --help | -h)
        say "usage: install.sh [--to DIRECTORY] [--version VERSION]"
        exit
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
  downloader=$(find_downloader)
  summer=$(find_summer)
  if [ -z "$directory" ]; then directory=$(usual_directory); fi
  # As it would stand in the PATH.
  while [ "$directory" != / ] && [ "${directory%/}" != "$directory" ]; do directory=${directory%/}; done
  case $directory in
    /*) ;;
    *) directory=$(pwd)/$directory ;;
  esac
  install_program
}

# The name of the file for this machine.
program_name() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux | Darwin) ;;
    MINGW* | MSYS* | CYGWIN* | Windows*)
      fail "this script is not for Windows: download the .exe of the release $version by hand"
      ;;
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
    say "exec-server-$machine-apple-darwin"
    return
  fi
  if [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 32 ]; then
    fail "the programs of this system are 32-bit ones, and exec-server is a 64-bit one"
  fi
  require_glibc
  say "exec-server-$machine-linux-gnu"
}

require_glibc() {
  needed="exec-server needs the GNU C library (glibc) $GLIBC_MAJOR.$GLIBC_MINOR or newer"
  # "glibc 2.36". Other C libraries have a getconf as well, that answers "undefined" or nothing.
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
  case $found in
    glibc*) ;;
    *)
      # The GNU one ends its first line with the version: "ldd (Debian GLIBC 2.36-9) 2.36". That of musl says who it is.
      found=$(ldd --version 2>&1 || true)
      found=${found%%"$NEWLINE"*}
      case $found in
        *musl*) fail "$needed, and the one of this system is musl, as on Alpine" ;;
        *GLIBC* | *"GNU libc"* | *"GNU C Library"*) ;;
        *) fail "$needed, and this system has none that getconf or ldd could tell the version of" ;;
      esac
      ;;
  esac
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

has() {
  command -v "$1" >/dev/null 2>&1
}

find_downloader() {
  # A wget that is not GNU's may not look at certificates.
  if has curl; then
    say curl
  elif wget --version 2>/dev/null | grep -q '^GNU Wget'; then
    say wget
  else
    fail "curl is needed to download, or GNU wget"
  fi
}

find_summer() {
  for name in sha256sum shasum openssl; do
    if has "$name"; then
      say "$name"
      return
    fi
  done
  fail "sha256sum, shasum or openssl is needed to verify what is downloaded"
}

usual_directory() {
  if [ "$(id -u)" = 0 ]; then
    say /usr/local/bin
  elif [ -n "${HOME:-}" ]; then
    say "$HOME/.local/bin"
  else
    fail "HOME is not set: say where to install with --to DIRECTORY"
  fi
}

install_program() {
  target=$directory/exec-server
  [ ! -d "$target" ] || fail "$target is a directory"
  mkdir -p -- "$directory" 2>/dev/null || fail "cannot make $directory: say where to install with --to DIRECTORY"
  trap '[ -z "$work" ] || rm -rf "$work"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  # Beside its target, for the last step is a rename; and where it can be run if the target can.
  work=$(mktemp -d "$directory/.exec-server-install.XXXXXX" 2>/dev/null) ||
    fail "cannot write to $directory: say where to install with --to DIRECTORY"

  from=$releases/download/v$version
  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  expected=$(listed_sum "$program" <"$work/SHA256SUMS")
  case $expected in
    '') fail "the release $version has no $program" ;;
    '?') fail "$from/SHA256SUMS is no list of sums: something else answers there" ;;
  esac
  say "downloading $from/$program"
  download "$from/$program" "$work/exec-server"
  actual=$(sum_of "$work/exec-server")
  [ "$actual" = "$expected" ] ||
    fail "$from/$program is not what SHA256SUMS says: its sum is $actual and not $expected"

  chmod 755 "$work/exec-server"
  # What the shell that cannot run it says begins with where that stands in the script.
  if ! said=$("$work/exec-server" --version 2>&1 </dev/null); then
    said=${said%%"$NEWLINE"*}
    fail "the program does not run in $directory: ${said##*"$work/exec-server: "}"
  fi
  said=${said%%"$NEWLINE"*}
  [ "$said" = "exec-server $version" ] || fail "the program of the release $version says that it is '$said'"
  mv -f "$work/exec-server" "$target" || fail "cannot replace $target"
  say "$said is installed: $target"
  case $program in
    *-darwin) say "on macOS it is a preview" ;;
  esac
  case :${PATH:-}: in
    *":$directory:"*)
      first=$(command -v exec-server || true)
      [ "$first" = "$target" ] || say "but the exec-server that comes first on your PATH is $first"
      ;;
    *) say "$directory is not on your PATH: export PATH=\"$directory:\$PATH\"" ;;
  esac
}

# download ADDRESS FILE
download() {
  address=$1
  file=$2
  if [ "$downloader" = curl ]; then
    set -- --fail --silent --show-error --location --globoff --retry 3 --connect-timeout 30
    case $address in
      https://*) set -- "$@" --proto =https --tlsv1.2 ;;
    esac
    # It is the shell that opens the file: a curl that is a snap sees no hidden directories.
    said=$(curl "$@" "$address" 2>&1 >"$file") || fail "cannot download $address: ${said%%"$NEWLINE"*}"
  else
    # What was wrong stands last.
    said=$(wget --no-verbose --tries=3 --timeout=60 --output-document="$file" "$address" 2>&1) ||
      fail "cannot download $address: ${said##*"$NEWLINE"}"
  fi
}

# The sum that a list on the standard input has for a file; nothing if it has none, and '?' if it is no such list.
listed_sum() {
  while read -r sum name || [ -n "$sum" ]; do
    case $sum in
      *[!0-9a-f]*) sum= ;;
    esac
    if [ ${#sum} != 64 ]; then
      say '?'
      return
    fi
    if [ "${name#\*}" = "$1" ]; then
      say "$sum"
      return
    fi
  done
}

# Of the content alone: with a name some write a sum in another way.
sum_of() {
  case $summer in
    sha256sum) sum=$(sha256sum <"$1") ;;
    shasum) sum=$(shasum -a 256 <"$1") ;;
    openssl) sum=$(openssl dgst -sha256 -r <"$1") ;;
  esac
  say "${sum%% *}"
}

main "$@"
exit
}
