// Line charts over units: their values are read under the pointer and by keys, and downloaded.
import { PLAIN_MIN, el, exponential, extremes, replaceAll, rounded, seen, svg, valueText } from "./dom.js";
import { downloadCsv } from "./download.js";

const SMALL = { width: 320, height: 120, left: 40, right: 8, top: 8, bottom: 18, character: 6 };
const isNarrow = globalThis.matchMedia("(max-width: 40rem)").matches;
export const LARGE = { ...SMALL, width: isNarrow ? 366 : 760, height: isNarrow ? 260 : 300, bottom: 24, character: 7, isLarge: true };

const DASHES = ["", "7 3", "2 3", "9 3 2 3"];

// The second sign of a colour's lines, for those who do not see colours apart.
export const dashOf = (hue) => DASHES[hue % DASHES.length];

// What stands before the titles of lines and filled cells, in a legend.
export const swatchOf = (fill) => svg("svg", { class: "swatch-box", viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, rx: 2, fill }));

// The lowest and the highest tick: round numbers around the values.
function ticksOf(values, limits) {
  let [low, high] = extremes(values.filter((value) => value !== null)) ?? [0, 1];
  low = Math.min(low, limits?.[0] ?? low);
  if (low === high) high = low + 1;
  high = Math.max(high, low + 1e-14 * Math.max(Math.abs(low), Math.abs(high))); // ticks that differ
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  const by = [1, 2, 5, 10].map((times) => times * step).find((each) => (high - low) / each <= 4);
  const first = Math.floor(low / by) * by;
  const ticks = [];
  for (let tick = first; tick < high + by; tick += by) ticks.push(by * Math.round(tick / by));
  return ticks;
}

// Many values as the points that fit, `[unit, value]`: each is the mean of its units.
function thinned(units, values, most = 600) {
  const every = Math.ceil(values.length / most);
  const mean = (some) => (some.length ? some.reduce((sum, value) => sum + value / some.length, 0) : null);
  return Array.from({ length: Math.ceil(values.length / every) }, (_, index) => {
    const [from, to] = [index * every, Math.min(values.length, (index + 1) * every)];
    return [(units[from] + units[to - 1]) / 2, mean(values.slice(from, to).filter((value) => value !== null))];
  });
}

// The first and the last unit of all runs of a page: charts beside each other have one scale.
export const spanOf = (runs) => ({
  first: Math.min(...runs.map(({ first }) => first)), last: Math.max(...runs.map(({ last }) => last)),
});

// Units at equal distances.
export const unitsFrom = (first, count, every = 1) => Array.from({ length: count }, (_, index) => first + index * every);

// Values at the units of another axis: those of the last unit before, none after the end.
export function aligned(values, from, to) {
  if (from === to) return values;
  return to.map((unit) => (unit > from[from.length - 1] ? null : values[from.findLastIndex((each) => each <= unit)] ?? null));
}

function axisOf(scale, limits, size) {
  // The axis is in these, so that no difference on it is larger than the largest number.
  const measured = scale.some((value) => Math.abs(value) > 1e306) ? 100 : 1;
  const ticks = ticksOf(scale.map((value) => (value === null ? null : value / measured)), limits);
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const digits = Math.max(0, Math.ceil(-Math.log10(ticks[1] - ticks[0])));
  const isTiny = Math.max(-low, high) < PLAIN_MIN;
  const labels = ticks.map((tick) => (isTiny ? exponential(tick) : rounded(measured * tick, Math.min(20, digits))));
  const at = (tick) => size.top + (size.height - size.top - size.bottom) * ((high - tick) / (high - low));
  return { ticks: ticks.map((tick, index) => [at(tick), labels[index]]), y: (value) => at(value / measured) };
}

function pathOf(points, x, y) {
  let path = "";
  let pen = "M";
  for (const [unit, value] of points) {
    if (value !== null) path += `${pen}${x(unit).toFixed(1)} ${y(value).toFixed(1)}${pen === "M" ? "h0" : ""}`;
    pen = value === null ? "M" : "L";
  }
  return path;
}

