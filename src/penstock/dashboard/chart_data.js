// From samples (see recent.py) to what timelines show. A sample holds until the next one.
const WHOLE = 1e6, COLOURED = 8, ROWS = 30;
const units = [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]];
const unitOf = capacity => units.find(([size]) => capacity >= size) || units.at(-1);

// Each job keeps its colour for as long as it is on the screen; who finds none left shares the last one.
const colourSlots = () => {
  const slots = new Map();
  return apps => {
    const there = new Set(apps);
    for (const app of [...slots.keys()]) if (!there.has(app)) slots.delete(app);
    for (const app of apps) {
      if (slots.has(app) && slots.get(app) < COLOURED) continue;
      const taken = new Set(slots.values());
      let free = 0;
      while (free < COLOURED && taken.has(free)) free++;
      slots.set(app, free);
    }
    return slots;
  };
};

// Rates of each job on one resource; `only` shows some jobs, `last` ends the last sample.
const rowsOn = (samples, resource, only) => {
  const jobs = new Map();
  samples.forEach(([, , rows], place) => rows.forEach(([app, part, ...ways]) => {
    if (only && !only.has(app)) return;
    for (let i = 0; i < ways.length; i += 2) {
      if (ways[i] !== resource) continue;
      if (!jobs.has(app)) jobs.set(app, {weight: 0, at: []});
      const job = jobs.get(app);
      job.weight += ways[i + 1] + 1;
      job.at.push([place, part, ways[i + 1]]);
    }
  }));
  return jobs;
};

const chartData = ({samples, names, resource, capacity: latest, capacities = [], inBytes = true, begin, end, away = [], marks = [], only, slots, colours}) => {
  // Drawn against the highest capacity in sight: what was granted under another one is not cut off.
  const inForce = capacities.filter(([at], i) => at < end && !(i + 1 < capacities.length && capacities[i + 1][0] <= begin));
  const capacity = Math.max(1e-9, ...(inForce.length ? inForce.map(([, each]) => each) : [latest]));
  const [size, unit] = inBytes ? unitOf(capacity) : [1, "operations/s"], span = end - begin;
  const time = at => Math.round(WHOLE * Math.min(1, Math.max(0, (at - begin) / span)));
  const jobs = rowsOn(samples, resource, only);
  const most = [...jobs].sort((a, b) => b[1].weight - a[1].weight).slice(0, ROWS).map(([app]) => app);
  const shown = most.sort((a, b) => a - b), slot = slots([...jobs.keys()].sort((a, b) => a - b));
  const stop = place => place + 1 < samples.length ? Math.min(samples[place + 1][0], end) : end;
  const layers = Array.from({length: COLOURED + 1}, () => new Array(samples.length).fill(0));
  for (const [app, job] of jobs) for (const [place, , rate] of job.at) layers[slot.get(app)][place] += rate;
  let others = false;
  if (!only) samples.forEach(([, , , rest], place) => {
    const rate = rest?.[resource] || 0;
    layers[COLOURED][place] += rate;
    others ||= rate > 0.002 * capacity;
  });
  for (let i = 1; i < layers.length; i++) layers[i].forEach((_, at) => { layers[i][at] += layers[i - 1][at]; });
  const spans = [], present = [];
  shown.forEach((app, row) => {
    const at = jobs.get(app).at;
    present.push([time(samples[at[0][0]][0]), time(stop(at.at(-1)[0]))]);
    let open = null;
    for (const [place, part] of at) {
      const moving = part > 0 ? 1 : 0, rounded = part >= 0.98 ? 1 : Math.round(part * 20) / 20;
      const start = time(samples[place][0]), until = time(stop(place));
      if (open && open[2] === start && open[3] === moving && open[4] === rounded) open[2] = until;
      else spans.push(open = [row, start, until, moving, rounded]);
    }
  });
  const text = app => names.get(app) || `job ${app}`;
  const shorten = name => [...name].length > 26 ? `${[...name].slice(0, 14).join("")}…${[...name].slice(-11).join("")}` : name;
  return {
    names: shown.map(text), labels: shown.map((app, row) => [row, shorten(text(app))]), apps: shown,
    begin, end, whole: WHOLE, clock: true, divisor: 1, unit: "", rate: unit, capacity: capacity / size,
    capacities: inForce.map(([at, each]) => [time(at), each / size]), now: (inForce.at(-1)?.[1] ?? latest) / size, others,
    colours, groups: shown.map(app => slot.get(app)), image: "",
    steps: [...samples.map(([at]) => time(at)), time(end)],
    layers: layers.map(layer => layer.map(rate => Math.round(1000 * rate / capacity))),
    present, spans, bands: away.map(([from, to, words]) => [time(from), time(to), words]),
    marks: marks.map(([at, words]) => [time(at), words]),
  };
};

// When nobody was reachable, from the samples themselves.
const awayIn = (samples, end) => {
  const found = [];
  samples.forEach(([at, gone], place) => {
    const until = place + 1 < samples.length ? samples[place + 1][0] : end;
    const words = gone ? "the controller did not answer" : "the dashboard was not looking";
    if (!gone && until - at < 8) return;
    const from = gone ? at : at + 2, last = found.at(-1);
    if (last && from - last[1] < 0.5 && last[2] === words) last[1] = until; else found.push([from, until, words]);
  });
  return found;
};
