#!/usr/bin/env bash
# Install what the locked list $2 names into the environment $1, and this checkout in place.
# uv does in seconds what takes pip a minute. It does not read pip's configuration, so where it cannot reach an index,
# or cannot be had at all, pip does the work. The hashes are checked either way.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(dirname "$here")"
python="$1/bin/python"
locked="$2"

# Quiet down to errors, which still show.
with_pip() {
    "$python" -m pip -qq install "$@"
}

have_uv() {
    "$python" -m uv --version >/dev/null 2>&1 || with_pip --require-hashes -r "$root/requirements/uv.txt" >/dev/null 2>&1
}

with_uv() {
    have_uv && "$python" -m uv pip install --quiet --python "$python" "$@" >/dev/null 2>&1
}

install() {
    with_uv "$@" || with_pip "$@"
}

install --require-hashes -r "$locked"
# The list already holds all that it takes to build penstock.
install --no-deps --no-build-isolation --editable "$root"
