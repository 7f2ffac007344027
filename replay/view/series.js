// Charts over the units: of measures, and of the states.
import { lineChart, spanOf, swatchOf, unitsFrom } from "./chart.js";
import { colourOf, coloursOf, hueOf } from "./colours.js";
import { el, fold, valueText } from "./dom.js";
import { looksOf, sameFields } from "./grid.js";
import { playedBy } from "./run.js";

const legendOf = (lines) => el("ul", { class: "legend" }, lines.map(([colour, text]) => el("li", {}, swatchOf(colour), text)));

const chartsOf = (charts) => el("div", { class: "charts" }, charts.map(({ node }) => node));

// The lines of a chart of states, by its kind.
const LINES = {
  one: ({ name, values }) => [{ title: name, values: values[0], colour: hueOf(0) }],
  agents: ({ titles, values }, run) => titles.map((title, index) => (typeof title === "string" ? { title, values: values[index], colour: colourOf(title) } : {
    title: `${run.names[title] ?? title} ${playedBy(run.rosters, title, run.unit)}`, values: values[index], colour: coloursOf(run.labelsAt(run.last))[title] ?? hueOf(index),
  })),
  items: ({ titles, values }) => titles.map((title, index) => ({ title, values: values[index], colour: hueOf(index) })),
  counts({ name, titles, values }, _, runs) {
    const hues = looksOf(sameFields(runs, name));
    return titles.map((level, index) => ({ title: valueText(level), values: values[index], colour: hueOf(hues?.get(level) ?? index) }));
  },
};

// A chart of a run's states; `runs`: all of the page, whose scales are the same.
function stateChart(data, run, runs, player) {
  const { name, kind } = data;
  const isCounts = kind === "counts";
  const same = runs.flatMap(({ charts }) => charts).filter((each) => each.name === name && (each.kind === "counts") === isCounts);
  const lines = LINES[kind](data, run, runs);
  const chart = lineChart({
    title: isCounts ? `${name}: number of each value` : name, unit: run.unit, units: unitsFrom(run.first, lines[0].values.length, run.spacing), lines, player,
    span: spanOf(runs), scale: same.flatMap((each) => each.values.flat()),
  });
  const legend = lines.length > 1 ? legendOf(lines.map(({ colour, title }) => [colour, title])) : null;
  if (legend && kind !== "agents") chart.node.append(legend);
  return { kind, legend, isOfPolicies: kind === "agents" && typeof data.titles[0] === "string", ...chart };
}

// A chart of a measure in a run; of two runs the order and the scales are the same.
function measureChart({ name, title, definition, low }, run, runs, player) {
  const valuesOf = ({ measures }) => measures.find((each) => each.name === name)?.values ?? [];
  const values = valuesOf(run);
  return lineChart({
    title, definition, unit: run.unit, units: unitsFrom(run.first, Math.max(1, values.length)), span: spanOf(runs), player,
    scale: runs.flatMap(valuesOf), limits: [low], lines: [{ title, values, colour: hueOf(0) }],
  });
}

// All charts of a run as {node, move(unit)}, the world's main measures first.
export function chartsOfRun(run, runs, player) {
  const every = [...new Map(runs.flatMap(({ measures }) => measures).map((each) => [each.name, each])).values()];
  const main = every.filter(({ is_main: isMain }) => isMain).map((each) => measureChart(each, run, runs, player));
  const others = every.filter(({ is_main: isMain }) => !isMain).map((each) => measureChart(each, run, runs, player));
  const states = run.charts.map((data) => stateChart(data, run, runs, player));
  const group = (...kinds) => {
    const some = states.filter(({ kind }) => kinds.includes(kind));
    return some.length ? [chartsOf(some), kinds.includes("counts") ? null : some[0].legend] : null;
  };
  return {
    node: el("div", {},
      main.length ? fold(`Measures by ${run.unit}`, true, chartsOf(main)) : null,
      states.length ? fold(`State by ${run.unit}`, true,
        run.spacing > 1 ? el("p", { class: "note" }, `The charts have the values of one ${run.unit} in ${run.spacing}.`) : null,
        group("agents"), states.some(({ isOfPolicies }) => isOfPolicies) ? el("p", { class: "note" }, "A line is the mean of the agents of a policy.") : null,
        group("one", "items", "counts")) : null,
      others.length ? fold("More measures", false, chartsOf(others)) : null),
    move: (number) => [...main, ...states, ...others].forEach((chart) => chart.move(number)),
  };
}
