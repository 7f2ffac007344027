// The state after a unit: single values, agents as a table, lists and grids as cells, all else as a tree.
import { coloursOf } from "./colours.js";
import { swatchOf } from "./chart.js";
import { el, plural, replaceAll, scrolling, tableOf, valueText } from "./dom.js";
import { cutNote, gridOf } from "./grid.js";
import { agentLink, longText } from "./lines.js";

const ROWS_MAX = 300; // agents in a table; of more, a step takes long

// The label of a part of a run; those of two runs differ.
export const labelOf = (part, run, runs) => (runs.length > 1 ? `${part} of run ${"AB"[runs.indexOf(run)]}` : part);

const shown = (value) => (typeof value === "string" ? el("span", { class: "sentence" }, longText(value)) : valueText(value));

// A value as a tree; containers can be opened.
function tree(name, value, open) {
  const isPlain = value === null || typeof value !== "object";
  const items = isPlain ? [] : Object.entries(value);
  const isShort = Array.isArray(value) && items.length <= 30 && value.every((item) => item === null || typeof item !== "object");
  if (isPlain || isShort) {
    return el("div", { class: "leaf" }, el("span", { class: "field" }, name), " ", el("code", {}, JSON.stringify(value)));
  }
  const part = el("details", { open }, el("summary", {}, name, el("span", { class: "note" }, ` (${plural(items.length, "item")})`)));
  const fill = () => part.childNodes.length === 1 && part.append(...items.map(([key, item]) => tree(key, item, false)));
  if (open) fill();
  else part.addEventListener("toggle", fill, { once: true });
  return part;
}

// Agents by descending score, each with its place; those of the same score have the same.
function ranked(scores) {
  const order = scores.map((score, agent) => ({ agent, score })).sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity) || a.agent - b.agent);
  const places = new Map();
  order.forEach(({ score }, index) => places.has(score) || places.set(score, index + 1));
  return order.map(({ agent, score }) => ({ agent, place: score === null ? null : places.get(score) }));
}

// The agents after a unit as a table; null in a run without fields of agents.
function agentTable(run, player, at, index, label) {
  const fields = [...run.fields.values()].filter(({ kind, is_drawn: isDrawn }) => kind === "agents" && !isDrawn);
  if (fields.length === 0) return null;
  const policies = run.labelsAt(at);
  const colours = policies.length ? coloursOf(policies) : [];
  const scores = fields.find(({ name }) => name === run.ranks)?.values[index];
  const values = fields.map((field) => field.values[index]);
  const agents = scores ? ranked(scores) : values[0].map((_, agent) => ({ agent }));
  const head = [...(scores ? ["rank"] : []), "agent", ...(policies.length ? ["policy"] : []), ...fields.map(({ name }) => name)];
  const isNumbers = head.map((name, column) => name === "rank" || values[column - (head.length - fields.length)]?.every((value) => value === null || typeof value === "number"));
  const rows = agents.slice(0, ROWS_MAX).map(({ agent, place }) => [
    ...(scores ? [place ?? "–"] : []), [colours[agent] ? swatchOf(colours[agent]) : null, agentLink(run, player, agent, run.names[agent] ?? agent)],
    ...(policies.length ? [policies[agent] ?? "–"] : []), ...values.map((of) => shown(of[agent] ?? null)),
  ]);
  return [scrolling(label, tableOf(head, rows, head.filter((_, column) => isNumbers[column]), "agent")),
    agents.length > rows.length ? el("p", { class: "note" }, `The first ${rows.length} of ${agents.length} agents.`) : null];
}

// The state of a run as {values, agents, show(unit)}: two parts of the page; `runs`: all of it.
export function stateOf(run, runs, player) {
  const level = runs.length > 1 ? 3 : 2;
  const fields = [...run.fields.values()].filter(({ is_drawn: isDrawn }) => !isDrawn);
  const of = (...kinds) => fields.filter(({ kind }) => kinds.includes(kind));
  const [heading, note, ones, rest, agents] = [el(`h${level}`), el("p", { class: "note" }), el("dl", { class: "facts" }), el("div"), el("div")];
  const grids = of("grid", "values").map((field) => ({ field, ...gridOf(field, runs) }));
  const node = el("section", { "aria-label": labelOf("State", run, runs) }, heading, note, ones, el("div", { class: "beside" }, grids.map((grid) => grid.node)), agents, rest);

  function show(at) {
    const index = run.stateAt(at);
    node.hidden = fields.length === 0;
    heading.textContent = index < 0 ? `No state after ${run.unit} ${at}` : `State after ${run.unit} ${run.stated[index]}`;
    for (const part of [note, ones, agents, rest]) replaceAll(part);
    for (const { node: grid } of grids) grid.hidden = index < 0;
    if (index < 0) return;
    if (run.every > 1) note.textContent = `This page has the state of one ${run.unit} in ${run.every}; goldrush replay --at ${at} shows any other.`;
    replaceAll(ones, of("one").map((field) => el("div", {}, el("dt", {}, field.name), el("dd", {}, shown(field.values[index])))));
    replaceAll(agents, agentTable(run, player, at, index, labelOf("Agents", run, runs)));
    for (const { field, show: showGrid } of grids) showGrid(field.values[index]);
    replaceAll(rest, of("tree").map((field) => [tree(field.name, field.values[index], fields.length === 1), cutNote(field, field.values[index])]));
  }
  return { node, show };
}
