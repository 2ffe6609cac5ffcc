"""The campaign file: generators × settings × seeds × plans × metrics, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from penstock.campaign.canonical import canonical
from penstock.campaign.grid import as_list, points
from penstock.campaign.named_files import full_path
from penstock.campaign.plan import CampaignPlan, plans_of
from penstock.campaign.seeds import Seeds
from penstock.campaign.source import Source, loaded
from penstock.campaign.tasks import Metric, find_task
from penstock.errors import InvalidScenario, PenstockError
from penstock.files import reading
from penstock.model import yaml_text
from penstock.model.problems import Locate, near, place, refuse, reject
from penstock.model.problems import Path as Place
from penstock.model.record import Name, NotEmpty, Record, Version
from penstock.model.units import Refusal, number
from penstock.workloads import Generator, generators

MOST_RUNS = 10_000_000
_LARGEST = 16_000_000  # bytes of a campaign file
_ENDINGS = (".yaml", ".yml", ".json")


class WorkloadDocument(Record):
    """Scenarios: of a generator, or from a file."""

    generate: Name | None = None
    scenario: Name | None = None
    set: dict[str, Any] = Field(default_factory=dict)
    noise: Any = None
    seeds: Seeds | None = None
    label: Name | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.generate is None) == (self.scenario is None):
            reject("Workload", [((), None, "needs one of 'generate' (a generator) and 'scenario' (a file)")])
        if self.scenario is not None and self.set:
            reject("Workload", [(("set",), None, "is for generators; a scenario file has no settings")])
        return self


class CampaignDocument(Record):
    """What the file says, before its names are looked up."""

    version: Version
    name: Name
    workloads: Annotated[tuple[WorkloadDocument, ...], NotEmpty]
    plans: Annotated[tuple[Any, ...], NotEmpty]
    metrics: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Workload:
    """The points of a workload's grid, and the seeds that each is run with."""

    sources: tuple[Source, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Campaign:
    """Every workload under every plan. `metrics` are shown; `keep` are those with a number per application."""

    name: str
    workloads: tuple[Workload, ...]
    plans: tuple[CampaignPlan, ...]
    metrics: tuple[str, ...]
    keep: tuple[str, ...]
    text: str

    @property
    def size(self) -> int:
        """How many runs it has."""
        return sum(len(each.sources) * len(each.seeds) for each in self.workloads) * len(self.plans)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], folder: str | Path = ".") -> Campaign:
        """A campaign from plain data; files that it names are in `folder`.

        >>> workload = {"generate": "synthetic", "set": {"pressure": [0.5, 1]}, "seeds": "1-3"}
        >>> plans = [{"sharing": ["fair-share", "fcfs"]}]
        >>> Campaign.from_document({"version": 1, "name": "small", "workloads": [workload], "plans": plans}).size
        12
        """
        return _campaign(document, Path(folder), lambda _: "campaign", yaml_text.write(dict(document)))


def load_campaign(path: str | Path) -> Campaign:
    """The campaign in a file; anything wrong with it is refused with the file, the line and the place."""
    file = Path(path)
    text = _text(file)

    @cache
    def locate(where: Place) -> str:
        line = yaml_text.line_of(text, where) if where else None
        return f"{file}:{line}" if line else str(file)

    return _campaign(yaml_text.parse(text, str(file)), file.parent, locate, text)


def _text(file: Path) -> str:
    with reading(file, InvalidScenario):
        if file.is_dir():
            raise InvalidScenario(f"{file}: is a directory; expected a campaign file ({', '.join(_ENDINGS)})")
        if file.suffix.lower() not in _ENDINGS and file.exists():
            raise InvalidScenario(f"{file}: a campaign file ends in {', '.join(_ENDINGS)}")
        if file.stat().st_size > _LARGEST:
            raise InvalidScenario(f"{file}: has {file.stat().st_size:,} bytes; a campaign file is a small document")
        text = file.read_bytes().decode("utf-8-sig")
    if not text.strip():
        raise InvalidScenario(f"{file}: is empty; expected a campaign with version, name, workloads and plans")
    return text


def _campaign(content: object, folder: Path, locate: Locate, text: str) -> Campaign:
    document = CampaignDocument.checked(content, locate)
    plans = plans_of(document.plans, folder, locate)
    known = {each.name: each for each in generators()}
    _check_size(document, len(plans), locate)
    workloads = tuple(
        _workload(entry, known, folder, locate, ("workloads", index)) for index, entry in enumerate(document.workloads)
    )
    _check_labels(workloads, locate)
    metrics, keep = _metrics(document.metrics, plans, locate)
    return Campaign(document.name, workloads, plans, metrics, keep, text)


def _check_size(document: CampaignDocument, plans: int, locate: Locate) -> None:
    axes = [
        [*map(as_list, entry.set.values()), as_list(entry.noise), entry.seeds or (0,)] for entry in document.workloads
    ]
    size = plans * sum(prod(map(len, each)) for each in axes)
    if size > MOST_RUNS:
        raise InvalidScenario(f"{locate(())}: the campaign has {size:,} runs; at most {MOST_RUNS:,}")


