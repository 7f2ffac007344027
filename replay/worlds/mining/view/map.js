// The map: plots coloured by owner, with their events; the agents next to it, with raids as arrows from
// agents to plots. A large grid is drawn as a board, many agents as their policies.
import { areSingle, coloursOf } from "../../../view/colours.js";
import { el, listed, replaceAll, seen, svg } from "../../../view/dom.js";
import { Board, policyLegend } from "./board.js";
import { CLAIMED, OWNER } from "./facts.js";
import { patternOf, shortened, SIDE_MAX } from "./style.js";

const [CELL, LEFT, TOP] = [40, 26, 20];

export class PlotMap {
  // `index`: the index of the run among the runs on the page.
  constructor(run, player, index) {
    const { config } = run.setupAt(run.first);
    Object.assign(this, { player, index, config, rows: config.rows, cols: config.cols });
    const count = run.labelsAt(run.first).length;
    this.isSingle = areSingle(count); // agents are drawn and numbered
    this.agents = this.isSingle ? count : 0;
    this.narrow = globalThis.matchMedia("(max-width: 40rem)").matches;
    this.plots = el("div");
    this.cells = new Map();
    this.board = Math.max(this.rows, this.cols) > SIDE_MAX ? new Board(config, player, (plot) => this.labelOf(plot)) : null;
    this.legend = this.isSingle && !this.board ? null : policyLegend();
    this.node = el("div", { class: "map" }, this.plots, this.legend?.node);
    if (this.board) this.plots.append(this.board.node);
    else this.draw();
  }

