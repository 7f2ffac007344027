// A list, or a list of lists, drawn as cells coloured by value: a few values have a colour each, numbers the
// strength of one colour.
import { swatchOf } from "./chart.js";
import { GREY, HUES, hueOf } from "./colours.js";
import { el, extremes, fold, plural, replaceAll, scrolling, svg, tableOf, valueText } from "./dom.js";

const SIDE_PRINTED = 16; // rows and columns whose values stand in their cells
const PRINTED = 6; // characters of such a value
const SIDE_LISTED = 40; // rows and columns of the table
const [WIDTH, SIDE_MIN] = [600, 4]; // of a drawing and of a cell, in pixels; what is wider is scrolled

// The values that have a colour each, of the same field in all runs of a page; null: too many.
function levelsOf(fields) {
  if (fields.some(({ levels }) => levels === null)) return null;
  const levels = [...new Set(fields.flatMap(({ levels: each }) => each))];
  return levels.length > HUES && fields.some(({ range }) => range.length) ? null : levels;
}

// By such a value its hue; null: too many.
export function looksOf(fields) {
  const levels = levelsOf(fields);
  const empty = levels?.find((level) => !level);
  const others = levels?.filter((level) => level !== empty);
  return levels && new Map(levels.map((level) => [level, level === empty ? GREY : others.indexOf(level) % HUES]));
}

// A drawn field in all runs of a page.
export const sameFields = (runs, name) => runs.map(({ fields }) => fields.get(name)).filter((field) => field?.levels !== undefined);

const mixed = (hue, percent) => `color-mix(in oklab, ${hueOf(hue)} ${percent}%, var(--paper))`;

// The colours of a field's values: {fill(value), legend(values), isCounted}; `isPale`: text can be read on them;
// `isCounted`: the legend says how many there are of each.
function colouring(fields, isPale) {
  const looks = looksOf(fields);
  if (looks !== null) {
    const fill = (value) => mixed(looks.get(value), looks.get(value) === GREY ? 20 : isPale ? 45 : 85);
    const legend = (values) => [...looks.keys()].map((level) => [fill(level), `${valueText(level)}: ${values.filter((value) => value === level).length}`]);
    return { fill, legend, isCounted: true };
  }
  const [low, high] = extremes(fields.flatMap(({ range }) => range));
  const span = high / 2 - low / 2; // the whole may be larger than the largest number
  const strength = (value) => Math.round(20 * (span > 0 ? (value / 2 - low / 2) / span : 0)) / 20;
  const fill = (value) => value === null ? "transparent" : mixed(0, Math.round(6 + (isPale ? 40 : 86) * strength(value)));
  const steps = [0, 0.25, 0.5, 0.75, 1].map((part) => (1 - part) * low + part * high);
  return { fill, isCounted: false, legend: () => (high > low ? steps : [low]).map((value) => [fill(value), valueText(value)]) };
}

// A list as rows: short ones in one, others about twice as wide as high.
function wrapped(values) {
  const across = values.length <= 40 ? values.length : Math.ceil(Math.sqrt(2 * values.length));
  const rows = [];
  for (let from = 0; from < values.length; from += across) rows.push(values.slice(from, from + across));
  return rows;
}

// Neighbours of one colour as one rectangle: `{fill: path}`, for cells of this side.
function pathsOf(rows, side, fill) {
  const paths = new Map();
  rows.forEach((row, y) => {
    let from = 0;
    row.forEach((value, x) => {
      const colour = fill(value);
      if (x + 1 < row.length && fill(row[x + 1]) === colour) return;
      paths.set(colour, `${paths.get(colour) ?? ""}M${from * side} ${y * side}h${(x + 1 - from) * side}v${side}h${(from - x - 1) * side}z`);
      from = x + 1;
    });
  });
  return paths;
}

// What of a list or grid is shown, if a page has not all of it.
function cutOf({ kind, size }, value) {
  if (size === undefined || !Array.isArray(value)) return null;
  const [all, across] = size;
  if (kind === "values") return value.length < all ? `The first ${value.length} of ${all} are here.` : null;
  const isCut = Array.isArray(value[0]) && (value.length < all || value[0].length < across); // a tree may be [] here
  return isCut ? `The first ${plural(value.length, "row")} and ${plural(value[0].length, "column")} of up to ${all} by ${across} are here.` : null;
}

export function cutNote(field, value) {
  const cut = cutOf(field, value);
  return cut === null ? null : el("p", { class: "note" }, cut);
}

// A field as {node, show(value)}; `runs`: all of the page, whose colours are the same.
export function gridOf(field, runs) {
  const fields = sameFields(runs, field.name);
  const { name, kind } = field;
  const fits = (value) => typeof value !== "boolean" && valueText(value).length <= PRINTED;
  const isPrinted = fields.every(({ size, levels, range }) => Math.max(...size) <= SIDE_PRINTED && (levels ?? range).every(fits));
  const { fill, legend, isCounted } = colouring(fields, isPrinted);
  const node = el("figure", { class: "cells" });
  const drawn = (rows, values) => {
    const [high, across] = [rows.length, Math.max(...rows.map((row) => row.length))];
    const side = isPrinted ? 40 : Math.max(SIDE_MIN, Math.min(20, Math.floor(WIDTH / across)));
    const lines = side < 5 ? "" : rows.map((row, y) => `M0 ${y * side}h${row.length * side}v${side}H0z${
      row.map((_, x) => `M${x * side} ${y * side}v${side}`).join("")}`).join("");
    const [least, most] = extremes(values.filter((value) => value !== null)) ?? [null, null];
    const content = isCounted ? legend(values).map(([, text]) => text).join(", ") : `from ${valueText(least)} to ${valueText(most)}`;
    const picture = svg("svg", {
      viewBox: `0 0 ${across * side} ${high * side}`, width: across * side, role: "img",
      "aria-label": `${name}, ${kind === "grid" ? `${high} rows by ${across} columns` : `${values.length} values`}: ${content}`,
    },
    [...pathsOf(rows, side, fill)].map(([colour, d]) => svg("path", { fill: colour, d })),
    svg("path", { class: "ruled", d: lines }),
    isPrinted ? rows.map((row, y) => row.map((value, x) =>
      svg("text", { x: (x + 0.5) * side, y: (y + 0.5) * side + 4, "text-anchor": "middle" }, valueText(value)))) : null);
    picture.style.minWidth = `${across * SIDE_MIN}px`;
    return scrolling(name, picture);
  };
  const listing = (rows) => {
    const columns = Array.from({ length: Math.min(SIDE_LISTED, rows[0].length) }, (_, column) => String(column));
    const listed = rows.slice(0, SIDE_LISTED).map((row, index) => [index, ...columns.map((column) => valueText(row[column]))]);
    return scrolling(`${name} as a table`, tableOf(["row", ...columns], listed, columns));
  };
  const show = (value) => {
    const rows = kind === "grid" ? value : wrapped(value);
    const values = rows.flat();
    replaceAll(node, el("figcaption", {}, name), drawn(rows, values),
      el("ul", { class: "legend" }, legend(values).map(([colour, text]) => el("li", {}, swatchOf(colour), text))),
      cutNote(field, value),
      fold(`${name} as a table`, false, () => listing(rows)));
  };
  return { node, show };
}
