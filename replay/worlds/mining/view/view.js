// The map of a mining round: plots coloured by their owner, the agents next to it, and raids as arrows from agents to
// plots. Many agents are drawn as their policies, without arrows; a map of very many plots is a grid of the state.
import { swatchOf } from "../../../view/chart.js";
import { areSingle, colourOf, coloursOf, hueIndexOf } from "../../../view/colours.js";
import { el, plural, replaceAll, seen, svg } from "../../../view/dom.js";

const [CELL, LEFT, TOP] = [40, 26, 20];
const [CHIP, NAME_MAX] = [52, 18]; // the width of an agent below the map; characters of a policy beside it
const LABELLED = 30; // rows and columns whose plots have signs

const PATTERNS = [null, "stripes", "dots", "bars"]; // the second sign of a policy

const patternOf = (policy) => PATTERNS[hueIndexOf(policy) % PATTERNS.length];
const patternUrl = (kind, index) => (kind === null ? "none" : `url(#${kind}-${index})`);

class PlotMap {
  constructor(run, runs, player, index) {
    Object.assign(this, { run, player, index, other: runs.find((each) => each !== run) ?? null, cols: run.valueAt("cols", run.stated[0]) });
    this.count = run.valueAt("owner", run.stated[0]).length;
    this.rows = this.count / this.cols;
    this.isSingle = areSingle(run.count);
    this.isLabelled = Math.max(this.rows, this.cols) <= LABELLED;
    this.narrow = globalThis.matchMedia("(max-width: 40rem)").matches;
    this.place(this.isSingle ? run.count : 0);
    this.arrows = svg("g", { "aria-hidden": "true" });
    this.cells = Array.from({ length: this.count }, (_, plot) => this.cellOf(plot));
    this.chips = this.places.map((place, agent) => this.chipOf(place, agent));
    this.legend = el("ul", { class: "legend policies" });
    this.node = el("div", { class: "map" },
      svg("svg", { viewBox: `0 0 ${this.box.width} ${this.box.height}`, class: "plots" }, defs(index), this.headsOf(), this.gridOf(), this.chips, this.arrows),
      this.legend, signs(this.isSingle));
    this.focusOn(0);
  }

  // The positions of the agents: right of the plots, or below them on narrow screens.
  place(agents) {
    const [right, bottom] = [LEFT + this.cols * CELL, TOP + this.rows * CELL];
    const each = Array.from({ length: agents }, (_, agent) => agent);
    if (agents === 0) {
      this.places = [];
      this.box = { width: right + 2, height: bottom + 2 };
    } else if (this.narrow) {
      const across = Math.max(1, Math.floor(right / CHIP));
      this.places = each.map((agent) => ({ x: LEFT + (agent % across) * CHIP + 18, y: bottom + 46 + Math.floor(agent / across) * 34 }));
      this.box = { width: right + 2, height: bottom + 60 + Math.ceil(agents / across) * 34 };
    } else {
      const spread = Math.min(40, Math.max(19, (bottom - TOP) / agents));
      this.places = each.map((agent) => ({ x: right + 66, y: TOP + spread * (agent + 0.5) }));
      this.box = { width: right + 216, height: Math.max(bottom + 2, TOP + spread * agents + 8) };
    }
  }

  corner(plot) {
    return { x: LEFT + (plot % this.cols) * CELL, y: TOP + Math.floor(plot / this.cols) * CELL };
  }

  headsOf() {
    if (!this.isLabelled) return null;
    const head = (x, y, anchor, text) => svg("text", { class: "head", x, y, "text-anchor": anchor }, text);
    return [
      ...Array.from({ length: this.cols }, (_, col) => head(LEFT + (col + 0.5) * CELL, 14, "middle", col)),
      ...Array.from({ length: this.rows }, (_, row) => head(LEFT - 6, TOP + (row + 0.5) * CELL + 4, "end", row)),
    ];
  }

  gridOf() {
    const rows = Array.from({ length: this.rows }, (_, row) =>
      svg("g", { role: "row" }, this.cells.slice(row * this.cols, (row + 1) * this.cols).map(({ node }) => node)));
    return svg("g", {
      role: "grid", "aria-label": "Plots by row and column", "data-arrows": "", keydown: (event) => this.moveFocus(event),
    }, rows);
  }

