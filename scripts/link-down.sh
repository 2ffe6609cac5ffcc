#!/usr/bin/env bash
# Take down what link-up.sh has put up for the folder $1: its file server, then its two namespaces, with all that was stored.
set -uo pipefail
folder="$(cd "$1" 2>/dev/null && pwd)" || exit 0
[ -e "$folder/jobs" ] || exit 0

# A number in a file may have become that of another process since.
ours() {
    tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "$folder/nginx.conf"
}

if pid="$(cat "$folder/nginx.pid" 2>/dev/null)" && ours "$pid"; then
    kill "$pid"
    for _ in $(seq 50); do ours "$pid" || break; sleep 0.1; done
    if ours "$pid"; then kill -9 "$pid"; fi
fi
for namespace in "$(cat "$folder/jobs")" "$(cat "$folder/store")"; do
    ip netns del "$namespace" 2>/dev/null
done
rm -rf "$folder"/{stored,incoming,nginx.conf,nginx.pid,jobs,store}
