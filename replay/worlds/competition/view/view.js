// The view of a season: the assignment as a transcript of cards, from the talk through the proof to the
// choice, with stances and scores with their grounds, and the charts of the season.
import { Roundtables } from "./assignment.js";
import { Season } from "./season.js";
import { argumentsOf } from "./right.js";
import { Stances } from "./stances.js";
import { Transcript } from "./transcript.js";
import { wordsOf } from "./words.js";
import { el, fold, listed, plural, replaceAll, shellQuoted, scrolling, tableOf, unpacked } from "../../../view/dom.js";
import { commandLine } from "../../../view/command.js";
import { eventList, forkNote, longText, measureCharts } from "../../../view/events.js";

export const WORLD = (() => {
  const { textOf, isProposal, assignmentOf, groundsOf } = Roundtables;
  const { Cards, listOf, pairOf, legendOf, modelOf } = Transcript;
  const BY_RULES = "Computed by the world's rules when this page was made.";
  const DIMENSIONS = ["novelty", "accuracy", "impact", "challenge"];
  const REWARDS = ["tier-1", "tier-2", "tier-3", "self-determined"];

  // The effects of events on the facts (defined in view.py).
  const FACTS = {
    forked(facts, { changes, cast }) {
      facts[0] = changes.sparks_start ?? facts[0];
      for (const { ordinal, policy } of cast ?? []) of(facts, ordinal)[8] = policy;
    },
    scored: (facts, { agent, total }) => { of(facts, agent)[5] += total; },
    sparks_moved: (facts, { agent, balance }) => { of(facts, agent)[4] = balance; },
    leaderboard_posted: (facts, { rows }) => { facts[2] = rows; },
    relegated(facts, { agent }) {
      of(facts, agent)[3] = "benched";
      facts.vacant = agent; // whose policy the next newcomer takes over, in this assignment
    },
    returned: (facts, { agent }) => { of(facts, agent)[3] = "active"; },
    deleted(facts, { agent }) {
      of(facts, agent)[3] = "gone";
      of(facts, agent)[7] = false;
      facts.vacant = agent;
    },
    joined: (facts, { ordinal, name }) => { facts[1].push([ordinal, name, "worker", "active", facts[0], 0, 0, false, of(facts, facts.vacant ?? 0)[8]]); },
    reward_unlocked(facts, { agent, reward }) {
      const state = of(facts, agent);
      state[6] = state[2] === "admin" ? 1 : REWARDS.indexOf(reward) + 1;
    },
    stage_reached: (facts, { agent, stage }) => { of(facts, agent)[6] = stage; },
    contract_signed: (facts, { agent }) => { of(facts, agent)[7] = true; },
    contract_settled: (facts, { agent, outcome }) => { of(facts, agent)[7] = !["lost", "void"].includes(outcome); },
    project_completed: (facts) => { facts[3] += 1; },
  };
  const of = (facts, agent) => facts[1].find(([ordinal]) => ordinal === agent);

  // A sentence with its full stop, unless a quotation ends it.
  const ended = (sentence) => [sentence, /[.?!]”$/.test(sentence.textContent ?? sentence) ? null : "."];

  const STATUSES = { active: "active", benched: "benched", gone: "deleted" };
  const DEPARTURES = 5; // of an assignment, the same
  const LEADERS = 12; // workers of a leaderboard that are seen before the rest is opened

  const section = (title, ...children) => el("section", {}, el("h3", {}, title), children);

  // One run of the page.
  class Pane {
    constructor(run, runs, player, index) {
      Object.assign(this, { run, runs, player, people: new Season.People(run, player), charts: [] });
      this.label = runs.length > 1 ? `Run ${"AB"[index]}` : null;
      this.nodes = Object.fromEntries(["front", "season", "head", "aside", "after", "measures", "events"].map((name) => [name, el("div")]));
      this.assignment = null;
      replaceAll(this.nodes.season, el("p", { class: "note" }, "The season is being read."));
    }

    // Called when all runs are gathered: draws the season. `everybody`: the people of all runs.
    ready(everybody) {
      const { people, run } = this;
      const measures = measureCharts(run, this.runs, this.player);
      this.charts = [Season.pointChart(people, everybody), Season.rankChart(people, everybody), Season.sparkChart(people, everybody), measures];
      const [points, ranks, sparks] = this.charts;
      this.careerNode = el("div", { class: "career", "aria-live": "polite" });
      this.front(el("p", { class: "note" }, run.computed.introduction), points.node);
      replaceAll(this.nodes.season,
        el("div", { class: "season-grid" }, ranks.node, sparks.node),
        fold("Objectives, treatments and what was concluded", false, () => [
          el("p", { class: "note" }, "Each entry is an assignment, with the share of all conducts that its conclusion is better than (where the arena knows all values; else the tested value). ", BY_RULES),
          Season.conclusionMap(people, run.gathered),
        ]));
      replaceAll(this.nodes.measures, measures.node);
    }

    // The leaderboard and the points; of one run in the front of the page.
    front(introduction, points) {
      const { run } = this;
      const board = [this.leaderboard(run.last), this.careerNode];
      if (this.runs.length > 1) {
        replaceAll(this.nodes.front, introduction, el("div", { class: "front-grid" }, el("div", {}, board), points));
        this.words.explain(this.nodes.front);
        return;
      }
      const [outcome, standings] = ["outcome", "standings"].map((id) => document.getElementById(id));
      outcome.append(introduction, points);
      standings.prepend(...board);
      for (const node of [outcome, standings, document.querySelector(".lead")]) this.words.explain(node);
    }

    show(position) {
      const unit = position.assignment;
      if (this.assignment?.unit !== unit) this.assignment = assignmentOf(this.run, unit);
      this.position = position;
      const table = this.table;
      replaceAll(this.nodes.head, this.head());
      if (this.careerNode) {
        replaceAll(this.careerNode, this.career());
        this.words.explain(this.careerNode);
      }
      replaceAll(this.nodes.aside, table === null ? null : this.aside(table));
      replaceAll(this.nodes.after, this.agent(), this.after(), this.clamped < this.run.last ? this.leaderboard(this.clamped) : null);
      for (const name of ["head", "aside", "after"]) this.words.explain(this.nodes[name]);
      replaceAll(this.nodes.events, eventList(this.run.events(unit), "assignment"));
      this.charts.forEach((chart) => chart.move(unit, this.people.find(position.agent)));
      for (const link of this.nodes.season.querySelectorAll("[data-unit]")) {
        if (link.dataset.unit === String(unit)) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }

    // The workers after an assignment, the best first; behind the last one with what they claimed.
    leaderboard(unit) {
      const { people, run } = this;
      const isLast = unit === run.last;
      const isWhole = isLast && run.whole;
      const [, agents, ranking] = run.factsAt(unit);
      const ranked = new Map(ranking.map(([rank, agent, recent]) => [agent, { rank, recent }]));
      const workers = agents.filter(([, , role]) => role === "worker")
        .toSorted((one, other) => (ranked.get(one[0])?.rank ?? Infinity) - (ranked.get(other[0])?.rank ?? Infinity));
      const { players } = run.setupAt(unit);
      const nameOf = (agent) => players.find(({ ordinal }) => ordinal === agent)?.options?.name;
      const plays = new Map(workers.map(([agent, , , , , , , , policy]) => [agent, nameOf(agent) === undefined ? policy : `${policy}: ${nameOf(agent)}`]));
      const isMixed = new Set(plays.values()).size > 1;
      const titles = ["rank", "worker", ...(isMixed ? ["policy"] : []), "points", "recent points", ...(isWhole ? ["claims held", "chosen"] : []), "sparks", "status"];
      const rows = workers.map(([agent, , , status, sparks, points]) => {
        const { rank, recent } = ranked.get(agent) ?? { rank: "–", recent: "–" };
        const { held, claims, chosen } = run.gathered?.claimed.get(agent) ?? { held: 0, claims: 0, chosen: 0 };
        return [rank, people.chip(agent), ...(isMixed ? [plays.get(agent)] : []), points, recent, ...(isWhole ? [`${held} of ${claims}`, chosen] : []), sparks, STATUSES[status]];
      });
      const numbers = titles.filter((title) => !["worker", "policy", "status"].includes(title));
      const moment = unit < run.first ? "before the first assignment" : `after assignment ${unit}`;
      const name = isWhole ? "Final leaderboard" : `Leaderboard ${moment}`;
      const table = (some) => el("div", { class: "leaders" }, scrolling(name, tableOf(titles, some, numbers, "worker")));
      return el("section", {}, el(isLast ? "h2" : "h3", {}, name), table(rows.slice(0, LEADERS)),
        el("p", { class: "note" }, `Ranks go by recent points.${isWhole ? " Claims held: when they were tested. Chosen: proposals that became a conclusion." : ""}`),
        rows.length > LEADERS ? fold(`The other ${rows.length - LEADERS} workers`, false, () => table(rows.slice(LEADERS))) : null);
    }

    // The season of the selected worker, in sentences.
    career() {
      const { people, run } = this;
      const agent = people.find(this.position.agent);
      if (agent === null) return el("p", { class: "note" }, "Choose a worker by its name to read its season.");
      const lines = run.computed.careers[agent];
      if (lines === undefined) {
        return el("p", { class: "note" }, people.workers.includes(agent)
          ? `The season of ${people.name(agent)} is not told: it is among those with the fewest points.` : `${people.name(agent)} holds an office, and is not scored.`);
      }
      return [el("h3", {}, `The season of ${people.name(agent)}`), el("p", {}, lines.map((line) => [people.line(null, line), " "]))];
    }

    // The selected table; null if the assignment has none.
    get table() {
      const { tables } = this.assignment;
      return tables[Number(this.position.table ?? 0)] ?? tables[0] ?? null;
    }

    cards(other) {
      return this.table === null ? null : new Cards(this.people, this.table, this.position, other);
    }

    // The headline: opener, subjects, conclusions.
    head() {
      const { opened, tables, unit, before } = this.assignment;
      const { people, run } = this;
      if (unit > this.run.last) return el("h2", {}, `${this.label} has no assignment ${unit}`);
      if (opened === null) {
        return [el("h2", {}, this.label === null ? "Before the first assignment" : `${this.label}: before the first assignment`),
          el("p", {}, `The cast: ${listed(this.run.setupAt(this.run.first).players.map(({ name, role, policy }) => `${name} (${role === "worker" ? policy : role})`))}.`)];
      }
      const table = this.table;
      return [
        el("h2", {}, this.label === null ? "" : `${this.label}: `, `Assignment ${unit}`,
          table?.subject ? [": ", people.about(table.subject)] : null),
        table?.subject ? el("p", { class: "note" }, people.question(table.subject)) : null,
        forkNote(run, unit),
        tables.length > 1 ? el("p", { class: "tables", role: "group", "aria-label": "Tables" }, tables.map(({ number: at, subject }) =>
          el("a", {
            href: this.player.href({ table: at, line: null }), "aria-current": at === table.number ? "true" : null, class: "tab",
          }, `Table ${at}: ${people.about(subject)}`))) : null,
        table === null ? null : argumentsOf(people, table, table.adopted.map((event) => this.decision(event))),
        this.departures(),
        run.computed.arena === null ? null : fold(`What is argued about in the arena ${run.setupAt(unit).config.arena.name}`, false,
          () => el("p", { class: "rules" }, run.computed.arena)),
        this.folded("How it was opened, and what became of the conclusion", () => [
          [opened, ...(table?.opened ? [table.opened] : [])].map((event) => el("p", {}, ended(people.sentence(event)))),
          this.story([...before, ...(table?.settings ?? [])]),
          table === null ? null : [this.drawn(table), table.digested.map((event) => this.decision(event))],
        ]),
      ];
    }

    // A decision of the assistant or the admin on the conclusion.
    decision(event) {
      return el("p", {}, ended(this.people.sentence(event)), this.refusal(event.code));
    }

    // A part that can be opened, with its words explained.
    folded(title, make) {
      return fold(title, false, () => this.words.explain(el("div", {}, make())));
    }

    // How to redo the draw of a conclusion; null without one.
    drawn({ concluded, number: at }) {
      if (!concluded?.tied.length) return null;
      return [el("p", {}, "The conclusion was drawn; the draw can be redone:"),
        commandLine(`goldrush audit JOURNAL --at ${this.assignment.unit} --table ${at} --kind conclude`)];
    }

    // Who lost a seat in this assignment, and why; null for nobody.
    departures() {
      const { people, run } = this;
      const lines = run.computed.departures.filter(([unit]) => unit === this.assignment.unit);
      const list = (some) => el("ul", { class: "story" }, some.map(([, line]) => el("li", {}, people.line(null, line))));
      return lines.length ? section("Who lost a seat, and why", list(lines.slice(0, DEPARTURES)),
        lines.length > DEPARTURES ? this.folded(`${lines.length - DEPARTURES} more`, () => list(lines.slice(DEPARTURES))) : null) : null;
    }

    refusal(code) {
      return code === null ? null : [" Refused: ", this.people.refusal(code)];
    }

    // The stances, with and without the selected agent, and the scores.
    aside(table) {
      const agent = this.people.find(this.position.without);
      const sat = table.opened?.participants ?? [];
      const chosen = sat.includes(agent) ? agent : null;
      const flow = Stances.flow(this.people, table, chosen);
      const isRuled = Object.keys(table.ruled.agents).length > 0;
      return [
        section("Who stands where",
          flow ?? el("p", { class: "note" }, sat.length > Stances.AGENTS_MAX ? `Stances of more than ${Stances.AGENTS_MAX} agents are not drawn; the table below has them.` : "No stances to draw."),
          el("p", { class: "note" }, "Stances after each round of the talk, after the proof, which refutes what does not hold, and in the end, after the choice. ", BY_RULES),
          isRuled ? this.choice(sat, chosen) : el("p", { class: "note" }, `What would have been without somebody is not known here: ${this.run.computed.missing}.`),
          agent !== null && chosen === null ? el("p", {}, `${this.people.name(agent)} did not sit at this table.`) : null,
          chosen === null ? null : this.without(table, chosen),
          Stances.asTable(this.people, table, chosen)),
        table.scored.length ? section("Scores and why", this.scores(table)) : null,
      ];
    }

    // The switch to the counterfactual table without an agent.
    choice(sat, chosen) {
      const button = (agent) => {
        const name = agent === null ? "nobody" : this.people.name(agent);
        return el("button", {
          type: "button", "aria-pressed": String(chosen === agent),
          click: () => this.player.go({ without: agent === null ? null : name }),
        }, name);
      };
      return el("div", { class: "choice", role: "group", "aria-label": "The table without" }, el("span", {}, "What if one had not been there? Without "), [null, ...sat].map(button));
    }

    without(table, agent) {
      const name = this.people.name(agent);
      const [, , impact] = groundsOf(table, agent).says;
      return el("div", { class: "counterfactual", "aria-live": "polite" },
        el("p", {}, el("b", {}, `Without ${name}`)),
        el("ul", {}, impact.map((line) => el("li", {}, this.linked(table, line)))),
        el("p", { class: "note" }, `The table folded again without what ${name} said and what refers to it, and, where all hear each other, without later proposals of a conduct that ${name} proposed first. Tests and the judge's signals stay. A final stance stays if its proposal is left; that of another goes to the best tested one that is left, that of ${name} falls away. ${BY_RULES}`),
        PLAIN.test(name) ? [
          el("p", { class: "note" }, `How the season goes on where ${name} says nothing from here:`),
          commandLine(`goldrush fork JOURNAL --at ${this.assignment.unit - 1} --roster ${name}=silent`),
        ] : null);
    }

    // The four scores of each agent, with their grounds.
    scores(table) {
      const { people } = this;
      const numbers = [...DIMENSIONS, "total", "rubric", "sparks"];
      const score = (raw, final) => (raw === final ? final : [el("span", { class: "note" }, `${raw} → `), final]);
      const sparks = ({ amount, balance }) =>
        [amount > 0 ? `+${amount}` : String(amount).replace("-", "−"), el("span", { class: "note" }, ` = ${balance}`)];
      const sorted = table.scored.toSorted((one, other) => other.total - one.total);
      const rows = sorted.map(({ agent, raw, final, total, rubric }) => [
        people.chip(agent), ...DIMENSIONS.map((_, index) => score(raw[index], final[index])), el("b", {}, total), rubric,
        table.sparks.has(agent) ? sparks(table.sparks.get(agent)) : "–",
      ]);
      return [
        el("div", { class: "scores" }, scrolling("Scores", tableOf(["worker", ...numbers], rows, numbers))),
        el("p", { class: "note" }, "As the therapist rated → after the steps; each 0 to 3. Rubric: the sum by the rubric alone, before any step."),
        sorted.map((scored) => this.reasons(table, scored)),
      ];
    }

    reasons(table, scored) {
      const { people } = this;
      const agent = scored.agent;
      const rated = table.rated.get(agent);
      const grounds = groundsOf(table, agent);
      const bottom = table.bottomed?.agent === agent ? table.bottomed : null;
      const isOpen = people.find(this.position.agent) === agent;
      const rows = () => DIMENSIONS.map((dimension, index) => {
        const steps = scored.steps.filter(([, of_]) => of_ === dimension);
        const reason = Array.isArray(rated?.reasons) ? rated.reasons[index] : undefined;
        return [
          el("dt", {}, `${dimension} ${scored.raw[index]}`, steps.map(([, , , to]) => ` → ${to}`),
            grounds && grounds.rubric[index] !== scored.raw[index] ? el("span", { class: "note" }, ` (rubric ${grounds.rubric[index]})`) : null),
          el("dd", {},
            reason ? el("p", {}, "Therapist: ", el("q", { class: "said" }, String(reason))) : null,
            steps.map(([rule, , from, to]) => el("p", {}, `${from} → ${to}: ${this.run.computed.steps[rule]}.`)),
            grounds?.says[index].map((line) => el("p", { class: "rests" }, this.linked(table, line)))),
        ];
      });
      const last = bottom ? `, last at the table${bottom.tied.length ? " (drawn)" : ""}, ${bottom.streak > 1 ? `${bottom.streak} in a row` : "for the first time"}` : "";
      return el("div", { class: "reasons" }, fold(`${people.name(agent)}: ${scored.total} of 12${last}`, isOpen, () => this.words.explain(el("div", {}, [
        rated === undefined ? el("p", { class: "note" }, "The therapist gave no numbers: those of the rubric stand.") : null,
        el("dl", {}, rows()),
        grounds && el("p", {}, el("a", { href: this.player.href({ without: people.name(agent) }) }, "See the table without it"), "."),
        commandLine(`goldrush audit JOURNAL --at ${this.assignment.unit} --table ${table.number} --score ${shell(people.name(agent))}`),
      ]))));
    }

    // A packed line of the grounds of a score.
    linked(table, line) {
      return this.people.linked(table, unpacked(this.run.computed.patterns, line));
    }

    // The selected agent: policy, state, chronicle and answers.
    agent() {
      const agent = this.people.find(this.position.agent);
      const { people, position, run } = this;
      if (agent === null) return el("p", { class: "note" }, "Choose an agent by its name to see its instructions, its story and, for a model, its answers.");
      const unit = position.assignment;
      const name = people.name(agent);
      const answers = this.assignment.answers.filter((answer) => answer.agent === agent);
      const entries = (run.gathered?.chronicle.get(agent) ?? []).filter((entry) => entry.unit <= unit);
      const options = run.setupAt(unit).players.find(({ ordinal }) => ordinal === agent)?.options ?? {};
      const reads = this.factsOf(agent);
      return section(`Agent ${name}`,
        el("p", {}, reads === undefined ? "Not there yet." : [`Policy ${reads[8]}`, textOf(options) === "{}" ? "" : [", ", el("code", {}, textOf(options))], ". "],
          reads === undefined ? null : `After assignment ${this.clamped}: ${STATUSES[reads[3]]}, ${plural(reads[4], "spark")}, tier ${reads[6]}, ${plural(reads[5], "point")}${reads[7] ? ", self-determined" : ""}.`),
        entries.length ? fold(`What happened to it up to assignment ${unit} (${entries.length})`, true, () =>
          el("ul", { class: "story" }, entries.toReversed().map((entry) => el("li", {}, el("a", { href: this.player.href({ assignment: entry.unit, line: null, table: null }) }, entry.unit), " ", people.sentence(entry.event))))) : null,
        answers.length ? this.answers(answers) : null,
        fold("What it is asked, remembers and is told to do: commands", false, () => [
          el("p", { class: "note" }, "What it is, or would be, asked in this assignment takes the rules to make again:"),
          commandLine(`goldrush prompt JOURNAL --at ${Math.max(unit, run.vocabulary.first)} --agent ${shell(name)}`),
          el("p", { class: "note" }, "Its memory and instructions, beside those of the others, as files:"),
          commandLine(`goldrush export JOURNAL --at ${Math.max(unit, run.vocabulary.first)} --to DIR`),
        ]));
    }

    answers(answers) {
      return fold(`Its answers as they came (${answers.length})`, true, () =>
        answers.map(({ question, text, source }) => fold(`${question.replace(/_$/, "")}${modelOf(source)}`, false, () => [
          longText(text),
          Object.entries(source ?? {}).filter(([key, value]) => /reason|thinking/.test(key) && typeof value === "string" && value)
            .map(([key, value]) => [el("p", { class: "note" }, key), longText(value)]),
          source?.error ? el("p", { class: "bad" }, "Error: ", el("code", {}, textOf(source.error))) : null,
        ])));
    }

    factsOf(agent) {
      return of(this.run.factsAt(this.clamped), agent);
    }

    get clamped() {
      return Math.min(this.run.last, Math.max(this.run.first - 1, this.position.assignment));
    }

    // The events after the tables: debriefs and derived events.
    after() {
      const { after, tables } = this.assignment;
      const debriefs = tables.flatMap(({ debriefed }) => debriefed);
      const followed = this.story(after);
      return [
        followed === null ? null : section("What followed", followed),
        debriefs.length ? this.folded(`Debriefs (${debriefs.length})`, () => this.story(debriefs)) : null,
      ];
    }

    // The events that have sentences, or were refused, as a list; null for none.
    story(events) {
      const lines = events.map((event) => [this.people.sentence(event) ?? (event.code && event.event), event.code])
        .filter(([line]) => line !== null)
        .map(([line, code]) => (code ? [ended(line), this.refusal(code)] : line));
      return lines.length ? el("ul", { class: "story" }, lines.map((line) => el("li", {}, line))) : null;
    }
  }

  // Names that need no quotes in a shell.
  const PLAIN = /^[\w.-]+$/;
  const shell = (name) => (PLAIN.test(name) ? name : shellQuoted(name));

  class SeasonView {
    constructor(room, runs, player) {
      Object.assign(this, { room, player });
      this.panes = runs.map((run, index) => new Pane(run, runs, player, index));
      this.line = undefined;
      this.words = wordsOf(runs[0].computed.words);
      for (const pane of this.panes) pane.words = this.words;
      const wide = globalThis.matchMedia("(min-width: 48rem)").matches;
      const isPair = runs.length > 1;
      this.talk = el("div", { class: "talk" });
      this.differing = el("div");
      const all = (name) => (isPair ? el("div", { class: "panes" }, this.panes.map(({ nodes }) => nodes[name])) : this.panes[0].nodes[name]);
      this.section = section("The table", this.talk);
      replaceAll(room,
        all("front"),
        all("head"),
        isPair ? [this.section, all("aside"), all("after")] : el("div", { class: "assignment" }, this.section, el("div", {}, all("aside"), all("after"))),
        this.differing, fold("The season: ranks, sparks, conclusions", wide, all("season")), all("measures"), all("events"),
        this.words.list());
      this.words.listen();
    }

    ready() {
      if (this.panes.some(({ run }) => !run.gathered)) return;
      for (const pane of this.panes) pane.ready(this.panes.map(({ people }) => people));
      // A link to an assignment shows it, and not the front of the page, which has grown now.
      if (/\bassignment=/.test(globalThis.location.hash)) {
        requestAnimationFrame(() => {
          const { height } = document.querySelector(".player").getBoundingClientRect();
          globalThis.scrollBy(0, this.room.getBoundingClientRect().top - height);
        });
      }
    }

    show(position) {
      for (const pane of this.panes) pane.show(position);
      const cards = this.panes.map((pane, index) => pane.cards(this.panes[1 - index]?.table ?? null));
      const first = cards.find((each) => each !== null);
      this.section.hidden = first === undefined;
      if (first !== undefined) {
        replaceAll(this.talk, legendOf(first.table, first.scale),
          this.panes.length > 1 ? pairOf(...cards) : listOf(cards[0]));
        this.words.explain(this.talk);
      }
      if (this.panes.length > 1) replaceAll(this.differing, this.differences());
      const at = `${position.assignment} ${position.table} ${position.line}`;
      if (position.line !== undefined && at !== this.line) {
        this.room.querySelector(`[data-line="${CSS.escape(position.line)}"]`)?.scrollIntoView({ block: "center" });
      }
      this.line = at;
    }

    // Ranks and totals after the assignment that differ between two runs.
    differences() {
      const over = this.panes.find(({ run }) => run.last < this.player.at);
      if (over !== undefined) return el("p", {}, `${over.label} ended with assignment ${over.run.last}: behind it nothing is compared.`);
      const [a, b] = this.panes.map((pane) => {
        const [, agents, rows] = pane.run.factsAt(pane.clamped);
        const ranks = new Map(rows.map(([rank, agent]) => [agent, rank]));
        return new Map(agents.filter(([, , role]) => role === "worker").map(([ordinal, name, , status, sparks, points]) =>
          [ordinal, { name, status: STATUSES[status], sparks, points, rank: ranks.get(ordinal) ?? null }]));
      });
      const ordinals = [...new Set([...a.keys(), ...b.keys()])].filter((ordinal) => textOf(a.get(ordinal)) !== textOf(b.get(ordinal)));
      const titles = ["status", "rank", "points", "sparks"].flatMap((name) => [`${name} A`, `${name} B`]);
      const rows = ordinals.map((ordinal) => {
        const pair = [a.get(ordinal), b.get(ordinal)];
        return [(pair[0] ?? pair[1]).name, ...["status", "rank", "points", "sparks"].flatMap((name) => pair.map((worker) => worker?.[name] ?? "–"))];
      });
      return section("Where the workers differ, as after this assignment",
        ordinals.length ? scrolling("Workers that differ", tableOf(["worker", ...titles], rows, titles.slice(2))) : el("p", {}, "Every worker stands the same."));
    }

    describe() {
      return this.panes.map((pane) => {
        const { assignment, label, table } = pane;
        const front = label === null ? "" : `${label}: `;
        if (table === null) return `${front}before the first assignment`;
        const chosen = pane.position.line === undefined ? null : table.said[Number(pane.position.line)];
        const contributions = plural(table.said.filter(({ move }) => move !== "pass").length, "contribution");
        const stood = plural(table.stood.filter(({ code }) => code === null).length, "final stance");
        const concluded = table.concluded?.proposal === null ? "no conclusion" : `concluded on number ${table.concluded?.proposal}`;
        const line = chosen ? `; number ${chosen.id}: ${pane.people.name(chosen.agent)}, ${chosen.code === null ? chosen.move : "refused"}${isProposal(chosen) ? ` ${pane.people.conduct(chosen.conduct)}` : ""}` : "";
        return `${front}assignment ${assignment.unit}, ${pane.people.about(table.subject)}: ${contributions}, ${stood}, ${concluded}${line}`;
      }).join("; ");
    }
  }

  const numberOf = (text) => (/^\d{1,6}$/.test(text) ? text : null);

  return {
    folds: "Status, policies, sparks, totals and ranks of everybody",
    folding: { apply: (facts, event) => FACTS[event.event]?.(facts, event) },
    passing: ["table", "line"],
    selectors(runs) {
      const agentOf = (text) => (runs.some((run) => Object.entries(run.names).some((each) => each.includes(text))) ? text : null);
      return { agent: agentOf, table: numberOf, line: numberOf, without: agentOf };
    },
    gather: Season.gather,
    create: (room, runs, player) => new SeasonView(room, runs, player),
  };
})();
