// The mining world on the page of a run: the map, who held what over time, what happened in a round,
// a plot's story, an agent's plan, and why.
import { el, svg, fold, listed, plural, replaceAll, rounded } from "../view/dom.js";
import { lineChart, WIDE } from "../view/chart.js";
import { commandLine, differenceOf, eventList, longText, measureCharts } from "../view/events.js";

const [OWNER, SINCE, HOW, GOLD] = [0, 1, 2, 3]; // of the facts
const [CLAIMED, SEIZED] = [1, 2]; // how a plot came to its owner
const SIDE_MAX = 50; // rows and columns of the map that are drawn
const CHIPS_MAX = 40; // agents beside the map
const RIBBON_MAX = 1200; // columns of the ribbon
const CELL = 40;

// Fills that dark text can be read on, told apart by any colour vision together with the number in
// the cell; from the ninth agent on they come again, darker and striped, then dotted.
const FILLS = [
  ["#8bbbe8", "#f2a65a", "#6fcaa8", "#dba6cf", "#efdf8a", "#9be3f2", "#f79f95", "#c9cdd4"],
  ["#5b93cf", "#cf7d33", "#43a382", "#b97bab", "#c9ae3d", "#5bb9cc", "#d6746a", "#9aa1ac"],
];
const fillOf = (agent) => FILLS[Math.floor(agent / 8) % 2][agent % 8];
const patternOf = (agent) => [null, "stripes", "dots"][Math.floor(agent / 8) % 3];

const ENDS = {
  captured: "captured", blocked: "its defence holds", truce: "it is in truce", void: "there is nothing to take",
};

// --- Facts: owners, since when and how, gold. ---

const folding = {
  apply(facts, event, round) {
    const hold = (plot, owner, since, how) => {
      facts[OWNER][plot] = owner;
      facts[SINCE][plot] = since;
      facts[HOW][plot] = how;
    };
    if (event.event === "claim_drawn") hold(event.plot, event.winner, round, CLAIMED);
    else if (event.event === "raid_resolved" && event.outcome === "captured") {
      facts.before ??= new Map(); // what an authority may restore in this round
      facts.before.set(event.plot, [OWNER, SINCE, HOW].map((field) => facts[field][event.plot]));
      hold(event.plot, event.winner, round, SEIZED);
    } else if (event.event === "ruled") {
      if (event.remedy === "restored") hold(event.plot, ...facts.before.get(event.plot));
      facts[GOLD][event.captor] -= event.fine;
    } else if (event.event === "mining_settled") facts[GOLD][event.agent] += event.gold;
  },
};

// What is kept of every round: owners, gold, counts, and each plot's story.
class History {
  constructor(run) {
    this.run = run;
    this.owners = [];
    this.gold = [];
    this.raids = [];
    this.captures = [];
    this.stories = new Map(); // plot -> [[round, event]]
    this.changes = new Map(); // plot -> [[round, owner]]
    this.every = Math.ceil(run.count / RIBBON_MAX); // rounds a column of the ribbon
  }

  look(round, facts, events) {
    let raids = 0;
    let captures = 0;
    for (const event of events) {
      if (!["claim_drawn", "raid_resolved", "ruled"].includes(event.event)) continue;
      push(this.stories, event.plot, [round, event]);
      if (event.event === "raid_resolved") {
        raids += 1;
        captures += event.outcome === "captured";
      }
      if (event.event !== "raid_resolved" || event.outcome === "captured") {
        push(this.changes, event.plot, [round, facts[OWNER][event.plot], facts[HOW][event.plot]]);
      }
    }
    this.raids.push(raids);
    this.captures.push(captures);
    this.gold.push([...facts[GOLD]]);
    if ((round - this.run.first) % this.every === 0) {
      this.owners.push(Int32Array.from(facts[OWNER], (owner) => owner ?? -1));
    }
  }

  // Owners of a plot one after the other: {owner, how, from, to}; `to` null: still.
  spells(plot) {
    const found = [];
    for (const [round, owner, how] of this.changes.get(plot) ?? []) {
      const last = found[found.length - 1];
      if (last?.owner === owner) continue;
      if (last?.from === round) found.pop();
      else if (last) last.to = round - 1;
      found.push({ owner, how, from: round, to: null });
    }
    return found;
  }

  track(first, moment) {
    const plot = moment.plot === undefined ? undefined : Number(moment.plot);
    const shifted = (values) => (first < this.run.first ? [0, ...values] : values);
    const marks = [...this.run.units.values()].filter(({ forked }) => forked !== null)
      .map(({ number }) => ({ at: number, kind: "fork", title: "fork" }));
    const spells = plot === undefined ? [] : this.spells(plot);
    spells.forEach(({ from }, index) => {
      const isLast = index === spells.length - 1;
      marks.push({ at: from, kind: isLast ? "last" : "change", title: isLast ? `last change of plot ${plot}` : `plot ${plot} changes hands` });
    });
    return [[
      { title: "plots raided", kind: "light", values: shifted(this.raids) },
      { title: "captured (turnover)", kind: "strong", values: shifted(this.captures) },
    ], marks];
  }
}

