// The front of the page: the outcome over the units, and the agents behind the standings.
import { coloursOf, hueIndexOf, hueOf } from "./colours.js";
import { LARGE, aligned, dashOf, lineChart, swatchOf } from "./chart.js";
import { fold, rounded, scrolling, tableOf, valueText } from "./dom.js";
import { playedBy } from "./run.js";

// The colours of lines, each with a policy: those of one hue differ in shade.
function coloursOfLines(lines) {
  return coloursOf(lines.map(({ policy }) => lines.find((other) => hueIndexOf(other.policy) === hueIndexOf(policy)).policy));
}

// The lines of one run: of agents, means of policies, or of the whole run.
function outcomeLines({ lines }, labels, names) {
  const colours = lines[0]?.agent === undefined ? coloursOfLines(lines) : coloursOf(labels);
  return lines.map(({ title, agent, policy, count, values }, index) => (title !== undefined ? { title, values, colour: hueOf(0), width: 2.5 } : {
    title: agent === undefined ? `${policy} × ${count}` : `${names[agent] ?? agent} ${policy}`,
    values, colour: colours[agent ?? index], dash: dashOf(hueIndexOf(policy)), width: agent === undefined ? 2.5 : 1.75,
  }));
}

// The lines of two runs at the units of the longer one.
function linesBeside(fronts, units) {
  const colours = fronts.map(({ lines }) => coloursOfLines(lines));
  return fronts.flatMap((front, run) => front.lines.map(({ title, policy = title, values }, index) => ({
    title: `${policy} in ${"AB"[run]}`, colour: title === undefined ? colours[run][index] : hueOf(0), dash: run ? "6 4" : null, width: 2.25,
    values: aligned(values, front.units, units),
  })));
}

// The chart of the outcome as {move(unit)}; it is of the whole runs.
export function drawFront({ runs }, player) {
  const fronts = runs.map(({ front }) => front);
  const [first] = fronts;
  const { units } = fronts.reduce((one, two) => (two.units[two.units.length - 1] > one.units[one.units.length - 1] ? two : one));
  const isOne = fronts.length === 1;
  const [, labels] = runs[0].rosters[runs[0].rosters.length - 1];
  if (isOne) drawAgents(first, runs[0], labels, player.unit);
  if (units.length === 0 || fronts.some(({ lines }) => lines.length === 0)) return { move: () => {} };
  const last = units[units.length - 1];
  const lines = isOne ? outcomeLines(first, labels, runs[0].names) : linesBeside(fronts, units);
  const of = first.lines[0].title !== undefined ? "" : first.lines[0].agent === undefined ? " by policy, mean" : " of each agent";
  const chart = lineChart({
    title: `${first.title}${of}`, note: isOne ? null : "B: dashed", name: first.title, definition: first.definition, unit: player.unit, units, lines, size: LARGE, player,
    span: { first: units[0], last }, limits: [0],
    scale: lines.flatMap(({ values }) => values),
  });
  document.getElementById("outcome").append(chart.node);
  return chart;
}

// The agents with all measures of agents, folded, under the standings.
function drawAgents({ measures }, { rosters, names }, labels, unit) {
  if (measures.length === 0 || labels.length < 2) return;
  const colours = coloursOf(labels);
  const titles = measures.map(({ title }) => title);
  const order = measures[0].values.map((value, agent) => ({ value, agent })).sort((a, b) => b.value - a.value || a.agent - b.agent);
  const rows = order.map(({ agent }) => [
    [swatchOf(colours[agent]), names[agent] ?? agent], playedBy(rosters, agent, unit), ...measures.map(({ values }) => valueText(values[agent])),
  ]);
  document.getElementById("standings").append(fold(`Each of the ${rounded(rows.length)} agents`, false, () =>
    scrolling("Each agent", tableOf(["agent", "policy", ...titles], rows, titles))));
}
