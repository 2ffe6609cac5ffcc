"""The dashboard in a real browser, before a real controller with real jobs."""

from __future__ import annotations

import re
import signal
import time
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cli.controlled import PATIENCE, RATE, until
from dashboard.conftest import writing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
EVIL = '"><img src=x onerror="document.title=1"><script>document.title=2</script>'
LONG = 1000.0 * PATIENCE  # milliseconds
SHOWN, GONE, BACK = 2.0, 3.0, 5.0  # seconds


@pytest.fixture
def visit(browser):
    """Opens pages, which are closed after the test: one that is left open asks and draws on beside all that follow."""
    opened: list[Any] = []
    yield partial(visited, browser, opened)
    for page in opened:
        page.close()


def visited(browser, opened, url, **options):
    """The open page, and all that it complained of, or asked of anybody else."""
    page, noise = browser.new_page(**options), []
    opened.append(page)
    page.set_default_timeout(LONG)
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("request", lambda request: noise.extend([request.url] * (not request.url.startswith((url, "data:")))))
    page.goto(url)
    return page, noise


def row(page, name):
    return page.locator("#table tbody tr", has_text=name)


@pytest.fixture(scope="module")
def busy(controller):
    """Two jobs: the first has all, the other waits behind it."""
    with writing(controller, "first-comer"):
        until(lambda: controller.jobs().get("first-comer", {}).get("rate", 0.0) > 0.0)
        with writing(controller, EVIL):
            until(lambda: EVIL in controller.jobs())
            yield controller


