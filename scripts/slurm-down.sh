#!/usr/bin/env bash
# Stop what slurm-up.sh has started in the folder $1: its jobs, then its daemons, and nothing else.
set -uo pipefail
folder="$(cd "$1" 2>/dev/null && pwd)" || exit 0
export SLURM_CONF="$folder/slurm.conf"

runs() {
    [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# A number in a file may have become that of another process since.
ours() {
    tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "$folder"
}

stop() {
    local file pid pids=()
    for file in "$@"; do
        pid="$(cat "$file" 2>/dev/null)" || continue
        ours "$pid" && kill "$pid" && pids+=("$pid")
    done
    for pid in "${pids[@]}"; do
        for _ in $(seq 60); do runs "$pid" || break; sleep 0.1; done
        if runs "$pid" && ours "$pid"; then kill -9 "$pid"; fi
    done
}

# What runs a job outlives the daemon of its node.
for job in $(timeout 5 squeue -h -o %A 2>/dev/null); do
    timeout 5 scancel "$job"
done
for _ in $(seq 25); do
    [ -n "$(timeout 5 squeue -h 2>/dev/null)" ] || break
    sleep 0.2
done
stop "$folder"/run/slurmd.*.pid
stop "$folder/run/slurmctld.pid"
stop "$folder/run/munged.pid"
rm -f "$folder/slurm.conf"
