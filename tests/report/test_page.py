from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser

import pytest

from penstock.errors import InvalidOption
from penstock.report.comparison.page import write_report
from report.machine.test_page import written
from report.samples import POLICIES, big, eight_big, run, toy

EVIL = '"><img src=x onerror="document.title=1"><script>document.title=2</script>'


class Page(HTMLParser):
    """Tags with their attributes, and the text, as a browser's parser would see them."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)


def page(path, *arguments, **options):
    write_report(path, *arguments, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def big_report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "big.html"
    write_report(path, "eight.yaml", eight_big())
    return path


def test_a_report_says_what_was_run_who_was_best_and_what_words_mean(tmp_path):
    runs = [toy("fcfs", yields=(0.5, 0.9)), toy("greedy-yield", yields=(0.76, 0.9))]
    shown = page(tmp_path / "r.html", "mine.yaml", runs)
    for words in (
        "mine.yaml – penstock",
        "2 sharing policies compared",
        "window 0 s to 100 s",
        "I/O pressure 1.1",
        "bandwidth 1",
        "Best min yield here: greedy-yield with 0.7600, 20.0 % below the bound of 0.9500",
        "One scenario is one sample",
        "What the words mean",
        "computing",
        "waiting for I/O",
    ):
        assert words in shown.text
    assert shown.count("svg") == 3
    assert shown.count("details") == 2
    assert shown.count("table") == 3


def test_every_policy_is_explained_and_leads_to_its_part_of_the_page(tmp_path):
    runs = [toy("fcfs", yields=(0.5, 0.9)), toy("mine", yields=(0.76, 0.9))]
    shown = page(tmp_path / "r.html", "mine.yaml", runs, same={"fcfs": ["list-fifo"]}, hidden=5)
    links = [attributes for tag, attributes in shown.tags if tag == "a" and "class" not in attributes]
    assert [(link["href"], link["title"]) for link in links] == [
        ("#policy0", "Fill greedily, earliest posting first."),
        ("#policy1", ""),
    ]
    assert {attributes["id"] for tag, attributes in shown.tags if tag == "p" and "id" in attributes} == {
        "policy0",
        "policy1",
    }
    assert "first come, first served (same: list-fifo)" in shown.text
    assert "5 more policies with --all." in shown.text
    assert "the lowest shown was fcfs" in shown.text


def test_how_much_work_it_was_is_a_detail(tmp_path):
    write_report(tmp_path / "r.html", "mine", [run()])
    assert "simulated in" not in (tmp_path / "r.html").read_text()
    write_report(tmp_path / "r.html", "mine", [run()], details=True)
    assert "1,234 events, simulated in 1.23 ms" in (tmp_path / "r.html").read_text()


def test_without_timelines_only_the_comparison_is_drawn(tmp_path):
    runs = [run("fcfs", finished=True, windowed=False), run("set-10", finished=True, windowed=False)]
    shown = page(tmp_path / "r.html", "mine", runs)
    assert shown.count("svg") == 1
    assert "none: until all finished" in shown.text
    assert "makespan 97 s" in shown.text


def test_only_runs_with_a_timeline_are_drawn(tmp_path):
    shown = page(tmp_path / "r.html", "mine", [run("fcfs"), toy("set-10")])
    assert shown.count("svg") == 2


def test_a_big_report_stays_small_and_asks_for_nothing(big_report):
    assert big_report.stat().st_size < 1_000_000
    shown = Page(big_report.read_text(encoding="utf-8"))
    assert shown.count("svg") == 9
    assert shown.count("tr") == 9 + 8 * 61
    for _, attributes in shown.tags:
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert not re.search(r"https?://|@import", big_report.read_text(encoding="utf-8"))


def test_ids_are_unique_and_every_reference_is_kept(big_report):
    source = big_report.read_text(encoding="utf-8").partition("<script>")[0]
    ids = re.findall(r'\bid="([^"]+)"', source)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', source)) <= {
        pair for name in ids for pair in ((name, ""), ("", name))
    }


def test_names_of_users_are_only_text(tmp_path):
    runs = [toy(EVIL, names=(EVIL, "b")), toy("fcfs", names=(EVIL, "b"))]
    shown = page(tmp_path / "r.html", EVIL, runs)
    assert shown.count("script") == 1
    assert shown.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in shown.tags for name in attributes)
    assert EVIL in shown.text


def test_many_applications_are_cut_to_the_worst(tmp_path):
    yields = tuple(0.2 + 0.0005 * i for i in range(1000))
    many = run("fcfs", yields, tuple(f"job{i}" for i in reversed(range(1000))))
    shown = page(tmp_path / "r.html", "mine", [many])
    assert "The 300 lowest yields; 700 applications did better." in shown.text
    assert "job999 " in shown.text and "job1 " not in shown.text


def test_a_report_of_nothing_or_to_nowhere_is_refused(tmp_path):
    with pytest.raises(InvalidOption, match="at least one"):
        write_report(tmp_path / "r.html", "mine", [])
    with pytest.raises(InvalidOption, match="cannot be written"):
        write_report(tmp_path / "missing" / "r.html", "mine", [run()])
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--no-first-run", *quiet]
        )
        yield opened
        opened.close()


def visit(browser, path, **options):
    """The open page, and all that it said or asked for besides itself."""
    opened, noise = browser.new_page(**options), []
    opened.on("console", lambda message: noise.append(message.text))
    opened.on("pageerror", lambda error: noise.append(str(error)))
    opened.on("request", lambda request: noise.append(request.url))
    opened.goto(path.as_uri())
    return opened, [line for line in noise if line != path.as_uri() and not line.startswith("data:")]


def column(opened, number):
    inside = " a" if number == 1 else ""  # a policy's name is a link, and what it does stands below it
    return opened.locator(f"table.comparison tbody td:nth-child({number}){inside}").all_inner_texts()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_without_complaint_in_light_and_dark(browser, big_report, scheme):
    opened, noise = visit(browser, big_report, color_scheme=scheme, viewport={"width": 1200, "height": 900})
    assert noise == []
    paper = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = opened.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert (paper, ink) == {
        "light": ("rgb(255, 255, 255)", "rgb(31, 35, 41)"),
        "dark": ("rgb(20, 23, 27)", "rgb(228, 231, 235)"),
    }[scheme]
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_a_click_sorts_and_a_second_click_turns_round(browser, big_report):
    opened, _ = visit(browser, big_report)
    assert column(opened, 1) == list(POLICIES)
    head = opened.locator("table.comparison th").nth(1)
    head.click()
    assert column(opened, 2) == sorted(column(opened, 2), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.press("Enter")
    assert column(opened, 2) == sorted(column(opened, 2))
    opened.locator("table.comparison th").first.click()
    assert column(opened, 1) == sorted(POLICIES)


@pytest.mark.browser
def test_missing_values_sort_last(browser, tmp_path):
    runs = [run("a", (0.5, 0.6), finished=True), run("b"), run("c", (0.8, 0.9), finished=True)]
    write_report(tmp_path / "r.html", "mine", runs)
    opened, _ = visit(browser, tmp_path / "r.html")
    head = opened.locator("table.comparison th", has_text="max stretch")
    head.click()
    assert column(opened, 1) == ["c", "a", "b"]
    head.click()
    assert column(opened, 1) == ["a", "c", "b"]


@pytest.mark.browser
def test_without_script_everything_is_still_there(browser, big_report):
    opened = browser.new_context(java_script_enabled=False).new_page()
    opened.goto(big_report.as_uri())
    assert column(opened, 1) == list(POLICIES)
    opened.locator("summary").nth(1).click()
    assert opened.locator("details").nth(1).locator("table").is_visible()


@pytest.mark.browser
def test_printing_opens_every_policy_on_white_paper(browser, big_report):
    opened, _ = visit(browser, big_report, color_scheme="dark")
    hidden = opened.locator("details").nth(1).locator("table")
    assert not hidden.is_visible()
    opened.emulate_media(media="print")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert hidden.bounding_box()["height"] > 100


@pytest.mark.browser
def test_a_browser_runs_no_script_of_a_user(browser, tmp_path):
    write_report(tmp_path / "r.html", EVIL, [toy(EVIL, names=(EVIL, "b"))])
    opened, noise = visit(browser, tmp_path / "r.html")
    assert noise == []
    assert opened.title() == f"{EVIL} – penstock"


def timeline_of(opened, number=0):
    return opened.locator("svg.timeline").nth(number)


def shown_times(svg):
    """The numbers of its time axis."""
    return [float(text) for text in svg.locator("text.middle").all_text_contents() if not text.startswith("time")]


@pytest.mark.browser
def test_a_timeline_says_what_it_shows_and_can_be_zoomed_into(browser, tmp_path):
    write_report(tmp_path / "r.html", "mine", [toy("fcfs")])
    opened, noise = visit(browser, tmp_path / "r.html", viewport={"width": 1200, "height": 1200})
    svg = timeline_of(opened)
    svg.scroll_into_view_if_needed()
    place = svg.bounding_box()
    whole = shown_times(svg)
    assert whole[0] == 0.0 and whole[-1] == 100.0
    assert svg.locator("text.end", has_text="capacity 1").count() == 1
    left, right, rows = (place["x"] + share * place["width"] for share in (0.3, 0.6, 0.5))
    opened.mouse.move(left, place["y"] + 50)
    assert "used" in opened.locator("output").inner_text()
    opened.mouse.move(rows, place["y"] + place["height"] - 54)
    assert re.search(r": b (computes|transfers|waits for I/O|is not there)", opened.locator("output").inner_text())
    opened.mouse.move(left, place["y"] + 50)
    opened.mouse.down()
    opened.mouse.move(right, place["y"] + 60)
    opened.mouse.up()
    part = shown_times(svg)
    assert 20.0 < part[0] < part[-1] < 70.0
    svg.press("-")
    assert part[0] > shown_times(svg)[0]
    svg.press("0")
    assert shown_times(svg) == whole
    assert noise == []


@pytest.mark.browser
def test_timelines_are_drawn_when_they_are_seen(browser, big_report):
    opened, _ = visit(browser, big_report)
    assert timeline_of(opened).locator("image").count() == 1
    assert timeline_of(opened, 1).locator("image").count() == 0
    opened.locator("summary").nth(1).click()
    timeline_of(opened, 1).locator("image").wait_for(state="attached")
    opened.emulate_media(media="print")
    timeline_of(opened, 7).locator("image").wait_for(state="attached")


@pytest.mark.browser
def test_a_phone_scrolls_tables_not_the_page(browser, tmp_path):
    write_report(tmp_path / "r.html", "mine", [big("fcfs", timeline=False), big("set-10", 1, timeline=False)])
    opened, _ = visit(browser, tmp_path / "r.html", viewport={"width": 390, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_heads_of_tables_lead_to_what_their_words_mean(tmp_path):
    shown = page(tmp_path / "r.html", "mine.yaml", [toy("fcfs"), toy("greedy-yield")])
    links = [attributes for tag, attributes in shown.tags if tag == "a" and attributes.get("class") == "word"]
    explained = {attributes["id"] for tag, attributes in shown.tags if tag == "dt" and "id" in attributes}
    assert {"#word-min-yield", "#word-node-hours-lost", "#word-worst-job", "#word-bound"} <= {
        each["href"] for each in links
    }
    assert {each["href"].removeprefix("#") for each in links} <= explained
    assert all(each["title"] and each["aria-label"].startswith("What ") for each in links)


@pytest.mark.browser
def test_a_whole_machine_says_what_is_pointed_at_and_can_be_zoomed_into(browser, tmp_path):
    jobs = [{"name": name, "phases": [{"compute": 10}, {"write": 1e9}] * 3} for name in ("a", "b")]
    written(tmp_path / "r.html", jobs)
    opened, noise = visit(browser, tmp_path / "r.html", viewport={"width": 1200, "height": 1600})
    drawn, says = opened.locator("#passage0"), opened.locator("figure:has(#passage0) output")
    drawn.scroll_into_view_if_needed()
    seen = drawn.bounding_box()
    opened.mouse.move(seen["x"] + seen["width"] / 2, seen["y"] + 0.96 * seen["height"] - 45)
    assert "io_node:0 is most in use" in says.text_content()
    assert opened.locator("#passage0 .inside").first.text_content() == "io_node:0"
    drawn.press("+")
    assert "double click, or 0, shows everything" in says.text_content()
    assert noise == []
    opened.close()
