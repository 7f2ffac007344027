// A season for display: names, glyphs and line styles of agents, conducts and subjects as text, and
// the history for charts, gathered assignment by assignment.
import { Roundtables } from "./assignment.js";
import { LARGE, lineChart, spanOf } from "../../../view/chart.js";
import { HUES, hueOf } from "../../../view/colours.js";
import { el, replaceAll, scrolling, unpacked } from "../../../view/dom.js";
import { longText, sentenceOf } from "../../../view/events.js";

export const Season = (() => {
  const { assignmentOf, refusals, textOf, number } = Roundtables;
  const GLYPHS = [..."●■▲◆▼★✚✖○□△◇▽☆✛✕"];
  const STROKES = ["", "7 3", "10 3 2 3", "4 2"];
  const CONDUCT_SHOWN = 60; // characters of a conduct in a line

  // The names and styles of the agents of one run.
  class People {
    constructor(run, player) {
      Object.assign(this, { run, player });
      this.names = new Map(Object.entries(run.names).map(([ordinal, name]) => [Number(ordinal), name]));
      this.byName = new Map([...this.names].map(([ordinal, name]) => [name, ordinal]));
      const { config } = run.setupAt(run.first);
      const [, agents] = run.factsAt(run.first - 1);
      const offices = agents.filter(([, , role]) => role !== "worker").map(([ordinal]) => ordinal);
      this.workers = [...this.names.keys()].filter((ordinal) => !offices.includes(ordinal));
      this.conducts = new Map(run.computed.conducts.map(([conduct, text]) => [textOf(conduct), text]));
      this.subjects = new Map(config.arena.subjects.map((subject) => [textOf([subject[0], subject[2]]), subject]));
    }

    // The agent of an address, by name or number; null if unknown.
    find(text) {
      if (text === undefined || text === null) return null;
      const ordinal = this.byName.get(text) ?? (/^\d{1,9}$/.test(text) ? Number(text) : null);
      return this.names.has(ordinal) ? ordinal : null;
    }

    name(agent) {
      return this.names.get(agent) ?? `agent ${textOf(agent)}`;
    }

    style(agent) {
      const index = Math.max(0, this.workers.indexOf(agent));
      const colour = (index + 3 * Math.floor(index / HUES)) % HUES;
      return {
        colour, series: `series c${colour}`, tone: `tone c${colour}`, glyph: GLYPHS[index % GLYPHS.length],
        dash: STROKES[(index + Math.floor(index / 4)) % 4],
      };
    }

    // An agent as a link that selects it.
    chip(agent) {
      if (!this.workers.includes(agent)) return el("span", { class: "agent" }, this.name(agent));
      const { tone, glyph } = this.style(agent);
      return el("a", { class: "agent", href: this.player.href({ agent: this.name(agent) }) },
        el("span", { class: tone, "aria-hidden": "true" }, glyph), " ", this.name(agent));
    }

    // The reason and the code of a refusal, as the end of a sentence; null without one.
    refusal(code) {
      return code === null ? null : [`${this.run.computed.reasons[code] ?? code}. `, el("code", { class: "code" }, code)];
    }

    link(table, id) {
      return el("a", { href: this.player.href({ table: table.number, line: id }) }, `#${textOf(id)}`);
    }

    links(table, ids) {
      return ids.map((id, index) => [index ? ", " : "", this.link(table, id)]);
    }

    // A line that Python made, with its contributions as links.
    linked(table, line) {
      return line.split(/#(\d+)/).map((part, index) => (index % 2 ? this.link(table, Number(part)) : part));
    }

    // A line that Python packed and that has no texts of agents, with its contributions and agents (@9) as links; `table`: null, it names no contribution.
    line(table, packed) {
      return unpacked(this.run.computed.patterns, packed).split(/((?:#|@)\d+)/).map((part, index) => {
        if (index % 2 === 0) return part;
        return part[0] === "@" ? this.chip(Number(part.slice(1))) : this.link(table, Number(part.slice(1)));
      });
    }

    // Whether more (1) or less (-1) of a subject's objective is better.
    signOf(subject) {
      return this.subjects.get(textOf(subject))?.[1] === "down" ? -1 : 1;
    }

    // The sentence of an event, with agents as chips.
    sentence(event) {
      const chips = (agents) => agents.map((agent, index) => [index ? ", " : "", this.chip(agent)]);
      return sentenceOf(this.run, event, {
        agent: (agent) => this.chip(agent),
        agents: (agents) => (!Array.isArray(agents) ? textOf(agents) : agents.length ? chips(agents) : "nobody"),
      });
    }

    // A conduct on one line; long text (of a `command` arena) is cut.
    conduct(value) {
      const text = typeof value === "string" ? value : (this.conducts.get(textOf(value)) ?? textOf(value));
      const line = text.length > CONDUCT_SHOWN ? `${text.slice(0, CONDUCT_SHOWN)}…` : text;
      return line.replace(/\n/g, " ⏎ ");
    }

    // The same; cut text can be opened in full.
    conductNode(value) {
      const isCut = typeof value === "string" && value.length > CONDUCT_SHOWN;
      return isCut
        ? el("details", { class: "conduct" }, el("summary", {}, el("code", {}, this.conduct(value))), longText(value))
        : el("code", {}, this.conduct(value));
    }

    // What a table is asked.
    question(subject) {
      const known = this.subjects.get(textOf(subject));
      return known === undefined ? null : `The question: which conduct gives the ${known[1] === "up" ? "highest" : "lowest"} ${known[0]} under the treatment ${known[2]}?`;
    }

    about(subject) {
      const known = this.subjects.get(textOf(subject));
      if (known === undefined) return textOf(subject);
      return `${known[0]} (${known[1] === "up" ? "more" : "less"} is better) under ${known[2]}`;
    }
  }

  const LEAVING = { relegated: "benched", deleted: "deleted", returned: "returns", joined: "joins" };
  const MARKS = {
    benched: { glyph: "↓", title: "benched" }, deleted: { glyph: "×", title: "deleted" },
    returns: { glyph: "↑", title: "back from the bench" }, joins: { glyph: "+", title: "joins" },
  };

  const MARKED = "dotted: on the bench; ↓ goes there, ↑ comes back, × deleted, + joins";

  // Events of an agent in its chronicle: those that are not shown elsewhere.
  const CHRONICLED = [
    "class_moved", "trait_recorded", "persona_proposed", "instructions_rewritten", "elimination_faced", "fate_chosen", "relegated",
    "returned", "deleted", "contract_signed", "contract_settled", "reward_unlocked", "stage_reached",
  ];

  // Reads every assignment once and keeps the data of the charts.
  function gather(run) {
    const history = [];
    const moves = []; // {unit, agent, kind}: eliminations, returns, newcomers
    const conclusions = []; // {unit, table, ...}
    const chronicle = new Map(); // agent -> [{unit, event}]
    const claimed = new Map(); // agent -> {held, claims, chosen}
    const start = stateOf(run.first - 1, run.factsAt(run.first - 1));

    function note(unit, event) {
      const kind = LEAVING[event.event];
      const agent = event.agent ?? event.ordinal;
      if (kind !== undefined) moves.push({ unit, agent, kind });
      if (!CHRONICLED.includes(event.event)) return;
      if (!chronicle.has(agent)) chronicle.set(agent, []);
      chronicle.get(agent).push({ unit, event });
    }

    function look(unit, facts, events) {
      const codes = refusals(events);
      const valid = events.filter((event) => !codes.has(event));
      const spoken = valid.filter(({ event }) => event === "spoke");
      history.push({
        ...stateOf(unit, facts),
        said: spoken.filter(({ move }) => move !== "pass").length,
        challenges: spoken.filter(({ move }) => move === "challenge").length,
      });
      for (const event of valid) note(unit, event);
      for (const table of assignmentOf(run, unit).tables) {
        count(table);
        if (table.concluded === null || table.subject === null) continue;
        const { proposal, conduct, tied } = table.concluded;
        conclusions.push({
          unit, table: table.number, subject: table.subject, proposal, conduct, drawn: tied.length > 0,
          value: table.tests.get(`${proposal} base`)?.value ?? null, percentile: table.ruled.percentile,
        });
      }
    }

    function count(table) {
      for (const [id, held] of table.ruled.claims) {
        const { agent } = table.said[id];
        if (!claimed.has(agent)) claimed.set(agent, { held: 0, claims: 0, chosen: 0 });
        const counts = claimed.get(agent);
        counts.claims += 1;
        counts.held += held ? 1 : 0;
        counts.chosen += id === table.concluded?.proposal ? 1 : 0;
      }
    }

    function track(first) {
      const missing = first < run.first ? [0] : [];
      const values = (name) => [...missing, ...history.map((each) => each[name])];
      const marks = moves.map(({ unit, kind }) => ["benched", "deleted"].includes(kind)
        ? { at: unit, kind: "left", title: "benched or deleted" }
        : { at: unit, kind: "came", title: "returns or joins" });
      return [
        [
          { title: "contributions", kind: "light", values: values("said") },
          { title: "challenges (own scale)", kind: "strong", values: values("challenges") },
        ],
        [...run.forkMarks, ...marks],
      ];
    }

    return { look, track, history, moves, conclusions, chronicle, claimed, start };
  }

  // The state after an assignment: by agent its rank (if ranked), sparks, status.
  function stateOf(unit, [, agents, rows]) {
    return {
      unit,
      ranks: new Map(rows.map(([rank, agent]) => [agent, rank])),
      sparks: new Map(agents.map(([ordinal, , , , sparks]) => [ordinal, sparks])),
      points: new Map(agents.map(([ordinal, , , , , total]) => [ordinal, total])),
      status: new Map(agents.map(([ordinal, , , status]) => [ordinal, status])),
    };
  }

  const [LINES_MAX, FOREMOST] = [24, 12]; // agents in a chart; of more, so many and the one that is selected
  const WIDTH_MAX = 560; // of a chart, of which two stand side by side

  // A chart with a line per agent over the assignments: {node, move(unit, agent)}; of many, those that
  // rank first in the end and the one selected last.
  function agentChart(options) {
    const { people: { run: { gathered }, workers }, valueOf } = options;
    const states = [gathered.start, ...gathered.history];
    const { ranks } = states.at(-1);
    const charted = workers.filter((agent) => states.some((state) => valueOf(state, agent) !== undefined))
      .toSorted((one, other) => (ranks.get(one) ?? Infinity) - (ranks.get(other) ?? Infinity));
    const isAll = charted.length <= LINES_MAX;
    const foremost = isAll ? charted : charted.slice(0, FOREMOST);
    const note = isAll ? "" : `; of ${charted.length} workers the ${FOREMOST} that rank first in the end, and whom you choose by name`;
    const node = el("div");
    let shown, chart;
    const draw = (agents) => {
      shown = agents;
      chart = chartOf({ ...options, states, shown, definition: `${options.definition}${note}` });
      replaceAll(node, chart.node);
    };
    draw(foremost);
    return {
      node,
      move(unit, agent) {
        if (charted.includes(agent) && !shown.includes(agent)) draw([...foremost, agent]);
        chart.move(unit, shown.indexOf(agent));
      },
    };
  }

  // The chart of the agents that are shown.
  // `everybody`: the people of all runs of the page, which share the scale of assignments;
  // `valueOf(state, agent)`: undefined without a value; the other options: of a line chart.
  function chartOf({ people, everybody, states, shown, definition, valueOf, hasMarks = false, ...options }) {
    const { run: { gathered }, player } = people;
    const lines = shown.map((agent) => {
      const { colour, dash, glyph } = people.style(agent);
      const name = people.name(agent);
      return {
        title: name, group: `${glyph} ${name}`, glyph, colour: hueOf(colour), dash, width: 2,
        values: states.map((state) => valueOf(state, agent) ?? null), faint: states.map(({ status }) => status.get(agent) === "benched"),
      };
    });
    const markOf = ({ unit, agent, kind }) => {
      const line = shown.indexOf(agent);
      if (line === -1) return [];
      const { values } = lines[line];
      const until = states.findLastIndex((state, index) => state.unit <= unit && values[index] !== null);
      const { glyph, title } = MARKS[kind];
      return [{ line, at: until === -1 ? values.findIndex((value) => value !== null) : until, glyph, title: `${people.name(agent)}: ${title}, assignment ${unit}` }];
    };
    const { first, last } = spanOf(everybody.map(({ run }) => run));
    return lineChart({
      ...options, lines, player, unit: "assignment", units: states.map(({ unit }) => unit), span: { first: first - 1, last }, isSorted: true,
      note: definition,
      momentOf: (unit) => (unit < first ? "before the first assignment" : `assignment ${unit}`),
      marks: hasMarks ? gathered.moves.flatMap(markOf) : [],
      size: { ...LARGE, width: Math.min(WIDTH_MAX, LARGE.width), height: Math.max(LARGE.height, 36 + LARGE.label * shown.length) },
    });
  }

  const rankChart = (people, everybody) => {
    const ranksIn = ({ run }) => run.gathered.history.flatMap(({ ranks }) => [...ranks.values()]).slice(-4000);
    const last = Math.max(2, ...everybody.flatMap(ranksIn));
    const most = Math.min(last, LINES_MAX);
    return agentChart({
      people, everybody, title: "Ranks", definition: `by recent points${last > most ? `, ranks 1 to ${most}` : ""}; ${MARKED}`, hasMarks: true,
      ranks: Array.from({ length: most }, (_, index) => index + 1),
      valueOf: ({ ranks }, agent) => ((ranks.get(agent) ?? Infinity) > most ? undefined : ranks.get(agent)),
    });
  };

  const unlessGone = (name) => ({ [name]: values, status }, agent) => (status.get(agent) === "gone" ? undefined : values.get(agent));

  const pointChart = (people, everybody) => agentChart({
    people, everybody, title: "Points", definition: `that each worker has scored so far; ${MARKED}`, hasMarks: true, limits: [0],
    scale: everybody.flatMap(({ run, workers }) => workers.map((agent) => run.gathered.history.at(-1).points.get(agent) ?? 0)),
    valueOf: unlessGone("points"),
  });

  const sparkChart = (people, everybody) => {
    const valueOf = unlessGone("sparks");
    return agentChart({
      people, everybody, title: "Sparks", definition: "after each assignment; none left: elimination is faced", limits: [0], valueOf,
      scale: everybody.flatMap(({ run, workers }) => run.gathered.history.flatMap((state) => workers.map((agent) => valueOf(state, agent) ?? 0))),
    });
  };

  // Objectives × treatments, each with its conclusions over time. With only one objective, its
  // families of treatments are the rows.
  function conclusionMap(people, gathered) {
    const subjects = [...people.subjects.values()];
    const objectives = [...new Set(subjects.map(([objective]) => objective))];
    const families = [...new Set(subjects.map(([, , , family]) => family))];
    const isByFamily = objectives.length === 1 && families.length > 1 && families.length < subjects.length;
    const rows = isByFamily ? families : objectives;
    const rowOf = isByFamily ? ([, , , family]) => family : ([objective]) => objective;
    const treatments = [...new Set(subjects.map(([, , treatment]) => treatment))];
    const subjectsByRow = rows.map((row) => subjects.filter((subject) => rowOf(subject) === row));
    const width = Math.max(...subjectsByRow.map((each) => each.length));
    const cellOf = (subject) => {
      const conclusions = gathered.conclusions.filter((each) => textOf(each.subject) === textOf([subject[0], subject[2]]));
      return el("td", {},
        isByFamily ? el("span", { class: "context" }, subject[2]) : null,
        conclusions.length ? conclusions.map((each) => conclusionLink(people, each)) : el("span", { class: "note" }, "–"));
    };
    const cells = (index) => isByFamily
      ? subjectsByRow[index].map(cellOf)
      : treatments.map((treatment) => {
        const subject = subjectsByRow[index].find(([, , each]) => each === treatment);
        return subject === undefined ? el("td", { class: "nothing" }, el("span", { class: "unseen" }, "no subject")) : cellOf(subject);
      });
    const head = isByFamily
      ? el("tr", {}, el("th", { scope: "col" }, "family"), el("th", { scope: "col", colspan: width }, "treatments, and what was concluded under each"))
      : el("tr", {}, el("th", { scope: "col" }, "objective"), treatments.map((each) => el("th", { scope: "col" }, each)));
    return scrolling("Conclusions by subject",
      el("table", { class: "map" }, el("thead", {}, head),
        el("tbody", {}, rows.map((row, index) => el("tr", {}, el("th", { scope: "row" }, row), cells(index))))));
  }

  function conclusionLink(people, { unit, table, proposal, conduct, value, percentile, drawn }) {
    const share = percentile === null ? null : `${Math.round(100 * percentile)}%`;
    const level = percentile === null ? "none" : Math.min(4, Math.floor(percentile * 5));
    const says = proposal === null
      ? `assignment ${unit}: no conclusion`
      : `assignment ${unit}: ${people.conduct(conduct)}, ${number(value)}${share ? `, better than ${share} of all conducts` : ""}${drawn ? ", drawn" : ""}`;
    return el("a", {
      class: `conclusion level-${level}`, "data-unit": unit, title: says, "aria-label": says,
      "aria-current": unit === people.player.at ? "true" : null,
      href: people.player.href({ assignment: unit, table, line: proposal, without: null }),
    }, el("b", {}, unit), " ", proposal === null ? "none" : (share ?? number(value)));
  }

  return { People, gather, pointChart, rankChart, sparkChart, conclusionMap };
})();
