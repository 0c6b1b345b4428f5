# Sourced by ./kcheck, ./test and .ci/run: installs what is missing, configures and builds. Everything it says goes to
# stderr, so that reports on stdout stay clean. Needs nothing but git and a Debian 12 base system.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/release

build_packages=(cmake ninja-build g++ clang-19 lld-19 llvm-19-dev libclang-19-dev libz3-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev)
test_packages=(libgtest-dev libgmock-dev libblas3 libclang-rt-19-dev)
lint_packages=(clang-format-19 clang-tidy-19 clang-tools-19)

say() { echo "kcheck: $*" >&2; }

# missing_packages NAME...: those that are not installed
missing_packages() {
  local name
  for name in "$@"; do
    case $(dpkg-query -W -f '${Status}' "$name" 2>/dev/null) in
    *"ok installed") ;;
    *) echo "$name" ;;
    esac
  done
}

# install_packages NAME...: installs the missing ones, or says what to do by hand
install_packages() {
  local missing sudo=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "this system has no apt-get; install the equivalent of these Debian 12 packages: ${missing[*]}"
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "not root and no sudo; have these packages installed: apt-get install ${missing[*]}"
      return 1
    fi
    sudo=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null ||
    { "${sudo[@]}" apt-get update >"$log" 2>&1 </dev/null &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; }; then
    rm -f "$log"
    return 0
  fi
  tail -n 3 "$log" >&2
  rm -f "$log"
  say "could not install them (no network?); install by hand: apt-get install ${missing[*]}"
  return 1
}

# configure WITH_TESTS: makes the build folder once; ON adds the tests
configure() {
  if [ ! -f "$build/build.ninja" ] || ! grep -q "^BUILD_TESTING:BOOL=$1" "$build/CMakeCache.txt"; then
    # A kcheck build never takes the tests out of a folder that has them.
    if [ "$1" = OFF ] && [ -f "$build/build.ninja" ]; then return 0; fi
    local log=$build/configure.log
    mkdir -p "$build"
    if ! (cd "$root" && cmake --preset release -DBUILD_TESTING="$1") >"$log" 2>&1; then
      grep -A6 -m1 "CMake Error" "$log" >&2 || tail -n 5 "$log" >&2
      say "configuring failed; the whole log is $log"
      return 1
    fi
  fi
}

# build_targets NAME...: builds in release mode, with progress on a terminal only
build_targets() {
  local log=$build/build.log
  if [ -t 2 ]; then
    NINJA_STATUS="[%f/%t] " ninja -C "$build" "$@" >&2 || return 1
  elif ! ninja -C "$build" "$@" >"$log" 2>&1; then
    grep -E -m8 "error:|FAILED|ninja:" "$log" >&2 || tail -n 8 "$log" >&2
    say "building failed; the whole log is $log"
    return 1
  fi
}
