"""What HTML reports consist of: a page that needs no network, its facts, tables that sort, figures, explained words.

Whatever comes from the user is escaped where it enters the page, and the page itself forbids the browser to fetch
anything or to run any script but ours.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING

from penstock.report.parts.page import SCRIPT, STYLE
from penstock.report.parts.theme import INK
from penstock.report.plots import figure_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pairs = Iterable[tuple[str, str]]


def page(title: str, subtitle: str, facts: Pairs, answer: Sequence[str], body: str, words: Pairs) -> str:
    """A whole page; `body` is HTML, all else is text: the answer in sentences, and what its words mean."""
    allowed = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    shown = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    said = "".join(f"<p>{escape(line)}</p>" for line in answer)
    known = dict(words)
    explained = "".join(
        f'<dt id="{_anchor(term)}">{escape(term)}</dt><dd>{escape(meaning)}</dd>' for term, meaning in known.items()
    )
    body = _HEAD.sub(lambda found: _linked(found, known), body)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)} – penstock</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="soft">{escape(subtitle)} by penstock, which simulates how applications share I/O bandwidth.</p>
<dl class="facts">{shown}</dl>
</header>
<main>
<h2>In short</h2>
<div class="answer">{said}</div>
{body}
<h2>What the words mean</h2>
<dl class="words">{explained}</dl>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


_HEAD = re.compile(r'(<th scope="col"[^>]*>)([^<]*)(</th>)')


def _linked(found: re.Match[str], words: Mapping[str, str]) -> str:
    """The head of a column with a link to what its longest word means, if the page explains one."""
    start, shown, end = found.groups()
    plain = unescape(shown).lower()
    fitting = [term for term in words if re.search(rf"(?<!\w){re.escape(term.lower())}(?!\w)", plain)]
    if not fitting:
        return found[0]
    term = max(fitting, key=len)
    told = f'title="{escape(words[term])}" aria-label="What {escape(term)} means"'
    return f'{start}{shown}<a class="word" href="#{_anchor(term)}" {told}>?</a>{end}'


def _anchor(term: str) -> str:
    return f"word-{re.sub(r'[^a-z0-9]+', '-', term.lower()).strip('-')}"


def table(kind: str, heads: Sequence[str], rows: Sequence[str], caption: str) -> str:
    """A table that readers can sort, with a sentence below it, which does not scroll with a wide table."""
    below = f'<p class="soft">{escape(caption)}</p>' if caption else ""
    return (
        f'<div class="wide"><table class="sortable {kind}"><thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>{chr(10).join(rows)}</tbody></table></div>{below}"
    )


def head(words: str, *, descending: bool = False, mark: str = "") -> str:
    """The head of a column; the first click on it sorts as told."""
    first = " data-first=descending" if descending else ""
    return f'<th scope="col"{f" class={mark}" if mark else ""}{first}>{escape(words)}</th>'


def cell(shown: str, value: float | None = None, *, number: bool = False, mark: str = "", after: str = "") -> str:
    """A cell that sorts by `value`; a number that is missing sorts last."""
    key = f' data-value="{float(value)!r}"' if value is not None else ' data-value=""' if number else ""
    return f"<td{f' class={mark}' if mark else ''}{key}>{escape(shown)}{after}</td>"


def inline(figure: Figure, prefix: str, alt: str) -> str:
    """The figure as part of the page: in the page's text colour, its ids unlike those of others, its numbers short."""
    drawn = figure_bytes(figure, "svg", text_as_text=True).decode()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawn, count=2)
    drawn = re.sub(r'\bid="', f'id="{prefix}-', drawn)
    drawn = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", drawn)
    drawn = re.sub(r'\bd="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), drawn)
    drawn = drawn.replace(INK, "currentColor").replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    return f"<figure>{drawn}</figure>"
