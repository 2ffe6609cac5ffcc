#!/usr/bin/env bash
# Install what the full test run uses beyond Python: a browser, a compiler, SimGrid to measure against, Slurm and MUNGE,
# a link that jobs contend for, and MPI.
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
        *) command -v "$1" >/dev/null ;;
    esac
}

purpose() {
    case "$1" in
        chromium) echo "the browser tests of the report" ;;
        gcc) echo "the C loop of the benchmarks" ;;
        g++ | libsimgrid-dev) echo "the SimGrid peer of the benchmarks" ;;
        munge) echo "the tests of campaigns in Slurm jobs, and of identities by MUNGE" ;;
        slurm*) echo "the tests of campaigns in Slurm jobs" ;;
        iproute2 | nginx-light) echo "the controller on a contended link" ;;
        openmpi-bin) echo "the example with MPI" ;;
    esac
}

obstacle="$(apt_obstacle)"
for package in chromium gcc g++ libsimgrid-dev munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins \
    iproute2 nginx-light openmpi-bin; do
    have "$package" && continue
    if [ -n "$obstacle" ]; then
        echo "  $package is missing and not installed: $obstacle; skipped: $(purpose "$package")"
    elif apt_install "$package" 2>/dev/null; then
        echo "  $package installed"
    else
        echo "  $package is missing and apt-get could not install it; skipped: $(purpose "$package")"
    fi
done