function bandOf(units, [lows, highs], x, y) {
  const [under, over] = [thinned(units, lows), thinned(units, highs)].map((points) => points.filter(([, value]) => value !== null));
  return under.length === 0 ? "" : `${pathOf(over, x, y)}${pathOf(under.toReversed(), x, y).replace(/^M/, "L").replace("h0", "")}z`;
}

export const numberText = (value) => (Math.abs(value) < 0.001 ? valueText(value) : rounded(value, Math.abs(value) < 100 ? 3 : 1));

// The value of a line at an index, with the ends of its band.
const readingOf = ({ values, band: [lows, highs] = [[], []] }, index) => {
  const value = numberText(values[index] ?? null);
  const [low, high] = [lows[index] ?? null, highs[index] ?? null];
  return low === null ? value : `${value} (${numberText(low)} to ${numberText(high)})`;
};

// A drawing whose values at indexes are read under the pointer and by keys: a slider, as screen readers know it. Until
// somebody looks at another value, it shows that of the player.
//   `last`: the last index; `rest()`: that of the player; `under(across)`: that at a position, from 0 to 1; `textOf(index)`;
//   `show(index, isLooked)`; `choose(index)`: on a click or Enter. Returns a function that shows the value again.
function readable(node, { label, last, rest, under, textOf, show, choose }) {
  let looked = null;
  for (const [name, value] of Object.entries({ role: "slider", tabindex: "0", "data-arrows": "", "aria-label": label })) node.setAttribute(name, value);
  const refresh = () => {
    const index = looked ?? rest();
    for (const [name, value] of Object.entries({ valuemin: 0, valuemax: last, valuenow: index, valuetext: textOf(index) })) node.setAttribute(`aria-${name}`, value);
    show(index, looked !== null);
  };
  const look = (index) => {
    if (index === looked) return;
    looked = index;
    refresh();
  };
  const pointed = ({ clientX }) => {
    const { left, width } = node.getBoundingClientRect();
    return under((clientX - left) / width);
  };
  node.addEventListener("pointermove", (event) => look(pointed(event)));
  for (const name of ["pointerleave", "blur"]) node.addEventListener(name, () => look(null));
  node.addEventListener("click", (event) => choose(pointed(event)));
  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const [from, by] = [looked ?? rest(), event.shiftKey ? 10 : 1];
    const to = { Home: 0, End: last, ArrowLeft: from - by, ArrowDown: from - by, ArrowRight: from + by, ArrowUp: from + by }[event.key];
    if (event.key === "Enter") choose(from);
    else if (to === undefined) return;
    else look(Math.max(0, Math.min(last, to)));
    event.preventDefault();
    event.stopPropagation();
  });
  return refresh;
}

// What is drawn; returns the SVG and its cursor.
function drawn({ units, lines, spans, momentOf, scale, limits, span, size }) {
  const { width, height, top, bottom } = size;
  const { ticks, y } = axisOf(scale, limits, size);
  const left = Math.max(size.left, ...ticks.map(([, label]) => 4 + size.character * label.length));
  const { right } = size;
  const x = (number) => left + ((width - left - right) * (number - span.first)) / Math.max(1, span.last - span.first);
  const strokes = lines.map(({ values, colour, dash, width: stroke }) =>
    svg("path", { class: "line", stroke: colour, "stroke-dasharray": dash || null, "stroke-width": stroke, d: pathOf(thinned(units, values), x, y) }));
  const bands = lines.filter(({ band }) => band).map(({ band, colour }) => svg("path", { class: "band", fill: colour, d: bandOf(units, band, x, y) }));
  const grid = ticks.map(([at, label]) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }),
    svg("text", { class: "tick", x: left - 4, y: at + 3, "text-anchor": "end" }, label),
  ]);
  const ends = [
    svg("text", { class: "tick", x: left, y: height - 4 }, momentOf(span.first)),
    svg("text", { class: "tick", x: width - right, y: height - 4, "text-anchor": "end" }, spans === undefined ? span.last : momentOf(span.last)),
  ];
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom });
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, class: size.isLarge ? "large" : null,
  }, grid, ends, bands, strokes, cursor);
  return { picture, cursor, x, at: (part) => span.first + ((part * width - left) / (width - left - right)) * (span.last - span.first) };
}

