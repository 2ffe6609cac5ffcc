#!/usr/bin/env bash
# Start a small Slurm of our own on this machine, for tests: an authentication daemon, a controller and N nodes.
# Everything it writes is in the folder $1; a Slurm that this machine is part of is neither used nor touched.
# usage: slurm-up.sh FOLDER [NODES=3] [CORES_PER_NODE=2] [LINES]; LINES is a file whose lines slurm.conf gets, too
# then: SLURM_CONF=FOLDER/slurm.conf squeue; slurm-down.sh FOLDER
# needs root and the Debian packages munge, slurmctld, slurmd, slurm-client and slurm-wlm-basic-plugins
set -euo pipefail
folder="$1" nodes="${2:-3}" cores="${3:-2}" lines="${4:-}"

stop() {
    echo "penstock: $1" >&2
    exit 1
}

# Daemons of two tests at once, or of a real Slurm, must not meet.
free_ports() {
    python3 - "$1" <<'PYTHON'
import socket, sys
held = []
for _ in range(int(sys.argv[1])):
    one = socket.socket()
    one.bind(("127.0.0.1", 0))
    held.append(one)
print(*(one.getsockname()[1] for one in held))
PYTHON
}

[ "$(id -u)" -eq 0 ] || stop "a Slurm of one's own needs root"
for program in munged slurmctld slurmd sinfo; do
    command -v "$program" >/dev/null || stop "$program is not on the PATH"
done
[ ! -e "$folder/slurm.conf" ] || stop "$folder holds a Slurm already; stop it with slurm-down.sh"

mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
mkdir -p "$folder"/{run,log,state,spool}
chmod 755 "$folder" "$folder"/*

(umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
munged --force --key-file="$folder/munge.key" --seed-file="$folder/munge.seed" --socket="$folder/run/munge.socket" \
    --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged.log" 2>>"$folder/log/munged.err"

read -r -a ports <<<"$(free_ports $((nodes + 1)))"
host="$(hostname -s)"
cat >"$folder/slurm.conf" <<END
ClusterName=penstock
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=1
ReturnToService=2
KillWait=10
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
END
[ -z "$lines" ] || cat "$lines" >>"$folder/slurm.conf"
for node in $(seq "$nodes"); do
    mkdir -p "$folder/spool/n$node"
    echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[$node]} CPUs=$cores SocketsPerBoard=1" \
        "CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN" >>"$folder/slurm.conf"
done
echo "PartitionName=batch Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP" >>"$folder/slurm.conf"

export SLURM_CONF="$folder/slurm.conf"
slurmctld -f "$SLURM_CONF" 2>>"$folder/log/slurmctld.err"
for node in $(seq "$nodes"); do
    slurmd -f "$SLURM_CONF" -N "n$node" 2>>"$folder/log/slurmd.err"
done

for _ in $(seq 150); do
    idle="$(timeout 5 sinfo -h -N -o '%t' 2>/dev/null | grep -c '^idle$' || true)"
    [ "$idle" != "$nodes" ] || exit 0
    sleep 0.2
done
stop "Slurm has not come up in 30 s ($idle of $nodes nodes are idle); $folder/log says why"
