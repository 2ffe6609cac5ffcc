"""Requests: GET and nothing else, by our names only; whatever else comes is refused and nothing breaks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.dashboard import http
from penstock.dashboard.page import page


def request(line="GET / HTTP/1.1", *headers):
    return "\r\n".join([line, "Host: localhost:8440", *headers, "", ""]).encode()


def test_a_request_is_read():
    found = http.read(request("GET /job?app=7&x=a%20b HTTP/1.1", "Accept: text/html"))
    assert (found.path, dict(found.query), found.headers["accept"]) == ("/job", {"app": "7", "x": "a b"}, "text/html")


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get"])
def test_there_is_only_looking(verb):
    with pytest.raises(http.BadRequest) as refused:
        http.read(request(f"{verb} / HTTP/1.1"))
    assert refused.value.status == 405


@given(st.binary(max_size=300) | st.text(max_size=100).map(request))
def test_whatever_comes_is_read_or_refused(data):
    try:
        found = http.read(data)
    except http.BadRequest as error:
        assert http.refusal(error).startswith(b"HTTP/1.1 4")
    else:
        assert isinstance(found.path, str)


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "evil.example:8440", "", "127.0.0.1.nip.io"]
)
def test_another_name_for_this_host_is_refused(host):
    told = http.read(request().replace(b"localhost:8440", host.encode()))
    with pytest.raises(http.BadRequest, match="--host"):
        http.check(told, ("localhost", "127.0.0.1"))


def test_another_sites_page_may_not_ask():
    ours = ("localhost",)
    for site, fine in (("same-origin", True), ("none", True), ("cross-site", False), ("same-site", False)):
        told = http.read(request("GET / HTTP/1.1", f"Sec-Fetch-Site: {site}"))
        if fine:
            http.check(told, ours)
        else:
            with pytest.raises(http.BadRequest, match="another site"):
                http.check(told, ours)


def test_answers_forbid_what_a_browser_might_do_with_them():
    for data in (http.answer("x"), http.stream(), http.as_json({})):
        head = data.partition(b"\r\n\r\n")[0].decode()
        for words in ("no-store", "nosniff", "no-referrer", "default-src 'none'", "frame-ancestors 'none'"):
            assert words in head
        assert "Access-Control" not in head


def test_the_page_allows_itself_and_nothing_else():
    text, policy = page()
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    assert re.findall(r"'sha256-[^']+'", policy) and policy.startswith("default-src 'none'")
    assert "{{" not in text and not re.search(r"https?://(?!www.w3.org/2000/svg)", text)
    assert not re.search(r"\bon\w+=|style=|innerHTML|insertAdjacent|document.write|\beval\(", text)
    assert len(text) < 60_000
