#!/usr/bin/env bash
# Install what the full test run uses beyond Python: a browser, a compiler, SimGrid to measure against, Slurm and MUNGE,
# a link that jobs contend for, MPI, programs and compilers that the preloaded library is tried on, and Prometheus' checks.
# None of it is essential, so what cannot be installed is named, and the tests that need it are skipped.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/apt.sh"

have() {
    case "$1" in
        libsimgrid-dev) [ -e /usr/include/simgrid/s4u.hpp ] || [ -e /usr/local/include/simgrid/s4u.hpp ] ;;
        munge) command -v munged >/dev/null ;;
        slurm-client) command -v sbatch >/dev/null ;;
        slurm-wlm-basic-plugins) compgen -G "/usr/lib/*/slurm-wlm/auth_munge.so" >/dev/null ;;
        iproute2) command -v tc >/dev/null ;;
        nginx-light) command -v nginx >/dev/null ;;
        openmpi-bin) command -v mpirun >/dev/null ;;
        libopenmpi-dev) command -v mpicc.openmpi >/dev/null ;;
        libmpich-dev) command -v mpicc.mpich >/dev/null ;;
        mpich) command -v mpiexec.mpich >/dev/null ;;
        libhdf5-dev) command -v h5cc >/dev/null ;;
        musl-tools) command -v musl-gcc >/dev/null ;;
        qemu-user) command -v qemu-aarch64 >/dev/null ;;
        gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc >/dev/null ;;
        libc6-dev-arm64-cross) [ -e /usr/aarch64-linux-gnu/include/stdio.h ] ;;
        libslurm-dev) [ -e /usr/include/slurm/spank.h ] ;;
        prometheus) command -v promtool >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

purpose() {
    case "$1" in
        chromium) echo "the browser tests of reports and of the dashboard" ;;
        gcc) echo "the C loop of the benchmarks, and the library that is preloaded" ;;
        g++ | libsimgrid-dev) echo "the SimGrid peer of the benchmarks" ;;
        munge) echo "the tests of campaigns in Slurm jobs, and of identities by MUNGE" ;;
        slurm*) echo "the tests of campaigns in Slurm jobs, and of the controller beside Slurm" ;;
        lua5.1) echo "loading job_submit.lua before slurmctld does" ;;
        libslurm-dev) echo "compiling the plugin for --io-volume" ;;
        iproute2 | nginx-light) echo "the controller on a contended link" ;;
        openmpi-bin) echo "the example with MPI, and programs that do not ask under Open MPI" ;;
        libopenmpi-dev | mpich | libmpich-dev | libhdf5-dev | gfortran | rsync | fio | musl-tools)
            echo "programs of that kind that do not ask" ;;
        prometheus) echo "promtool's judgement of metrics, rules and alerts" ;;
        qemu-user | *arm64* | *aarch64*) echo "the library that is preloaded, on aarch64" ;;
    esac
}

PACKAGES=(chromium gcc g++ libsimgrid-dev munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins
    lua5.1 libslurm-dev iproute2 nginx-light openmpi-bin
    libopenmpi-dev mpich libmpich-dev libhdf5-dev gfortran rsync fio musl-tools
    qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross prometheus)

missing() {
    for package in "${PACKAGES[@]}"; do
        have "$package" || echo "$package"
    done
}

obstacle="$(apt_obstacle)"
mapfile -t wanted < <(missing)
# All at once is quickest; one that is not to be had fails them all, and then each is tried by itself.
if [ -z "$obstacle" ] && [ "${#wanted[@]}" -gt 1 ]; then
    ! apt_install "${wanted[@]}" 2>/dev/null || echo "  installed: ${wanted[*]}"
fi
mapfile -t wanted < <(missing)
for package in "${wanted[@]}"; do
    if [ -n "$obstacle" ]; then
        echo "  $package is missing and not installed: $obstacle; skipped: $(purpose "$package")"
    elif apt_install "$package" 2>/dev/null; then
        echo "  $package installed"
    else
        echo "  $package is missing and apt-get could not install it; skipped: $(purpose "$package")"
    fi
done
