#!/bin/sh
# Makes sure that what the arguments name is installed, and installs only what is missing:
# Debian packages with apt-get as root or through sudo, npm packages by the lock file.
#
#   tools/install.sh node npm emcc
#
# When everything is there, it answers in a few milliseconds. Where it may not install, it names the
# packages and fails. V=1 shows what apt-get and npm say.
set -eu
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }
say() { printf '  %-8s %s\n' "$1" "$2"; }
fail() { printf '%s\n' "$@" >&2; exit 1; }

# Runs a command; its output is shown when it fails, or with V=1.
quietly() {
  if [ -n "${V:-}" ]; then "$@"; return; fi
  mkdir -p build
  "$@" >build/install.log 2>&1 || { tail -n 30 build/install.log >&2; return 1; }
}

clang_runtime() { ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.asan*.a >/dev/null 2>&1; }
clang_runtime_package() {
  if has clang; then echo "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
  else echo libclang-rt-dev; fi
}

missing=''
packages() { missing="$missing $*"; }

npm=''
for need in "$@"; do
  case $need in
    node) has node || packages nodejs ;;
    npm) npm=1; has npm || packages npm ;;
    emcc) has emcc || packages emscripten ;;
    cc) has gcc && [ -e /usr/include/stdio.h ] || packages gcc libc6-dev
        has ar || packages binutils ;;
    clang) has clang || packages clang ;;
    sanitizers) has clang || packages clang
                has clang && clang_runtime || packages "$(clang_runtime_package)" ;;
    clang-format) has clang-format || packages clang-format ;;
    chromium) has chromium || packages chromium ;;
    firefox) has firefox-esr || packages firefox-esr ;;
    chinese) has fc-list && [ -n "$(fc-list :lang=zh-cn)" ] || packages fontconfig fonts-wqy-zenhei ;;
    torch) /usr/bin/python3 -c 'import torch' >/dev/null 2>&1 || packages python3-torch ;;
    *) fail "tools/install.sh: unknown need '$need'" ;;
  esac
done

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ]; then as_root=''
  elif has sudo; then as_root=sudo
  else as_root=none; fi
  if [ "$as_root" = none ] || ! has apt-get; then
    fail "These Debian packages are missing, and installing them needs root or sudo:" \
      "  apt-get install$missing"
  fi
  say apt "$(echo $missing) (this can take some minutes)"
  quietly $as_root apt-get update -q &&
    quietly $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends $missing ||
    fail "Could not install these Debian packages; please install them by hand:" \
      "  apt-get install$missing"
fi

for need in "$@"; do
  [ "$need" = node ] || continue
  major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 18 ] ||
    fail "Node 18 or newer is needed; $(command -v node) is version $(node --version)."
done

if [ -n "$npm" ] && [ -n "$(find package-lock.json -newer node_modules/.stamp 2>/dev/null || echo new)" ]; then
  say npm "packages of package-lock.json"
  quietly npm ci --ignore-scripts --no-audit --no-fund
  touch node_modules/.stamp
fi
