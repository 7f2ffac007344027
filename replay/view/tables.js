// The state after a unit: single values, standings and agents as tables, lists and grids as cells, all else as a
// tree.
import { el, jsonOf, plural, replaceAll, rounded, tableOf, valueText } from "./dom.js";
import { longText } from "./events.js";
import { gridOf } from "./grid.js";

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
    return el("div", { class: "leaf" }, el("span", { class: "field" }, name), " ", el("code", {}, jsonOf(value)));
  }
  const part = el("details", { open }, el("summary", {}, name, el("span", { class: "note" }, ` (${plural(items.length, "item")})`)));
  const fill = () => part.childNodes.length === 1 && part.append(...items.map(([key, item]) => tree(key, item, false)));
  if (open) fill();
  else part.addEventListener("toggle", fill, { once: true });
  return part;
}

// A table that is scrolled where it is long, with a heading: {node, show(titles, rows, of)}, `of`: the number of
// all rows.
function agentTable(title, level) {
  const table = el("div", { class: "long", tabindex: "0", role: "group", "aria-label": title });
  const note = el("p", { class: "note" });
  const node = el("div", { hidden: true }, el(`h${level}`, {}, title), table, note);
  const show = (titles, rows, of) => {
    const isNumbers = titles.map((_, column) => rows.every((cells) => cells[column] === null || typeof cells[column] === "number"));
    const cells = rows.slice(0, ROWS_MAX).map((row) => row.map((value, column) => (["agent", "policy"].includes(titles[column]) ? value : shown(value))));
    node.hidden = rows.length === 0;
    replaceAll(table, tableOf(titles, cells, titles.filter((_, column) => isNumbers[column]), "agent"));
    note.textContent = of > cells.length ? `The first ${cells.length} of ${rounded(of)} agents.` : "";
  };
  return { node, show };
}

// Agents by descending score; those of the same score have the same place.
function ranked(scores) {
  const order = scores.map((score, agent) => ({ agent, score })).filter(({ score }) => score !== null)
    .sort((a, b) => b.score - a.score || a.agent - b.agent);
  const places = new Map();
  order.forEach(({ score }, index) => places.has(score) || places.set(score, index + 1));
  return order.map((each) => ({ ...each, place: places.get(each.score) }));
}

// The state of a run as {node, show(unit)}; `runs`: all of the page.
export function stateOf(run, runs, unit) {
  const { states, every, fields } = run.computed;
  const level = runs.length > 1 ? 3 : 2;
  const of = (kind) => fields.filter((field) => field.kind === kind);
  const [heading, note, ones, rest] = [el(`h${level}`), el("p", { class: "note" }), el("dl", { class: "facts" }), el("div")];
  const [standings, agents] = [agentTable("Standings", level + 1), agentTable("Agents", level + 1)];
  const grids = [...of("grid"), ...of("values")].map((field) => ({ field, ...gridOf(field, runs) }));
  const drawn = new Set(fields.filter(({ kind }) => kind !== "tree").map(({ name }) => name));
  const parts = el("div", {}, ones, el("div", { class: "beside" }, standings.node, agents.node, grids.map(({ node }) => node)), rest);

  function showAgents(at, state, scores) {
    const playing = run.labelsAt(at);
    const columns = of("agents").map(({ name }) => name);
    const known = playing.length ? ["policy"] : [];
    const nameOf = (agent) => run.names[agent] ?? agent;
    const policyOf = (agent) => known.map(() => playing[agent] ?? null);
    const ranks = ranked(scores ?? []);
    standings.show(["place", "agent", ...known, "score"],
      ranks.map(({ agent, place, score }) => [place, nameOf(agent), ...policyOf(agent), score]), ranks.length);
    agents.show(["agent", ...known, ...columns],
      (state[columns[0]] ?? []).map((_, agent) => [nameOf(agent), ...policyOf(agent), ...columns.map((name) => state[name][agent])]),
      of("agents")[0]?.size[0]);
  }

  function show(at) {
    const latest = states.filter(([number]) => number <= at).pop();
    parts.hidden = latest === undefined;
    heading.textContent = latest === undefined ? `No state after ${unit} ${at}` : `State after ${unit} ${latest[0]}`;
    note.textContent = latest === undefined ? "This page has none." : "Computed by the world's rules when this page was made.";
    if (latest === undefined) return;
    if (every > 1) note.textContent += ` It has the state of one ${unit} in ${every}, as many as 4 MiB hold; goldrush replay --at ${at} shows any other.`;
    const [, state, scores] = latest;
    replaceAll(ones, of("one").map(({ name }) => el("div", {}, el("dt", {}, name), el("dd", {}, shown(state[name])))));
    showAgents(at, state, scores);
    for (const { field, show: showGrid } of grids) showGrid(state[field.name]);
    const others = fields.length ? Object.entries(state).filter(([name]) => !drawn.has(name)) : [["state", state]];
    replaceAll(rest, others.map(([name, value]) => tree(name, value, fields.length === 0)));
  }
  return { node: el("section", { "aria-label": labelOf("State", run, runs) }, heading, note, parts), show };
}