def test_who_waits_behind_whom_is_said_and_drawn_and_hostile_names_are_text(visit, busy, screen):
    page, noise = visit(screen.url, viewport={"width": 1250, "height": 900})
    row(page, EVIL).locator(".state", has_text="waiting").wait_for()
    assert "waits behind first-comer" in page.locator("#short").inner_text()
    assert "first come, first served" in page.locator("#short").inner_text()
    assert row(page, EVIL).locator("td").nth(5).inner_text() == "first-comer"
    assert row(page, "first-comer").first.locator(".state").first.inner_text() in ("moving", "waiting")
    svg = page.locator("svg.timeline").first
    svg.locator("path.waiting").wait_for(state="attached")
    assert svg.locator("text.end", has_text="capacity 20 MB/s").count() == 1
    assert page.title() == "penstock: who may move how much"
    assert page.locator("#all img, #all script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert noise == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light(visit, busy, screen, scheme):
    page, noise = visit(screen.url, color_scheme=scheme)
    page.locator("#link.live").wait_for()
    paper, ink = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    assert (paper, ink) == {
        "light": ("rgb(255, 255, 255)", "rgb(31, 35, 41)"),
        "dark": ("rgb(20, 23, 27)", "rgb(228, 231, 235)"),
    }[scheme]
    assert noise == []


def test_a_keyboard_reaches_a_job_its_past_and_the_way_back(visit, busy, screen):
    page, noise = visit(screen.url)
    row(page, "first-comer").first.wait_for()

    def focused():
        return page.evaluate("document.activeElement.textContent")

    page.keyboard.press("Tab")
    assert focused() == "Skip to the jobs"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused() == "first-comer":
            break
    page.keyboard.press("Enter")
    page.locator("#one-name", has_text="first-comer").wait_for()
    assert focused() == "first-comer"
    page.locator("#one-past", has_text="Its I/O").wait_for()
    page.locator("#one-past table").wait_for()
    assert page.locator("#one-facts", has_text="expected to end").count() == 1
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.locator("#all").wait_for()
    assert page.locator("#one").is_hidden()
    assert noise == []


def test_charts_zoom_by_mouse_and_keys_stay_zoomed_and_have_tables(visit, busy, screen):
    page, noise = visit(screen.url, viewport={"width": 1250, "height": 1200})
    svg = page.locator("svg.timeline").first
    svg.locator("path").first.wait_for(state="attached")
    svg.scroll_into_view_if_needed()
    place = svg.bounding_box()
    left, right = (place["x"] + share * place["width"] for share in (0.6, 0.8))
    page.mouse.move(left, place["y"] + 60)
    page.mouse.down()
    page.mouse.move(right, place["y"] + 70)
    page.mouse.up()
    says = page.locator("output").first
    assert re.search(r"\d\d:\d\d:\d\d to \d\d:\d\d:\d\d; double click", says.inner_text())
    zoomed = svg.locator("text.middle").all_inner_texts()
    time.sleep(2.5)
    assert len(set(zoomed) & set(svg.locator("text.middle").all_inner_texts())) >= 1
    svg.press("0")
    assert says.inner_text() == ""
    page.locator("summary").first.click()
    table = page.locator("#charts table")
    table.wait_for()
    assert "first-comer" in table.inner_text() and "seconds waiting" in table.inner_text()
    assert svg.get_attribute("aria-label").startswith("The file system: 20 MB/s of 20 MB/s granted")
    assert noise == []


def test_history_and_another_policy_come_from_the_journal(visit, busy, screen):
    page, noise = visit(screen.url)
    page.locator("#link.live").wait_for()
    page.locator("input[value='3600']").check()
    page.locator("#span-says", has_text="From the journal, in pieces of 10 s").wait_for()
    page.locator("svg.timeline .mark").first.wait_for(state="attached")
    page.locator("#compare button").click()
    page.locator("#compared", has_text="no job has finished any I/O").wait_for()
    assert noise == []


def test_a_zoom_into_the_past_reads_finer_pieces(visit, busy, screen):
    page, noise = visit(screen.url, viewport={"width": 1250, "height": 1200})
    page.locator("#link.live").wait_for()
    page.locator("input[value='604800']").check()
    says = page.locator("#span-says")
    says.filter(has_text="in pieces of 1680 s").wait_for()
    svg = page.locator("svg.timeline").first
    svg.scroll_into_view_if_needed()
    place = svg.bounding_box()
    page.mouse.move(place["x"] + 0.6 * place["width"], place["y"] + 60)
    page.mouse.down()
    page.mouse.move(place["x"] + 0.99 * place["width"], place["y"] + 70)
    page.mouse.up()
    says.filter(has_text="s where it is zoomed in").wait_for()
    assert float(re.search(r"pieces of ([\d.]+) s", says.inner_text()).group(1)) < 20.0
    svg.press("0")
    says.filter(has_text="in pieces of 1680 s").wait_for()
    assert noise == []


def test_on_a_small_screen_nothing_is_beside_it(visit, busy, screen):
    page, noise = visit(screen.url, viewport={"width": 400, "height": 900})
    row(page, EVIL).locator(".state", has_text="waiting").wait_for()
    page.locator("svg.timeline path").first.wait_for(state="attached")
    for place in ("svg.timeline", "#table td.why", "#table td:nth-child(6)", "#table td:nth-child(7)"):
        for box in page.locator(place).all():
            found = box.bounding_box()
            assert found is None or found["x"] + found["width"] <= 400, place
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    labels = page.locator("svg.timeline text.middle").all_text_contents()
    assert len(labels) >= 3, "there are times to read"
    assert noise == []


def test_times_are_of_the_browsers_zone_and_a_new_capacity_is_marked(visit, busy, screen):
    page, noise = visit(screen.url, timezone_id="Asia/Kolkata")
    row(page, "first-comer").first.wait_for()
    busy.ask("capacity", resource="all", capacity=10e6)
    try:
        page.locator(".mark title", has_text="capacity of the file system: 10 MB/s").wait_for(state="attached")
        page.locator("svg.timeline path.capacity").wait_for(state="attached")
    finally:
        busy.ask("capacity", resource="all", capacity=RATE)
    row(page, "first-comer").first.locator("a").first.click()
    told = page.locator("#one-past table td").nth(1)
    told.wait_for()
    minute = datetime.now(ZoneInfo("Asia/Kolkata")).minute
    shown = int(told.inner_text().split()[-1].split(":")[1])
    assert (minute - shown) % 60 < 15, "half an hour from the host's"
    assert noise == []


def test_no_script_of_others_runs_and_nobody_frames_it(visit, busy, screen):
    page, noise = visit(screen.url)
    page.locator("#link.live").wait_for()
    page.evaluate("document.body.append(Object.assign(document.createElement('img'), {src: 'http://192.0.2.1/x.png'}))")
    refused = page.evaluate(
        "fetch('http://192.0.2.1/').then(() => 'sent', error => error.name)"
        ".then(found => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch { return found; } })"
    )
    assert refused == "TypeError"
    assert any("Content Security Policy" in line for line in noise)


def killed_and_back(page, busy):
    """Seconds until the page shows that the controller is away, and that it is back."""
    busy.stop(signal.SIGKILL)
    began = time.monotonic()
    page.locator("#link.away").wait_for()
    gone = time.monotonic() - began
    assert "none of them stops" in page.locator("#short").inner_text()
    page.locator("svg.timeline .away").first.wait_for(state="attached")
    busy.start()
    began = time.monotonic()
    page.locator("#link.live").wait_for()
    return gone, time.monotonic() - began


def test_a_controller_that_dies_leaves_a_red_band_and_comes_back(visit, busy, screen):
    page, noise = visit(screen.url)
    page.locator("#link.live").wait_for()
    killed_and_back(page, busy)
    page.locator("svg.timeline .away").first.wait_for(state="attached")
    page.locator("#facts", has_text=re.compile("epoch [2-9]")).wait_for()
    page.locator("svg.timeline .mark title", has_text=re.compile("a controller started, epoch")).first.wait_for(
        state="attached"
    )
    assert noise == []


@pytest.mark.timing
def test_first_data_a_dead_controller_and_its_return_are_shown_soon(visit, busy, screen):
    began = time.monotonic()
    page, _ = visit(screen.url)
    page.locator("#table tbody tr").first.wait_for()
    shown = time.monotonic() - began
    gone, back = killed_and_back(page, busy)
    assert shown <= SHOWN and gone <= GONE and back <= BACK
