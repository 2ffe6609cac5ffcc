"""Profiles from IOR's whole output, `-O summaryFormat=JSON`: a list of tests, each with its options and results.

The number of targets is among a test's options in IOR 3 (`stripe count`, from 3.3 `Lustre stripe count`), and on the
command line wherever it was set there: `--posix.lustre.stripecount=4` or `--posix.beegfs.NumTargets=4` in IOR 4,
`-O lustreStripeCount=4` or `-O beegfsNumTargets=4` before. A stripe count of 0 or -1 is the system's choice: unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import InvalidOption, InvalidScenario
from penstock.model import json_text
from penstock.model.units import Refusal, number, quantity, shown
from penstock.studies.profiles import ior
from penstock.studies.profiles.source import Measurement, MeasurementFile, Measurements

_ON_COMMAND_LINE = re.compile(r"(?:lustre\.?stripecount|beegfs\.?numtargets)[=\s]\s*[\"']?(\d+)\b", re.IGNORECASE)
_OPTIONS = ("Lustre stripe count", "stripe count")


def recognises(source: MeasurementFile) -> bool:
    """Whether it is a JSON document."""
    return source.text.lstrip().startswith("{")


def read(source: MeasurementFile) -> Measurements:
    """Every write and read of every test."""
    try:
        document = json_text.parse(source.text, str(source.path))
    except InvalidScenario as error:
        raise InvalidOption(str(error)) from None
    tests = document.get("tests")
    if not isinstance(tests, list) or not tests:
        source.refuse("has no list 'tests' as IOR writes it; expected what IOR prints with -O summaryFormat=JSON")
    line = str(document.get("Command line", ""))
    return Measurements([run for place, test in enumerate(tests) for run in _runs(source, test, place, line)], ior.UNIT)


def _runs(source: MeasurementFile, test: Any, place: int, line: str) -> Iterator[Measurement]:
    options, results = (test.get(key) if isinstance(test, dict) else None for key in ("Options", "Results"))
    if not isinstance(options, dict) or not isinstance(results, list):
        source.refuse(f"tests[{place}] has no 'Options' and 'Results'; expected a test as IOR writes it")
    count = ior.targets(source, _recorded(source, options, line))
    for step, result in _flat(results, f"tests[{place}].Results"):
        if not isinstance(result, dict) or result.get("access") not in (*ior.OPERATIONS, "remove"):
            source.refuse(f"{step} is {shown(result)} without 'access'; expected a result as IOR writes it")
        if result["access"] != "remove":
            yield _measurement(source, result, step, options, count)


def _measurement(
    source: MeasurementFile, result: Mapping[str, Any], step: str, options: Mapping[str, Any], count: int
) -> Measurement:
    tasks = options.get("tasks")
    name = ior.named(
        source,
        operation=result["access"],
        tasks=tasks if isinstance(tasks, int) else None,
        layout="fpp" if options.get("access") == "file-per-process" else "",
        block=_number(source, result, step, "blockKiB"),
        transfer=_number(source, result, step, "xferKiB"),
    )
    try:
        return Measurement(name, count, quantity(f"{result.get('bwMiB')} {ior.UNIT}", "bytes/s"))
    except Refusal:
        source.refuse(f"{step}.bwMiB is {shown(result.get('bwMiB'))}; a bandwidth is a number > 0")


def _number(source: MeasurementFile, result: Mapping[str, Any], step: str, key: str) -> float:
    try:
        return number(result.get(key), "a size is a number ≥ 0")
    except Refusal as refusal:
        source.refuse(f"{step}.{key} {refusal}")


def _recorded(source: MeasurementFile, options: Mapping[str, Any], line: str) -> int | None:
    """The number of targets, from the options of a test or else from the command line."""
    # The first word alone: IOR 3.2 wrote "4 bytes".
    found = [(f"the option {key!r}", str(options[key]).split()[:1]) for key in _OPTIONS if key in options]
    typed = [match[1] for match in _ON_COMMAND_LINE.finditer(line)]
    found.append(("the number of targets on its command line", typed[-1:]))
    counts = (source.counted(text, place) for place, words in found for text in words if text.isdecimal())
    return next(filter(None, counts), None)


def _flat(results: list[Any], step: str) -> Iterator[tuple[str, Any]]:
    """Every result with its place; IOR 3 has a list per repetition."""
    for place, result in enumerate(results):
        here = f"{step}[{place}]"
        if isinstance(result, list):
            yield from _flat(result, here)
        else:
            yield here, result