def _check_labels(workloads: Iterable[Workload], locate: Locate) -> None:
    """Refuse workloads that nobody could tell apart in the results."""
    seen: dict[tuple[str, str], str] = {}
    for index, workload in enumerate(workloads):
        for source in workload.sources:
            shown = source.label, canonical(source.parameters)
            if seen.setdefault(shown, source.identity) != source.identity:
                text = f"is called {source.label!r} as another one is; give each a 'label' of its own"
                refuse(locate, ("workloads", index), text)


def _workload(
    entry: WorkloadDocument, known: Mapping[str, Generator], folder: Path, locate: Locate, where: Place
) -> Workload:
    noises = [_noise(each, locate, (*where, "noise")) for each in _values(entry.noise, locate, (*where, "noise"))]
    if entry.scenario is not None:
        return _from_file(entry, noises, folder, locate, where)
    if entry.generate is None or entry.generate not in known:
        hint = near(entry.generate, known) or ";"
        refuse(locate, (*where, "generate"), f"is {entry.generate!r}{hint} known: {', '.join(known)}")
    generator = known[entry.generate]
    seeds = entry.seeds or (0,)
    if not generator.seeded and len(seeds) > 1 and not any(noises):
        text = f"are {len(seeds)}, but {generator.name} draws nothing: every seed would give the same run"
        refuse(locate, (*where, "seeds"), text)
    label = entry.label or generator.name
    settings = list(points(_settings(entry.set, generator, folder, locate, (*where, "set"))))
    sources = (Source(label, generator.name, each, None, noise) for each in settings for noise in noises)
    return Workload(tuple(sources), seeds)


def _from_file(
    entry: WorkloadDocument, noises: list[float | None], folder: Path, locate: Locate, where: Place
) -> Workload:
    file = (folder / (entry.scenario or "")).resolve()
    try:
        scenario = loaded(file)
    except PenstockError as error:
        raise type(error)(f"{locate((*where, 'scenario'))}: {place((*where, 'scenario'))}: {error}") from None
    sources = (Source(entry.label or file.stem, None, {}, file, noise) for noise in noises)
    return Workload(tuple(sources), entry.seeds or (scenario.seed,))


def _settings(
    given: Mapping[str, Any], generator: Generator, folder: Path, locate: Locate, where: Place
) -> dict[str, list[Any]]:
    """Every setting of the generator with the values it shall have, defaults included: a run depends on all of them."""
    known = {parameter.name: parameter for parameter in generator.parameters}
    for name in given:
        if name not in known:
            hint = near(name, known) or ";"
            text = f"has a setting {name!r} that {generator.name} does not have{hint} known: {', '.join(known)}"
            refuse(locate, (*where, name), text)
    chosen = {}
    for name, parameter in known.items():
        values = _values(given[name], locate, (*where, name)) if name in given else [parameter.default]
        texts = [full_path(value, folder) if isinstance(value, str) else value for value in values]
        try:
            chosen[name] = [parameter.read(value, generator.name) for value in texts] if name in given else values
        except PenstockError as error:
            raise type(error)(f"{locate((*where, name))}: {place((*where, name))}: {error}") from None
        if len(set(chosen[name])) < len(values):
            refuse(locate, (*where, name), "has a value twice; a grid has every value once")
    return chosen


def _values(value: object, locate: Locate, where: Place) -> list[Any]:
    found = as_list(value)
    if not found:
        refuse(locate, where, "is an empty list; a grid needs at least one value")
    return found


def _noise(value: object, locate: Locate, where: Place) -> float | None:
    try:
        return None if value is None else number(value, "the noise is a number from 0 to 1", most=1.0)
    except Refusal as refusal:
        refuse(locate, where, str(refusal))


def _metrics(
    asked: tuple[str, ...], plans: tuple[CampaignPlan, ...], locate: Locate
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is shown, and what is kept for every application."""
    tasks = [find_task(name) for name in dict.fromkeys(plan.task for plan in plans)]
    lists = dict.fromkeys(name for task in tasks for name in task.lists)
    single = {metric.name: metric for metric in _known_metrics(plans)}
    for index, name in enumerate(asked):
        if name not in lists and name not in single:
            text = f"is {name!r}{near(name, (*single, *lists)) or ';'} known: {', '.join((*single, *lists))}"
            refuse(locate, ("metrics", index), text)
    # What is a number of one task and a list of another can be one column only: the number.
    shown_ones = [name for name in asked if name in single] or [each.name for each in single.values() if each.main]
    return tuple(dict.fromkeys(shown_ones)), tuple(name for name in lists if name in asked and name not in single)


def _known_metrics(plans: tuple[CampaignPlan, ...]) -> Iterator[Metric]:
    for name in dict.fromkeys(plan.task for plan in plans):
        yield from find_task(name).metrics
