// What pictures over time share: an axis of times, of a run or of a clock, and a part of it to look at. Dragging zooms in, so
// do + - 0 and arrows. `part` is a picture: `fit(frame)` says how high it is, `inner(frame)` and `outer(frame)` draw it, clipped
// to the axis and not, and `tell(frame, time, down)` says what the reader points at. Times are whole parts of `data.whole`.
// Names are only ever text: nothing here makes HTML of them.
const elementsOf = svg => (name, attributes, ...children) => {
  const made = document.createElementNS(svg.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const short = value => String(Math.round(100 * value) / 100);
const number = value => Number(value.toPrecision(6)).toLocaleString("en-US", {maximumSignificantDigits: 6});
const ticks = (low, high, most) => {
  const raw = (high - low) / most, size = 10 ** Math.floor(Math.log10(raw));
  const step = size * [1, 2, 2.5, 5, 10].find(each => each * size >= raw * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-12); at++) found.push(at * step);
  return found;
};

const timeFrame = (svg, says, part) => {
  const frame = {data: null, from: 0, to: 0, left: 58, inside: 0, top: 12, bottom: 0, width: 950};
  const right = 12, element = elementsOf(svg);
  let held = null;
  frame.x = time => frame.left + frame.inside * Math.min(1.05, Math.max(-0.05, (time - frame.from) / (frame.to - frame.from)));
  frame.seen = (start, stop) => stop >= frame.from && start <= frame.to;
  frame.text = (words, attributes) => element("text", attributes, words);
  frame.line = (x1, y1, x2, y2, kind) => element("line", {x1, y1, x2, y2, class: kind});
  const seconds = time => frame.data.begin + (frame.data.end - frame.data.begin) * time / frame.data.whole;
  const clock = (time, fine) => {
    const date = new Date(1000 * time), two = value => String(value).padStart(2, "0");
    const day = frame.data.end - frame.data.begin > 86400 ? `${two(date.getDate())}.${two(date.getMonth() + 1)}. ` : "";
    return `${day}${two(date.getHours())}:${two(date.getMinutes())}${fine ? `:${two(date.getSeconds())}` : ""}`;
  };
  const hours = (low, high, most) => {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    const step = steps.find(each => each * most >= high - low) || 86400 * Math.ceil((high - low) / most / 86400);
    const found = [], zone = 60 * new Date(1000 * low).getTimezoneOffset();
    for (let at = Math.ceil((low - zone) / step); at * step + zone <= high; at++) found.push(at * step + zone);
    return found.map(at => [at, clock(at, step < 60)]);
  };
  const times = () => {
    const data = frame.data, [low, high] = [seconds(frame.from), seconds(frame.to)];
    const most = (data.end - data.begin > 86400 ? 6 : 9) * Math.min(1, frame.inside / 700);
    if (data.clock) return hours(low, high, Math.max(2, Math.round(most)));
    return ticks(low / data.divisor, high / data.divisor, 8).map(tick => [tick * data.divisor, number(tick)]);
  };
  frame.at = time => frame.data.clock ? clock(seconds(time), true)
    : `${number(Number((seconds(time) / frame.data.divisor).toPrecision(5)))} ${frame.data.unit}`;
  const axis = () => {
    const {data, left, inside, bottom} = frame, drawn = [frame.line(left, bottom, left + inside, bottom, "axis")];
    for (const [tick, words] of times()) {
      const place = frame.x(data.whole * (tick - data.begin) / (data.end - data.begin));
      drawn.push(frame.line(place, bottom, place, bottom + 4, "axis"), frame.text(words, {x: place, y: bottom + 15, class: "middle"}));
    }
    const unit = data.clock ? "time of day" : `time (${data.unit})`;
    return [...drawn, frame.text(unit, {x: left + inside / 2, y: bottom + 32, class: "middle"})];
  };
  const draw = () => {
    const {left, inside, top, bottom, width} = frame, name = `${svg.id}-frame`;
    svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 40}`);
    const clip = element("clipPath", {id: name}, element("rect", {x: left, y: 0, width: inside, height: bottom}));
    const brush = element("rect", {class: "brush", y: top, height: bottom - top, width: 0});
    svg.replaceChildren(clip, element("g", {"clip-path": `url(#${name})`}, ...part.inner(frame)), ...part.outer(frame), ...axis(), brush);
  };
  const zoom = (start, stop) => {
    const whole = frame.data.whole, least = whole / 2000;
    if (stop - start < least) [start, stop] = [(start + stop - least) / 2, (start + stop + least) / 2];
    const span = Math.min(whole, stop - start);
    frame.from = Math.min(Math.max(0, start), whole - span);
    frame.to = frame.from + span;
    draw();
    const all = frame.from === 0 && frame.to === whole;
    svg.dispatchEvent(new CustomEvent("zoomed", {detail: all ? null : [seconds(frame.from), seconds(frame.to)]}));
    says.textContent = all ? "" : `${frame.at(frame.from)} to ${frame.at(frame.to)}; double click, or 0, shows everything`;
  };
  const place = event => {
    const {left, inside, bottom, width, from, to} = frame, seen = svg.getBoundingClientRect();
    const across = (event.clientX - seen.left) * width / seen.width;
    const down = (event.clientY - seen.top) * (bottom + 40) / seen.height;
    return [from + (to - from) * Math.min(1, Math.max(0, (across - left) / inside)), across, down];
  };
  svg.addEventListener("pointerdown", event => {
    if (!frame.data) return;
    held = place(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", event => {
    if (!frame.data) return;
    const [time, across, down] = place(event);
    if (held === null) { says.textContent = part.tell(frame, time, down); return; }
    const brush = svg.querySelector(".brush");
    brush.setAttribute("x", Math.max(frame.left, Math.min(across, held[1])));
    brush.setAttribute("width", Math.min(frame.inside, Math.abs(across - held[1])));
  });
  svg.addEventListener("pointerup", event => {
    if (!frame.data) return;
    const [time, across] = place(event);
    if (held !== null && Math.abs(across - held[1]) > 6) zoom(Math.min(time, held[0]), Math.max(time, held[0]));
    held = null;
  });
  svg.addEventListener("dblclick", () => frame.data && zoom(0, frame.data.whole));
  svg.addEventListener("keydown", event => {
    if (!frame.data || event.ctrlKey || event.altKey || event.metaKey) return;
    const {from, to} = frame, span = to - from, middle = (from + to) / 2;
    const moves = {"+": [middle - span / 4, middle + span / 4], "-": [middle - span, middle + span], "0": [0, frame.data.whole],
      ArrowLeft: [from - span / 4, to - span / 4], ArrowRight: [from + span / 4, to + span / 4]};
    if (event.key in moves) { event.preventDefault(); zoom(...moves[event.key]); }
  });
  // Shown again, what was zoomed into stays in sight, by its times; who drags is not disturbed.
  return shown => {
    const data = frame.data, zoomed = data && (frame.from > 0 || frame.to < data.whole) ? [seconds(frame.from), seconds(frame.to)] : null;
    if (held !== null) return;
    frame.data = shown;
    // One that is `fluid` is drawn as wide as it is shown: on a small screen letters stay readable, and all is in sight.
    if (svg.classList.contains("fluid")) frame.width = Math.min(950, Math.max(320, svg.clientWidth || 950));
    part.fit(frame);
    frame.inside = frame.width - frame.left - right;
    [frame.from, frame.to] = [0, shown.whole];
    if (zoomed && zoomed[1] > shown.begin) {
      const scale = shown.whole / (shown.end - shown.begin);
      [frame.from, frame.to] = zoomed.map(each => Math.min(shown.whole, Math.max(0, (each - shown.begin) * scale)));
      if (!(frame.to > frame.from)) [frame.from, frame.to] = [0, shown.whole];
    }
    draw();
  };
};
