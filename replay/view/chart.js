// Small line charts over units, with a cursor that follows the player.
import { PLAIN_MIN, el, exponential, extremes, rounded, svg, valueText } from "./dom.js";

const SMALL = { width: 320, height: 120, left: 40, right: 8, top: 8, bottom: 18 };
export const WIDE = { ...SMALL, width: 1040, height: 220 };
export const HALF = { ...SMALL, width: 560, height: 200 };

const CHARACTER = 6; // the width of one in a tick

const DASHES = ["", "6 3", "2 2", "8 3 2 3"];

// The style of line `index` of several: its class and its dashes.
export const lineLook = (index) => ({
  class: `line series-${index % 8}`, "stroke-dasharray": DASHES[Math.floor(index / 8) % DASHES.length],
});

// What stands before the titles of lines, and of filled cells, in a legend.
export const sampleOf = (index) => svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
  svg("path", { ...lineLook(index), d: "M 1 5 L 27 5" }));

export const swatchOf = (fill) => svg("svg", { class: "swatch-box", viewBox: "0 0 12 12", "aria-hidden": "true" },
  svg("rect", { width: 12, height: 12, rx: 2, fill }));

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

// Many units as the points that fit: each is the mean of its units.
function thinned(values, most = 600) {
  const every = Math.ceil(values.length / most);
  const points = [];
  for (let index = 0; index < values.length; index += every) {
    const some = values.slice(index, index + every).filter((value) => value !== null);
    const mean = some.length ? some.reduce((sum, value) => sum + value / some.length, 0) : null;
    points.push([index + (every - 1) / 2, mean]);
  }
  return points;
}

// The first and the last unit of all runs of a page: charts beside each other have one scale.
export const spanOf = (runs) => ({
  first: Math.min(...runs.map(({ first }) => first)), last: Math.max(...runs.map(({ last }) => last)),
});

// A chart of `series` ([{title, values, look}], values of one unit in `every` from `from` on, null: undefined;
// `look`: of the line) over the units of all `runs` of the page, as {node, move(unit)}; `scale`: values that its
// axis holds; `limits`: the range that it must include (lower end null: any).
export function lineChart({ title, definition, series, from, every = 1, runs, scale, limits, unit, size = SMALL }) {
  const { width, height, right, top, bottom } = size;
  const { first, last } = spanOf(runs);
  // The axis is in these, so that no difference on it is larger than the largest number.
  const measured = scale.some((value) => Math.abs(value) > 1e306) ? 100 : 1;
  const ticks = ticksOf(scale.map((value) => (value === null ? null : value / measured)), limits);
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const units = Math.max(1, last - first);
  const digits = Math.max(0, Math.ceil(-Math.log10(ticks[1] - ticks[0])));
  const isTiny = Math.max(-low, high) < PLAIN_MIN;
  const labels = ticks.map((tick) => (isTiny ? exponential(tick) : rounded(measured * tick, Math.min(20, digits))));
  const left = Math.max(size.left, ...labels.map((label) => 4 + CHARACTER * label.length));
  const x = (number) => left + ((width - left - right) * (number - first)) / units;
  const y = (value) => top + (height - top - bottom) * ((high - value) / (high - low));
  const lines = series.map(({ values, look }, index) => {
    let path = "";
    let pen = "M";
    for (const [at, value] of thinned(values)) {
      if (value !== null) path += `${pen}${x(from + every * at).toFixed(1)} ${y(value / measured).toFixed(1)}${pen === "M" ? "h0" : ""}`;
      pen = value === null ? "M" : "L";
    }
    return svg("path", {
      ...lineLook(look ?? index), d: path,
      // The first lines are broader, so that coinciding lines show as bands.
      "stroke-width": series.length > 1 ? (1.2 + (2.4 * (series.length - 1 - index)) / (series.length - 1)).toFixed(2) : null,
    });
  });
  const grid = ticks.map((tick, index) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
    svg("text", { class: "tick", x: left - 4, y: y(tick) + 3, "text-anchor": "end" }, labels[index]),
  ]);
  const ends = [
    svg("text", { class: "tick", x: left, y: height - 4 }, `${unit} ${first}`),
    svg("text", { class: "tick", x: width - right, y: height - 4, "text-anchor": "end" }, last),
  ];
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom });
  const now = el("output", {});
  const node = el("figure", { class: "chart" },
    el("figcaption", { title: definition }, title, " ", now),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} by ${unit}` },
      grid, ends, lines, cursor));
  const move = (number) => {
    cursor.setAttribute("x1", x(number));
    cursor.setAttribute("x2", x(number));
    cursor.setAttribute("visibility", number < first ? "hidden" : "visible");
    const value = series[0]?.values[Math.floor((number - from) / every)] ?? null;
    now.textContent = series.length > 1 ? "" : Math.abs(value) < 0.001 ? valueText(value) : rounded(value, 3);
  };
  return { node, move };
}
