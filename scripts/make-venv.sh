#!/usr/bin/env bash
# Make a virtual environment in the folder $1 with the first Python that is new enough.
# PYTHON=/path/to/python chooses one.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/apt.sh"
venv="$1"

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" && echo "$PYTHON"
        return
    fi
    for candidate in python3.11 python3 python3.12 python3.13; do
        if new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

stop() {
    echo "penstock: $1" >&2
    exit 1
}

if ! python="$(find_python)"; then
    [ -z "${PYTHON:-}" ] || stop "PYTHON=$PYTHON is not a Python of version 3.11 or newer; give the path of one that is."
    [ -n "$(apt_obstacle)" ] || apt_install python3 python3-venv || true
    python="$(find_python)" || stop "no Python of version 3.11 or newer was found; install one, or give its path: make PYTHON=/path/to/python3.11 …"
fi

[ ! -e "$venv" ] || stop "$venv is in the way: it is there but holds no working environment; remove it, or give another folder: make VENV=folder …"

# A failed attempt leaves a folder that looks finished to the next one.
make_venv() {
    "$python" -m venv "$venv" >/dev/null 2>&1 || { rm -rf "$venv"; return 1; }
}

# Debian keeps the part of Python that makes environments in a package of its own.
if ! make_venv; then
    version="$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')"
    obstacle="$(apt_obstacle)"
    [ -n "$obstacle" ] || apt_install "$version-venv" || obstacle="apt-get could not install it"
    make_venv || stop "$python cannot make a virtual environment; install the missing part with: apt-get install $version-venv${obstacle:+ ($obstacle)}"
fi