function push(map, key, item) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(item);
}

// --- Words. ---

// Numbers as ranges: 1-3, 7.
function ranges(numbers) {
  const parts = [];
  for (const number of numbers) {
    const last = parts[parts.length - 1];
    if (last?.[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

const actionText = (action) => {
  if (action === null) return "(no action)";
  const [kind, plot, points] = action;
  return points === 1 && kind !== "mine" ? `${kind} ${plot}` : `${kind} ${plot} with ${points}`;
};

// --- One run: its map, its round, its plot and agent. ---

class Pane {
  constructor(run, player, index, count) {
    Object.assign(this, { run, player, index, count });
    // Headings below that of the run, where there are two.
    this.head = (...children) => el(count > 1 ? "h3" : "h2", { class: "part" }, ...children);
    this.subhead = (text) => el(count > 1 ? "h4" : "h3", { class: "subhead" }, text);
    this.config = run.setup.config;
    this.roster = run.setup.players;
    this.rows = Math.min(this.config.rows, SIDE_MAX);
    this.cols = Math.min(this.config.cols, SIDE_MAX);
    this.narrow = globalThis.matchMedia("(max-width: 40rem)").matches;
    this.story = el("div", { class: "story" });
    this.map = el("div", { class: "map" });
    this.ribbon = ribbonOf(run, player);
    this.drawMap();
    const cut = this.config.rows * this.config.cols > this.rows * this.cols;
    this.node = el("section", { class: "pane", "aria-label": count > 1 ? `Run ${"AB"[index]}` : "The round" },
      count > 1 ? el("h2", {}, `Run ${"AB"[index]}`) : null,
      el("div", { class: "round" },
        el("div", { class: "left" }, this.map,
          cut ? el("p", { class: "note" }, `The first ${this.rows} x ${this.cols} of ${this.config.rows} x ${this.config.cols} plots.`) : null,
          legend(), this.ribbon.node),
        this.story));
  }

  agentName(agent) {
    const entry = this.roster[agent];
    return entry === undefined ? `${agent}` : `${agent} ${calledOf(entry)}`;
  }

  plotLink(plot) {
    return el("a", { href: this.player.href({ plot }), "aria-label": `plot ${plot}` }, plot);
  }

  agentLink(agent) {
    if (agent === null) return "nobody";
    return el("a", { class: "agent", href: this.player.href({ agent }) }, `agent ${agent}`);
  }

  agentLinks(agents) {
    return agents.map((agent, index) => [index ? ", " : "", this.agentLink(agent)]);
  }

  // The map is drawn once; `showMap` changes what a round changes.
  drawMap() {
    const { rows, cols, narrow } = this;
    const left = 26;
    const top = 20;
    const width = left + cols * CELL;
    const height = top + rows * CELL;
    const agents = Math.min(this.roster.length, CHIPS_MAX);
    const spread = narrow ? 34 : Math.min(40, Math.max(19, (height - top) / agents));
    const across = Math.max(1, Math.floor(width / 52));
    this.chips = Array.from({ length: agents }, (_, agent) =>
      narrow
        ? { x: left + (agent % across) * 52 + 18, y: height + 46 + Math.floor(agent / across) * spread }
        : { x: width + 66, y: top + spread * (agent + 0.5) });
    const box = narrow
      ? [width + 2, height + 60 + Math.ceil(agents / across) * spread]
      : [width + 216, Math.max(height + 2, top + spread * agents + 8)];
    this.centre = (plot) => {
      const [row, col] = [Math.floor(plot / this.config.cols), plot % this.config.cols];
      return row < rows && col < cols ? { x: left + (col + 0.5) * CELL, y: top + (row + 0.5) * CELL } : null;
    };
    this.cells = new Map();
    const lines = [];
    for (let row = 0; row < rows; row += 1) {
      const cells = [];
      for (let col = 0; col < cols; col += 1) {
        const plot = row * this.config.cols + col;
        const cell = cellOf(left + col * CELL, top + row * CELL, () => this.player.go({ plot }));
        this.cells.set(plot, cell);
        cells.push(cell.node);
      }
      lines.push(svg("g", { role: "row" }, cells));
    }
    const heads = [
      ...Array.from({ length: cols }, (_, col) => svg("text", { class: "head", x: left + (col + 0.5) * CELL, y: 14, "text-anchor": "middle" }, col)),
      ...Array.from({ length: rows }, (_, row) => svg("text", { class: "head", x: left - 6, y: top + (row + 0.5) * CELL + 4, "text-anchor": "end" }, row)),
    ];
    this.arrows = svg("g", { "aria-hidden": "true" });
    const grid = svg("g", {
      role: "grid", "aria-label": "Plots by row and column", "data-arrows": "", keydown: (event) => this.moveFocus(event),
    }, lines);
    const chips = this.chips.map(({ x, y }, agent) => svg("a", {
      class: "chip", href: "#", "data-agent": agent, "aria-label": `agent ${this.agentName(agent)}`,
      click: (event) => {
        event.preventDefault();
        this.player.go({ agent });
      },
    }, box2(x - 16, y - 9, 32, 18, agent, this.index),
    svg("text", { x, y: y + 4, "text-anchor": "middle", class: "number" }, agent),
    narrow ? null : svg("text", { x: x + 22, y: y + 4, class: "name" }, shortened(calledOf(this.roster[agent])))));
    replaceAll(this.map, svg("svg", { viewBox: `0 0 ${box[0]} ${box[1]}`, class: "plots" },
      defs(this.index), heads, grid, chips, this.arrows));
    this.focusOn(this.cells.keys().next().value);
  }

  focusOn(plot) {
    for (const [each, { node }] of this.cells) node.setAttribute("tabindex", each === plot ? 0 : -1);
    this.focused = plot;
  }

  // Arrow keys move among the plots, Enter and space select one.
  moveFocus(event) {
    const { cols } = this.config;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
    if (event.key === "Enter" || event.key === " ") this.player.go({ plot: this.focused });
    else if (by === undefined) return;
    else {
      const next = this.focused + by;
      const leaves = Math.abs(by) === 1 && Math.floor(next / cols) !== Math.floor(this.focused / cols);
      if (!leaves && this.cells.has(next)) {
        this.focusOn(next);
        this.cells.get(next).node.focus();
      }
    }
    event.preventDefault();
    event.stopPropagation();
  }

  show(moment, other) {
    const round = moment.round;
    const plot = moment.plot === undefined ? null : Number(moment.plot);
    const agent = moment.agent === undefined ? null : Number(moment.agent);
    this.round = Math.min(round, this.run.last);
    this.facts = this.run.factsAt(this.round);
    this.events = round > this.run.last ? [] : this.run.events(round);
    this.plans = new Map();
    this.removed = new Map();
    for (const event of this.events) {
      if (event.event === "submitted") this.plans.set(event.agent, event);
      if (event.event === "pruned") this.removed.set(event.agent, event);
    }
    this.showMap(plot, agent, other);
    replaceAll(this.story,
      plot === null ? null : this.plotPart(plot),
      agent === null ? null : this.agentPart(agent),
      this.roundPart(),
      eventList(this.events, "round"));
  }

  // Points of defence that count, by plot.
  defences() {
    const found = new Map();
    for (const [agent, { actions }] of this.plans) {
      const removed = new Set((this.removed.get(agent)?.removed ?? []).map(([index]) => index));
      actions.forEach((action, index) => {
        if (action?.[0] === "defend" && !removed.has(index)) found.set(action[1], action[2]);
      });
    }
    return found;
  }

  showMap(selected, agent, other) {
    const [owners, since, how] = this.facts;
    const defences = this.defences();
    const raided = new Map();
    const contested = new Set();
    for (const event of this.events) {
      if (event.event === "raid_resolved") raided.set(event.plot, event);
      if (event.event === "claim_drawn" && event.claimants.length > 1) contested.add(event.plot);
    }
    for (const [plot, cell] of this.cells) {
      const owner = owners[plot];
      const isTruce = how[plot] === CLAIMED && this.round < since[plot] + this.config.truce;
      const differs = other !== null && (other.facts[OWNER][plot] ?? null) !== (owner ?? null);
      cell.show({
        owner, index: this.index, truce: isTruce, defence: defences.get(plot) ?? 0,
        age: owner === null ? 0 : (this.round - since[plot] + 1) / Math.max(1, this.round),
        captured: raided.get(plot)?.outcome === "captured", contested: contested.has(plot),
        selected: plot === selected, differs, faded: agent !== null && owner !== agent && !raided.get(plot)?.raiders.includes(agent),
        label: [
          `plot ${plot}`, owner === null ? "nobody's" : `agent ${owner}'s since round ${since[plot]}`,
          defences.has(plot) ? `defended with ${defences.get(plot)}` : null, isTruce ? "in truce" : null,
          raided.has(plot) ? `raided by ${listed(raided.get(plot).raiders)}, ${raided.get(plot).outcome}` : null,
          contested.has(plot) ? "claimed by several" : null, differs ? "differs from the other run" : null,
        ].filter(Boolean).join(", "),
      });
    }
    replaceAll(this.arrows);
    for (const { plot, raiders, outcome, winner } of raided.values()) {
      for (const raider of raiders) {
        const to = this.centre(plot);
        const from = this.chips[raider];
        if (to === null || from === undefined) continue;
        const end = outcome === "captured" && raider !== winner ? "beaten" : outcome;
        const isFaded = (selected !== null && selected !== plot) || (agent !== null && agent !== raider && agent !== owners[plot]);
        this.arrows.append(arrow(from, to, end, isFaded, this.index, this.narrow));
      }
    }
  }

  // --- Parts beside the map. ---

  roundPart() {
    const of = (name) => this.events.filter(({ event }) => event === name);
    const raids = of("raid_resolved");
    const claims = of("claim_drawn");
    const settled = of("mining_settled");
    const mined = settled.reduce((sum, { gold }) => sum + gold, 0);
    const pruned = of("pruned");
    const parts = [
      ["Raids", raids.map((event) => this.raidLine(event))],
      ["Rulings", of("ruled").map((event) => this.ruledLine(event))],
      ["Contested claims", claims.filter(({ claimants }) => claimants.length > 1).map((event) => this.claimLine(event))],
      ["Removed from plans", pruned.map((event) => this.prunedLine(event))],
    ].filter(([, lines]) => lines.length);
    const alone = claims.filter(({ claimants }) => claimants.length === 1);
    return el("section", { "aria-label": `Round ${this.round}` },
      this.head(this.round === 0 ? "Before round 1" : `Round ${this.round}`),
      el("p", {}, `${plural(raids.length, "plot")} raided, ${raids.filter(({ outcome }) => outcome === "captured").length} captured; ${plural(claims.length, "plot")} claimed; ${rounded(mined)} gold mined.`),
      parts.map(([title, lines]) => [this.subhead(title), el("ul", { class: "lines" }, lines)]),
      alone.length
        ? fold(`Claimed by one (${alone.length})`, false, el("ul", { class: "lines" }, alone.map((event) => this.claimLine(event))))
        : null,
      this.messages(),
      this.standings(settled));
  }

  // Gold and plots of everybody, the richest first.
  standings(settled) {
    const plots = new Map();
    for (const owner of this.facts[OWNER]) if (owner !== null) plots.set(owner, (plots.get(owner) ?? 0) + 1);
    const mined = new Map();
    for (const { agent, gold } of settled) mined.set(agent, (mined.get(agent) ?? 0) + gold);
    const ranked = this.facts[GOLD].map((gold, agent) => [agent, gold]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const head = ["agent", "policy", "gold", "this round", "plots"];
    return [
      this.subhead("Standings"),
      el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, head.map((name, index) => el("th", { scope: "col", class: index > 1 ? "number" : null }, name)))),
        el("tbody", {}, ranked.slice(0, CHIPS_MAX).map(([agent, gold]) => el("tr", {},
          el("th", { scope: "row" }, swatchOf(agent), this.agentLink(agent)), el("td", {}, shortened(calledOf(this.roster[agent]))),
          el("td", { class: "number" }, rounded(gold)), el("td", { class: "number" }, rounded(mined.get(agent) ?? 0)),
          el("td", { class: "number" }, plots.get(agent) ?? 0)))))),
      ranked.length > CHIPS_MAX ? el("p", { class: "note" }, `The first ${CHIPS_MAX} of ${ranked.length}.`) : null,
    ];
  }

  messages() {
    const said = [...this.plans.values()].filter(({ say }) => say !== null);
    return said.length
      ? [this.subhead("Messages"), el("ul", { class: "lines" }, said.map(({ agent, say }) => el("li", {}, this.agentLink(agent), ": ", longText(say))))]
      : null;
  }

  raidLine({ plot, owner, raiders, defense, outcome, winner }) {
    return el("li", { class: `raid ${outcome}` }, "plot ", this.plotLink(plot), " of ", this.agentLink(owner),
      ": raided by ", this.agentLinks(raiders), "; ",
      outcome === "captured" ? [this.agentLink(winner), " captures it"] : ENDS[outcome],
      defense ? ` (${defense})` : "", this.why(["capture", "blocked raid", "raid in truce", "void raid"], plot));
  }

  ruledLine({ plot, captor, victim, remedy, fine }) {
    return el("li", {}, "plot ", this.plotLink(plot), ": the capture by ", this.agentLink(captor), " ",
      remedy === null ? "is not detected" : remedy === "restored"
        ? ["is undone, ", this.agentLink(victim), " has it back"]
        : `costs a fine of ${rounded(fine)} gold`);
  }

  claimLine({ plot, claimants, winner, words }) {
    return el("li", {}, "plot ", this.plotLink(plot), ": claimed by ", this.agentLinks(claimants),
      claimants.length > 1
        ? ["; the draw (", el("code", {}, listed(words)), ") gives it to ", this.agentLink(winner), this.why(["contested claim"], plot)]
        : null);
  }

  prunedLine({ agent, removed, cost }) {
    const { actions } = this.plans.get(agent) ?? { actions: [] };
    return el("li", {}, this.agentLink(agent), ": ",
      removed.map(([index, reason]) => `${actionText(actions[index] ?? null)} (${reason})`).join(", "),
      `; ${cost} stamina spent`, this.why(["pruned action"], null, agent));
  }

  plotPart(plot) {
    const [owners, since, how] = this.facts;
    const owner = owners[plot];
    const gathered = this.run.gathered;
    const spells = gathered?.spells(plot) ?? [];
    const story = gathered?.stories.get(plot) ?? [];
    return el("section", { class: "selected", "aria-label": `Plot ${plot}` },
      this.head(`Plot ${plot}`, el("span", { class: "note" }, ` row ${Math.floor(plot / this.config.cols)}, column ${plot % this.config.cols}`), this.closing("plot")),
      el("p", {}, owner === null ? "It is nobody's." : ["It is ", this.agentLink(owner), `'s since round ${since[plot]}, by ${how[plot] === SEIZED ? "capture" : "claim"}.`]),
      spells.length
        ? fold(`Its owners (${spells.length})`, true, el("div", { class: "tall", tabindex: "0", role: "region", "aria-label": `Owners of plot ${plot}` },
          el("table", {}, el("thead", {}, el("tr", {}, ["rounds", "owner", "by"].map((head) => el("th", { scope: "col" }, head)))),
            el("tbody", {}, spells.map((spell) => el("tr", { class: spell.from <= this.round && (spell.to ?? Infinity) >= this.round ? "now" : null },
              el("td", {}, this.roundLink(spell.from), spell.to === null ? " on" : ` to ${spell.to}`),
              el("td", {}, this.agentLink(spell.owner)), el("td", {}, spell.how === SEIZED ? "capture" : "claim")))))))
        : null,
      story.length
        ? fold(`Its story (${plural(story.length, "event")})`, false, el("ol", { class: "lines tall", tabindex: "0" },
          story.map(([round, event]) => el("li", { class: round === this.round ? "now" : null }, this.roundLink(round), " ", this.told(event)))))
        : null);
  }

  told(event) {
    if (event.event === "claim_drawn") return `claimed by ${listed(event.claimants)}${event.claimants.length > 1 ? `; the draw gives it to ${event.winner}` : ""}`;
    if (event.event === "ruled") return `the capture by ${event.captor} is ${event.remedy ?? "not detected"}`;
    return `raided by ${listed(event.raiders)}; ${event.outcome === "captured" ? `${event.winner} captures it` : ENDS[event.outcome]}`;
  }

  agentPart(agent) {
    const plan = this.plans.get(agent);
    const gone = new Map(this.removed.get(agent)?.removed ?? []);
    const held = this.facts[OWNER].flatMap((owner, plot) => (owner === agent ? [plot] : []));
    const earned = this.events.filter((event) => event.event === "mining_settled" && event.agent === agent)
      .reduce((sum, { gold }) => sum + gold, 0);
    return el("section", { class: "selected", "aria-label": `Agent ${agent}` },
      this.head(`Agent ${this.agentName(agent)}`, this.closing("agent")),
      el("p", {}, `${rounded(this.facts[GOLD][agent] ?? null)} gold (${rounded(earned)} mined in this round); ${plural(held.length, "plot")}${held.length ? `: ${ranges(held)}` : ""}.`),
      plan === undefined
        ? null
        : [
          this.subhead(`Its plan (${plural(plan.actions.length, "action")})`),
          plan.error === null ? null : el("p", { class: "fault" }, `error: ${plan.error}`),
          el("ol", { class: "lines tall", start: 0 }, plan.actions.map((action, index) =>
            el("li", {}, gone.has(index) ? [el("del", {}, actionText(action)), ` removed: ${gone.get(index)}`] : actionText(action)))),
          gone.size ? this.why(["pruned action"], null, agent) : null,
          plan.say === null ? null : el("p", {}, "says ", longText(plan.say)),
          plan.memo === null ? null : el("p", {}, "notes ", longText(plan.memo)),
          this.answer(agent, plan.source),
        ]);
  }

  // What a language model was sent and answered.
  answer(agent, source) {
    if (source === null) return null;
    const { raw, reasoning, prompt, ...rest } = source;
    const messages = this.run.computed.prompts[this.round]?.[agent];
    return [
      el("p", { class: "note" }, Object.entries(rest).map(([name, value]) => `${name} ${value}`).join(", ")),
      raw === undefined ? null : fold("Its answer as it came", false, longText(String(raw))),
      reasoning === undefined ? null : fold("Its reasoning", false, longText(String(reasoning))),
      prompt === undefined ? null : fold("Its prompt (made again by the rules when this page was made)", false,
        messages === undefined
          ? commandLine(`goldrush prompt JOURNAL --at ${this.round} --agent ${agent}`)
          : messages.map((index) => {
            const { role, content } = this.run.computed.messages[index];
            return [el("p", { class: "note" }, role), el("pre", { class: "prompt", tabindex: "0" }, content)];
          }),
        el("p", { class: "note" }, "SHA-256 in the journal: ", el("code", {}, String(prompt)))),
    ];
  }

  // What was left of an agent's plan.
  kept(agent) {
    const gone = new Set((this.removed.get(agent)?.removed ?? []).map(([index]) => index));
    return this.plans.get(agent).actions.filter((_, index) => !gone.has(index));
  }

  // The line for a shell that plays the round again with another plan.
  forkCommand({ agent, actions, others }) {
    const submission = (who, plan, withError) => {
      const { error, say, memo } = this.plans.get(who);
      const said = { error: withError ? error : null, say, memo };
      return { round: this.round, agent: who, actions: plan, ...Object.fromEntries(Object.entries(said).filter(([, text]) => text !== null)) };
    };
    const recorded = this.plans.get(agent).actions;
    const plan = actions.flatMap((item) => {
      if (Array.isArray(item)) return [item];
      const [from, to] = item.split("-").map(Number);
      return recorded.slice(from, to + 1);
    });
    const lines = [submission(agent, plan, false), ...others.map((who) => submission(who, this.plans.get(who).actions, true))];
    return `printf '%s\\n' ${lines.map((line) => shellQuoted(JSON.stringify(line))).join(" ")} | goldrush fork JOURNAL --at ${this.round - 1} --replace-submission -`;
  }

  closing(name) {
    return el("a", { class: "close", href: this.player.href({ [name]: null }), "aria-label": `Close ${name}` }, "close");
  }

  roundLink(round) {
    return el("a", { href: this.player.href({ round }), class: "when" }, round);
  }

  // Why something in this round came out so: kinds of explanations, of a plot or of an agent.
  why(kinds, plot, agent = null) {
    const all = this.run.computed.why.get(this.round) ?? [];
    const found = all.filter((each) => kinds.includes(each.kind) && each.place === plot && (agent === null || each.agents.includes(agent)));
    if (!found.length) {
      if (this.run.computed.why_until >= this.round) return null;
      const what = plot === null ? `--agent ${agent}` : `--plot ${plot}`;
      return el("details", { class: "why" }, el("summary", {}, "Why?"), commandLine(`goldrush why JOURNAL --at ${this.round} ${what}`));
    }
    return el("details", { class: "why" }, el("summary", {}, "Why?"), found.map((each) => [
      el("ul", {}, each.account.map((line) => el("li", {}, line)),
        each.planned === null ? null : el("li", {}, `agent ${each.planned}'s plan: ${listed(this.kept(each.planned).map(actionText)) || "nothing"}`)),
      each.snippet ? [el("p", { class: "note" }, "The draw again, with msgpack and xxhash:"), commandLine(each.snippet)] : null,
      each.change ? [el("p", {}, el("strong", {}, each.change.says)), commandLine(this.forkCommand(each.change))] : null,
      el("p", { class: "note" }, "Worked out by the rules when this page was made."),
    ]));
  }
}

function cellOf(x, y, select) {
  const square = svg("rect", { x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 3, class: "square" });
  const pattern = svg("rect", { x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 3, fill: "none" });
  const number = svg("text", { x: x + CELL / 2, y: y + CELL / 2 + 5, "text-anchor": "middle", class: "number" });
  const age = svg("rect", { x: x + 4, y: y + CELL - 6, width: 0, height: 3, class: "age" });
  const badge = svg("text", { x: x + CELL - 4, y: y + 12, "text-anchor": "end", class: "badge" });
  const tag = svg("text", { x: x + 5, y: y + 12, class: "badge" });
  const node = svg("g", { role: "gridcell", class: "cell", click: select }, square, pattern, number, age, badge, tag);
  let last = "";
  const show = (now) => {
    const key = JSON.stringify(now);
    if (key === last) return; // most plots stay as they were
    last = key;
    square.setAttribute("fill", now.owner === null ? "transparent" : fillOf(now.owner));
    const kind = now.owner === null ? null : patternOf(now.owner);
    pattern.setAttribute("fill", kind === null ? "none" : `url(#${kind}-${now.index})`);
    number.textContent = now.owner === null ? "·" : String(now.owner);
    age.setAttribute("width", ((CELL - 8) * now.age).toFixed(1));
    badge.textContent = now.defence ? `+${now.defence}` : "";
    tag.textContent = now.contested ? "◇" : "";
    node.setAttribute("class", ["cell", ...["truce", "captured", "selected", "differs", "faded"].filter((name) => now[name]), now.owner === null ? "free" : "held"].join(" "));
    node.setAttribute("aria-label", now.label);
    node.setAttribute("aria-selected", now.selected);
  };
  return { node, show };
}

function box2(x, y, width, height, agent, index) {
  const kind = patternOf(agent);
  return [
    svg("rect", { x, y, width, height, rx: 4, fill: fillOf(agent), class: "square" }),
    kind === null ? null : svg("rect", { x, y, width, height, rx: 4, fill: `url(#${kind}-${index})` }),
  ];
}

const defs = (index) => svg("defs", {},
  svg("pattern", { id: `stripes-${index}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 2, height: 8, fill: "#0000001f" })),
  svg("pattern", { id: `dots-${index}`, width: 7, height: 7, patternUnits: "userSpaceOnUse" },
    svg("circle", { cx: 2, cy: 2, r: 1.3, fill: "#00000033" })),
  ["captured", "blocked", "truce", "void", "beaten"].map((end) =>
    svg("marker", { id: `head-${end}-${index}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      end === "blocked"
        ? svg("path", { class: `head ${end}`, d: "M 7 0 L 10 0 L 10 10 L 7 10 z" })
        : svg("path", { class: `head ${end}`, d: "M 0 0 L 10 5 L 0 10 z" }))));

function arrow(from, to, end, isFaded, index, narrow) {
  const start = narrow ? { x: from.x, y: from.y - 10 } : { x: from.x - 18, y: from.y };
  const [dx, dy] = [to.x - start.x, to.y - start.y];
  const length = Math.hypot(dx, dy) || 1;
  const tip = { x: to.x - (13 * dx) / length, y: to.y - (13 * dy) / length };
  const bend = narrow ? `${start.x} ${(start.y + tip.y) / 2}` : `${(start.x + tip.x) / 2} ${start.y}`;
  return svg("path", {
    class: `arrow ${end}${isFaded ? " faded" : ""}`, d: `M ${start.x} ${start.y} Q ${bend} ${tip.x} ${tip.y}`,
    "marker-end": `url(#head-${end}-${index})`,
  });
}

const swatchOf = (agent) => svg("svg", { class: "swatch-box", viewBox: "0 0 12 12", "aria-hidden": "true" },
  svg("rect", { width: 12, height: 12, rx: 2, fill: fillOf(agent) }));

const legend = () => el("ul", { class: "legend" }, [
  ["captured", "raid that captures"], ["beaten", "raider that lost the draw"], ["blocked", "blocked"],
  ["truce", "in truce"], ["void", "nothing to take"],
].map(([end, title]) => el("li", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
  svg("path", { class: `arrow ${end}`, d: "M 1 5 L 27 5" })), title)),
el("li", {}, "bar: age of ownership"), el("li", {}, "+2: points of defence"), el("li", {}, "dashed: in truce"), el("li", {}, "◇: claimed by several"));

