// The page: hears of every look at the controller, and shows it. All that comes from users is text, never markup.
const find = id => document.getElementById(id);
const make = (name, words = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = words;
  if (kind) made.className = kind;
  return made;
};
// Times are those of the browser's zone everywhere, as in the charts.
const clockOf = seconds => {
  const date = new Date(1000 * seconds), two = value => String(value).padStart(2, "0");
  const day = date.toDateString() === new Date().toDateString() ? "" : `${two(date.getDate())}.${two(date.getMonth() + 1)}. `;
  return `${day}${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
};
const put = (parent, ...children) => parent.replaceChildren(...children);
const say = (place, words) => { if (place.textContent !== words) place.textContent = words; };
const ask = async (path, query) => (await fetch(`${path}?${new URLSearchParams(query)}`)).json();

const PHASES = 12, KEPT = 600, colours = document.body.dataset.colours.split(" "), slots = colourSlots();
const charts = new Map(), names = new Map();
let samples = [], look = null, past = null, span = 0, one = null, zoomed = null, fine = null;

const keepNames = told => { for (const [app, name] of Object.entries(told)) names.set(Number(app), name); };
const capacitiesOf = (seen, name) => (seen.capacities || []).filter(([, all]) => name in all).map(([at, all]) => [at, all[name]]);
const capacityOf = name => look.resources.find(each => each.name === name)?.capacity || 1;

// A chart with its legend, what is pointed at, and the same as a table.
const chart = (id, title) => {
  const box = make("section"), heading = make("h3", title), words = make("p", "", "soft"), figure = make("figure");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const legend = make("ul", "", "legend"), output = make("output"), details = make("details");
  svg.id = id;
  svg.classList.add("timeline", "fluid");
  svg.addEventListener("zoomed", event => { zoomed = event.detail; askFine(); });
  svg.setAttribute("role", "img");
  svg.setAttribute("tabindex", "0");
  const body = make("div", "", "wide");
  details.append(make("summary", "The same as a table"), body);
  figure.append(svg, legend, output);
  box.append(heading, words, figure, details);
  const show = timeline(svg, output);
  let last = null;
  const fill = () => { if (details.open && last) put(body, chartTable(last)); };
  details.addEventListener("toggle", fill);
  return {box, words, update: (data, said) => {
    last = data;
    show(data);
    say(words, said);
    svg.setAttribute("aria-label", `${title}: ${said} ${data.names.length} jobs shown; a table follows.`);
    putLegend(legend, data);
    fill();
  }};
};
const putLegend = (legend, data) => {
  const item = (words, kind, colour) => {
    const one = make("li", words), key = make("i", "", kind);
    if (colour) key.style.background = colour;
    one.prepend(key);
    return one;
  };
  const moves = new Set(data.spans.filter(each => each[3]).map(each => each[0]));
  const own = data.names.flatMap((name, row) => moves.has(row) && data.groups[row] < COLOURED ? [item(name, "", colours[data.groups[row]])] : []);
  const rest = data.others || data.groups.some((group, row) => moves.has(row) && group >= COLOURED) ? [item("others", "", colours[COLOURED])] : [];
  const red = [item("waits", "waiting"), item("held back from", "held")];
  const away = data.bands.length ? [item("controller unreachable", "away")] : [];
  put(legend, ...own, ...rest, ...red, ...away);
};
const chartTable = data => {
  const table = make("table"), head = make("tr"), body = make("tbody");
  head.append(...["job", "seconds waiting", "seconds moving", "of what it could use, on average"].map(words => {
    const cell = make("th", words);
    cell.scope = "col";
    return cell;
  }));
  const second = (data.end - data.begin) / data.whole;
  data.names.forEach((name, row) => {
    const own = data.spans.filter(each => each[0] === row), length = each => second * (each[2] - each[1]);
    const sum = (kept, weight = () => 1) => own.filter(kept).reduce((all, each) => all + length(each) * weight(each), 0);
    const all = sum(() => true), line = make("tr");
    const part = all > 0 ? `${Math.round(100 * sum(() => true, each => each[3] ? each[4] : 0) / all)} %` : "";
    line.append(make("td", name), ...[sum(each => !each[3]), sum(each => each[3])].map(each => make("td", each.toFixed(0))), make("td", part));
    body.append(line);
  });
  const top = make("thead");
  top.append(head);
  table.append(top, body);
  return table;
};

const window_ = () => {
  if (span && past) {
    const first = Math.min(...[...past.samples.filter(([, , rows]) => rows.length), ...past.marks].map(([at]) => at));
    const samples = fine ? [...past.samples.filter(([at]) => at < fine.begin), ...fine.samples, ...past.samples.filter(([at]) => at >= fine.end)] : past.samples;
    return {samples, begin: Math.max(past.begin, Math.min(first - 2 * past.width, past.end - 60)), end: past.end, marks: past.marks,
      away: past.away.map(([from, to]) => [from, to, "no controller was there"]), places: past.resources, capacities: past.capacities};
  }
  const end = look.time + 1, begin = Math.min(look.time - 60, samples.length ? samples[0][0] : end);
  const marks = (look.marks || []).filter(([at]) => at >= begin);
  return {samples, begin, end, marks, away: awayIn(samples, end), capacities: look.capacities || [],
    places: look.resources.map(each => each.name)};
};
const drawCharts = () => {
  if (!look?.resources) return;
  if (one !== null) { drawOne(); return; }
  const seen = window_();
  for (const {name, title, words, in_bytes: inBytes} of look.resources) {
    if (!charts.has(name)) {
      const made = chart(`chart-${charts.size}`, title);
      charts.set(name, made);
      find("charts").append(made.box);
    }
    charts.get(name).update(chartData({...seen, names, resource: seen.places.indexOf(name), capacity: capacityOf(name), capacities: capacitiesOf(seen, name), inBytes,
      slots, colours}), words);
  }
};

const bar = part => {
  const outer = make("span", "", "bar"), inner = make("i");
  inner.style.width = `${Math.round(100 * part)}%`;
  outer.setAttribute("aria-hidden", "true");
  outer.append(inner);
  return outer;
};
const measured = (part, words) => {
  const cell = make("td", "", "fix");
  if (part !== null) cell.append(bar(part), make("div", words));
  return cell;
};
const jobRow = job => {
  const row = make("tr"), name = make("td"), state = make("td", "", "fix");
  name.append(job.open ? Object.assign(make("a", job.name), {href: `#job-${job.app}`}) : job.name);
  state.append(make("span", job.state, `state ${job.state.replace(" ", "-")}`));
  const share = job.part === null ? "" : `${job.rate} of ${job.limit}`;
  const end = job.expected ? job.expected.end : "";
  row.append(name, make("td", job.user), state, measured(job.part, share),
    measured(job.progress, job.moved), make("td", job.behind), make("td", end), make("td", job.reason, "why"));
  row.setAttribute("role", "row");
  [...row.cells].forEach((cell, i) => {
    cell.setAttribute("role", "cell");
    if (LABELS[i]) cell.dataset.label = LABELS[i];
  });
  return row;
};
const LABELS = ["", "user", "", "gets", "moved", "waits behind", "ends", "why"];  // where there is no room for columns
const order = {waiting: 0, slowed: 1, "cut off": 2, lost: 3, expected: 4, moving: 5, idle: 6};
const drawJobs = () => {
  const body = find("table").tBodies[0], focused = document.activeElement?.getAttribute?.("href");
  const jobs = [...look.jobs].sort((a, b) => order[a.state] - order[b.state] || b.rate_value - a.rate_value || a.app - b.app);
  put(body, ...jobs.map(jobRow));
  if (focused?.startsWith("#job-") && one === null) body.querySelector(`a[href="${focused}"]`)?.focus();
  say(find("more"), look.more_jobs ? `${look.more_jobs.toLocaleString("en-US")} more jobs are known; the 100 that are granted most are shown.` : jobs.length ? "" : "No job is known.");
};
const drawFacts = (place, facts) => put(place, ...facts.map(([term, words]) => {
  const box = make("div");
  box.append(make("dt", term), make("dd", words));
  return box;
}));
const drawLook = () => {
  const link = find("link");
  link.className = look.reachable ? "live" : "away";
  say(link, look.reachable ? "live, once a second" : `the controller has not answered since ${clockOf(look.since)}`);
  const short = find("short");
  short.classList.toggle("trouble", look.trouble);
  put(short, ...look.short.map(words => make("p", words)));
  if (!look.resources) return;
  drawFacts(find("facts"), look.facts);
  put(find("warnings"), ...look.warnings.map(words => make("li", words)));
  find("warnings").hidden = !look.warnings.length;
  if (one === null) drawJobs();
  drawCharts();
};

