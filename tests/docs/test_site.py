"""The built site, opened from disk as a reader would: its navigation fits, and its search answers."""

from __future__ import annotations

import html
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import no_browser
from scripts import glossary

ROOT = Path(__file__).resolve().parents[2]
WIDE, HIGH = 1280, 800
# Text of pictures is drawn at 8 points or more: at three quarters of its size that is 8 pixels.
SHRUNK = 0.75
# Words of heads that need no explanation: a head of other words has an entry in the glossary that it leads to.
PLAIN = set((Path(__file__).parent / "plain_heads.txt").read_text().split())
TABS = ["Start", "Plan", "Run", "Extend", "Reference", "Measurements"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, built as `make docs` does: a warning is an error. `make test` has just done so, and says where."""
    if built := os.environ.get("SITE_BUILT"):
        return Path(built)
    from mkdocs.commands.build import build  # noqa: PLC0415
    from mkdocs.config import load_config  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if reason := no_browser():
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def front(site: Path, browser: Any) -> Iterator[Any]:
    """The front page from disk; the test fails if a page of it complains or asks the network for anything."""
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
    troubles: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    yield page
    page.close()
    assert troubles == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.browser
def test_the_search_works_from_disk(front: Any) -> None:
    """All words on one page, which takes a second to read the index."""
    asked, listed = front.locator("[data-md-component=search-query]"), front.locator(".md-search-result__list")
    for word in ("lustre", "darshan", "slurm", "stripe"):
        asked.fill("")
        listed.locator(".md-search-result__link").first.wait_for(state="detached")
        asked.press_sequentially(word)
        found = front.locator(".md-search-result__link").first
        found.wait_for()
        assert word in listed.inner_text().lower()
        assert found.get_attribute("href").startswith("file:")


@pytest.mark.browser
def test_every_question_has_a_tab_and_all_that_is_in_it_is_seen_without_scrolling(front: Any) -> None:
    assert [tab.strip() for tab in front.locator(".md-tabs__link").all_inner_texts()] == TABS
    for tab in TABS:
        front.get_by_role("link", name=tab, exact=True).first.click()
        front.wait_for_load_state()
        entries = front.locator(".md-sidebar--primary .md-nav__item--active .md-nav__link:visible")
        assert entries.count() >= 2, tab
        last = entries.last.bounding_box()
        assert last["y"] + last["height"] <= HIGH, tab


@pytest.mark.browser
def test_the_policies_are_behind_one_entry(front: Any, site: Path) -> None:
    front.goto((site / "reference" / "model.html").as_uri())
    side = front.locator(".md-sidebar--primary")
    assert side.get_by_text("Sharing policies", exact=True).first.is_visible()
    assert not side.get_by_text("greedy-yield", exact=True).first.is_visible()


def test_heads_of_tables_lead_to_entries_of_the_glossary(site: Path) -> None:
    link = re.compile(r'<th\b[^>]*><a class="term" href="([^"]+)"')
    addresses = set(re.findall(r'id="([^"]+)"', (site / "develop" / "glossary.html").read_text()))
    found = 0
    for page in site.rglob("*.html"):
        for address in link.findall(page.read_text()):
            path, _, anchor = address.partition("#")
            assert (page.parent / path).resolve().is_file(), (page, address)
            assert not anchor or anchor in addresses, (page, address)
            found += 1
    assert found > 500


def test_every_head_leads_to_the_glossary_or_is_a_number_or_plain_words(site: Path) -> None:
    heads = re.compile(r"<th\b[^>]*>((?:(?!</th>|<a\b).)*)</th>", re.DOTALL)
    missing = {}
    for page in site.rglob("*.html"):
        for shown in heads.findall(page.read_text()):
            head = html.unescape(re.sub(r"<[^>]+>", "", shown)).lower()
            if words := set(re.findall(r"[^\W\d_][\w'…-]*", head)) - PLAIN:
                missing[head] = (page.name, words)
    assert missing == {}, "put them into docs/develop/glossary.md, or into plain_heads.txt"


@pytest.mark.parametrize(
    ("head", "entry"),
    [
        ("min yield", "yield"),
        ("Node-h lost", "node-hours-lost"),
        ("mean I/O slowdown, load 0.3", "slowdown"),
        ("max stretch", "stretch"),
        ("W", "i-o-weight"),
        ("jobs", "application"),
        ("default", None),
    ],
)
def test_a_head_leads_to_its_longest_word(head: str, entry: str | None) -> None:
    known = glossary.terms((ROOT / "docs" / "develop" / "glossary.md").read_text())
    term = glossary.word_of(head, known)
    assert (term and term.anchor) == entry
    assert term is None or "](" not in term.meaning


def test_links_of_heads_are_left_alone_and_policies_lead_to_their_page() -> None:
    known = {"yield": glossary.Term("yield", 'how "well"')}
    table = "<th>yield</th><th><a href='x'>yield</a></th><th align=left>fcfs</th><td>yield</td>"
    assert glossary.linked(table, "../", known, {"fcfs"}) == (
        '<th><a class="term" href="../develop/glossary.html#yield" title="how &quot;well&quot;">yield</a></th>'
        "<th><a href='x'>yield</a></th>"
        '<th align=left><a class="term" href="../reference/policies/fcfs.html">fcfs</a></th><td>yield</td>'
    )


@pytest.mark.browser
def test_text_in_pictures_is_shown_nearly_as_large_as_it_was_drawn(front: Any, site: Path) -> None:
    """A wide picture in a narrow column has letters that nobody can read."""
    measure = "each => [each.src.split('/').pop(), each.clientWidth / each.naturalWidth, each.naturalWidth]"
    shown: dict[str, float] = {}
    for page in sorted(page for page in site.rglob("*.html") if "/pictures/" in page.read_text()):
        front.goto(page.as_uri())
        for name, part, wide in front.eval_on_selector_all("article img", f"all => all.map({measure})"):
            dots = (
                150 / 96 if name.endswith(".png") else 1.0
            )  # PNGs have more pixels than they are meant to be shown at
            assert wide > 0, (page, name)
            shown[name] = part * dots
    assert len(shown) > 40
    assert {name: round(part, 2) for name, part in shown.items() if part < SHRUNK} == {}
