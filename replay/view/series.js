// Charts of the states: a line for a number, a line for each agent or the spread of each policy, or for each value the
// number of items.
import { lineChart, spanOf, swatchOf, unitsFrom } from "./chart.js";
import { colourOf, coloursOf, hueOf } from "./colours.js";
import { el, fold, valueText } from "./dom.js";
import { looksOf, sameFields } from "./grid.js";
import { playedBy } from "./run.js";

const legendOf = (lines) => el("ul", { class: "legend" }, lines.map(([colour, text]) => el("li", {}, swatchOf(colour), text)));

// The lines of a chart of the kind.
const LINES = {
  one: ({ name, values }) => [{ title: name, values: values[0], colour: hueOf(0) }],
  agents: ({ titles, values }, run) => titles.map((agent, index) => ({
    title: `${run.names[agent] ?? agent} ${playedBy(run.rosters, agent, run.vocabulary.unit)}`, values: values[index], colour: coloursOf(run.labelsAt(run.last))[agent] ?? hueOf(index),
  })),
  spreads: ({ titles, values }) => titles.map((policy, index) => {
    const [low, first, median, third, high] = values.slice(5 * index, 5 * index + 5);
    return { title: policy, values: median, colour: colourOf(policy), bands: [[first, third], [low, high]] };
  }),
  counts({ name, titles, values }, _, runs) {
    const hues = looksOf(sameFields(runs, name));
    return titles.map((level, index) => ({ title: valueText(level), values: values[index], colour: hueOf(hues?.get(level) ?? index) }));
  },
};

// The charts of a run's states as {node, move(unit)}; `runs`: all of the page, whose scales are the same.
export function stateCharts(run, runs, player) {
  const { unit } = player;
  const { charts, spacing } = run.computed;
  const drawn = charts.map((data) => {
    const { name, kind } = data;
    const isCounts = kind === "counts";
    const same = runs.flatMap(({ computed }) => computed.charts).filter((each) => each.name === name && (each.kind === "counts") === isCounts);
    const lines = LINES[kind](data, run, runs);
    const chart = lineChart({
      title: isCounts ? `${name}: number of each value` : name, unit, units: unitsFrom(run.first, lines[0].values.length, spacing), lines, player,
      span: spanOf(runs), scale: same.flatMap((each) => each.values.flat()),
    });
    const legend = lines.length > 1 ? legendOf(lines.map(({ colour, title }) => [colour, title])) : null;
    if (isCounts) chart.node.append(legend);
    return { kind, legend, ...chart };
  });
  const group = (...kinds) => {
    const some = drawn.filter(({ kind }) => kinds.includes(kind));
    return some.length ? [el("div", { class: "charts" }, some.map(({ node }) => node)), kinds.includes("counts") ? null : some[0].legend] : null;
  };
  return {
    node: drawn.length === 0 ? null : fold(`State by ${unit} (computed when this page was made)`, true,
      spacing > 1 ? el("p", { class: "note" }, `The charts have the values of one ${unit} in ${spacing}.`) : null,
      group("agents"), group("spreads"),
      drawn.some(({ kind }) => kind === "spreads") ? el("p", { class: "note" }, "Lines: medians of the agents; bands: quartiles, lowest and highest.") : null,
      group("one", "counts")),
    move: (number) => drawn.forEach((chart) => chart.move(number)),
  };
}