// One job.
let oneChart = null, oneAsked = null;
const drawOne = () => {
  const job = look.jobs.find(each => each.app === one), seen = window_();
  say(find("one-name"), job ? job.name : names.get(one) || `job ${one}`);
  put(find("one-short"), make("p", job ? job.why : "This job is not known to the controller any more."));
  find("one-short").classList.toggle("trouble", Boolean(job?.held));
  say(find("one-ask"), look.ask);
  const facts = job ? [["state", job.state], ["user", job.user || "another user"], ["gets", job.rate || "nothing now"],
    ["moved", job.moved || "no I/O under way"], ["waited so far", job.waited || "not now"]] : [];
  if (job?.expected) {
    facts.push(["expected to begin", job.expected.start], ["expected to end", job.expected.end], ["how sure", job.expected.sure]);
    find("one-short").append(make("p", "These times hold if nobody new comes: a job that is not known yet may go first.", "soft"));
  }
  drawFacts(find("one-facts"), facts);
  if (!oneChart) { oneChart = chart("chart-one", "This job and those it waits behind"); find("one-chart").append(oneChart.box); }
  const place = seen.places.findIndex((_, k) => seen.samples.some(([, , rows]) => rows.some(([app, , ...ways]) =>
    app === one && ways.some((each, i) => i % 2 === 0 && each === k))));
  const shown = place < 0 ? 0 : place, resource = look.resources[shown];
  const beside = new Set([one]);
  for (const [, , rows] of seen.samples) {
    const own = rows.find(([app]) => app === one);
    if (!own || own[1] >= 0.98) continue;
    for (const [app, , ...ways] of rows) if (ways.some((each, i) => i % 2 === 1 && each > 0)) beside.add(app);
  }
  oneChart.update(chartData({...seen, names, resource: shown, capacity: resource.capacity, capacities: capacitiesOf(seen, resource.name), inBytes: resource.in_bytes, only: beside, slots, colours}), resource.words);
};
const askOne = async () => {
  const asked = oneAsked = one, place = find("one-past");
  put(place, make("p", "Reading the journal …"));
  const told = await ask("/job", {app: asked}).catch(() => ({problem: "the dashboard does not answer"}));
  if (oneAsked !== asked || one !== asked) return;
  if (told.problem) { put(place, make("p", told.problem)); return; }
  put(place, ...noted(told), ...told.words.map(words => make("p", words)), operations(told.operations));
};
const noted = told => told.note ? [make("p", told.note, "soft")] : [];
const seconds = value => value === null ? "–" : value >= 100 ? value.toFixed(0) : value.toFixed(1);
const operations = all => {
  const table = make("table"), head = make("tr"), top = make("thead"), body = make("tbody"), box = make("div", "", "wide");
  const words = ["I/O phase", "announced at", "took (s)", "alone (s)", "waited (s)", "lost: policy", "room", "controller", "behind"];
  head.append(...words.map(each => Object.assign(make("th", each), {scope: "col"})));
  for (const each of [...all].reverse().slice(0, PHASES)) {
    const line = make("tr"), by = each.held_by.map(holder => `${holder.job} ${Math.round(100 * holder.share)} %`).join(", ");
    const times = [each.seconds, each.dedicated, each.waited, each.policy, each.room, each.controller].map(seconds);
    line.append(...[String(each.number), clockOf(Date.parse(each.posted) / 1000), ...times].map(text => make("td", text)), make("td", by, "said"));
    body.append(line);
  }
  top.append(head);
  table.append(top, body);
  box.append(table);
  if (all.length > PHASES) box.append(make("p", "The last phases are shown; penstock explain has all.", "soft"));
  return box;
};
const route = () => {
  const found = /^#job-(\d+)$/.exec(location.hash), before = one;
  one = found ? Number(found[1]) : null;
  find("all").hidden = one !== null;
  find("one").hidden = one === null;
  if (one !== null) {
    if (look?.resources) drawOne();
    askOne();
    find("one-name").focus();
    scrollTo(0, 0);
  } else if (before !== null && look?.resources) {
    drawLook();
    find("table").querySelector(`a[href="#job-${before}"]`)?.focus();
  }
};