  // Called once; `show` updates the drawing for a round.
  draw() {
    this.place();
    this.arrows = svg("g", { "aria-hidden": "true" });
    this.chips = this.places.map((place, agent) => this.chipOf(place, agent));
    const { width, height } = this.box;
    this.plots.append(svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plots" },
      defs(this.index), this.headsOf(), this.gridOf(), this.chips, this.arrows));
    this.focusOn(this.cells.keys().next().value);
  }

  // Computes the positions of the agents: right of the plots, or below them on narrow screens.
  place() {
    const [right, bottom] = [LEFT + this.cols * CELL, TOP + this.rows * CELL];
    const { agents } = this;
    const each = Array.from({ length: agents }, (_, agent) => agent);
    if (agents === 0) {
      this.places = [];
      this.box = { width: right + 2, height: bottom + 2 };
    } else if (this.narrow) {
      const across = Math.max(1, Math.floor(right / 52));
      this.places = each.map((agent) => ({ x: LEFT + (agent % across) * 52 + 18, y: bottom + 46 + Math.floor(agent / across) * 34 }));
      this.box = { width: right + 2, height: bottom + 60 + Math.ceil(agents / across) * 34 };
    } else {
      const spread = Math.min(40, Math.max(19, (bottom - TOP) / agents));
      this.places = each.map((agent) => ({ x: right + 66, y: TOP + spread * (agent + 0.5) }));
      this.box = { width: right + 216, height: Math.max(bottom + 2, TOP + spread * agents + 8) };
    }
  }

  // The centre of a plot.
  centre(plot) {
    return { x: LEFT + ((plot % this.cols) + 0.5) * CELL, y: TOP + (Math.floor(plot / this.cols) + 0.5) * CELL };
  }

  headsOf() {
    const head = (x, y, anchor, text) => svg("text", { class: "head", x, y, "text-anchor": anchor }, text);
    return [
      ...Array.from({ length: this.cols }, (_, col) => head(LEFT + (col + 0.5) * CELL, 14, "middle", col)),
      ...Array.from({ length: this.rows }, (_, row) => head(LEFT - 6, TOP + (row + 0.5) * CELL + 4, "end", row)),
    ];
  }

  gridOf() {
    const rows = Array.from({ length: this.rows }, (_, row) => svg("g", { role: "row" },
      Array.from({ length: this.cols }, (__, col) => {
        const plot = row * this.cols + col;
        const cell = cellOf(LEFT + col * CELL, TOP + row * CELL, () => this.player.go({ plot }));
        this.cells.set(plot, cell);
        return cell.node;
      })));
    return svg("g", {
      role: "grid", "aria-label": "Plots by row and column", "data-arrows": "", keydown: (event) => this.moveFocus(event),
    }, rows);
  }

  chipOf({ x, y }, agent) {
    const select = (event) => {
      event.preventDefault();
      this.player.go({ agent });
    };
    return svg("a", { class: "chip", href: `#agent=${agent}`, "data-agent": agent, click: select },
      svg("rect", { x: x - 16, y: y - 9, width: 32, height: 18, rx: 4, class: "square" }),
      svg("rect", { x: x - 16, y: y - 9, width: 32, height: 18, rx: 4, class: "pattern" }),
      svg("text", { x, y: y + 4, "text-anchor": "middle", class: "number" }, agent),
      this.narrow ? null : svg("text", { x: x + 22, y: y + 4, class: "name" }));
  }

  focusOn(plot) {
    for (const [each, { node }] of this.cells) node.setAttribute("tabindex", each === plot ? 0 : -1);
    this.focused = plot;
  }

  // Arrow keys move the focus between plots; Enter and space select the focused plot.
  moveFocus(event) {
    const { cols } = this.config;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
    if (event.key === "Enter" || event.key === " ") this.player.go({ plot: this.focused });
    else if (by === undefined) return;
    else {
      const next = this.focused + by;
      const leaves = Math.abs(by) === 1 && Math.floor(next / cols) !== Math.floor(this.focused / cols);
      if (!leaves && next >= 0 && next < this.config.rows * cols) {
        this.focusOn(next);
        this.cells.get(next).node.focus();
      }
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Show a round, with the selected plot and agent highlighted. `other`: the round of another run to
  // compare it with, or null.
  show(round, selected, agent, other) {
    const raided = new Map(round.of("raid_resolved").map((event) => [event.plot, event]));
    const contested = new Set(round.of("claim_drawn").filter(({ claimants }) => claimants.length > 1).map(({ plot }) => plot));
    this.shown = { round, raided, contested, selected, agent, other, defences: round.defences() };
    this.legend?.show(round);
    if (this.board) {
      this.board.draw(this.shown);
      return;
    }
    for (const [plot, cell] of this.cells) cell.show(this.lookOf(plot));
    if (!this.isSingle) return;
    this.showAgents(round.policies);
    this.showRaids(raided.values(), round.facts[OWNER], selected, agent);
  }

  isTruce(plot) {
    const { facts: [, since, how], number, setup } = this.shown.round;
    return how[plot] === CLAIMED && number < since[plot] + setup.config.truce;
  }

  differs(plot) {
    const { round, other } = this.shown;
    return other !== null && (other.facts[OWNER][plot] ?? null) !== (round.facts[OWNER][plot] ?? null);
  }

  // The look of a plot.
  lookOf(plot) {
    const { round, raided, contested, selected, agent, defences } = this.shown;
    const [owners, since] = round.facts;
    const owner = owners[plot];
    return {
      owner, index: this.index, truce: this.isTruce(plot), defence: !defences.has(plot) ? "" : this.isSingle ? `+${defences.get(plot)}` : "●",
      fill: owner === null ? "transparent" : coloursOf(round.policies)[owner],
      pattern: owner === null ? null : patternOf(round.policies[owner]),
      number: this.isSingle ? owner ?? "·" : "",
      age: owner === null || !this.isSingle ? 0 : (round.number - since[plot] + 1) / Math.max(1, round.number),
      captured: raided.get(plot)?.outcome === "captured", contested: contested.has(plot),
      selected: plot === selected, differs: this.differs(plot), faded: agent !== null && owner !== agent && !raided.get(plot)?.raiders.includes(agent),
      label: this.labelOf(plot),
    };
  }

  // A plot as text.
  labelOf(plot) {
    const { round, raided, contested, defences } = this.shown;
    const [owners, since] = round.facts;
    const owner = owners[plot];
    return [
      `plot ${plot}`, owner === null ? "nobody's" : `agent ${owner}'s since round ${since[plot]}`,
      this.isSingle || owner === null ? null : round.policies[owner],
      defences.has(plot) ? `defended with ${defences.get(plot)}` : null, this.isTruce(plot) ? "in truce" : null,
      raided.has(plot) ? `raided by ${listed(raided.get(plot).raiders)}, ${raided.get(plot).outcome}` : null,
      contested.has(plot) ? "claimed by several" : null, this.differs(plot) ? "differs from the other run" : null,
    ].filter(Boolean).join(", ");
  }

  showAgents(policies) {
    const fills = coloursOf(policies);
    this.chips.forEach((chip, agent) => {
      const [, pattern] = chip.children;
      chip.style.setProperty("--fill", fills[agent]);
      pattern.setAttribute("fill", patternUrl(patternOf(policies[agent]), this.index));
      chip.setAttribute("aria-label", seen(`agent ${agent}, ${policies[agent]}`));
      if (!this.narrow) chip.lastChild.textContent = seen(shortened(policies[agent]));
    });
  }

  showRaids(raids, owners, selected, agent) {
    replaceAll(this.arrows);
    for (const { plot, raiders, outcome, winner } of raids) {
      const to = this.centre(plot);
      for (const raider of raiders) {
        const end = outcome === "captured" && raider !== winner ? "beaten" : outcome;
        const isFaded = (selected !== null && selected !== plot) || (agent !== null && agent !== raider && agent !== owners[plot]);
        this.arrows.append(arrow(this.places[raider], to, end, isFaded, this.index, this.narrow));
      }
    }
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
    if (key === last) return; // most plots are unchanged
    last = key;
    node.style.setProperty("--fill", now.fill);
    pattern.setAttribute("fill", patternUrl(now.pattern, now.index));
    number.textContent = now.number;
    age.setAttribute("width", ((CELL - 8) * now.age).toFixed(1));
    badge.textContent = now.defence;
    tag.textContent = now.contested ? "◇" : "";
    node.setAttribute("class", ["cell", ...["truce", "captured", "selected", "differs", "faded"].filter((name) => now[name]), now.owner === null ? "free" : "held"].join(" "));
    node.setAttribute("aria-label", now.label);
    node.setAttribute("aria-selected", now.selected);
  };
  return { node, show };
}

const patternUrl = (kind, index) => (kind === null ? "none" : `url(#${kind}-${index})`);

const defs = (index) => svg("defs", {},
  svg("pattern", { id: `stripes-${index}`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 2, height: 8, fill: "#0000001f" })),
  svg("pattern", { id: `dots-${index}`, width: 7, height: 7, patternUnits: "userSpaceOnUse" },
    svg("circle", { cx: 2, cy: 2, r: 1.3, fill: "#00000033" })),
  svg("pattern", { id: `bars-${index}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("rect", { width: 6, height: 1.5, fill: "#0000002b" })),
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
  const d = `M ${start.x} ${start.y} Q ${bend} ${tip.x} ${tip.y}`;
  return svg("g", { class: isFaded ? "arrow faded" : null },
    end === "captured" ? svg("path", { class: "arrow halo", d }) : null,
    svg("path", { class: `arrow ${end}`, d, "marker-end": `url(#head-${end}-${index})` }));
}

// The legend of the signs: of cells and, of agents that are drawn, of arrows.
export const legend = ({ isSingle, board }) => el("ul", { class: "legend" },
  isSingle && !board ? [
    ["captured", "raid that captures"], ["beaten", "raider that lost the draw"], ["blocked", "blocked"],
    ["truce", "stopped by a truce"], ["void", "nothing to take"],
  ].map(([end, title]) => el("li", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
    svg("path", { class: `arrow ${end}`, d: "M 1 5 L 27 5" })), title)) : null,
  (board ? ["dark dot: captured in this round", "light dot: claimed by several"] : [
    ...(isSingle ? ["bar: how long it has been owned, of all rounds so far"] : ["strong border: captured in this round"]),
    isSingle ? "+2: points of defence" : "●: defended", "dashed border: plot in truce", "◇: claimed by several",
  ]).map((text) => el("li", {}, text)));
