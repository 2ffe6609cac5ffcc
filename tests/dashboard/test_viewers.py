"""Who looks: by the kernel's word for connections on this host, and nobody otherwise."""

import grp
import os
import pwd
import socket
from contextlib import suppress

import pytest

from machine import can_be_others
from penstock.dashboard.viewers import NOBODY, Viewer, Viewers, owner


@pytest.fixture
def door():
    with socket.create_server(("127.0.0.1", 0)) as door:
        yield door


def ends(link):
    return link.getsockname()[:2], link.getpeername()[:2]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_other_end_of_a_connection_is_known_by_its_user(host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        door = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"this host has no {host}")
    with door, socket.create_connection(door.getsockname()[:2]), door.accept()[0] as link:
        assert owner(*ends(link)) == os.getuid()
        assert Viewers().viewer(*ends(link)) == Viewer(os.getuid(), all_names=True)


@pytest.mark.skipif(not can_be_others(), reason="another user is needed")
def test_another_user_is_another_viewer_and_sees_its_own_names_only(door):
    nobody = pwd.getpwnam("nobody")
    if (child := os.fork()) == 0:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        with suppress(OSError), socket.create_connection(door.getsockname()) as link:
            link.recv(1)
        os._exit(0)
    with door.accept()[0] as link:
        viewer = Viewers().viewer(*ends(link))
        assert viewer == Viewer(nobody.pw_uid, all_names=False)
        assert viewer.may_see(nobody.pw_uid) and not viewer.may_see(0)
        assert Viewers(all_names=True).viewer(*ends(link)).may_see(0)
        assert Viewers(group=grp.getgrgid(nobody.pw_gid).gr_name).viewer(*ends(link)).all_names
        for group in ("root", "no-such-group"):
            assert not Viewers(group=group).viewer(*ends(link)).all_names
    os.waitpid(child, 0)


def test_from_elsewhere_nobody_is_known():
    assert owner(("192.0.2.1", 80), ("192.0.2.2", 4000)) == NOBODY
    assert not Viewers().viewer(("192.0.2.1", 80), ("192.0.2.2", 4000)).may_see(NOBODY)
    assert owner(("127.0.0.1", 1), ("127.0.0.1", 2)) == NOBODY


def test_a_table_that_cannot_be_read_knows_nobody(tmp_path):
    (tmp_path / "tcp").write_text("header\nshort line\n")
    assert owner(("127.0.0.1", 1), ("127.0.0.1", 2), [tmp_path / "missing", tmp_path / "tcp"]) == NOBODY