// The button for the data of a figure as a file; `table()`: their head and rows.
function fileOf(title, table) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return el("button", { type: "button", class: "file", "aria-label": `${title} as CSV`, click: () => downloadCsv(name, ...table()) }, "CSV");
}

function tableOfLines({ unit, units, lines, spans }) {
  const headOf = ({ title, band }) => [title, ...(band ? [`${title}: low`, `${title}: high`] : [])];
  const head = spans === undefined ? [unit] : [`first ${unit}`, `last ${unit}`];
  const rows = units.map((number, index) => [...(spans?.[index] ?? [number]), ...lines.flatMap(({ values, band = [] }) => [values[index], ...band.map((end) => end[index])])]);
  return [[...head, ...lines.flatMap(headOf)], rows];
}

// A chart of `lines` over the units of the page, as {node, move(unit)}.
//   units: the numbers of the units of the values, ascending; spans: [first, last], where a value stands for several units, with `units` the last ones.
//   lines: [{title, values (null: undefined), colour, dash, width, band: [lows, highs]}].
//   note: seen beside the title; momentOf(unit): its name.
//   scale: values that the axis holds; limits: the range that it must include (lower end null: any).
//   span: of the units of all runs of the page; name: of the files.
export function lineChart(options) {
  const { title, definition, note, unit, units, lines, player, size = SMALL, name = title } = options;
  const momentOf = options.momentOf ?? ((number) => `${unit} ${rounded(number)}`);
  const { picture, cursor, x, at } = drawn({ ...options, size, momentOf });
  const reading = el("p", { class: "reading" });
  const now = el("output", {});
  let shown = units[units.length - 1]; // the unit of the player
  const nearest = (number) => {
    const after = units.findIndex((each) => each >= number);
    return after === -1 ? units.length - 1 : after > 0 && number - units[after - 1] < units[after] - number ? after - 1 : after;
  };
  const isOne = lines.length === 1;
  const texts = (index) => lines.map((line) => ({ line, text: readingOf(line, index) }));
  const refresh = readable(picture, {
    label: `${title} by ${unit}`,
    last: units.length - 1,
    rest: () => nearest(shown),
    under: (across) => nearest(at(across)),
    textOf: (index) => seen(`${momentOf(units[index])}: ${texts(index).map(({ line, text }) => (isOne ? text : `${line.title} ${text}`)).join(", ")}`),
    choose: (index) => player.go({ [unit]: player.within(units[index]) }),
    show(index, isLooked) {
      const isBefore = !isLooked && shown < units[0];
      cursor.setAttribute("x1", x(isLooked ? units[index] : shown));
      cursor.setAttribute("x2", x(isLooked ? units[index] : shown));
      cursor.setAttribute("visibility", isBefore ? "hidden" : "visible");
      const read = texts(index);
      now.textContent = isBefore ? "" : isOne ? `${read[0]?.text ?? ""}${isLooked || player.isStill ? ` in ${momentOf(units[index])}` : ""}` : momentOf(units[index]);
      if (!isOne) replaceAll(reading, read.map(({ line, text }) => el("span", {}, swatchOf(line.colour), `${line.title} `, el("b", {}, text))));
    },
  });
  const move = (number) => {
    shown = number;
    refresh();
  };
  refresh();
  const node = el("figure", { class: "chart" },
    el("figcaption", { title: definition }, title, " ", note ? el("span", { class: "note" }, note) : null, now, fileOf(name, () => tableOfLines(options))),
    picture, isOne ? null : reading);
  return { node, move };
}
