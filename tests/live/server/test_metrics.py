"""Metrics as Prometheus wants them; rules, alerts and the Grafana dashboard that use no other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lookback.stories import SETTINGS, Story
from penstock.errors import InvalidOption
from penstock.live import monitoring
from penstock.live.core.events import WriteRecords
from penstock.live.server.post_times import WAIT_BOUNDS, Histogram, PostTimes
from penstock.live.server.tally import Tally
from penstock.lookback.phases import Phases
from penstock.lookback.walk import walk
from penstock.wire.messages import FREE, Complete, Post, Rate
from ports import free_port

PATIENCE = 60.0
RULES = ("penstock-records.yml", "penstock-alerts.yml")
promtool = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    promtool is None, reason="promtool is not on the PATH (Debian's package prometheus)"
)


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a controller tells that has served a job."""
    pytest.importorskip("prometheus_client")
    from cli.controlled import Controller  # noqa: PLC0415

    port, text = free_port(), ""
    controller = Controller(tmp_path_factory.mktemp("metrics"), "--metrics", str(port))
    with controller, controller.holding("one", "1MB"):
        for _ in range(2):  # what is granted is looked at when somebody asks, and counts from then on
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
                text = answer.read().decode()
    return text


def families(text: str) -> dict[str, Any]:
    parser = pytest.importorskip("prometheus_client.parser")
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


def sample_names(text: str) -> dict[str, set[str]]:
    """Every name that can be asked for, with its labels."""
    found: dict[str, set[str]] = {}
    for family in families(text).values():
        for sample in family.samples:
            found.setdefault(sample.name, {"instance", "job"}).update(sample.labels)
    return found


