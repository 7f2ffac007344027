// The text next to the map: the events of a round, a plot's history, an agent's plan.
import { swatchOf } from "../../../view/chart.js";
import { areSingle, colourOf, coloursOf } from "../../../view/colours.js";
import { el, fold, listed, plural, ranges, replaceAll, rounded, scrolling, tableOf } from "../../../view/dom.js";
import { commandLine } from "../../../view/command.js";
import { agentsBy, eventList, forkNote, listOf, longList, longText, sentenceOf } from "../../../view/events.js";
import { searchable } from "../../../view/front.js";
import { Flows, GOLD, OWNER, SEIZED } from "./facts.js";
import { actionText } from "./style.js";
import { whyPart } from "./why.js";

const EVENTS_MAX = 8; // events of a kind that are listed before the part that can be opened

// Raids as a table: raiders by row, owners by column; the more captures, the darker.
function flowTable(label, flows) {
  const named = (policy) => (policy === null ? "nobody" : [swatchOf(colourOf(policy)), policy]);
  const { from, to, most } = flows;
  const cellOf = (row, column) => {
    const { captured, others } = flows.of(row, column);
    const cell = el("td", { class: "number flow" }, captured + others === 0 ? "" : [el("b", {}, rounded(captured)), others ? ` / ${rounded(others)}` : null]);
    cell.style.setProperty("--share", `${Math.round((60 * captured) / Math.max(1, most))}%`);
    return cell;
  };
  return scrolling(label, el("table", { class: "flows" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "raiders ↓ owners →"), to.map((policy) => el("th", { scope: "col", class: "number" }, named(policy))))),
    el("tbody", {}, from.map((row) => el("tr", {}, el("th", { scope: "row" }, named(row)), to.map((column) => cellOf(row, column)))))));
}

export class Story {
  // `name`: the name of the run if the page has two, else null.
  constructor(run, player, name) {
    Object.assign(this, { run, player });
    const isOne = name === null;
    this.before = isOne ? null : `${name}: `;
    this.section = (label, kind, ...children) =>
      el("section", { class: kind, "aria-label": isOne ? label : `${name}: ${label}` }, ...children);
    this.node = el("div", { class: "story" });
    this.head = (...children) => el(isOne ? "h2" : "h3", { class: "part" }, ...children);
    this.subhead = (text) => el(isOne ? "h3" : "h4", { class: "subhead" }, text);
  }

  // `lacking`: texts on a selected plot or agent that this run does not have.
  show(round, plot, agent, lacking) {
    this.round = round;
    replaceAll(this.node, lacking.map((text) => el("p", { class: "fork" }, text)),
      plot === null ? null : this.plotPart(plot),
      agent === null ? null : this.agentPart(agent),
      this.roundPart(),
      eventList(round.events, "round"));
    this.scroll();
  }

  agentName(agent) {
    return `${agent} ${this.round.policies[agent]}`;
  }

  plotLink(plot) {
    return el("a", { href: this.player.href({ plot }), "aria-label": `plot ${plot}` }, plot);
  }

  agentLink(agent, text = `agent ${agent}`) {
    if (agent === null) return "nobody";
    return el("a", { class: "agent", href: this.player.href({ agent }) }, text);
  }

  sentence(event) {
    return sentenceOf(this.run, event, { agent: agentsBy((agent, text) => this.agentLink(agent, text)), plot: (plot) => this.plotLink(plot) });
  }

  roundPart() {
    const { round } = this;
    const [raids, claims, pruned] = ["raid_resolved", "claim_drawn", "pruned"].map((name) => round.of(name));
    const mined = [...round.mined().values()].reduce((sum, gold) => sum + gold, 0);
    const contested = claims.filter(({ claimants }) => claimants.length > 1);
    const alone = claims.filter(({ claimants }) => claimants.length === 1);
    const said = [...round.plans.values()].filter(({ say }) => say !== null);
    const captured = raids.filter(({ outcome }) => outcome === "captured").length;
    return this.section(`Round ${round.number}`, null,
      this.head(this.before, round.number === 0 ? "Before round 1" : `Round ${round.number}`),
      round.isOver ? el("p", { class: "fork" }, `The run ended with round ${round.number}, which is shown.`) : null,
      forkNote(this.run, round.number),
      el("p", {}, `${plural(raids.length, "plot")} raided, ${captured} captured; ${plural(claims.length, "plot")} claimed; ${rounded(mined)} gold mined.`),
      this.flows(raids),
      this.lines("Raids", raids, (event) => this.line(event, ["capture", "blocked raid", "raid in truce", "void raid"])),
      this.lines("Rulings", round.of("ruled"), (event) => this.line(event)),
      this.lines("Contested claims", contested, (event) => this.line(event, ["contested claim"])),
      this.lines("Removed from plans", pruned, (event) => this.line(event, ["pruned action"])),
      this.lines("Messages", said, ({ agent, say }) => el("li", {}, this.agentLink(agent), ": ", longText(say))),
      alone.length ? fold(`Claimed by one (${alone.length})`, false, () => listOf(alone, (event) => this.line(event))) : null,
      this.standings());
  }

