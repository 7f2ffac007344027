// The common parts of all views: the events of a unit, their sentences, long text, charts of measures.
import { hueOf } from "./colours.js";
import { lineChart, spanOf, unitsFrom } from "./chart.js";
import { el, fold, jsonOf, plural } from "./dom.js";
import { SENTENCE } from "./run.js";

const TEXT_SHOWN = 2000; // characters of a text that are shown before it is opened

// Text of an agent, marked as such; the rest of a long text can be opened.
export function longText(text) {
  if (text.length <= TEXT_SHOWN) return el("q", { class: "said", dir: "auto" }, text);
  const rest = el("details", {}, el("summary", {}, `and ${plural(text.length - TEXT_SHOWN, "character")} more`));
  rest.addEventListener("toggle", () => {
    if (rest.childNodes.length === 1) rest.append(el("q", { class: "said", dir: "auto" }, text.slice(TEXT_SHOWN)));
  }, { once: true });
  return el("div", {}, el("q", { class: "said", dir: "auto" }, text.slice(0, TEXT_SHOWN)), rest);
}

function valueOf(value) {
  if (typeof value === "string") return longText(value);
  return el("code", {}, jsonOf(value));
}

// The same in a sentence: with quotation marks that are text, so that they are copied with it.
const quoted = (value) => (typeof value === "string" ? ["“", longText(value), "”"] : valueOf(value));

const plain = (value) => (typeof value === "string" ? value : jsonOf(value, " "));

const BRIEF_MAX = 300; // characters of a value in a sentence

function digits(value) {
  if (value === null) return "nothing";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  if (Array.isArray(value)) return `[${value.map(digits).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  return `{${Object.entries(value).map(([name, item]) => `${name}: ${digits(item)}`).join(", ")}}`;
}

// A value in a sentence: numbers with six digits, the middle of a long one left out.
function briefly(value) {
  const text = digits(value);
  return text.length <= BRIEF_MAX ? text : `${text.slice(0, BRIEF_MAX / 2)} … ${text.slice(-BRIEF_MAX / 2)}`;
}

// Agents by number, each shown by `one(agent, text)`.
export const agentsBy = (one) => (agents) => {
  if (agents === null) return "nobody";
  if (!Array.isArray(agents)) return one(agents, `agent ${agents}`);
  return agents.length === 1 ? one(agents[0], `agent ${agents[0]}`) : ["agents ", agents.map((agent, index) => [index ? ", " : "", one(agent, agent)])];
};

// The names of agents; where they have none, as `agentsBy`.
const listedBy = (names) => (agents) =>
  (names[0] === undefined ? agentsBy((_, text) => text)(agents) : agents.map((agent) => names[agent] ?? `agent ${agent}`).join(", "));

// How a value in a sentence is shown, by form (replay/view/told.py); a view may have others.
const FORMS = { plain, plot: plain, quoted, value: briefly };

// The sentence of an event, as Python made it; null without one.
export function sentenceOf(run, event, forms = {}) {
  if (event[SENTENCE] === undefined) return null;
  const [index, ...values] = [event[SENTENCE]].flat();
  const valueIn = (source) => (typeof source === "number" ? values[source] : source.split(".").reduce((value, key) => value[key], event));
  const known = { agent: agentsBy((number, text) => run.names[number] ?? text), agents: listedBy(run.names), ...FORMS, ...forms };
  const shown = ([source, form]) => known[form](valueIn(source));
  return el("span", { class: "sentence" }, run.sentences.templates[index].map((part) => (typeof part === "string" ? part : shown(part))));
}

const LINES_MAX = 40; // lines of a list that are shown before the part that can be opened

export const listOf = (items, line) => el("ul", { class: "lines" }, items.map(line));

// A line for each item, from `most` on in a part that can be opened.
export const longList = (title, items, line, most = LINES_MAX) => [
  listOf(items.slice(0, most), line),
  items.length > most ? fold(`and ${items.length - most} more: ${title}`, false, () => listOf(items.slice(most), line)) : null,
];

// The events of a unit as in the journal, by name of event and field.
export function eventList(events, unit) {
  const rows = () => events.map(({ event, is_input: isInput, ...fields }) =>
    el("li", { class: isInput ? "input" : "derived", "data-event": event },
      el("strong", {}, event), " ",
      Object.entries(fields).map(([name, value]) => [el("span", { class: "field" }, name), " ", valueOf(value), " "])));
  return fold(`Events of this ${unit} as in the journal (${events.length})`, false, () => [
    el("p", { class: "note" }, "A bar marks submissions; all other events were derived."),
    el("ol", { class: "events", tabindex: "0" }, rows()),
  ]);
}

// A chart for each measure of the page, the world's main ones first, and the function that moves their
// cursors. `runs`: all of the page, whose charts have the same order and scales.
export function measureCharts(run, runs, player) {
  const { unit } = player;
  const every = [...new Map(runs.flatMap(({ measures }) => measures).map((each) => [each.name, each])).values()];
  const valuesOf = ({ measures }, name) => measures.find((each) => each.name === name)?.values ?? [];
  const chartOf = ({ name, title, definition, low }) => {
    const values = valuesOf(run, name);
    return lineChart({
      title, definition, unit, units: unitsFrom(run.first, Math.max(1, values.length)), span: spanOf(runs), player,
      scale: runs.flatMap((each) => valuesOf(each, name)), limits: [low], lines: [{ title, values, colour: hueOf(0) }],
    });
  };
  const main = every.filter(({ is_main: isMain }) => isMain).map(chartOf);
  const others = every.filter(({ is_main: isMain }) => !isMain).map(chartOf);
  const part = (title, open, charts) =>
    charts.length ? fold(title, open, el("div", { class: "charts" }, charts.map(({ node }) => node))) : null;
  return {
    node: el("div", {},
      part(`Measures by ${unit} (computed when this page was made)`, true, main),
      part("More measures", false, others)),
    move: (number) => [...main, ...others].forEach((chart) => chart.move(number)),
  };
}

// What the forks before a unit left and changed, as text; nothing without one.
export const forkNote = (run, number) =>
  run.forks.filter(([from]) => from === number).map(([, text]) => el("p", { class: "fork" }, text));
