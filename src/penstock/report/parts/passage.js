// The passage of bytes through a whole machine: one row per stage, then how busy every resource was, then the bottleneck of every
// hour. All rates have one scale, so a buffer is seen to flatten the peaks before it.
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const passage = (svg, says) => {
  const element = elementsOf(svg), high = 66, gap = 14, strip = 22;
  let row = 11, use = 0, below = 0, heat = "";
  const top = stage => 16 + stage * (high + gap);
  const y = (stage, share) => top(stage) + high * (1 - share);
  const shares = line => [...line].map(digit => DIGITS.indexOf(digit) / 35);
  // Idle is transparent, so that it looks right on light and on dark pages; what has nothing left to give is red.
  const painted = data => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [data.steps, data.names.length];
    const context = canvas.getContext("2d");
    data.use.forEach((line, number) => shares(line).forEach((share, step) => {
      context.fillStyle = share > 0.98 ? data.full : data.colours[data.kinds[number]];
      context.globalAlpha = share > 0.98 ? 1 : 0.06 + 0.74 * share;
      context.fillRect(step, number, 1, 1);
    }));
    return canvas.toDataURL();
  };
  const area = (frame, stage, number) => {
    const {data, x} = frame, width = data.whole / data.steps;
    let path = `M${short(x(0))} ${short(y(number, 0))}`;
    stage.values.forEach((value, step) => {
      if (!frame.seen(step * width, (step + 1) * width)) return;
      path += `L${short(x(step * width))} ${short(y(number, value / 1000))}H${short(x((step + 1) * width))}`;
    });
    return element("path", {d: `${path}V${short(y(number, 0))}Z`, fill: stage.colour});
  };
  // Every stretch has its name; those too narrow for it share one with their neighbours of the same name.
  const named = ({data, x, from, to}) => {
    const shown = data.bottlenecks.map(([start, stop, ...rest]) => [Math.max(from, start), Math.min(to, stop), ...rest])
      .filter(([start, stop, name]) => name && stop > start);
    const fits = ([start, stop, name]) => 5 * [...name].length < x(stop) - x(start);
    const merged = [];
    for (const [start, stop, name, busy] of shown) {
      const last = merged.at(-1), narrow = !shown.filter(each => each[2] === name).every(fits);
      if (narrow && last && last[2] === name && last[1] === start) [last[1], last[3], last[4]] = [stop, Math.min(last[3], busy), Math.max(last[4], busy)];
      else merged.push([start, stop, name, busy, busy]);
    }
    return merged.filter(fits).map(([start, stop, name, low, high]) =>
      [start, stop, name, low === high ? `${low} %` : `${low} to ${high} %`]);
  };
  const spell = (stage, share) => `${number(Number((stage.most * share).toPrecision(3)))} ${stage.unit}`.trim();
  const step = (data, time) => Math.min(data.steps - 1, Math.max(0, Math.floor(time * data.steps / data.whole)));

  return timeFrame(svg, says, {
    fit(frame) {
      const {data} = frame;
      row = Math.min(13, Math.max(5, 330 / data.names.length));
      use = top(data.stages.length) + 2;
      below = use + row * data.names.length + 8;
      frame.bottom = below + strip + 4;
      const words = [...data.labels.map(([, name]) => name), ...data.stages.map(stage => stage.title), "bottleneck"];
      frame.left = 16 + 6.1 * Math.max(...words.map(each => [...each].length));
      heat = painted(data);
    },
    inner(frame) {
      const {data, left, inside, from, to, x} = frame;
      const a = left - inside * from / (to - from), wide = inside * data.whole / (to - from);
      const drawn = data.stages.map((stage, place) => area(frame, stage, place));
      drawn.push(element("image", {x: short(a), y: use, width: short(wide), height: short(row * data.names.length),
        preserveAspectRatio: "none", style: "image-rendering: pixelated", href: heat}));
      for (const [start, stop, name, , kind] of data.bottlenecks) {
        drawn.push(element("rect", {x: short(x(start) + 0.5), y: below, width: short(Math.max(0, x(stop) - x(start) - 1)), height: strip,
          ...(name ? {fill: data.colours[kind]} : {class: "computing"})}));
      }
      for (const [start, stop, name, busy] of named(frame)) {
        const middle = short((x(start) + x(stop)) / 2);
        drawn.push(frame.text(name, {x: middle, y: below + 10, class: "middle inside"}),
          frame.text(busy, {x: middle, y: below + 19, class: "middle inside"}));
      }
      return drawn;
    },
    outer(frame) {
      const {data, left, inside} = frame, drawn = [];
      const write = (words, down, more = {}) => drawn.push(frame.text(words, {x: left - 7, y: down, class: "end", ...more}));
      data.stages.forEach((stage, place) => {
        write(stage.title, y(place, 0.5), {fill: stage.colour, "font-weight": 600});
        write(stage.says, y(place, 0.5) + 13, {class: "end soft"});
        drawn.push(frame.line(left, y(place, 0), left + inside, y(place, 0), "axis"));
        drawn.push(frame.line(left, y(place, stage.line / 1000), left + inside, y(place, stage.line / 1000), "capacity"));
      });
      for (const [place, name] of data.labels) write(name, use + row * place + 3.5);
      write("bottleneck", below + strip / 2 + 3.5);
      return drawn;
    },
    tell({data, at}, time, down) {
      const found = step(data, time), number = Math.floor((down - use) / row), stage = Math.floor((down - 16) / (high + gap));
      if (down >= below) {
        const [, , name, busy] = data.bottlenecks.find(([start, stop]) => start <= time && time < stop) || [0, 0, "", 0];
        return name ? `${at(time)}: ${name} is most in use, ${busy} %` : `${at(time)}: nothing is busy`;
      }
      if (number >= 0 && number < data.names.length) {
        return `${at(time)}: ${data.names[number]} is ${Math.round(100 * shares(data.use[number])[found])} % busy`;
      }
      const shown = data.stages[stage];
      return shown ? `${at(time)}: ${shown.title} ${spell(shown, shown.values[found] / 1000)}` : "";
    },
  });
};
