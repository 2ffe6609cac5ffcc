// Timelines: who used the bandwidth when, above what every application did. `timeline(svg, says)` gives a function that shows
// data, and again others; the dashboard's times are those of clocks.
const timeline = (svg, says) => {
  const element = elementsOf(svg), upper = 170, gap = 14, lower = 12 + upper + gap;
  let row = 18, most = Infinity;  // letters of a name
  const shortened = name => [...name].length > most ? `${[...name].slice(0, most - 5).join("")}…${[...name].slice(-4).join("")}` : name;
  const y = ({top, data}, share) => top + upper * (1 - Math.min(1.15, share / (data.most || 1)) / 1.16);
  const box = (frame, number, start, stop, part = 1) => {
    if (!frame.seen(start, stop)) return "";
    const high = row * 0.78, below = lower + row * number + row * 0.11 + high, [a, b] = [start, stop].map(each => short(frame.x(each)));
    return `M${a} ${short(below - high * part)}H${b}V${short(below)}H${a}Z`;
  };
  const bandwidth = frame => frame.data.layers.map((layer, group) => {
    const {data, x} = frame;
    let path = `M${short(x(data.steps[0]))} ${short(y(frame, 0))}`;
    layer.forEach((share, i) => {
      if (!frame.seen(data.steps[i], data.steps[i + 1])) return;
      path += `L${short(x(data.steps[i]))} ${short(y(frame, share / 1000))}H${short(x(data.steps[i + 1]))}`;
    });
    return element("path", {d: `${path}V${short(y(frame, 0))}Z`, fill: data.colours[group]});
  }).reverse();
  // One that changed is drawn in steps; one that did not is a line across the whole picture.
  const capacity = frame => {
    const {data, x} = frame, all = data.capacities || [];
    if (all.length < 2) return [];
    const path = all.map(([time, each], i) => `${i ? "V" : `M${short(x(time))} `}${short(y(frame, each / data.capacity))}H${short(x(all[i + 1]?.[0] ?? data.whole))}`);
    return [element("path", {d: path.join(""), class: "capacity", fill: "none"})];
  };
  const rows = frame => {
    const {data, left, inside, from, to} = frame;
    if (data.image) {
      const a = left - inside * from / (to - from), wide = inside * data.whole / (to - from);
      return [element("image", {x: short(a), y: lower, width: short(wide), height: short(row * data.names.length),
        preserveAspectRatio: "none", style: "image-rendering: pixelated", href: data.image})];
    }
    const paths = new Map([["computing", data.present.map(([start, stop], i) => box(frame, i, start, stop)).join("")]]);
    const add = (kind, path) => paths.set(kind, (paths.get(kind) || "") + path);
    for (const [who, start, stop, moving, part = 1] of data.spans) {
      if (moving && part < 1) add("held", box(frame, who, start, stop));
      add(moving ? data.groups[who] : "waiting", box(frame, who, start, stop, moving ? Math.max(0.1, part) : 1));
    }
    return [...paths].map(([kind, d]) =>
      element("path", typeof kind === "string" ? {d, class: kind} : {d, fill: data.colours[kind]}));
  };
  const bands = ({data, x, top, bottom}) => (data.bands || []).map(([start, stop]) => element("rect", {class: "away", y: top,
    x: short(x(start)), width: short(Math.max(2, x(stop) - x(start))), height: short(bottom - top)}));
  const marks = ({data, x, top, bottom, from, to}) => (data.marks || []).filter(([time]) => from <= time && time <= to)
    .map(([time, words]) => element("line", {class: "mark", x1: short(x(time)), x2: short(x(time)), y1: top, y2: short(bottom)},
      element("title", {}, words)));

  return timeFrame(svg, says, {
    fit(frame) {
      const {data} = frame;
      row = Math.min(18, Math.max(4, 460 / Math.max(1, data.names.length)));
      frame.bottom = lower + row * data.names.length;
      most = frame.width < 600 ? 13 : Infinity;
      const letters = Math.max(6, ...data.labels.map(([, name]) => [...shortened(name)].length));
      frame.left = Math.max(58, 12 + 6.1 * letters);
    },
    inner: frame => [...bandwidth(frame), ...capacity(frame), ...rows(frame), ...bands(frame), ...marks(frame)],
    outer(frame) {
      const {data, left, inside} = frame, highest = data.capacity * (data.most || 1);
      const now = data.now ?? data.capacity, drawn = [];
      if (!(data.capacities?.length > 1)) drawn.push(frame.line(left, y(frame, now / data.capacity), left + inside, y(frame, now / data.capacity), "capacity"));
      drawn.push(frame.text(`capacity ${number(now)} ${data.rate}`.trim(), {x: left + inside, y: y(frame, now / data.capacity) - 4, class: "end"}));
      for (const tick of ticks(0, highest, 4)) {
        drawn.push(frame.text(number(tick), {x: left - 7, y: y(frame, tick / data.capacity) + 3.5, class: "end"}));
      }
      for (const [place, name] of data.labels) drawn.push(frame.text(shortened(name), {x: left - 7, y: lower + row * (place + 0.5) + 3.5, class: "end"}));
      return [...drawn, frame.line(left, y(frame, 0), left + inside, y(frame, 0), "axis")];
    },
    tell({data, at}, time, down) {
      const away = (data.bands || []).find(([start, stop]) => start <= time && time < stop);
      if (away) return `${at(time)}: ${away[2]}`;
      const who = Math.floor((down - lower) / row);
      if (who >= 0 && who < data.names.length && down >= lower) {
        const found = data.spans.find(([one, start, stop]) => one === who && start <= time && time < stop);
        const [first, last] = data.present[who], there = first <= time && time < last;
        const part = found && found[3] && found[4] < 1 ? ` at ${Math.round(100 * found[4])} % of what it could use` : "";
        const doing = found ? (found[3] ? `transfers${part}` : "waits for I/O") : data.image ? "" : there ? "computes" : "is not there";
        const when = found ? `, ${at(found[1])} to ${at(found[2])}` : "";
        return `${at(time)}: ${data.names[who]} ${doing}${when}`;
      }
      const step = data.steps.findLastIndex(each => each <= time);
      const layer = data.layers.at(-1), used = layer && step >= 0 && step < layer.length ? layer[step] / 1000 : 0;
      return `${at(time)}: ${number(Number((used * data.capacity).toPrecision(3)))} ${data.rate} ${data.clock ? "granted" : "used"}`.trim();
    },
  });
};
