// The map: plots coloured by owner, with their events; the agents next to it, with raids as arrows from
// agents to plots.
import { el, listed, replaceAll, seen, svg } from "../../../view/dom.js";
import { CLAIMED, OWNER } from "./facts.js";
import { AGENTS_MAX, calledOf, fillOf, patternOf, shortened, SIDE_MAX } from "./style.js";

const [CELL, LEFT, TOP] = [40, 26, 20];

export class PlotMap {
  // `index`: the index of the run among the runs on the page.
  constructor(run, player, index) {
    const { config, players } = run.setupAt(run.first);
    Object.assign(this, { player, index, config, agents: players.length });
    this.rows = Math.min(config.rows, SIDE_MAX);
    this.cols = Math.min(config.cols, SIDE_MAX);
    this.corner = { row: 0, col: 0 }; // the top left plot of the drawn part
    this.narrow = globalThis.matchMedia("(max-width: 40rem)").matches;
    this.node = el("div", { class: "map" });
    this.draw();
  }

  // The text on what part of a large grid, and how many agents, are drawn; null if all are.
  get cut() {
    const { rows, cols } = this.config;
    const said = [];
    if (rows * cols > this.rows * this.cols) {
      const { row, col } = this.corner;
      said.push(`Rows ${row} to ${row + this.rows - 1} and columns ${col} to ${col + this.cols - 1} of ${rows} x ${cols} plots are drawn; select a plot elsewhere to see it.`);
    }
    if (this.agents > AGENTS_MAX) said.push(`The legend lists agents 0–${AGENTS_MAX - 1} of ${this.agents}.`);
    return said.length ? said.join(" ") : null;
  }

  // Draw the part of a large grid around a plot, if the plot is outside the drawn part.
  reach(plot) {
    if (this.cells.has(plot)) return;
    const { rows, cols } = this.config;
    const around = (at, shown, all) => Math.min(Math.max(0, at - Math.floor(shown / 2)), all - shown);
    this.corner = { row: around(Math.floor(plot / cols), this.rows, rows), col: around(plot % cols, this.cols, cols) };
    this.draw();
    this.focusOn(plot);
  }

  // Called once, and for each change of the drawn part; `show` updates the drawing for a round.
  draw() {
    this.place();
    this.cells = new Map();
    this.arrows = svg("g", { "aria-hidden": "true" });
    this.chips = this.places.map((place, agent) => this.chipOf(place, agent));
    const { width, height } = this.box;
    replaceAll(this.node, svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plots" },
      defs(this.index), this.headsOf(), this.gridOf(), this.chips, this.arrows));
    this.focusOn(this.cells.keys().next().value);
  }

  // Computes the positions of the agents: right of the plots, or below them on narrow screens.
  place() {
    const [right, bottom] = [LEFT + this.cols * CELL, TOP + this.rows * CELL];
    const agents = Math.min(this.agents, AGENTS_MAX);
    const each = Array.from({ length: agents }, (_, agent) => agent);
    if (this.narrow) {
      const across = Math.max(1, Math.floor(right / 52));
      this.places = each.map((agent) => ({ x: LEFT + (agent % across) * 52 + 18, y: bottom + 46 + Math.floor(agent / across) * 34 }));
      this.box = { width: right + 2, height: bottom + 60 + Math.ceil(agents / across) * 34 };
    } else {
      const spread = Math.min(40, Math.max(19, (bottom - TOP) / agents));
      this.places = each.map((agent) => ({ x: right + 66, y: TOP + spread * (agent + 0.5) }));
      this.box = { width: right + 216, height: Math.max(bottom + 2, TOP + spread * agents + 8) };
    }
  }

  // The centre of a plot; null if the plot is not drawn.
  centre(plot) {
    const row = Math.floor(plot / this.config.cols) - this.corner.row;
    const col = (plot % this.config.cols) - this.corner.col;
    return row >= 0 && row < this.rows && col >= 0 && col < this.cols ? { x: LEFT + (col + 0.5) * CELL, y: TOP + (row + 0.5) * CELL } : null;
  }

  headsOf() {
    const head = (x, y, anchor, text) => svg("text", { class: "head", x, y, "text-anchor": anchor }, text);
    return [
      ...Array.from({ length: this.cols }, (_, col) => head(LEFT + (col + 0.5) * CELL, 14, "middle", col + this.corner.col)),
      ...Array.from({ length: this.rows }, (_, row) => head(LEFT - 6, TOP + (row + 0.5) * CELL + 4, "end", row + this.corner.row)),
    ];
  }

  gridOf() {
    const rows = Array.from({ length: this.rows }, (_, row) => svg("g", { role: "row" },
      Array.from({ length: this.cols }, (__, col) => {
        const plot = (row + this.corner.row) * this.config.cols + col + this.corner.col;
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
      boxOf(x - 16, y - 9, 32, 18, agent, this.index),
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
        if (!this.cells.has(next)) this.player.go({ plot: next });
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
    if (selected !== null) this.reach(selected);
    const [owners, since, how] = round.facts;
    const { truce } = round.setup.config;
    const defences = round.defences();
    const raided = new Map(round.of("raid_resolved").map((event) => [event.plot, event]));
    const contested = new Set(round.of("claim_drawn").filter(({ claimants }) => claimants.length > 1).map(({ plot }) => plot));
    for (const [plot, cell] of this.cells) {
      const owner = owners[plot];
      const isTruce = how[plot] === CLAIMED && round.number < since[plot] + truce;
      const differs = other !== null && (other.facts[OWNER][plot] ?? null) !== (owner ?? null);
      cell.show({
        owner, index: this.index, truce: isTruce, defence: defences.get(plot) ?? 0,
        age: owner === null ? 0 : (round.number - since[plot] + 1) / Math.max(1, round.number),
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
    this.showAgents(round.setup.players);
    this.showRaids(raided.values(), owners, selected, agent);
  }

  showAgents(players) {
    this.chips.forEach((chip, agent) => {
      const name = calledOf(players[agent]);
      chip.setAttribute("aria-label", seen(`agent ${agent}, ${name}`));
      if (!this.narrow) chip.lastChild.textContent = seen(shortened(name));
    });
  }

  showRaids(raids, owners, selected, agent) {
    replaceAll(this.arrows);
    for (const { plot, raiders, outcome, winner } of raids) {
      const to = this.centre(plot);
      for (const raider of raiders.filter((each) => to !== null && each < this.places.length)) {
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

function boxOf(x, y, width, height, agent, index) {
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

export const legend = () => el("ul", { class: "legend" }, [
  ["captured", "raid that captures"], ["beaten", "raider that lost the draw"], ["blocked", "blocked"],
  ["truce", "stopped by a truce"], ["void", "nothing to take"],
].map(([end, title]) => el("li", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
  svg("path", { class: `arrow ${end}`, d: "M 1 5 L 27 5" })), title)),
el("li", {}, "bar: how long it has been owned, of all rounds so far"), el("li", {}, "+2: points of defence"), el("li", {}, "dashed border: plot in truce"), el("li", {}, "◇: claimed by several"));
