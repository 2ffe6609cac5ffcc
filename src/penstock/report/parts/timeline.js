// Timelines: who used the bandwidth when, above what every application did. Drawn when first seen; dragging zooms in.
for (const svg of document.querySelectorAll("svg.timeline")) {
  const data = JSON.parse(svg.dataset.timeline), says = svg.parentElement.querySelector("output");
  const width = 950, top = 12, upper = 170, gap = 14, right = 12;
  const row = Math.min(18, Math.max(4, 460 / data.names.length)), lower = top + upper + gap;
  const bottom = lower + row * data.names.length, height = bottom + 40;
  const letters = Math.max(6, ...data.labels.map(([, name]) => [...name].length));
  const left = Math.max(58, 12 + 6.1 * letters), inside = width - left - right;
  let from = 0, to = data.whole, drawn = false, held = null;

  const element = (name, attributes, ...children) => {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const short = value => String(Math.round(100 * value) / 100);
  const x = time => left + inside * Math.min(1.05, Math.max(-0.05, (time - from) / (to - from)));
  const y = share => top + upper * (1 - share / 1.16);
  const seconds = time => data.begin + (data.end - data.begin) * time / data.whole;
  const box = (number, start, stop) => {
    if (stop < from || start > to) return "";
    const high = row * 0.78, above = lower + row * number + row * 0.11;
    return `M${short(x(start))} ${short(above)}H${short(x(stop))}V${short(above + high)}H${short(x(start))}Z`;
  };
  const ticks = (low, high, most) => {
    const raw = (high - low) / most, size = 10 ** Math.floor(Math.log10(raw));
    const step = size * [1, 2, 2.5, 5, 10].find(each => each * size >= raw * 0.999);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-12); at++) found.push(at * step);
    return found;
  };
  const number = value => Number(value.toPrecision(6)).toLocaleString("en-US", {maximumSignificantDigits: 6});

  const bandwidth = () => data.layers.map((layer, group) => {
    let path = `M${short(x(data.steps[0]))} ${short(y(0))}`;
    layer.forEach((share, i) => {
      if (data.steps[i + 1] < from || data.steps[i] > to) return;
      path += `L${short(x(data.steps[i]))} ${short(y(share / 1000))}H${short(x(data.steps[i + 1]))}`;
    });
    return element("path", {d: `${path}V${short(y(0))}Z`, fill: data.colours[group]});
  }).reverse();
  const rows = () => {
    if (data.image) {
      const a = left - inside * from / (to - from), wide = inside * data.whole / (to - from);
      return [element("image", {x: short(a), y: lower, width: short(wide), height: short(row * data.names.length),
        preserveAspectRatio: "none", style: "image-rendering: pixelated", href: data.image})];
    }
    const paths = new Map([["computing", data.present.map(([start, stop], i) => box(i, start, stop)).join("")]]);
    for (const [who, start, stop, moving] of data.spans) {
      const kind = moving ? data.groups[who] : "waiting";
      paths.set(kind, (paths.get(kind) || "") + box(who, start, stop));
    }
    const look = {computing: "computing", waiting: "waiting"};
    return [...paths].map(([kind, d]) =>
      element("path", kind in look ? {d, class: look[kind]} : {d, fill: data.colours[kind]}));
  };
  const axes = () => {
    const drawnAxes = [], write = (text, attributes) => drawnAxes.push(element("text", attributes, text));
    const line = (x1, y1, x2, y2, kind) => drawnAxes.push(element("line", {x1, y1, x2, y2, class: kind}));
    line(left, y(1), left + inside, y(1), "capacity");
    write(`capacity ${number(data.capacity)} ${data.rate}`.trim(), {x: left + inside, y: y(1) - 4, class: "end"});
    for (const tick of ticks(0, data.capacity, 4)) {
      write(number(tick), {x: left - 7, y: y(tick / data.capacity) + 3.5, class: "end"});
    }
    for (const [place, name] of data.labels) write(name, {x: left - 7, y: lower + row * (place + 0.5) + 3.5, class: "end"});
    line(left, y(0), left + inside, y(0), "axis");
    line(left, bottom, left + inside, bottom, "axis");
    for (const tick of ticks(seconds(from) / data.divisor, seconds(to) / data.divisor, 8)) {
      const at = x(data.whole * (tick * data.divisor - data.begin) / (data.end - data.begin));
      line(at, bottom, at, bottom + 4, "axis");
      write(number(tick), {x: at, y: bottom + 15, class: "middle"});
    }
    write(`time (${data.unit})`, {x: left + inside / 2, y: bottom + 32, class: "middle"});
    return drawnAxes;
  };
  const draw = () => {
    drawn = true;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const frame = `${svg.id}-frame`;
    const clip = element("clipPath", {id: frame}, element("rect", {x: left, y: 0, width: inside, height: bottom}));
    const brush = element("rect", {class: "brush", y: top, height: bottom - top, width: 0});
    const shown = element("g", {"clip-path": `url(#${frame})`}, ...bandwidth(), ...rows());
    svg.replaceChildren(clip, shown, ...axes(), brush);
  };
  const zoom = (start, stop) => {
    const least = data.whole / 2000;
    if (stop - start < least) [start, stop] = [(start + stop - least) / 2, (start + stop + least) / 2];
    const span = Math.min(data.whole, stop - start);
    from = Math.min(Math.max(0, start), data.whole - span);
    to = from + span;
    draw();
    const whole = from === 0 && to === data.whole;
    says.textContent = whole ? "" : `${at(from)} to ${at(to)}; double click, or 0, shows everything`;
  };
  const at = time => `${number(Number((seconds(time) / data.divisor).toPrecision(5)))} ${data.unit}`;
  const place = event => {
    const [px, py] = [event.clientX, event.clientY], seen = svg.getBoundingClientRect();
    const across = (px - seen.left) * width / seen.width, down = (py - seen.top) * height / seen.height;
    return [from + (to - from) * Math.min(1, Math.max(0, (across - left) / inside)), across, down];
  };
  const tell = (time, down) => {
    const who = Math.floor((down - lower) / row);
    if (who >= 0 && who < data.names.length && down >= lower) {
      const found = data.spans.find(([one, start, stop]) => one === who && start <= time && time < stop);
      const [first, last] = data.present[who], there = first <= time && time < last;
      const doing = found ? (found[3] ? "transfers" : "waits for I/O") : data.image ? "" : there ? "computes" : "is not there";
      const when = found ? `, ${at(found[1])} to ${at(found[2])}` : "";
      return `${at(time)}: ${data.names[who]} ${doing}${when}`;
    }
    const step = data.steps.findLastIndex(each => each <= time);
    const layer = data.layers.at(-1), used = layer && step < layer.length ? layer[step] / 1000 : 0;
    return `${at(time)}: ${number(Number((used * data.capacity).toPrecision(3)))} ${data.rate} used`.trim();
  };
  svg.addEventListener("pointerdown", event => { held = place(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", event => {
    const [time, across, down] = place(event);
    if (held === null) { says.textContent = tell(time, down); return; }
    const brush = svg.querySelector(".brush");
    brush.setAttribute("x", Math.max(left, Math.min(across, held[1])));
    brush.setAttribute("width", Math.min(inside, Math.abs(across - held[1])));
  });
  svg.addEventListener("pointerup", event => {
    const [time, across] = place(event);
    if (held !== null && Math.abs(across - held[1]) > 6) zoom(Math.min(time, held[0]), Math.max(time, held[0]));
    held = null;
  });
  svg.addEventListener("dblclick", () => zoom(0, data.whole));
  svg.addEventListener("keydown", event => {
    const span = to - from, middle = (from + to) / 2;
    const moves = {"+": [middle - span / 4, middle + span / 4], "-": [middle - span, middle + span], "0": [0, data.whole],
      ArrowLeft: [from - span / 4, to - span / 4], ArrowRight: [from + span / 4, to + span / 4]};
    if (event.key in moves) { event.preventDefault(); zoom(...moves[event.key]); }
  });
  const details = svg.closest("details");
  const first = () => drawn || draw();
  if (!details || details.open) first();
  details?.addEventListener("toggle", first);
  addEventListener("beforeprint", first);
  matchMedia("print").addEventListener("change", first);
}
