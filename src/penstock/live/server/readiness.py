"""Whether a controller is ready to start: what it would complain of, and how many files it may have open."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from penstock.live.core import Core
from penstock.live.server.config import ServerConfig
from penstock.live.server.listeners import tls_context
from penstock.policies.sharing import find

OWN_FILES = 100  # that are no connections
NEARLY = 0.95  # of the open files that all connections need: less is worth a warning


def check(config: ServerConfig) -> list[str]:
    """What a start with this configuration would complain of, without starting: files, policy, limits. Raises, too."""
    raise_file_limit()
    Core(config.settings(), find(config.sharing), epoch=1, boot=0.0)
    config.site_keys()
    if config.tcp:
        tls_context(config.tcp)
    warnings = warnings_of(config)
    if config.admin_group() is None:
        warnings.append(
            f"there is no group {config.socket.admin_group!r}: only root and the controller's user operate it"
        )
    for folder in (config.journal_folder(), config.socket_path().parent, config.site_path().parent):
        if not os.access(_existing(folder), os.W_OK):
            warnings.append(f"{folder} cannot be written by user {os.geteuid()}")
    return warnings


def _existing(folder: Path) -> Path:
    """The folder, or the one above it that is there."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def warnings_of(config: ServerConfig) -> list[str]:
    """What is odd, and no reason not to start."""
    warnings = []
    if config.tcp and config.tcp.plain:
        warnings.append("TCP is not encrypted: whoever is on the network can read along and take over")
    files, wanted = file_limit(), config.quotas.connections + OWN_FILES
    if files < NEARLY * wanted:
        warnings.append(
            f"{files:,} open files are allowed, and {wanted:,} would be needed for all connections; "
            f"{max(1, files - OWN_FILES):,} connections are taken (LimitNOFILE in the unit, or ulimit -n)"
        )
    if config.first_contact == "open":
        warnings.append("first contact is open: jobs that have not met this controller go unpaced")
    return warnings


def file_limit() -> int:
    """Files that this process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """As many open files as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
