#!/usr/bin/env bash
# A link that jobs really contend for, on this machine: one network namespace for the jobs, one for a file server, and
# between them a pair of interfaces that let only so many bytes pass. The file server is nginx, which stores what it is PUT.
# Every source address 198.18.0.11, .12, … has an equal claim: k busy ones get a k-th each, as a fair file system would do.
# usage: link-up.sh FOLDER [MB_PER_SECOND=50] [ADDRESSES=16]; then
#   ip netns exec $(cat FOLDER/jobs) curl --interface 198.18.0.11 -T file http://198.18.0.2:8080/; link-down.sh FOLDER
# needs root and the Debian packages iproute2 and nginx-light; stored files are in FOLDER, so it is best in memory (/dev/shm)
set -euo pipefail
folder="$1" megabytes="${2:-50}" addresses="${3:-16}"
port=8080 server=198.18.0.2

stop() {
    echo "penstock: $1" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || stop "a link of one's own needs root"
for program in ip tc nginx; do
    command -v "$program" >/dev/null || stop "$program is not on the PATH"
done
[ ! -e "$folder/jobs" ] || stop "$folder holds a link already; take it down with link-down.sh"

mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
mkdir -p "$folder"/{stored,incoming,log}
jobs="penstock-jobs-$$" store="penstock-store-$$"
echo "$jobs" >"$folder/jobs"
echo "$store" >"$folder/store"
ip netns add "$jobs"
ip netns add "$store"
ip link add link0 netns "$jobs" type veth peer name link0 netns "$store"

up() {
    ip -n "$1" addr add "$2/24" dev link0
    ip -n "$1" link set lo up
    ip -n "$1" link set link0 mtu 9000 up # large packets: headers are 0.7 % instead of 4 %, and there are six times fewer
}
up "$jobs" 198.18.0.1
up "$store" "$server"

# One class for each address and one, 1:10, for all else. Each may use the whole link when the others do not.
kilobits=$((megabytes * 8000))
queue=$((megabytes * 20000)) # bytes: what passes in 20 ms
burst=$((megabytes * 10000 > 131072 ? megabytes * 10000 : 131072)) # what may be made up for when a busy kernel looks 10 ms late
{
    echo "qdisc add dev link0 root handle 1: htb default 10"
    echo "class add dev link0 parent 1: classid 1:1 htb rate ${kilobits}kbit burst $burst cburst $burst quantum 60000"
    for class in $(seq 10 $((10 + addresses))); do
        echo "class add dev link0 parent 1:1 classid 1:$class htb rate $((kilobits / (addresses + 1)))kbit" \
            "ceil ${kilobits}kbit burst 65536 cburst $burst quantum 60000"
        echo "qdisc add dev link0 parent 1:$class bfifo limit $((queue > 262144 ? queue : 262144))"
    done
    for class in $(seq 11 $((10 + addresses))); do
        echo "filter add dev link0 parent 1: protocol ip prio 1 u32 match ip src 198.18.0.$class/32 flowid 1:$class"
    done
} | tc -n "$jobs" -batch -
for class in $(seq 11 $((10 + addresses))); do
    ip -n "$jobs" addr add "198.18.0.$class/24" dev link0
done

cat >"$folder/nginx.conf" <<END
daemon off;
user root;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/log/error.log;
events { worker_connections 512; }
http {
    access_log off;
    client_max_body_size 0;
    client_body_temp_path $folder/incoming;
    client_body_buffer_size 256k;
    client_body_timeout 600;
    keepalive_timeout 600;
    keepalive_requests 1000000;
    server {
        listen $server:$port;
        root $folder/stored;
        location / { dav_methods PUT DELETE; }
    }
}
END
# Not as a daemon: it stays in the session of whoever measures, and gets the processor with it.
ip netns exec "$store" nginx -p "$folder" -c "$folder/nginx.conf" </dev/null >"$folder/log/nginx.log" 2>&1 &
for _ in $(seq 100); do
    if ip netns exec "$jobs" bash -c "exec 3<>/dev/tcp/$server/$port" 2>/dev/null; then exit 0; fi
    sleep 0.1
done
stop "nginx has not come up in 10 s; $folder/log says why"