  // Scroll long lists to the entries of this round.
  scroll() {
    for (const list of this.node.querySelectorAll(".tall")) {
      const now = list.querySelector(".now");
      if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
  }

  // A heading and a line for each event; null without events.
  lines(title, events, line) {
    return events.length ? [this.subhead(title), longList(title.toLowerCase(), events, line, EVENTS_MAX)] : null;
  }

  // Raids between policies, in this round and in all rounds of the page.
  flows(raids) {
    const now = new Flows();
    for (const event of raids) now.add(event, this.round.policies);
    const all = this.run.gathered?.flows;
    const part = (title, flows) => (flows?.isEmpty === false ? [this.subhead(title), flowTable(title, flows)] : null);
    return [part("Who raids whom: captured / not", now), all?.isEmpty === false ? fold("Who raids whom in all rounds", false, () => flowTable("Raids of all rounds", all)) : null];
  }

  // Gold and plots by policy where there are many agents, and of agents, by descending gold.
  standings() {
    const { policies, facts } = this.round;
    const plots = new Map();
    for (const owner of facts[OWNER]) if (owner !== null) plots.set(owner, (plots.get(owner) ?? 0) + 1);
    const mined = this.round.mined();
    const colours = coloursOf(policies);
    const agents = facts[GOLD].map((gold, agent) => ({ agent, gold, mined: mined.get(agent) ?? 0, plots: plots.get(agent) ?? 0 }))
      .sort((a, b) => b.gold - a.gold || a.agent - b.agent);
    const titles = ["agent", "policy", "gold", "this round", "plots"];
    const rows = () => agents.map((each) => [
      [swatchOf(colours[each.agent]), this.agentLink(each.agent)], policies[each.agent], rounded(each.gold), rounded(each.mined), each.plots,
    ]);
    const head = this.subhead(`Standings after round ${this.round.number}`);
    if (areSingle(agents.length)) return [head, searchable("Standings", titles, rows(), titles.slice(2))];
    return [head, this.standingsByPolicy(agents), fold("Agents", false, () => searchable("Standings of agents", titles, rows(), titles.slice(2)))];
  }

  standingsByPolicy(agents) {
    const groups = new Map();
    for (const each of agents) {
      const policy = this.round.policies[each.agent];
      if (!groups.has(policy)) groups.set(policy, []);
      groups.get(policy).push(each);
    }
    const sum = (some, name) => some.reduce((total, each) => total + each[name], 0);
    const titles = ["policy", "agents", "mean gold", "gold this round", "plots"];
    const rows = [...groups].map(([policy, some]) => [
      [swatchOf(colourOf(policy)), policy], some.length, rounded(sum(some, "gold") / some.length, 0), rounded(sum(some, "mined")), rounded(sum(some, "plots")),
    ]);
    return scrolling("Standings by policy", tableOf(titles, rows, titles.slice(1)));
  }

  // An event in a list, with explanations of these kinds.
  line(event, kinds = []) {
    const { agent = null, plot = null, outcome, defense, removed = [] } = event;
    const notes = [
      ...removed.map(([index]) => actionText(this.round.plans.get(agent)?.actions[index] ?? null)),
      ...(outcome === "captured" && defense ? [`defence ${defense}`] : []),
    ];
    return el("li", { class: outcome ? `raid ${outcome}` : null }, this.sentence(event),
      notes.length ? el("span", { class: "note" }, ` (${listed(notes)})`) : null,
      kinds.length ? whyPart(this.round, kinds, plot, agent, event.words) : null);
  }

  plotPart(plot) {
    const [owners, since, how] = this.round.facts;
    const owner = owners[plot];
    const gathered = this.run.gathered;
    const spells = gathered?.spells(plot) ?? [];
    const story = gathered?.stories.get(plot) ?? [];
    return this.section(`Plot ${plot}`, "selected",
      this.head(`Plot ${plot}`, el("span", { class: "note" }, ` row ${Math.floor(plot / this.round.setup.config.cols)}, column ${plot % this.round.setup.config.cols}`), this.closing("plot")),
      el("p", {}, owner === null ? "It is nobody's." : ["It is ", this.agentLink(owner), `'s since round ${since[plot]}, by ${how[plot] === SEIZED ? "capture" : "claim"}.`]),
      spells.length
        ? fold(`Its owners (${spells.length})`, true, el("div", { class: "tall", tabindex: "0", role: "group", "aria-label": `Owners of plot ${plot}` },
          el("table", {}, el("thead", {}, el("tr", {}, ["rounds", "owner", "by"].map((head) => el("th", { scope: "col" }, head)))),
            el("tbody", {}, spells.map((spell) => el("tr", { class: spell.from <= this.round.number && (spell.to ?? Infinity) >= this.round.number ? "now" : null },
              el("td", {}, this.roundLink(spell.from), spell.to === null ? " on" : ` to ${spell.to}`),
              el("td", {}, this.agentLink(spell.owner)), el("td", {}, spell.how === SEIZED ? "capture" : "claim")))))))
        : null,
      story.length
        ? fold(`Its story (${plural(story.length, "event")})`, false, () => el("ol", { class: "lines tall", tabindex: "0" },
          story.map(([round, event]) => el("li", { class: round === this.round.number ? "now" : null }, this.roundLink(round), " ", this.sentence(event)))))
        : null);
  }

  agentPart(agent) {
    const plan = this.round.plans.get(agent);
    const gone = this.round.removals(agent);
    const held = this.round.plotsOf(agent);
    const earned = this.round.mined().get(agent) ?? 0;
    return this.section(`Agent ${agent}`, "selected",
      this.head(`Agent ${this.agentName(agent)}`, this.closing("agent")),
      el("p", {}, `${rounded(this.round.facts[GOLD][agent])} gold (${rounded(earned)} mined in this round); ${plural(held.length, "plot")}${held.length ? `: ${ranges(held)}` : ""}.`),
      plan === undefined
        ? null
        : [
          this.subhead(`Its plan (${plural(plan.actions.length, "action")})`),
          plan.error === null ? null : el("p", { class: "fault" }, `error: ${plan.error}`),
          el("ol", { class: "lines tall", start: 0 }, plan.actions.map((action, index) =>
            el("li", {}, gone.has(index) ? [el("del", {}, actionText(action)), ` removed: ${gone.get(index)}`] : actionText(action)))),
          gone.size ? whyPart(this.round, ["pruned action"], null, agent) : null,
          plan.say === null ? null : el("p", {}, "says ", longText(plan.say)),
          plan.memo === null ? null : el("p", {}, "notes ", longText(plan.memo)),
          this.answer(agent, plan.source),
        ]);
  }

  // The prompt of a language model and its answer.
  answer(agent, source) {
    if (source === null) return null;
    const { raw, reasoning, prompt, ...rest } = source;
    const messages = this.run.computed.prompts[this.round.number]?.[agent];
    return [
      el("p", { class: "note" }, Object.entries(rest).map(([name, value]) => `${name} ${value}`).join(", ")),
      raw === undefined ? null : fold("Its answer as it came", false, longText(String(raw))),
      reasoning === undefined ? null : fold("Its reasoning", false, longText(String(reasoning))),
      prompt === undefined ? null : fold("Its prompt (made again by the rules when this page was made)", false,
        messages === undefined
          ? commandLine(`goldrush prompt JOURNAL --at ${this.round.number} --agent ${agent}`)
          : messages.map((index) => {
            const { role, content } = this.run.computed.messages[index];
            return [el("p", { class: "note" }, role), el("pre", { class: "prompt", tabindex: "0" }, content)];
          }),
        el("p", { class: "note" }, "SHA-256 in the journal: ", el("code", {}, String(prompt)))),
    ];
  }

  closing(name) {
    return el("a", { class: "close", href: this.player.href({ [name]: null }), "aria-label": `Close ${name}` }, "close");
  }

  roundLink(round) {
    return el("a", { href: this.player.href({ round }), class: "when" }, round);
  }
}
