// The events of a unit as sentences, with what is behind them: why, and the answers of models.
import { el, fold, plural } from "./dom.js";
import { commandLine } from "./command.js";

const TEXT_SHOWN = 2000; // characters of a text that are shown before it is opened
const LINES_SHOWN = 40; // lines before the part that can be opened

// Text of an agent, marked as such; the rest of a long text can be opened.
export function longText(text) {
  const said = (part) => el("q", { class: "said", dir: "auto" }, part);
  if (text.length <= TEXT_SHOWN) return said(text);
  return el("span", {}, said(text.slice(0, TEXT_SHOWN)), fold(`and ${plural(text.length - TEXT_SHOWN, "character")} more`, false, () => said(text.slice(TEXT_SHOWN))));
}

// An agent as a link that selects it, with this text.
export const agentLink = (run, player, agent, text = run.nameOf(agent)) =>
  el("a", { class: "agent", href: player.href({ agent: run.names[agent] ?? agent }), "aria-label": run.nameOf(agent) }, text);

function agentsOf(run, player, value) {
  if (value === null) return "nobody";
  const agents = [value].flat();
  if (agents.length === 0) return "nobody";
  const isNamed = agents.some((agent) => run.names[agent] !== undefined);
  if (isNamed || agents.length === 1) return agents.map((agent, index) => [index ? ", " : "", agentLink(run, player, agent)]);
  return ["agents ", agents.map((agent, index) => [index ? ", " : "", agentLink(run, player, agent, agent)])];
}

// The parts of a sentence as nodes; `textOf(text)` shows its own words.
export function sentenceOf(run, player, { parts }, textOf = (text) => text) {
  return el("span", { class: "sentence" }, parts.map((part) => {
    if (typeof part === "string") return textOf(part);
    const [form, value] = part;
    if (form === "agent") return agentsOf(run, player, value);
    if (form === "place") return el("a", { href: player.href({ [run.location]: value }), "aria-label": `${run.location} ${value}` }, value);
    return form === "said" ? ["“", longText(value), "”"] : textOf(String(value));
  }));
}

// What a model answered, as it came.
export function answerOf(run, number, { answer, agent }) {
  if (answer === undefined) return null;
  const command = commandLine(`goldrush prompt run.journal --at ${number} --agent ${agent}${run.option}`);
  return fold("Its answer as it came", false, () => [
    el("p", { class: "note" }, answer.facts),
    el("p", {}, longText(answer.text)),
    answer.reasoning ? fold("Its reasoning", false, () => longText(answer.reasoning)) : null,
    el("p", { class: "note" }, "With the question:"), command,
  ]);
}

// Why a result came about: the explanation, and the command that gives it with a change of a plan to try.
function whyOf(run, number, event) {
  const { why } = event;
  const isBeyond = number > run.explained && number !== run.last && run.explains.includes(event.event);
  if (!why && !isBeyond) return null;
  const place = event[run.location] ?? null;
  const what = place === null ? `--agent ${event.agent}` : `--${run.location} ${place}`;
  return el("details", { class: "why" }, el("summary", {}, "Why?"),
    why ? why.split("\n").map((line) => el("p", {}, line)) : null,
    commandLine(`goldrush why run.journal --at ${number} ${what}${run.option}`));
}

// A line of a list.
export const lineOf = (run, player, number, event, before = null) =>
  el("li", { class: event.fault ? "fault" : null, "data-event": event.event },
    before, sentenceOf(run, player, event), whyOf(run, number, event), answerOf(run, number, event));

const listOf = (items) => el("ul", { class: "lines" }, items);

// Lines, from some number on in a part that can be opened.
function longList(items, title) {
  const rest = items.slice(LINES_SHOWN);
  return [listOf(items.slice(0, LINES_SHOWN)), rest.length ? fold(`and ${rest.length} more: ${title || "events"}`, false, () => listOf(rest)) : null];
}

// All lines of a unit, by step and title; `level`: of a heading.
export function linesOf(run, player, number, level) {
  const groups = run.groupsAt(number).filter(([title]) => !run.unseen.includes(title)).map(([title, events, heading]) => {
    const lines = () => longList(events.map((event) => lineOf(run, player, number, event)), heading);
    const isOpen = events.some(({ answer }) => answer !== undefined); // what a model answered is beside its move
    if (run.folded.includes(title)) return events.length ? fold(`${heading} (${events.length})`, isOpen, lines) : null;
    return [heading ? el(`h${level}`, {}, heading) : null, lines()];
  });
  return [run.forks.filter(([from]) => from === number).map(([, text]) => el("p", { class: "fork" }, text)), groups];
}

// The story of a selected agent or location: all lines that name it, failures and those of the unit marked.
export function storyOf(run, player, number, form, value, isOpen) {
  const lines = run.eventsOf(form, value).map(([unit, event]) => {
    const when = el("a", { class: "when", href: player.href({ [run.unit]: unit }) }, unit);
    return el("li", { class: [unit === number && "now", event.fault && "fault"].filter(Boolean).join(" ") || null }, when, " ", sentenceOf(run, player, event));
  });
  if (!lines.length) return null;
  return fold(`Its story (${plural(lines.length, "event")})`, isOpen, () => {
    const list = el("ol", { class: "lines tall", tabindex: "0", "aria-label": "Story" }, lines);
    requestAnimationFrame(() => {
      const now = list.querySelector(".now");
      if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
    });
    return list;
  });
}
