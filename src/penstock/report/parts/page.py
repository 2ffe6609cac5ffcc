"""The look and the one script of the HTML report, kept inside the page so that it needs nothing else."""

from importlib.resources import files

STYLE = """
:root { color-scheme: light dark; --ink: #1f2329; --paper: #fff; --soft: #5b6472; --line: #d5dae1; --panel: #f5f7f9;
  --good: #0b6e3a; --bar: #cc3311; --link: #2457a6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #14171b; --soft: #9aa4b2; --line: #353c46;
  --panel: #1d2228; --good: #63d297; --bar: #f0775b; --link: #8db4f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
.soft, caption { color: var(--soft); font-size: .9rem; }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1rem 0 0; padding: 0; }
.facts div { min-width: 6rem; }
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
.answer { background: var(--panel); border-left: 4px solid var(--good); border-radius: 4px; padding: .8rem 1.1rem; }
.answer p { margin: .25rem 0; }
.wide { overflow-x: auto; }
.wide + .soft { margin-top: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; padding-top: .5rem; }
th, td { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { vertical-align: bottom; font-weight: 600; }
td.said { text-align: left; white-space: normal; min-width: 11rem; }
th:first-child, td:first-child { text-align: left; min-width: 9rem; max-width: 26rem; overflow: hidden;
  text-overflow: ellipsis; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); }
td small { display: block; white-space: normal; color: var(--soft); min-width: min(18rem, 45vw); }
th.verdict:last-child, td.verdict:last-child { position: sticky; right: 0; background: var(--paper); }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
td.best { font-weight: 700; color: var(--good); }
td.worst { font-weight: 700; color: var(--bar); }
th[aria-sort] { cursor: pointer; }
th[aria-sort]::after { content: "\\2195"; opacity: .35; padding-left: .3em; }
th[aria-sort=ascending]::after { content: "\\2191"; opacity: 1; }
th[aria-sort=descending]::after { content: "\\2193"; opacity: 1; }
th:focus-visible, summary:focus-visible, svg.timeline:focus-visible { outline: 2px solid var(--link);
  outline-offset: 1px; }
.bar { display: inline-block; width: 3rem; height: .6rem; margin-left: .6rem; background: var(--line);
  border-radius: 2px; overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--bar); }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 40rem; height: auto; color: var(--ink); }
svg.timeline { touch-action: pan-y; user-select: none; font-size: 10.5px; fill: currentColor; cursor: crosshair; }
svg.timeline:focus:not(:focus-visible) { outline: none; }
svg.timeline .end { text-anchor: end; }
svg.timeline .middle { text-anchor: middle; }
svg.timeline .axis { stroke: currentColor; stroke-width: .8; }
svg.timeline .capacity { stroke: currentColor; stroke-dasharray: 5 3; }
svg.timeline .brush { fill: var(--link); fill-opacity: .2; pointer-events: none; }
.computing { fill: #8884; background: #8884; }
.waiting { fill: #cc3311; background: #cc3311; fill-opacity: .75; }
figure output { display: block; min-height: 1.4em; font-size: .85rem; color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .3rem 0; padding: 0; list-style: none;
  font-size: .85rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: 0 1rem; }
summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
summary span { font-weight: 400; color: var(--soft); margin-left: .8rem; }
details > :last-child { margin-bottom: 1rem; }
.words dt { font-weight: 600; margin-top: .7rem; }
.words dd { margin: 0; }
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --soft: #444; --line: #bbb; --panel: #fff; --good: #0b6e3a;
    --bar: #cc3311; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  figure svg { min-width: 0; }
  h2, summary { break-after: avoid; }
  tr, figure, .answer { break-inside: avoid; }
  th[aria-sort]::after { content: ""; }
  details { border: 0; padding: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""

_SORTING = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.value;
    return text === undefined ? cell.textContent : text === "" ? null : Number(text);
  };
  const sort = (head, column) => {
    const start = head.dataset.first || "ascending";
    const other = start === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === start ? other : start;
    const sign = order === "ascending" ? 1 : -1;
    heads.forEach(one => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", order);
    const rows = [...body.rows].map(row => [key(row, column), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null)
      : sign * (typeof a === "string" ? a.localeCompare(b, undefined, {numeric: true}) : a - b));
    body.append(...rows.map(([, row]) => row));
  };
  heads.forEach((head, column) => {
    head.setAttribute("aria-sort", "none");
    head.tabIndex = 0;
    head.title = "Sort by this column";
    head.addEventListener("click", () => sort(head, column));
    head.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head, column); }
    });
  });
}
"""

SCRIPT = _SORTING + files(__package__).joinpath("timeline.js").read_text(encoding="utf-8")