// History.
const readPast = async () => {
  const asked = span, place = find("span-says");
  if (!past) say(place, "Reading the journal …");
  const told = await ask("/history", {seconds: asked}).catch(() => ({problem: "the dashboard does not answer"}));
  if (asked !== span) return;
  if (told.problem) { say(place, told.problem); return; }
  keepNames(told.names);
  past = told;
  const hidden = told.hidden ? ` The ${told.hidden} jobs that moved least are not shown.` : "";
  if (!fine) say(place, `From the journal, in pieces of ${Math.round(told.width)} s.${hidden} ${told.note}`.trim());
  drawCharts();
};
// What is zoomed into is asked for again, in finer pieces.
let soon = 0;
const askFine = () => {
  clearTimeout(soon);
  if (span && past && zoomed) soon = setTimeout(readFine, 300);
  else if (fine) { fine = null; drawCharts(); readPast(); }
};
const readFine = async () => {
  const wanted = zoomed, piece = (at, round) => past.begin + past.width * round((at - past.begin) / past.width);
  const begin = Math.floor(piece(wanted[0], Math.floor)), end = Math.floor(Math.min(past.end, piece(wanted[1], Math.ceil)));
  if (end - begin > 0.7 * (past.end - past.begin) || end - begin < 2) return;
  const told = await ask("/history", {seconds: span, begin, end}).catch(() => ({problem: "the dashboard does not answer"}));
  if (zoomed !== wanted || !past) return;
  if (told.problem) { say(find("span-says"), told.problem); return; }
  keepNames(told.names);
  fine = told;
  say(find("span-says"), `From the journal, in pieces of ${told.width < 10 ? told.width.toFixed(1) : Math.round(told.width)} s where it is zoomed in. ${told.note}`.trim());
  drawCharts();
};
find("span").addEventListener("change", event => {
  span = Number(event.target.value);
  past = fine = zoomed = null;
  say(find("span-says"), "");
  if (span) readPast(); else drawCharts();
});
setInterval(() => { if (span && !document.hidden) readPast(); }, 30000);

