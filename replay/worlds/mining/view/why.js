// Explanations of results: the page contains their texts, the journal the plans that complete them.
import { el, listed, shellQuoted, typedJson, unpacked } from "../../../view/dom.js";
import { commandLine } from "../../../view/command.js";
import { push } from "./facts.js";
import { actionText } from "./style.js";

// Unpack the page's explanations by round.
export function openWhy(run) {
  const { patterns, why, ...rest } = run.computed;
  const text = (packed) => unpacked(patterns, packed);
  const byRound = new Map();
  for (const [round, kind, place, agents, account, planned, change] of why) {
    push(byRound, round, {
      kind: patterns[kind][0], place, agents, account: account.map(text), planned,
      change: change === null ? null : { says: text(change[0]), agent: change[1], actions: change[2], others: change[3] },
    });
  }
  run.computed = { ...rest, why: byRound };
}

// The explanations of a round, of the given kinds, for a plot or an agent; `words`: of the draw.
export function whyPart(round, kinds, plot, agent = null, words = []) {
  const { why, why_until: until } = round.run.computed;
  const found = (why.get(round.number) ?? []).filter((each) =>
    kinds.includes(each.kind) && (agent === null ? each.place === plot : each.agents.includes(agent)));
  if (!found.length && (until >= round.number || why.has(round.number))) return null;
  const what = plot === null ? `--agent ${agent}` : `--plot ${plot}`;
  const shown = found.length
    ? found.map((each) => explained(round, each))
    : commandLine(`goldrush why JOURNAL --at ${round.number} ${what}`);
  return el("details", { class: "why" }, el("summary", {}, "Why?"), shown,
    words.length ? el("p", { class: "note" }, "The draw: ", el("code", {}, listed(words))) : null);
}

function explained(round, { account, planned, change }) {
  const lines = planned === null
    ? account
    : [...account, `agent ${planned}'s plan: ${listed(round.kept(planned).map(actionText)) || "nothing"}`];
  return [
    el("ul", {}, lines.map((line) => el("li", {}, line))),
    change ? [el("p", {}, el("strong", {}, change.says)), commandLine(forkCommand(round, change))] : null,
    el("p", { class: "note" }, "Computed by the rules when this page was made."),
  ];
}

// The shell command that forks the run with another plan in this round.
function forkCommand(round, { agent, actions, others }) {
  const submission = (who, plan, withError) => {
    const { error, say, memo } = round.plans.get(who);
    const said = Object.entries({ error: withError ? error : null, say, memo }).filter(([, text]) => text !== null);
    return { round: round.number, agent: who, actions: plan, ...Object.fromEntries(said) };
  };
  const recorded = round.plans.get(agent).actions;
  const plan = actions.flatMap((item) => {
    if (Array.isArray(item)) return [item];
    const [from, to] = item.split("-").map(Number);
    return recorded.slice(from, to + 1);
  });
  const lines = [submission(agent, plan, false), ...others.map((who) => submission(who, round.plans.get(who).actions, true))];
  const quoted = lines.map((line) => shellQuoted(typedJson(line))).join(" ");
  return `printf '%s\\n' ${quoted} | goldrush fork JOURNAL --at ${round.number - 1} --replace-submission -`;
}