@needs_promtool
def test_promtool_has_nothing_to_say(scraped: str) -> None:
    done = subprocess.run(
        [str(promtool), "check", "metrics"], input=scraped, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_names_follow_the_guide(scraped: str) -> None:
    for name, family in families(scraped).items():
        assert family.documentation and not family.documentation[0].islower(), name
        assert name.startswith(("penstock_", "process_"))
        assert not re.search(r"(_ms|_milliseconds|_kb|_mb|_gb|_percent|_minutes|_hours)(_|$)", name)
        for sample in family.samples:
            assert not {"app", "job", "user", "uid", "name"} & sample.labels.keys(), "labels without end"
            assert sample.name.endswith("_total") == (family.type == "counter")


def test_all_modes_are_there_and_one_is_in_force(scraped: str) -> None:
    modes = {sample.labels["mode"]: sample.value for sample in families(scraped)["penstock_mode"].samples}
    assert modes == {"run": 1.0, "monitor": 0.0, "paused": 0.0, "grace": 0.0, "fenced": 0.0}


def test_without_a_folder_for_a_standby_none_is_expected(scraped: str) -> None:
    found = {sample.name: sample.value for family in families(scraped).values() for sample in family.samples}
    assert (found["penstock_standby_expected"], found["penstock_standbys"]) == (0.0, 0.0)


def test_a_served_job_is_in_the_totals(scraped: str) -> None:
    found = {sample.name: sample.value for family in families(scraped).values() for sample in family.samples}
    assert found["penstock_answer_seconds_count"] == found["penstock_rate_wait_seconds_count"] == 1
    assert found["penstock_granted_bytes_total"] > 0 and found["penstock_io_node_seconds_total"] > 0
    assert found["penstock_build_info"] == 1


# What else is named in expressions: words of PromQL, and what is measured by others.
WORDS = {"and", "or", "unless", "on", "by", "without", "ignoring", "group_left", "group_right", "bool", "offset", "le"}


def metrics_in(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Names in an expression, and the labels that they are selected by; what is grouped by is none of them."""
    plain = re.sub(r"\b(by|without|on|ignoring)\s*\([^)]*\)", " ", expression)
    plain = re.sub(r"\[[^\]]*\]", " ", plain)
    for name, selected in re.findall(r"\b([a-zA-Z_][\w:]*)\b(?!\s*\()(\{[^}]*\})?", re.sub(r'"[^"]*"', '""', plain)):
        if name not in WORDS and "{" not in name:
            yield name, set(re.findall(r"(\w+)\s*[=!]~?", selected))


def grouped_by(expression: str) -> set[str]:
    found = re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression)
    return {label.strip() for labels in found for label in labels.split(",")}


def rules() -> list[dict[str, Any]]:
    documents = [yaml.safe_load(monitoring.content(name)) for name in RULES]
    return [rule for document in documents for group in document["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    return json.loads(monitoring.content("penstock-grafana.json"))["panels"]


def expressions() -> list[str]:
    board = json.loads(monitoring.content("penstock-grafana.json"))
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [*(rule["expr"] for rule in rules()), *shown, *(each["expr"] for each in board["annotations"]["list"])]


def test_every_metric_in_rules_alerts_and_panels_exists_with_its_labels(scraped: str) -> None:
    known = sample_names(scraped)
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    used = set()
    for expression in expressions():
        for name, labels in metrics_in(expression):
            assert name in known or name in recorded, (name, expression)
            assert labels <= known.get(name, labels), (name, labels)
            used.add(name)
        assert grouped_by(expression) <= {"instance", "resource", "le", "stage", "mode"}, expression
    assert recorded <= used, "a rule that nobody uses"
    assert len(used & known.keys()) > 20


def test_the_search_for_names_finds_one_that_does_not_exist(scraped: str) -> None:
    names = [name for name, _ in metrics_in("sum by (x) (rate(penstock_wrong_total[5m])) / on (y) penstock_epoch > 2")]
    assert names == ["penstock_wrong_total", "penstock_epoch"]


@needs_promtool
def test_promtool_takes_the_rules_and_they_do_what_they_say(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    monitoring.write(folder)
    files = [str(folder / name) for name in RULES]
    subprocess.run([str(promtool), "check", "rules", *files], check=True, capture_output=True)
    (tmp_path / "cases.yml").write_text(yaml.safe_dump({"rule_files": files, "evaluation_interval": "10m", **CASES}))
    done = subprocess.run(
        [str(promtool), "test", "rules", str(tmp_path / "cases.yml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# A controller that loses two node-seconds a second of ten, for eight days; its journal fails after an hour.
HOUR, WEEK = "1h", "7d"
CASES: dict[str, Any] = {
    "tests": [
        {
            "interval": "10m",
            "input_series": [
                {"series": 'penstock_lost_node_seconds_total{instance="a"}', "values": "0+1200x1200"},
                {"series": 'penstock_io_node_seconds_total{instance="a"}', "values": "0+6000x1200"},
                {"series": 'penstock_journal_failing{instance="a"}', "values": "0x5 1x1200"},
                {"series": 'penstock_start_time_seconds{instance="a"}', "values": "5x1200"},
            ],
            "promql_expr_test": [
                {
                    "expr": "penstock:lost_node_hours:increase7d",
                    "eval_time": "8d",
                    "exp_samples": [{"labels": "penstock:lost_node_hours:increase7d", "value": 336}],
                },
                {
                    "expr": "penstock:lost:ratio7d",
                    "eval_time": "8d",
                    "exp_samples": [{"labels": "penstock:lost:ratio7d", "value": 0.2}],
                },
            ],
            "alert_rule_test": [
                {"eval_time": "30m", "alertname": "PenstockJournalFailing", "exp_alerts": []},
                {"eval_time": "30m", "alertname": "PenstockGone", "exp_alerts": []},
            ],
        },
        {
            "interval": "1m",
            "input_series": [
                {"series": 'penstock_standby_expected{instance="alone"}', "values": "1x30"},
                {"series": 'penstock_standbys{instance="alone"}', "values": "1x9 0x20"},
                {"series": 'penstock_standby_expected{instance="never"}', "values": "0x30"},
                {"series": 'penstock_standbys{instance="never"}', "values": "0x30"},
            ],
            "alert_rule_test": [
                {"eval_time": "9m", "alertname": "PenstockNoStandby", "exp_alerts": []},
                {
                    "eval_time": "20m",
                    "alertname": "PenstockNoStandby",
                    "exp_alerts": [
                        {
                            "exp_labels": {"severity": "warning", "instance": "alone"},
                            "exp_annotations": {
                                "summary": "No controller stands by",
                                "description": "If this one dies, nobody takes over. Start penstock serve --standby on "
                                "the other host; its log says why it ended.",
                            },
                        }
                    ],
                },
            ],
        },
        {
            "interval": "10m",
            "input_series": [{"series": "something_else", "values": "1x10"}],
            "alert_rule_test": [
                {
                    "eval_time": "30m",
                    "alertname": "PenstockGone",
                    "exp_alerts": [
                        {
                            "exp_labels": {"severity": "critical"},
                            "exp_annotations": {
                                "summary": "No controller tells its metrics",
                                "description": "Jobs go on at their fallback rates; none of them stops. "
                                "Look at the unit of penstock serve, and at metrics_port.",
                            },
                        }
                    ],
                }
            ],
        },
    ]
}


def test_alerts_say_how_bad_it_is_and_what_to_do() -> None:
    for rule in rules():
        if "alert" in rule:
            assert rule["labels"]["severity"] in ("critical", "warning", "info")
            assert rule["annotations"]["summary"] and rule["annotations"]["description"]


def test_panels_have_titles_places_of_their_own_and_a_source_to_choose() -> None:
    places: set[tuple[int, int]] = set()
    for panel in panels():
        where = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(where["x"], where["x"] + where["w"])
            for y in range(where["y"], where["y"] + where["h"])
        }
        assert panel["title"] and not cells & places and where["x"] + where["w"] <= 24
        places |= cells
        assert panel["datasource"]["uid"] == "${datasource}"


def test_files_go_to_a_folder_or_nowhere(tmp_path: Path) -> None:
    written = monitoring.write(tmp_path / "new" / "folder")
    assert sorted(path.name for path in written) == sorted(monitoring.FILES)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidOption, match="cannot be made"):
        monitoring.write(tmp_path / "file")


@given(st.lists(st.floats(0.0, 1e4)))
def test_a_histogram_counts_what_is_at_most_each_bound(values: list[float]) -> None:
    found = Histogram(WAIT_BOUNDS)
    for value in values:
        found.add(value)
    for bound, count in found.buckets():
        assert count == sum(value <= float(bound.replace("+Inf", "inf")) for value in values)
    assert found.sum == pytest.approx(sum(values))


def test_waits_are_counted_once_from_the_post_to_the_first_rate_that_moves() -> None:
    now = [0.0]
    times = PostTimes(lambda: now[0])

    def told(at: float, op: int, rate: float, flags: int = 0, session: int = 1) -> None:
        now[0] = at
        times.told(session, Rate(1, 1, op, rate, 1, flags))

    times.posted(1, Post(1, 7, 1, 10.0))
    told(0.5, 6, 99.0)  # about an operation before
    told(1.0, 7, 0.0)
    told(2.0, 7, 0.0)
    told(4.0, 7, 5.0)
    told(6.0, 7, 9.0)
    assert (times.answers.sum, times.waits.sum) == (1.0, 4.0)
    times.posted(2, Post(1, 1, 1, 10.0))
    told(9.0, 1, 0.0, FREE, session=2)
    assert (times.answers.sum, times.waits.sum) == (4.0, 7.0)
    times.posted(3, Post(1, 1, 1, 10.0))
    times.gone(3)
    told(99.0, 1, 5.0, session=3)
    assert times.answers.buckets()[-1] == ("+Inf", 2)


class Watched(Story):
    """A story of which a tally is kept."""

    def begin(self) -> None:
        super().begin()
        self.tally = Tally(self.core.state)
        step = self.core.step

        def watched(t: float, inputs: Any) -> Any:
            outputs = step(t, inputs)
            self.tally.take(output.record for output in outputs if isinstance(output, WriteRecords))
            self.tally.look(self.core.state.now, at_once=True)
            return outputs

        self.core.step = watched  # type: ignore[method-assign]


def test_totals_are_what_the_journal_says(tmp_path: Path) -> None:
    """Two at half for four seconds, then one alone: what the phases of the journal were given, and lost."""
    story = Watched(tmp_path / "journal", SETTINGS)
    story.register("a", nodes=3)
    story.register("b")
    story.say("a", Post(2, 1, 1, 200.0))
    story.say("b", Post(2, 1, 1, 400.0))
    story.wait(4, a=200.0, b=150.0)
    story.say("a", Complete(1, 200.0))
    story.wait(2, b=350.0)
    story.say("b", Complete(1, 390.0))
    story.wait(5)
    story.end()
    phases = Phases()
    walk(story.folder, phases)
    phases.finish()
    tally = story.tally
    assert tally.achieved == [pytest.approx(590.0)] == [pytest.approx(sum(phase.moved for phase in phases.all))]
    assert tally.granted == [pytest.approx(sum(phase.given for phase in phases.all))]
    lost = sum(phase.nodes * (phase.policy + phase.room) for phase in phases.all)
    assert tally.lost == pytest.approx(lost) and lost > 0
    assert (
        tally.with_io == pytest.approx(sum(phase.nodes * (phase.ended - phase.posted) for phase in phases.all)) == 10.0
    )
    assert not tally._open


def test_a_job_that_is_slow_by_itself_loses_no_node_seconds(tmp_path: Path) -> None:
    story = Watched(tmp_path / "journal", SETTINGS)
    story.register("a")
    story.say("a", Post(2, 1, 1, 400.0))
    story.wait(40, a=400.0)  # a tenth of what it may use
    story.say("a", Complete(1, 400.0))
    story.end()
    assert story.tally.granted[0] < 0.5 * 40 * 100.0, "its grant shrank to what it needs"
    assert (story.tally.lost, story.tally.with_io) == pytest.approx((0.0, 40.0))
