#!/bin/sh
# @NAME@: @WHAT@
# Made by `penstock slurm files`. It leaves one small file for `@READER@`, uses no network and always
# exits with 0: a hook that fails would drain a node or hold a job.
spool=@SPOOL@
PATH=/usr/bin:/bin

# What users choose is taken only if it is a word.
word() {
    case $1 in
        *[!A-Za-z0-9_.@:+-]*) return 1 ;;
    esac
}

{
    account=${SLURM_JOB_ACCOUNT-}
    word "$account" || account=
    user=${SLURM_JOB_USER-}
    word "$user" || user=
    volume=${SPANK_PENSTOCK_VOLUME-}
    case ${SLURM_JOB_COMMENT-} in
        *io-volume=*)
            volume=${SLURM_JOB_COMMENT##*io-volume=}
            volume=${volume%%[!A-Za-z0-9.]*}
            ;;
    esac
    word "$volume" || volume=
    umask 077
    restart=${SLURM_JOB_RESTART_COUNT-}
@LIFE@    if [ -d "$spool" ] && read -r boot </proc/sys/kernel/random/boot_id && read -r uptime rest </proc/uptime; then
        printf '%s=%s\n' \
            kind "@KIND@" \
            job "${SLURM_JOB_ID-}" \
            restart "$restart" \
            uid "${SLURM_JOB_UID-}" \
            gid "${SLURM_JOB_GID-}" \
            user "$user" \
            account "$account" \
            node "${SLURMD_NODENAME-}" \
            node_list "${SLURM_JOB_NODELIST-${SLURM_NODELIST-}}" \
            nodes "${SLURM_JOB_NUM_NODES-}" \
            ends "${SLURM_JOB_END_TIME-}" \
            volume "$volume" \
            >"$spool/.$$" &&
            mv "$spool/.$$" "$spool/${boot%%-*}.$uptime.$$"
    fi
@AFTER@} >/dev/null 2>&1
exit 0
