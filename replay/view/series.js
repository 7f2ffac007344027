// Charts of the states: a line for a number, a line for each agent, or for each value the number of items.
import { lineChart, sampleOf } from "./chart.js";
import { el, fold, valueText } from "./dom.js";
import { changesOf } from "./events.js";
import { looksOf, sameFields } from "./grid.js";
import { policiesOf } from "./tables.js";

// The looks of the five lines of many agents, and their legend.
const QUARTILES = [16, 8, 0, 8, 16];
const QUARTILES_LEGEND = [[0, "median of the agents"], [8, "quartiles"], [16, "lowest and highest"]];

const legendOf = (lines) => el("ul", { class: "legend" }, lines.map(([look, text]) => el("li", {}, sampleOf(look), text)));

// The charts of a run's states as {node, move(unit)}; `runs`: all of the page, whose scales are the same.
export function stateCharts(run, runs, unit) {
  const { charts, spacing } = run.computed;
  const drawn = charts.map(({ name, kind, titles, values }) => {
    const isCounts = kind === "counts";
    const same = runs.flatMap(({ computed }) => computed.charts).filter((each) => each.name === name && (each.kind === "counts") === isCounts);
    const looks = isCounts ? looksOf(sameFields(runs, name)) : null;
    const lookOf = { counts: (index) => looks?.get(titles[index]) ?? index, quartiles: (index) => QUARTILES[index] }[kind] ?? ((index) => index);
    const chart = lineChart({
      title: isCounts ? `${name}: number of each value` : name, unit, from: run.first, every: spacing, runs,
      scale: same.flatMap((each) => each.values.flat()),
      series: values.map((each, index) => ({ values: each, look: lookOf(index) })),
    });
    if (isCounts) chart.node.append(legendOf(titles.map((title, index) => [lookOf(index), valueText(title)])));
    return { kind, titles, ...chart };
  });
  const group = (kinds, legend) => {
    const some = drawn.filter(({ kind }) => kinds.includes(kind));
    return some.length ? [el("div", { class: "charts" }, some.map(({ node }) => node)), legend(some[0].titles)] : null;
  };
  const policies = policiesOf(run);
  const playedBy = (agent) => changesOf(policies.map(([first, names]) => [first, names[agent] ?? ""]), unit);
  return {
    node: drawn.length === 0 ? null : fold(`State by ${unit} (computed when this page was made)`, true,
      spacing > 1 ? el("p", { class: "note" }, `The values of one ${unit} in ${spacing}.`) : null,
      group(["agents"], (agents) => legendOf(agents.map((agent) => [agent, `${agent} ${playedBy(agent)}`]))),
      group(["quartiles"], () => legendOf(QUARTILES_LEGEND)),
      group(["one", "counts"], () => null)),
    move: (number) => drawn.forEach((chart) => chart.move(number)),
  };
}
