"""The look and the scripts of pages, which are kept inside a page so that it needs nothing else.

`time_frame.js` has what pictures over time share, `timeline.js` draws timelines in reports and in the dashboard alike,
`passage.js` a whole machine.
"""

from importlib.resources import files


def asset(name: str, package: str = __package__) -> str:
    """A script or a style that lies beside the code."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


STYLE = asset("page.css")
TIMELINE = asset("time_frame.js") + asset("timeline.js")
SCRIPT = asset("sorting.js") + TIMELINE + asset("passage.js") + asset("report.js")