const shortened = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

const calledOf = (entry) => (entry.policy === "llm" ? entry.options?.model ?? entry.options?.name ?? "llm" : entry.policy);

// --- Over time. ---

// Plots by rounds, each coloured by who owns it; a click goes there.
function ribbonOf(run, player) {
  const plots = Math.min(run.setup.config.rows * run.setup.config.cols, SIDE_MAX * SIDE_MAX);
  const canvas = el("canvas", { role: "img", "aria-label": "Owners of all plots over all rounds" });
  const cursor = el("div", { class: "ribbon-cursor" });
  const row = el("div", { class: "ribbon-row" });
  const frame = el("div", { class: "ribbon" }, canvas, row, cursor);
  const at = (round) => (run.count > 1 ? (round - run.first + 0.5) / run.count : 0.5);
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    const plot = Math.floor(((event.clientY - box.top) / box.height) * plots);
    player.go({ round: player.within(run.first + Math.floor(part * run.count)), plot });
  });
  return {
    node: el("figure", { class: "over-time" },
      el("figcaption", {}, el("strong", {}, "Who owned what"), el("span", { class: "note" }, " each line a plot, each column a round, coloured by owner; a click goes there")),
      frame),
    draw(history) {
      if (!history.owners.length) return;
      canvas.width = history.owners.length;
      canvas.height = plots;
      const context = canvas.getContext("2d");
      const picture = context.createImageData(canvas.width, plots);
      const colours = new Map();
      history.owners.forEach((owners, column) => {
        for (let plot = 0; plot < plots; plot += 1) {
          const owner = owners[plot];
          if (owner < 0) continue;
          if (!colours.has(owner)) colours.set(owner, fillOf(owner).match(/[0-9a-f]{2}/g).map((part) => Number.parseInt(part, 16)));
          picture.data.set([...colours.get(owner), 255], 4 * (plot * canvas.width + column));
        }
      });
      context.putImageData(picture, 0, 0);
    },
    move({ round, plot }) {
      cursor.style.left = `${100 * at(Math.max(run.first, Math.min(round, run.last)))}%`;
      row.style.display = plot === undefined ? "none" : "block";
      row.style.top = `${(100 * Number(plot)) / plots}%`;
      row.style.height = `${100 / plots}%`;
    },
  };
}

