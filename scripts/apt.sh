# Sourced by the other scripts: install Debian packages when we are allowed to, quietly.

# Says in one clause why packages cannot be installed; silent when they can.
apt_obstacle() {
    if ! command -v apt-get >/dev/null; then
        echo "there is no apt-get here"
    elif [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
        echo "that needs root or sudo without a password"
    fi
}

apt_run() {
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"
    else
        sudo -n DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"
    fi
}

apt_updated=""
apt_install() {
    # Package lists may be missing or stale, and a failed refresh may still leave usable ones.
    [ -n "$apt_updated" ] || apt_run update >/dev/null 2>&1 || true
    apt_updated=yes
    apt_run install --no-install-recommends "$@" >/dev/null
}
