#!/usr/bin/env bash
# Every wheel that penstock and its extras need, for machines without a network: scripts/wheelhouse.sh DIR
# PYTHON_VERSION=3.12 takes those for another Python than this one; versions are those of requirements/run.txt.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
folder=${1:?give the folder to fill, as in scripts/wheelhouse.sh wheelhouse}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

"$python" -m build --wheel --no-isolation --outdir "$folder" "$root" >/dev/null
"$python" -m pip download --quiet --disable-pip-version-check --dest "$folder" --only-binary=:all: \
    ${PYTHON_VERSION:+--python-version "$PYTHON_VERSION"} --no-deps --require-hashes -r "$root/requirements/run.txt"
echo "$(find "$folder" -name '*.whl' | wc -l) wheels, $(du -sh "$folder" | cut -f1). On the other machine:"
echo "    pip install --no-index --find-links $(basename "$folder") 'penstock[all]'"