function goldChart(run, history, pane) {
  const agents = Math.min(pane.roster.length, CHIPS_MAX);
  const chart = lineChart({
    title: "gold by agent", unit: "round", size: pane.narrow ? undefined : WIDE, first: run.first, last: run.last, limits: [0],
    series: Array.from({ length: agents }, (_, agent) => ({ title: `agent ${agent}`, values: history.gold.map((gold) => gold[agent]) })),
  });
  const key = el("ul", { class: "legend" }, Array.from({ length: agents }, (_, agent) =>
    el("li", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
      svg("path", { class: `line series-${agent % 8}`, d: "M 1 5 L 27 5", "stroke-dasharray": ["", "6 3", "2 2", "8 3 2 3"][Math.floor(agent / 8) % 4] })), pane.agentName(agent))));
  return { node: el("div", { class: "wide" }, chart.node, key), move: chart.move };
}

class MiningView {
  constructor(room, runs, player, page) {
    Object.assign(this, { runs, player, page });
    this.panes = runs.map((run, index) => new Pane(run, player, index, runs.length));
    this.curves = runs.map((run) => ({ node: el("div"), move: () => {}, charts: measureCharts(run, "round") }));
    this.difference = runs.length > 1 ? el("div") : null;
    const which = (index) => (runs.length > 1 ? el("h2", {}, `Run ${"AB"[index]} over time`) : el("h2", {}, "Over time"));
    replaceAll(room,
      page.against === null ? null : differenceOf(page.against, player, "round"),
      el("div", { class: runs.length > 1 ? "panes" : "" }, this.panes.map((pane) => pane.node)),
      this.difference,
      el("div", { class: runs.length > 1 ? "panes" : "" }, runs.map((run, index) => el("section", { "aria-label": `Over time${runs.length > 1 ? `, run ${"AB"[index]}` : ""}` },
        which(index), this.curves[index].node, this.curves[index].charts.node))));
  }

