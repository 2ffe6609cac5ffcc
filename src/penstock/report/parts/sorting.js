// Tables that a click on a heading sorts, or Enter on it.
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
    head.addEventListener("click", event => event.target.closest("a") || sort(head, column));
    head.addEventListener("keydown", event => {
      if (event.target.closest("a")) return;
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head, column); }
    });
  });
}
