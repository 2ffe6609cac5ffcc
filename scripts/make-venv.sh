#!/usr/bin/env bash
# Make a virtual environment in the folder $1 with the first Python that is new enough and can.
# PYTHON=/path/to/python chooses one.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/apt.sh"
venv="$1"

# Isolated: a site's modules may have set PYTHONPATH or PYTHONHOME for another Python.
new_enough() {
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# One in each line: their paths may have spaces.
pythons() {
    local candidate candidates=(python3.11 python3 python3.12 python3.13)
    [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
    for candidate in "${candidates[@]}"; do
        ! new_enough "$candidate" || echo "$candidate"
    done
}

stop() {
    echo "penstock: $1" >&2
    exit 1
}

# A failed attempt leaves a folder that looks finished to the next one.
make_venv() {
    "$1" -I -m venv "$venv" >/dev/null 2>&1 || { rm -rf "$venv"; return 1; }
}

make_with_any() {
    local python
    while IFS= read -r python; do
        ! make_venv "$python" || return 0
    done <<<"$(pythons)"
    return 1
}

if [ -z "$(pythons)" ]; then
    [ -z "${PYTHON:-}" ] || stop "PYTHON=$PYTHON is not a Python of version 3.11 or newer; give the path of one that is."
    [ -n "$(apt_obstacle)" ] || apt_install python3 python3-venv || true
    [ -n "$(pythons)" ] || stop "no Python of version 3.11 or newer was found; install one, or give its path: make PYTHON=/path/to/python3.11 …"
fi

[ ! -e "$venv" ] || stop "$venv is in the way: it is there but holds no working environment; remove it, or give another folder: make VENV=folder …"

# Debian keeps the part of Python that makes environments in a package of its own.
if ! make_with_any; then
    python="$(pythons | head -n 1)"
    version="$("$python" -I -c 'import sys; print("python%d.%d" % sys.version_info[:2])')"
    obstacle="$(apt_obstacle)"
    [ -n "$obstacle" ] || apt_install "$version-venv" || obstacle="apt-get could not install it"
    make_venv "$python" || stop "$python cannot make a virtual environment; install the missing part with: apt-get install $version-venv${obstacle:+ ($obstacle)}"
fi
