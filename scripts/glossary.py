"""The site's heads of tables lead to the glossary: a hook of MkDocs.

The terms are those of `docs/develop/glossary.md`: an entry's names, and the words in italics that it defines besides. A
head that has one of them in it becomes a link with the definition as its tooltip; the name of a policy leads to the
policy's page. A head without a link is a number, or made of plain words: a test has the list of these.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
GLOSSARY = "develop/glossary"
POLICIES = "reference/policies"
_ENTRY = re.compile(r"^(\*\*.+)\n:   (.+(?:\n    .+)*)", re.MULTILINE)
_HEAD = re.compile(r"<th\b([^>]*)>((?:(?!</?th\b|<a\b).)*)</th>", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class Term(NamedTuple):
    """A word of the glossary: where it stands there, and what it means in a line."""

    anchor: str
    meaning: str


def terms(text: str) -> dict[str, Term]:
    """Every word that the glossary defines, in small letters; of two entries with a word the first counts."""
    found: dict[str, Term] = {}
    for names, definition in _ENTRY.findall(text):
        heads = re.findall(r"\*\*(.+?)\*\*", names)
        meaning = _plain(definition)
        for word in [*heads, *re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", definition)]:
            found.setdefault(word.lower(), Term(slug(heads[0]), meaning))
    return found


def slug(word: str) -> str:
    """How an entry is called in an address."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def _plain(definition: str) -> str:
    """Its text as a tooltip shows it; links at the end only say where there is more."""
    text = " ".join(definition.split())
    text = re.sub(r"(?: *,? *\[[^\]]+\]\([^)]+\)\.?)+$", "", text)
    return _LINK.sub(r"\1", text).replace("*", "").replace("`", "").strip()


def word_of(head: str, known: dict[str, Term]) -> Term | None:
    """The longest word of the glossary in a head."""
    for word in sorted(known, key=len, reverse=True):
        if re.search(rf"(?<![\w'-]){re.escape(word)}(?:s|es)?(?![\w-])", head.lower()):
            return known[word]
    return None


def linked(content: str, up: str, known: dict[str, Term], policies: set[str]) -> str:
    """A page with its heads linked; `up` leads from its folder to the root of the site."""

    def link(match: re.Match[str]) -> str:
        attributes, shown = match.groups()
        head = html.unescape(re.sub(r"<[^>]+>", "", shown)).strip()
        term = None if head.partition("(")[0] in policies else word_of(head, known)
        policy = next((word for word in re.findall(r"[a-z0-9-]+", head) if word in policies), None)
        if term is None and policy:
            return f'<th{attributes}><a class="term" href="{up}{POLICIES}/{policy}.html">{shown}</a></th>'
        if term is None:
            return match[0]
        where = f'href="{up}{GLOSSARY}.html#{term.anchor}" title="{html.escape(term.meaning)}"'
        return f'<th{attributes}><a class="term" {where}>{shown}</a></th>'

    return _HEAD.sub(link, content)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for every page: entries of the glossary get addresses, heads elsewhere get links."""
    if page.file.src_uri == f"{GLOSSARY}.md":
        taken: set[str] = set()
        return re.sub(r"<dt><strong>(.+?)</strong>", lambda entry: _addressed(entry, taken), content)
    up = "../" * page.file.src_uri.count("/")
    policies = {path.stem for path in (DOCS / POLICIES).glob("*.md")} - {"index"}
    return linked(content, up, terms((DOCS / f"{GLOSSARY}.md").read_text(encoding="utf-8")), policies)


def _addressed(entry: re.Match[str], taken: set[str]) -> str:
    anchor = slug(html.unescape(entry[1]))
    if anchor in taken:
        return entry[0]
    taken.add(anchor)
    return f'<dt><strong id="{anchor}">{entry[1]}</strong>'
