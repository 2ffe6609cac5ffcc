"""The agent of a node wakes up when a file appears in a folder: the kernel says so, and nobody has to look again."""

from __future__ import annotations

import ctypes
import os

_MOVED_TO, _CREATED = 0x80, 0x100
_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC


class FolderWatch:
    """A descriptor that can be read when something new is in a folder; -1 if the kernel cannot tell."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._watched = False
        try:
            self.fd: int = self._library.inotify_init1(_NONBLOCK | _CLOEXEC)
        except AttributeError:  # a C library without it
            self.fd = -1

    def watch(self, folder: str) -> bool:
        """Whether the folder is watched now; one that is not there yet can be tried again."""
        if not self._watched and self.fd >= 0:
            mark = self._library.inotify_add_watch(self.fd, os.fsencode(folder), _MOVED_TO | _CREATED)
            self._watched = mark >= 0
        return self._watched
