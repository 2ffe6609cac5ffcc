"""The pages about the controller name all that there is: keys, messages, errors, metrics, variables, verbs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from penstock.client import config as client_config
from penstock.client.member import MemberState
from penstock.live.core import admin
from penstock.live.core.members import Stage
from penstock.live.server.config import (
    JournalConfig,
    LogConfig,
    QuotasConfig,
    ResourceConfig,
    ServerConfig,
    SocketConfig,
    TcpConfig,
    load_config,
)
from penstock.model.record import Record
from penstock.wire import messages as wire

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MESSAGES = [*get_args(wire.FromClient), *get_args(wire.FromController)]


OPERATING = ("guide/operating", "guide/access")


def page(*names: str) -> str:
    return "\n".join((DOCS / f"{name}.md").read_text() for name in names)


def rows(text: str, first: str) -> list[str]:
    """The rows of tables that have these words in their first or second cell."""
    return [line for line in text.splitlines() if re.match(rf"\| (?:\d+ \| )?`?{re.escape(first)}`? \|", line)]


@pytest.mark.parametrize(
    "record", [ServerConfig, ResourceConfig, SocketConfig, TcpConfig, JournalConfig, QuotasConfig, LogConfig]
)
def test_every_key_of_the_configuration_is_explained(record: type[Record]) -> None:
    for key in record.model_fields:
        assert f"`{key}`" in page(*OPERATING), (record.__name__, key)


def test_defaults_of_the_configuration_are_the_ones_told() -> None:
    told = {"machine_nodes": "1000", "lease": "8 s", "beat": "2 s", "phi": "0.5", "max_wait": "600 s", "pace": "2 ms"}
    told |= {"epsilon": "0.02", "forget": "3600 s", "reserve": "`bounded`"}
    told |= {"members_per_job": "64", "jobs_per_user": "20000"}
    defaults, settings = ServerConfig(capacity=1.0), ServerConfig(capacity=1.0).settings()
    for key, text in told.items():
        [row] = rows(page(*OPERATING), key)
        assert row.endswith(f"| {text} |")
        number, _, unit = text.strip("`").partition(" ")
        value = getattr(settings if key == "machine_nodes" else defaults, key)
        assert value == (number if key == "reserve" else float(number) / (1000 if unit == "ms" else 1))


def test_configurations_that_are_shown_can_be_loaded(tmp_path: Path) -> None:
    [shown] = re.findall(r'^```yaml title="config.yaml"\n(.*?)^```$', page(*OPERATING), re.MULTILINE | re.DOTALL)
    (tmp_path / "config.yaml").write_text(shown)
    assert load_config(tmp_path / "config.yaml").tcp is not None
    assert len(load_config(ROOT / "examples" / "live" / "config.yaml").resources) == 3


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_every_message_is_on_its_page_with_its_tag_and_fields(message: type[wire.Message]) -> None:
    config = message.__struct_config__
    [row] = [line for line in page("reference/protocol").splitlines() if line.startswith(f"| {config.tag} |")]
    assert f"| {message.__name__} |" in row
    assert row.split("|")[3].strip() == ", ".join(f"`{field}`" for field in message.__struct_fields__)


@pytest.mark.parametrize("code", wire.CODES)
def test_every_error_is_on_its_page(code: str) -> None:
    [row] = rows(page("reference/protocol"), code)
    assert row.endswith("| no |" if code in wire.NOT_FATAL else "| yes |")


def test_every_state_and_verb_is_on_its_page() -> None:
    text = page("reference/protocol")
    verbs = *admin._LOOKS, *admin._ORDERS
    for name in [*(state.name for state in MemberState), *(stage.value for stage in Stage), *verbs]:
        assert rows(text, name), name


def test_every_variable_is_on_the_page_for_jobs() -> None:
    source = Path(client_config.__file__).read_text() + (ROOT / "src/penstock/cli/parts/controller.py").read_text()
    named = set(re.findall(r"\bPENSTOCK(?:_[A-Z]+)*\b", source)) - {"PENSTOCK_"}
    for name in named | {"PENSTOCK_CERTIFICATE", "PENSTOCK_KEY"}:
        assert f"`{name}`" in page("guide/client"), name


def test_every_metric_is_on_the_page_for_operators() -> None:
    from penstock.live.server import metrics  # noqa: PLC0415

    source, text = Path(metrics.__file__).read_text(), page("guide/monitoring")
    names = [f"{name}_total" for name, _ in metrics.COUNTERS.values()]
    names += [name for name, _ in (*metrics.GAUGES.values(), *metrics.RESOURCES.values())]
    names += re.findall(r'"penstock_(\w+)"', source)
    names += ["mode", "members", "granted_bytes_total", "achieved_bytes_total", "answer_seconds", "rate_wait_seconds"]
    for name in names:
        assert f"`penstock_{name}" in text, name