  // A plot as {node, show(look)}.
  cellOf(plot) {
    const { x, y } = this.corner(plot);
    const inner = { x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 3 };
    const text = (at, kind) => svg("text", { ...at, class: kind });
    const [square, pattern] = [svg("rect", { ...inner, class: "square" }), svg("rect", { ...inner, fill: "none" })];
    const number = text({ x: x + CELL / 2, y: y + CELL / 2 + 5, "text-anchor": "middle" }, "number");
    const age = svg("rect", { x: x + 4, y: y + CELL - 6, width: 0, height: 3, class: "age" });
    const badge = text({ x: x + CELL - 4, y: y + 12, "text-anchor": "end" }, "badge");
    const tag = text({ x: x + 5, y: y + 12 }, "badge");
    const node = svg("g", { role: "gridcell", class: "cell", click: () => this.player.go({ plot }) }, square, pattern, number, age, badge, tag);
    let last = "";
    const show = (look) => {
      const key = JSON.stringify(look);
      if (key === last) return; // most plots are unchanged
      last = key;
      node.style.setProperty("--fill", look.fill);
      pattern.setAttribute("fill", patternUrl(look.pattern, this.index));
      [number.textContent, badge.textContent, tag.textContent] = [look.number, look.defence, look.contested ? "◇" : ""];
      age.setAttribute("width", ((CELL - 8) * look.age).toFixed(1));
      node.setAttribute("class", ["cell", ...["truce", "captured", "selected", "differs", "faded"].filter((name) => look[name]), look.owner === null ? "free" : "held"].join(" "));
      node.setAttribute("aria-label", seen(look.label));
      node.setAttribute("aria-selected", look.selected);
    };
    return { node, show };
  }

  chipOf({ x, y }, agent) {
    const select = (event) => {
      event.preventDefault();
      this.player.go({ agent });
    };
    const box = { x: x - 16, y: y - 9, width: 32, height: 18, rx: 4 };
    return svg("a", { class: "chip", href: `#agent=${agent}`, "data-agent": agent, click: select },
      svg("rect", { ...box, class: "square" }), svg("rect", { ...box, class: "pattern" }),
      svg("text", { x, y: y + 4, "text-anchor": "middle", class: "number" }, agent),
      this.narrow ? null : svg("text", { x: x + 22, y: y + 4, class: "name" }));
  }

  focusOn(plot) {
    this.cells[this.focused]?.node.setAttribute("tabindex", -1);
    this.cells[plot].node.setAttribute("tabindex", 0);
    this.focused = plot;
  }

