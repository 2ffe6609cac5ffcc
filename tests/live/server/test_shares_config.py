from __future__ import annotations

import pytest

from penstock.errors import PenstockError
from penstock.live.core.shares import Share
from penstock.live.server.config import make_config


def test_no_shares_and_equal_shares() -> None:
    assert make_config(capacity=1).settings().shares is None
    assert make_config(capacity=1, shares={}).settings().shares == (Share(""),)


def test_accounts_and_users() -> None:
    users = {"root": {"share": 2}, "1007": {"limit": "1 MB/s"}}
    config = make_config(capacity=1, shares={"accounts": {"physics": {"share": 3, "limit": "5 MB/s", "users": users}}})
    assert config.settings().shares == (
        Share(""), Share("physics", None, 3.0, 5e6), Share("physics", 0, 2.0), Share("physics", 1007, 1.0, 1e6)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"accounts": {"a": {"share": 0}}}, "share"),
        ({"users": {"nobody-of-that-name": {}}}, "no user named 'nobody-of-that-name'"),
        ({"groups": {}}, "groups"),
    ],
)
def test_what_is_no_share(shares: object, words: str) -> None:
    with pytest.raises(PenstockError, match=words):
        make_config(capacity=1, shares=shares).settings()