// Another policy.
const compared = told => {
  const table = make("table"), head = make("tr"), top = make("thead"), body = make("tbody"), box = make("div", "", "wide");
  const heads = ["policy", "mean wait (s)", "longest wait (s)", "lowest yield", "mean yield", "all done after (s)"];
  head.append(...heads.map(words => Object.assign(make("th", words), {scope: "col"})));
  const line = (name, each) => {
    const row = make("tr");
    const cells = [name, seconds(each.mean_wait), seconds(each.max_wait), each.min_yield.toFixed(3), each.mean_yield.toFixed(3), seconds(each.makespan)];
    row.append(...cells.map(words => make("td", words)));
    return row;
  };
  body.append(line(`really (${told.policies.join(", ")})`, told.real), ...told.would.map(each => line(each.sharing, each)));
  top.append(head);
  table.append(top, body);
  box.append(table);
  const [would] = told.would, less = told.real.mean_wait - would.mean_wait;
  const words = Math.abs(less) < 0.05 ? `Under ${would.sharing} jobs would have waited as long as they did.`
    : `Under ${would.sharing} a job would have waited ${seconds(Math.abs(less))} s ${less > 0 ? "less" : "more"} on average.`;
  const where = told.resource === "all" ? "the file system" : told.resources.length > 4 ? `${told.resources.length} resources` : told.resource;
  const what = `${told.jobs} jobs with ${told.operations} I/O phases on ${where}, simulated again from what they announced. A wait is how much longer a job took than alone; yield is its pace as a part of its pace alone.`;
  return [make("p", words), box, make("p", what, "soft")];
};
find("compare").addEventListener("submit", async event => {
  event.preventDefault();
  const place = find("compared"), button = event.target.querySelector("button");
  put(place, make("p", "Simulating; this can take a minute …"));
  button.disabled = true;
  const told = await ask("/compare", Object.fromEntries(new FormData(event.target))).catch(() => ({problem: "the dashboard does not answer"}));
  button.disabled = false;
  put(place, ...told.problem ? [make("p", told.problem)] : [...noted(told), ...compared(told)]);
});

const stream = new EventSource("/events");
stream.addEventListener("past", event => {
  const told = JSON.parse(event.data);
  samples = told.samples;
  keepNames(told.names);
});
stream.addEventListener("look", event => {
  look = JSON.parse(event.data);
  if (look.jobs) for (const job of look.jobs) names.set(job.app, job.name);
  if (look.sample && look.sample[0] > (samples.at(-1)?.[0] ?? 0)) samples.push(look.sample);
  if (samples.length > KEPT) samples.splice(0, samples.length - KEPT);
  drawLook();
});
stream.addEventListener("error", () => {
  find("link").className = "away";
  say(find("link"), "the dashboard itself does not answer");
});
addEventListener("hashchange", route);
route();
