"""`python -m scripts.schemas`: write `docs/reference/schemas` and the page that lists them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.schemas.live_samples import live_samples
from scripts.schemas.samples import samples
from scripts.schemas.schemas import PAGE, SCHEMAS, gathered, page, schemas_of, text


def main() -> None:
    """Write all files anew; one that is no document's any more is removed."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        found = schemas_of(gathered(_all(samples(Path(first)), live_samples(Path(second)))))
    _write(found)
    PAGE.write_text(page())
    print(f"written: {len(found)} schemas in {SCHEMAS}")


def _all(*parts: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    for part in parts:
        yield from part


def _write(found: Mapping[str, Any]) -> None:
    SCHEMAS.mkdir(parents=True, exist_ok=True)
    for old in SCHEMAS.glob("*.json"):
        if old.stem not in found:
            old.unlink()
    for name, schema in found.items():
        (SCHEMAS / f"{name}.json").write_text(text(schema))


if __name__ == "__main__":
    main()
