"""Local search."""


def improve() -> None:
    """To be."""
