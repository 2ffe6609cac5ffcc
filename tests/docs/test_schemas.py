"""The published schemas: every `--json` keeps to its own, every example to that of scenarios; none is out of date."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator, ValidationError
from typer.main import get_command

from penstock.cli.group import app
from penstock.cli.table import IMPORT
from scripts.schemas.derive import derive
from scripts.schemas.documents import DOCUMENTS
from scripts.schemas.live_samples import live_samples
from scripts.schemas.samples import ROOT, samples
from scripts.schemas.schemas import PAGE, SCENARIO, SCHEMAS, gathered, page, scenario_schema, schemas_of, text

# Commands that print what another one does.
SAME = {
    "top": "status",
    "pause": "mode",
    "resume": "mode",
    "campaign merge": "campaign status",
    "campaign import": "campaign export",
}
SAME |= {f"import {row.name}": "import darshan" for row in IMPORT}
OUT_OF_DATE = "docs/reference/schemas is out of date; `make schemas` writes it anew"


def published(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def check(found: Sequence[tuple[str, Any]]) -> None:
    """Answers are as published; so are the schemas that follow from them."""
    for name, sample in found:
        Draft202012Validator(published(name)).validate(sample)
    for name, schema in schemas_of(gathered(found)).items():
        assert (SCHEMAS / f"{name}.json").read_text() == text(schema), f"{name}: {OUT_OF_DATE}"


@pytest.mark.long
def test_commands_print_what_is_published(tmp_path_factory: pytest.TempPathFactory) -> None:
    check(list(samples(tmp_path_factory.mktemp("samples"))))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("forking")
def test_commands_of_the_controller_print_what_is_published(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PENSTOCK", "PENSTOCK_ADDRESS", "PENSTOCK_JOB", "PENSTOCK_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    check(list(live_samples(tmp_path_factory.mktemp("live"))))


@pytest.mark.parametrize("name", [SCENARIO, *(document.name for document in DOCUMENTS)])
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(published(name))


def test_the_page_and_the_files_are_those_of_the_documents() -> None:
    assert PAGE.read_text() == page(), OUT_OF_DATE
    assert {path.stem for path in SCHEMAS.iterdir()} == {SCENARIO, *(document.name for document in DOCUMENTS)}


def takes_json(command: Any) -> bool:
    return any("--json" in each.opts for each in command.params)


def test_every_command_that_prints_json_has_a_schema() -> None:
    group = get_command(app)
    described = {SCENARIO: ""} | {document.command.split(" -")[0]: "" for document in DOCUMENTS}
    for name in group.commands:  # type: ignore[attr-defined]
        command = group.get_command(None, name)  # type: ignore[attr-defined]
        below = [f"{name} {part}" for part in getattr(command, "commands", {}) if part != "run"]
        for each in below or [name]:
            own = command.get_command(None, each.split()[1]) if below else command
            assert not takes_json(own) or SAME.get(each, each) in {*described, "explain"}, each


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_is_a_scenario(file: Any) -> None:
    Draft202012Validator(published(SCENARIO)).validate(yaml.safe_load(file.read_text()))


def test_a_scenario_may_have_units_and_no_unknown_key() -> None:
    assert (SCHEMAS / f"{SCENARIO}.json").read_text() == text(scenario_schema()), OUT_OF_DATE
    check = Draft202012Validator(published(SCENARIO)).validate
    job = {"name": "a", "phases": [{"compute": "1 min"}, {"repeat": "forever", "phases": [{"write": "3 GB"}]}]}
    scenario = {"version": 1, "platform": {"bandwidth": "1 GB/s"}, "window": {"end": 9}, "applications": [job]}
    check(scenario)
    changes: list[dict[str, object]] = [
        {"version": 2},
        {"aplications": []},
        {"window": {"end": None}},
        {"seed": "seven"},
    ]
    for wrong in changes:
        with pytest.raises(ValidationError):
            check(scenario | wrong)


@dataclass(frozen=True)
class Point:
    """Where it is."""

    x: float
    by_name: tuple[float, ...]
    note: str | None = None

    @property
    def far(self) -> bool:
        """Whether it is."""
        return self.x > 1

    def to_dict(self) -> dict[str, Any]:
        """As it is printed."""
        return asdict(self) | {"by_name": {"a": 1.0}, "far": self.far}


def test_a_schema_follows_types_and_answers() -> None:
    schema = derive(list[Point], [[Point(2.0, (1.0,)).to_dict()]])
    assert schema["items"]["properties"] == {
        "x": {"type": "number"},
        "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
        "note": {"type": ["string", "null"]},
        "far": {"type": "boolean"},
    }
    assert schema["items"]["description"] == "Where it is."
    check = Draft202012Validator(schema).validate
    check([Point(0.5, ()).to_dict() | {"note": "near"}])
    for wrong in ({"x": None}, {"new": 1}, {"far": 1}):
        with pytest.raises(ValidationError):
            check([Point(0.5, ()).to_dict() | wrong])


def test_what_was_only_sometimes_there_need_not_be() -> None:
    schema = derive({"a": float}, [{"a": 1}, {"a": 2.5, "b": [None, 3]}])
    assert schema["required"] == ["a"]
    assert schema["properties"] == {
        "a": {"type": "number"},
        "b": {"type": "array", "items": {"type": ["integer", "null"]}},
    }
