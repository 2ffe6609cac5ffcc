"""All schemas: of the documents that commands print, from their samples; of scenario files, from the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from penstock.model import Scenario
from penstock.model.units import quantity
from scripts.schemas.derive import Schema, derive
from scripts.schemas.documents import DOCUMENTS
from scripts.schemas.samples import ROOT

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PAGE = ROOT / "docs" / "reference" / "schemas.md"
SCHEMAS = PAGE.parent / "schemas"
SCENARIO = "scenario"
INTRODUCTION = """\
# JSON Schemas

What `--json` prints and what a scenario file may have, for programs that read or write them: JSON Schema, draft
2020-12. They are made from the types in the code and from real answers by `python -m scripts.schemas`; a test holds
every command to them. A key may be added in a later version; none changes its meaning.

| schema | of | what it is |
| --- | --- | --- |
"""


def gathered(found: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """The samples of each document."""
    by_name: dict[str, list[Any]] = {document.name: [] for document in DOCUMENTS}
    for name, sample in found:
        by_name[name].append(sample)
    return by_name


def schemas_of(samples: Mapping[str, Sequence[Any]]) -> dict[str, Schema]:
    """Every schema by the name of its file; documents without a sample are left out."""
    found = {SCENARIO: scenario_schema()}
    for document in DOCUMENTS:
        if samples[document.name]:
            head = {"$schema": DRAFT, "title": f"penstock {document.command} --json: {document.about}"}
            found[document.name] = head | derive(document.hint, samples[document.name])
    return found


def scenario_schema() -> Schema:
    """Of a scenario file, as the model says it, and with the key by which a file names another for its phases."""
    schema = Scenario.model_json_schema(schema_generator=FileSchema)
    schema["properties"]["trace"] = {"type": "string", "description": "A Parquet file beside it that has the phases."}
    schema["$defs"]["Application"]["required"].remove("phases")  # they may be in the trace
    return {"$schema": DRAFT, **schema}


class FileSchema(GenerateJsonSchema):
    """Quantities may be written with their unit."""

    def function_before_schema(self, schema: Any) -> Schema:
        """A number, or text such as "10 GB"."""
        function = schema["function"]["function"]
        if getattr(function, "func", None) is not quantity:
            return super().function_before_schema(schema)
        kind = function.keywords["kind"]
        return {"type": ["number", "string"], "description": f"A number of {kind}, or text with a unit."}


def text(schema: Schema) -> str:
    """As it is written."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def page() -> str:
    """The page that lists all."""
    rows = [(SCENARIO, "scenario files, `penstock generate … --json`", "what a run needs to know, bar the policy")]
    rows += [(document.name, f"`penstock {document.command} --json`", document.about) for document in DOCUMENTS]
    lines = (f"| [{name}.json](schemas/{name}.json) | {command} | {about} |\n" for name, command, about in rows)
    return INTRODUCTION + "".join(lines)