  // All of a run is gathered.
  ready(run) {
    const index = this.runs.indexOf(run);
    this.panes[index].ribbon.draw(run.gathered);
    const chart = goldChart(run, run.gathered, this.panes[index]);
    replaceAll(this.curves[index].node, chart.node);
    this.curves[index].move = chart.move;
  }

  show(moment) {
    this.panes.forEach((pane) => { pane.facts = pane.run.factsAt(Math.min(moment.round, pane.run.last)); });
    this.panes.forEach((pane, index) => {
      pane.show(moment, this.panes.length > 1 ? this.panes[1 - index] : null);
      pane.ribbon.move(moment);
      this.curves[index].move(Math.min(moment.round, pane.run.last));
      this.curves[index].charts.move(Math.min(moment.round, pane.run.last));
    });
    if (this.difference !== null) this.showDifference();
    if (moment.plot !== this.plot) {
      this.plot = moment.plot;
      this.player.track();
    }
  }

  showDifference() {
    const [a, b] = this.panes.map((pane) => pane.facts);
    const agents = Array.from({ length: Math.max(a[GOLD].length, b[GOLD].length) }, (_, agent) => agent);
    const apart = a[OWNER].length === b[OWNER].length ? a[OWNER].filter((owner, plot) => owner !== b[OWNER][plot]).length : null;
    replaceAll(this.difference, el("h2", {}, `After round ${this.player.at}`),
      el("p", {}, apart === null ? "The grids differ, so owners are not compared." : `${plural(apart, "plot")} with other owners, outlined in both maps.`),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Gold in both runs" }, el("table", {},
        el("thead", {}, el("tr", {}, ["agent", "gold in A", "gold in B", "B − A"].map((head, index) => el("th", { scope: "col", class: index ? "number" : null }, head)))),
        el("tbody", {}, agents.map((agent) => {
          const [one, two] = [a[GOLD][agent], b[GOLD][agent]];
          return el("tr", {}, el("th", { scope: "row" }, agent), el("td", { class: "number" }, rounded(one)), el("td", { class: "number" }, rounded(two)),
            el("td", { class: "number" }, one === undefined || two === undefined ? "–" : `${two > one ? "+" : ""}${rounded(two - one)}`));
        })))));
  }

  describe() {
    return this.panes.map((pane, index) => {
      const raids = pane.events.filter(({ event }) => event === "raid_resolved");
      const captured = raids.filter(({ outcome }) => outcome === "captured").length;
      const which = this.panes.length > 1 ? `Run ${"AB"[index]}: ` : "";
      const plot = this.player.moment.plot;
      const owner = plot === undefined ? undefined : pane.facts[OWNER][Number(plot)];
      const said = plot === undefined ? "" : owner === null ? `; plot ${plot} is nobody's` : `; plot ${plot} is agent ${owner}'s`;
      return `${which}round ${pane.round}: ${plural(raids.length, "plot")} raided, ${captured} captured${said}`;
    }).join(". ");
  }
}

