"""The configuration: a capacity is enough, and what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import PenstockError
from penstock.live.server.config import ServerConfig, load_config, make_config
from penstock.live.server.errors import InvalidConfig


def loaded(tmp_path: Path, text: str) -> ServerConfig:
    file = tmp_path / "penstock.yaml"
    file.write_text(text)
    return load_config(file)


def test_a_capacity_is_enough() -> None:
    config = make_config(capacity="160 GB/s")
    settings = config.settings()
    assert [(each.name, each.capacity) for each in settings.resources] == [("all", 160e9)]
    assert (settings.lease, settings.beat, settings.pace, settings.epsilon, settings.phi) == (
        8.0,
        2.0,
        0.002,
        0.02,
        0.5,
    )
    assert config.auth == ("peer",) and config.tcp is None and config.socket.mode == 0o666
    assert config.socket_path().name == "penstock.sock"
    assert config.journal_folder().name == "penstock"


def test_everything_can_be_said(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        """
resources:
  - {name: scratch-write, capacity: 80 GB/s, target: scratch, direction: write}
  - {name: scratch-read, capacity: 120 GB/s, target: scratch, direction: read}
machine_nodes: 4096
sharing: greedy-yield
lease: 10 s
beat: 2500 ms
reserve: strict
phi: 0.25
socket: {path: /run/x.sock, mode: "0660", admin_path: /run/a.sock, admin_mode: 0600, admin_group: wheel}
tcp: {listen: "[::]:7440", certificate: c.pem, key: k.pem, client_ca: ca.pem}
auth: [peer, hmac, munge]
keys: {a: /etc/key-a}
hook_uids: [64030]
journal: {directory: /var/lib/penstock, durability: sync, keep: 2 d, keep_bytes: 1 GiB}
quotas: {connections: 5000, frames_per_second: 100}
metrics_port: 9108
log: {file: /var/log/penstock.log, level: warning}
""",
    )
    settings = config.settings()
    assert [(each.target, each.direction) for each in settings.resources] == [("scratch", "write"), ("scratch", "read")]
    assert (settings.machine_nodes, settings.lease, settings.beat, settings.reserve) == (4096, 10.0, 2.5, "strict")
    assert (config.socket.mode, config.socket.admin_mode) == (0o660, 0o600)
    assert config.retention().seconds == 2 * 86_400
    assert config.quotas.connections == 5000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs either a capacity"),
        ("capacity: 0", r"penstock.yaml:1: capacity is 0; a bandwidth is a number > 0"),
        ("capacity: 10 Gb/s", "gigabits"),
        ("capacity: 1 GB/s\nresources: [{name: a, capacity: 1}]", "needs either a capacity"),
        (
            "capacity: 1 GB/s\nleese: 8",
            r"penstock.yaml:2: the document has an unknown key 'leese'; did you mean 'lease'\?",
        ),
        (
            "capacity: 1 GB/s\nlease: 1\nbeat: 2",
            r"penstock.yaml:3: beat is 2 s; it is above 0 and at most half of the lease",
        ),
        ("capacity: 1 GB/s\nphi: 0", "phi is 0"),
        ("capacity: 1 GB/s\nphi: 2", "a number from 0 to"),
        ("capacity: 1 GB/s\nauth: [password]", r"auth\[0\] is 'password'; accepted: peer, munge, hmac"),
        ("capacity: 1 GB/s\nauth: []", "auth is empty"),
        ("capacity: 1 GB/s\nauth: [hmac]", "keys are missing"),
        ("capacity: 1 GB/s\ntcp: {listen: 7440}", "tcp.listen is 7440; expected an address and a port"),
        ("capacity: 1 GB/s\ntcp: {listen: 'a:99999', plain: true}\nauth: [munge]", "expected an address and a port"),
        (
            "capacity: 1 GB/s\ntcp: {listen: 'a:1'}\nauth: [munge]",
            "tcp needs a certificate and its key, or `plain: true`",
        ),
        ("capacity: 1 GB/s\ntcp: {listen: 'a:1', plain: true}", "nobody can show over TCP"),
        ("capacity: 1 GB/s\ntcp: {listen: 'a:1', plain: 1}\nauth: [munge]", "tcp.plain is 1; accepted: true, false"),
        ("capacity: 1 GB/s\nsocket: {mode: rw}", 'three octal digits, such as "0660"'),
        ("capacity: 1 GB/s\njournal: {durability: never}", "accepted: write, sync"),
        ("capacity: 1 GB/s\nlog: {level: loud}", "accepted: debug, info, warning, error"),
        ("capacity: 1 GB/s\nmetrics_port: 70000", "a port is a number from 1 to 65535"),
        ("resources: [{name: a, capacity: 1}, {name: a, capacity: 2}]", "which is there twice"),
        ("resources: [{name: a, capacity: 1, direction: up}]", "accepted: read, write"),
        ("- 1", "is a list; expected a mapping"),
        ("capacity: [", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidConfig, match=said) as caught:
        loaded(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="no such file"):
        load_config(tmp_path / "nowhere.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(InvalidConfig, match="UTF-8"):
        load_config(tmp_path / "binary.yaml")
    (tmp_path / "big.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(InvalidConfig, match="a configuration is a small file"):
        load_config(tmp_path / "big.yaml")


def test_options_are_refused_like_files() -> None:
    with pytest.raises(PenstockError, match="the options: capacity is '10 Mbit/s'"):
        make_config(capacity="10 Mbit/s")
