// Line charts over units: their values are read under the pointer and by keys, and downloaded.
import { PLAIN_MIN, el, exponential, extremes, ranges, replaceAll, rounded, seen, svg, valueText } from "./dom.js";
import { downloadCsv, downloadSvg } from "./download.js";
import { along, readable } from "./readable.js";

const SMALL = { width: 320, height: 120, left: 40, right: 8, top: 8, bottom: 18, character: 6 };
const isNarrow = globalThis.matchMedia("(max-width: 40rem)").matches;
// With the labels of lines at their ends; on narrow screens, the names are those of the values below it.
export const LARGE = { ...SMALL, width: isNarrow ? 366 : 760, height: isNarrow ? 260 : 300, bottom: 24, character: 7, label: 14, isLarge: true }; // `label`: its height
const [LABEL_MAX, NAME_MIN, BOLD] = [26, 6, 8]; // characters of a label at the end of a line, and of a cut name in it; the width of one

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

// Labels at the ends of lines: lines of one group that end together have one; `ends`: [{y, line}].
function clustered(ends, distance) {
  const clusters = [];
  for (const { y, line } of [...ends].sort((a, b) => a.y - b.y)) {
    const near = clusters.findLast(({ group }) => group === line.group);
    const last = clusters[clusters.length - 1];
    if (near !== undefined && (near === last || distance === Infinity) && y - near.until < distance) Object.assign(near, { until: y, ys: [...near.ys, y], lines: [...near.lines, line] });
    else clusters.push({ group: line.group, until: y, ys: [y], lines: [line] });
  }
  return clusters.map(({ group, ys, lines }) => ({ group, y: ys.reduce((sum, y) => sum + y / ys.length, 0), lines }));
}

// The same, `gap` apart, between two heights.
function spread(labels, gap, top, bottom) {
  let above = -Infinity;
  for (const label of labels) above = label.at = Math.max(label.y, above + gap, top);
  let below = bottom + gap;
  for (const label of labels.toReversed()) below = label.at = Math.min(label.at, below - gap);
  return labels;
}

function endLabels(lines, y, size) {
  const ends = lines.filter(({ group, values }) => group !== undefined && values.some((value) => value !== null))
    .map((line) => ({ line, y: y(line.values.findLast((value) => value !== null)) }));
  const sizes = new Map();
  for (const { line } of ends) sizes.set(line.group, (sizes.get(line.group) ?? 0) + 1);
  const room = (size.height - size.top - size.bottom) / size.label;
  let clusters = clustered(ends, size.label);
  if (clusters.length > room) clusters = clustered(ends, Infinity);
  const whole = ({ group, lines: some }) => (some.length === sizes.get(group) ? (some.length > 1 ? ` × ${some.length}` : some[0].suffix ?? "") : ` ${ranges(some.map(({ member }) => member).sort((a, b) => a - b))}`);
  for (const label of clusters) label.text = `${label.group}${whole(label)}`;
  return spread(clusters.slice(0, Math.floor(room)), size.label, size.top + 4, size.height - size.bottom);
}

// The name before options in brackets is cut first: what differs may stand in them.
function cut(text) {
  const front = text.indexOf("[");
  const [name, rest] = front < 0 ? ["", text] : [text.slice(0, front), text.slice(front)];
  const kept = Math.max(NAME_MIN, LABEL_MAX - rest.length);
  const shown = name.length > kept ? `${name.slice(0, Math.ceil((kept - 1) / 2))}…${name.slice(-Math.floor((kept - 1) / 2))}${rest}` : text;
  return shown.length > LABEL_MAX ? `${shown.slice(0, LABEL_MAX - 1)}…` : shown;
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

// What is drawn; returns the SVG and its cursor.
function drawn({ units, lines, spans, momentOf, scale, limits, span, size }) {
  const { width, height, top, bottom } = size;
  const { ticks, y } = axisOf(scale, limits, size);
  const left = Math.max(size.left, ...ticks.map(([, label]) => 4 + size.character * label.length));
  const labels = size.isLarge && !isNarrow ? endLabels(lines, y, size) : [];
  const right = Math.max(size.right, ...labels.map(({ text }) => 20 + BOLD * cut(text).length));
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
  const end = x(units[units.length - 1]);
  const named = labels.map(({ text, at, y: from, lines: [line] }) => {
    const { colour, ink = colour } = line; // a leader is grey and dotted, no line of values
    const last = x(units[line.values.findLastIndex((value) => value !== null)]);
    return svg("g", {},
      svg("path", { class: "leader", d: `M${last + 4} ${from.toFixed(1)}L${end + 9} ${at.toFixed(1)}` }),
      svg("text", { class: "end", x: end + 12, y: at + 4, fill: ink }, svg("title", {}, text), cut(text)));
  });
  const cursor = svg("line", { class: "cursor", "data-passing": "", y1: top, y2: height - bottom });
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, class: size.isLarge ? "large" : null,
  }, grid, ends, bands, strokes, named, cursor);
  return { picture, cursor, x, at: (part) => span.first + ((part * width - left) / (width - left - right)) * (span.last - span.first) };
}

// The buttons for the files of a figure; `picture()`: its SVG, or null without one; `table()`: the head and the rows of its data.
function filesOf(title, picture, table) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const button = (kind, click) => el("button", { type: "button", "aria-label": `${title} as ${kind}`, click }, kind);
  return el("span", { class: "files" },
    button("SVG", () => downloadSvg(picture(), name)), button("CSV", () => downloadCsv(name, ...table())));
}

function tableOfLines({ unit, units, lines, spans }) {
  const headOf = ({ title, band }) => [title, ...(band ? [`${title}: low`, `${title}: high`] : [])];
  const head = spans === undefined ? [unit] : [`first ${unit}`, `last ${unit}`];
  const rows = units.map((number, index) => [...(spans?.[index] ?? [number]), ...lines.flatMap(({ values, band = [] }) => [values[index], ...band.map((end) => end[index])])]);
  return [[...head, ...lines.flatMap(headOf)], rows];
}

// A chart of `lines` over the units of the page, as {node, move(unit)}.
//   units: the numbers of the units of the values, ascending; spans: [first, last], where a value stands for several units, with `units` the last ones.
//   lines: [{title, values (null: undefined), colour, ink (of its label, if another), dash, width, band: [lows, highs], group, member, suffix}];
//     in a large chart lines of one group are labelled together where they end together, by their members or with the suffix.
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
    ends: () => [0, units.length - 1],
    rest: () => nearest(shown),
    under: (across) => nearest(at(across)),
    moved: along,
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
    el("figcaption", { title: definition }, title, " ", note ? el("span", { class: "note" }, note) : null, now, filesOf(name, () => picture, () => tableOfLines(options))),
    picture, isOne ? null : reading);
  return { node, move };
}