  // Arrow keys move the focus between plots; Enter and space select the focused plot.
  moveFocus(event) {
    const { cols } = this;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
    if (event.key === "Enter" || event.key === " ") this.player.go({ plot: this.focused });
    else if (by === undefined) return;
    else {
      const next = this.focused + by;
      const leaves = Math.abs(by) === 1 && Math.floor(next / cols) !== Math.floor(this.focused / cols);
      if (!leaves && next >= 0 && next < this.count) {
        this.focusOn(next);
        this.cells[next].node.focus();
      }
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Show a round, with the selected plot and agent highlighted.
  show(at, { plot = null, agent = null }) {
    const { run, other } = this;
    const events = run.eventsAt(at);
    const raids = events.filter(({ event }) => event === "raid_resolved");
    const contested = events.filter(({ event, claimants }) => event === "claim_drawn" && claimants.length > 1).map((event) => event.plot);
    const owners = run.valueAt("owner", at) ?? Array(this.count).fill(null);
    Object.assign(this, {
      at, owners, plot, agent, raids: new Map(raids.map((event) => [event.plot, event])), contested: new Set(contested),
      truce: new Set(run.valueAt("truce", at) ?? []), defence: run.valueAt("defence", at) ?? [], policies: run.labelsAt(at),
      theirs: other !== null && at <= other.last && other.valueAt("cols", at) === this.cols && other.valueAt("owner", at).length === this.count ? other.valueAt("owner", at) : null,
    });
    this.cells.forEach((cell, each) => cell.show(this.lookOf(each)));
    this.showPolicies();
    if (!this.isSingle) return;
    this.showAgents();
    replaceAll(this.arrows);
    for (const raid of raids) this.showRaid(raid);
  }

  lookOf(plot) {
    const { owners, raids, isSingle, policies, agent } = this;
    const [owner, raid] = [owners[plot], raids.get(plot)];
    const points = this.defence[plot] ?? 0;
    const since = owner === null ? null : this.run.changedAt("owner", this.at, plot) ?? this.run.first;
    const look = {
      owner, fill: owner === null ? "transparent" : coloursOf(policies)[owner], pattern: owner === null ? null : patternOf(policies[owner]),
      number: isSingle ? owner ?? "·" : "", defence: !points ? "" : isSingle ? `+${points}` : "●",
      age: owner === null || !isSingle ? 0 : (this.at - since + 1) / Math.max(1, this.at),
      truce: this.truce.has(plot), captured: raid?.outcome === "captured", contested: this.contested.has(plot), selected: plot === this.plot,
      differs: this.theirs !== null && (this.theirs[plot] ?? null) !== owner,
      faded: agent !== null && owner !== agent && !raid?.raiders.includes(agent),
    };
    return { ...look, label: [
      `plot ${plot}`, owner === null ? "nobody's" : `agent ${owner}'s since round ${since}`, isSingle || owner === null ? null : policies[owner],
      points ? `defended with ${points}` : null, look.truce ? "in truce" : null, raid ? `raided by ${raid.raiders.join(", ")}, ${raid.outcome}` : null,
      look.contested ? "claimed by several" : null, look.differs ? "differs from the other run" : null,
    ].filter(Boolean).join(", ") };
  }

  // The policies with their numbers of agents and plots.
  showPolicies() {
    const counts = new Map(this.policies.map((policy) => [policy, { agents: 0, plots: 0 }]));
    for (const policy of this.policies) counts.get(policy).agents += 1;
    for (const owner of this.owners) if (owner !== null) counts.get(this.policies[owner]).plots += 1;
    replaceAll(this.legend, [...counts].map(([policy, { agents, plots }]) =>
      el("li", {}, swatchOf(colourOf(policy)), `${policy} × ${agents}: ${plural(plots, "plot")}`)));
  }

  showAgents() {
    const fills = coloursOf(this.policies);
    this.chips.forEach((chip, agent) => {
      const policy = this.policies[agent];
      chip.style.setProperty("--fill", fills[agent]);
      chip.children[1].setAttribute("fill", patternUrl(patternOf(policy), this.index));
      chip.setAttribute("aria-label", seen(`agent ${agent}, ${policy}`));
      if (!this.narrow) chip.lastChild.textContent = seen(policy.length > NAME_MAX ? `${policy.slice(0, NAME_MAX - 1)}…` : policy);
    });
  }

  showRaid({ plot, raiders, outcome, winner }) {
    const { x, y } = this.corner(plot);
    const [to, owner] = [{ x: x + CELL / 2, y: y + CELL / 2 }, this.owners[plot]];
    for (const raider of raiders) {
      const end = outcome === "captured" && raider !== winner ? "beaten" : outcome;
      const isFaded = (this.plot !== null && this.plot !== plot) || (this.agent !== null && this.agent !== raider && this.agent !== owner);
      this.arrows.append(arrow(this.places[raider], to, end, isFaded, this.index, this.narrow));
    }
  }
}

const defs = (index) => svg("defs", {},
  svg("pattern", { id: `stripes-${index}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 2, height: 8, fill: "#0000001f" })),
  svg("pattern", { id: `dots-${index}`, width: 7, height: 7, patternUnits: "userSpaceOnUse" }, svg("circle", { cx: 2, cy: 2, r: 1.3, fill: "#00000033" })),
  svg("pattern", { id: `bars-${index}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, svg("rect", { width: 6, height: 1.5, fill: "#0000002b" })),
  ["captured", "blocked", "truce", "void", "beaten"].map((end) =>
    svg("marker", { id: `head-${end}-${index}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { class: `head ${end}`, d: end === "blocked" ? "M 7 0 L 10 0 L 10 10 L 7 10 z" : "M 0 0 L 10 5 L 0 10 z" }))));

function arrow(from, to, end, isFaded, index, narrow) {
  const start = narrow ? { x: from.x, y: from.y - 10 } : { x: from.x - 18, y: from.y };
  const [dx, dy] = [to.x - start.x, to.y - start.y];
  const length = Math.hypot(dx, dy) || 1;
  const tip = { x: to.x - (13 * dx) / length, y: to.y - (13 * dy) / length };
  const bend = narrow ? `${start.x} ${(start.y + tip.y) / 2}` : `${(start.x + tip.x) / 2} ${start.y}`;
  const d = `M ${start.x} ${start.y} Q ${bend} ${tip.x} ${tip.y}`;
  return svg("g", { class: isFaded ? "arrow faded" : null },
    end === "captured" ? svg("path", { class: "arrow halo", d }) : null,
    svg("path", { class: `arrow ${end}`, d, "marker-end": `url(#head-${end}-${index})` }));
}

// The legend of the signs: of cells and, of agents that are drawn, of arrows.
const signs = (isSingle) => el("ul", { class: "legend" },
  isSingle ? [
    ["captured", "raid that captures"], ["beaten", "raider that lost the draw"], ["blocked", "blocked"], ["truce", "stopped by a truce"], ["void", "nothing to take"],
  ].map(([end, title]) => el("li", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
    svg("path", { class: `arrow ${end}`, d: "M 1 5 L 27 5" })), title)) : null,
  [isSingle ? "bar: how long it has been owned, of all rounds so far" : "strong border: captured in this round",
    isSingle ? "+2: points of defence" : "●: defended", "dashed border: plot in truce", "◇: claimed by several"].map((text) => el("li", {}, text)));

// A plot by number, or by row and column.
function plotOf(runs, text) {
  const [, row, col] = /^(\d{1,9})(?:,(\d{1,9}))?$/.exec(text) ?? [];
  const maps = runs.filter(({ fields }) => fields.has("owner")).map((run) => [run.valueAt("cols", run.stated[0]), run.valueAt("owner", run.stated[0]).length]);
  if (row === undefined || maps.length === 0) return null;
  const plot = col === undefined ? Number(row) : Number(row) * maps[0][0] + Number(col);
  return maps.some(([cols, count]) => plot < count && Number(col ?? 0) < cols) ? plot : null;
}

export const WORLD = {
  selectorsOf: (runs) => ({ plot: (text) => plotOf(runs, text) }),
  partOf: (run, runs, player, index) => (run.fields.has("owner") ? new PlotMap(run, runs, player, index) : { node: null, show() {} }),
};