// What the page carries of explanations, by round. Texts stand there as the number of a pattern and the
// numbers that go into it.
function opened(run) {
  const { patterns, why, ...rest } = run.computed;
  const text = ([pattern, ...numbers]) =>
    patterns[pattern].map((part, index) => (index ? numbers[index - 1] + part : part)).join("");
  const byRound = new Map();
  for (const [round, kind, place, agents, account, planned, snippet, change] of why) {
    push(byRound, round, {
      kind: patterns[kind][0], place, agents, account: account.map(text), planned,
      snippet: snippet === null ? "" : text(snippet),
      change: change === null ? null : { says: text(change[0]), agent: change[1], actions: change[2], others: change[3] },
    });
  }
  run.computed = { ...rest, why: byRound };
}

const shellQuoted = (text) => `'${text.replaceAll("'", `'"'"'`)}'`;

export const WORLD = {
  folding,
  places: (runs) => {
    const { rows, cols } = runs[0].setup.config;
    const under = (limit) => (text) => /^\d{1,9}$/.test(text) && Number(text) < limit;
    return { plot: under(rows * cols), agent: under(runs[0].setup.players.length) };
  },
  gather: (run) => new History(run),
  create: (room, runs, player, page) => {
    runs.forEach(opened);
    return new MiningView(room, runs, player, page);
  },
};
