"""The one page of the dashboard: text, style and script in one answer, and the browser may use nothing else."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from html import escape

from penstock.policies.sharing.catalogue import known_names
from penstock.report.parts.page import STYLE, TIMELINE, asset
from penstock.report.parts.theme import GROUP_COLOURS


@cache
def page() -> tuple[str, str]:
    """The page, and its Content-Security-Policy: this style, this script, this server's answers, and nothing else."""
    style, script = STYLE + asset("dashboard.css", __package__), TIMELINE + _script()
    names = "".join(f"<option>{escape(name)}</option>" for name in known_names())
    text = asset("dashboard.html", __package__)
    parts = ("POLICIES", names), ("COLOURS", " ".join(GROUP_COLOURS)), ("STYLE", style), ("SCRIPT", script)
    for mark, part in parts:
        text = text.replace(f"{{{{{mark}}}}}", part)
    rules = (
        "default-src 'none'",
        f"style-src 'sha256-{_digest(style)}'",
        f"script-src 'sha256-{_digest(script)}'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
    return text, "; ".join(rules)


def _script() -> str:
    return asset("chart_data.js", __package__) + asset("dashboard.js", __package__)


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
