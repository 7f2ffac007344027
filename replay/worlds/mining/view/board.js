// A large map: plots coloured by the policy of their owner, without labels; the one under the pointer, or chosen by the
// arrow keys, is described.
import { swatchOf } from "../../../view/chart.js";
import { colourOf, coloursOf, literalOf, onColoursChange } from "../../../view/colours.js";
import { el, plural, replaceAll, seen } from "../../../view/dom.js";
import { readable } from "../../../view/readable.js";
import { OWNER } from "./facts.js";

const WIDTH = 640; // of the drawing, in pixels
const [PLOT_MIN, PLOT_MAX] = [3, 20]; // of a plot

export class Board {
  // `describe(plot)`: a plot as text.
  constructor(config, player, describe) {
    Object.assign(this, { config, player, describe, selected: null });
    this.side = Math.max(PLOT_MIN, Math.min(PLOT_MAX, Math.floor(WIDTH / config.cols)));
    this.canvas = el("canvas", { class: "board", width: config.cols * this.side, height: config.rows * this.side });
    this.reading = el("output", { class: "note" });
    this.node = el("div", {}, this.canvas, el("div", {}, this.reading));
    const { rows, cols } = config;
    const within = (part, count) => Math.max(0, Math.min(count - 1, Math.floor(part * count)));
    this.refresh = readable(this.canvas, {
      label: "Plots; arrow keys go from plot to plot",
      ends: () => [0, rows * cols - 1],
      rest: () => this.selected ?? 0,
      under: (x, y) => cols * within(y, rows) + within(x, cols),
      moved: (plot, key, by) => {
        const to = { ArrowLeft: plot - by, ArrowRight: plot + by, ArrowUp: plot - by * cols, ArrowDown: plot + by * cols }[key];
        return to < 0 || to >= rows * cols ? plot : to;
      },
      textOf: (plot) => seen(describe(plot)),
      show: (plot, isLooked) => {
        this.reading.textContent = isLooked || this.selected !== null ? seen(describe(plot)) : `${cols} × ${rows} plots: point at one, or use the arrow keys.`;
      },
      choose: (plot) => player.go({ plot }),
    });
    onColoursChange(() => this.draw(this.shown));
  }

  // `shown`: {round, raided: by plot its raid, contested: plots, selected, agent, other}.
  draw(shown) {
    this.shown = shown;
    const { round, raided, contested, selected, agent, other } = shown;
    const { cols } = this.config;
    const { side } = this;
    const brush = this.canvas.getContext("2d");
    const literals = new Map();
    const literal = (colour) => {
      if (!literals.has(colour)) literals.set(colour, literalOf(colour));
      return literals.get(colour);
    };
    const fills = coloursOf(round.policies);
    const gap = side > 5 ? 1 : 0;
    brush.clearRect(0, 0, this.canvas.width, this.canvas.height);
    round.facts[OWNER].forEach((owner, plot) => {
      const [x, y] = [(plot % cols) * side, Math.floor(plot / cols) * side];
      brush.globalAlpha = agent !== null && owner !== agent ? 0.3 : 1;
      brush.fillStyle = literal(owner === null ? "var(--panel)" : fills[owner]);
      brush.fillRect(x, y, side - gap, side - gap);
      if (raided.get(plot)?.outcome === "captured") this.dot(brush, x, y, "#101318");
      else if (contested.has(plot)) this.dot(brush, x, y, "#ffffff");
      if (other !== null && (other.facts[OWNER][plot] ?? null) !== owner) this.frame(brush, x, y, literal("var(--cursor)"), 1);
    });
    brush.globalAlpha = 1;
    this.selected = selected;
    if (selected !== null) this.frame(brush, (selected % cols) * side, Math.floor(selected / cols) * side, literal("var(--cursor)"), 3);
    this.refresh();
  }

  dot(brush, x, y, colour) {
    const size = Math.max(1, Math.round(this.side / 3));
    brush.fillStyle = colour;
    brush.fillRect(x + (this.side - size) / 2, y + (this.side - size) / 2, size, size);
  }

  frame(brush, x, y, colour, width) {
    brush.strokeStyle = colour;
    brush.lineWidth = width;
    brush.strokeRect(x, y, this.side - 1, this.side - 1);
  }
}

// The policies of many agents, with their numbers of agents and plots: {node, show(round)}.
export function policyLegend() {
  const node = el("ul", { class: "legend policies" });
  const show = ({ policies, facts }) => {
    const counts = new Map(policies.map((policy) => [policy, { agents: 0, plots: 0 }]));
    for (const policy of policies) counts.get(policy).agents += 1;
    for (const owner of facts[OWNER]) if (owner !== null) counts.get(policies[owner]).plots += 1;
    replaceAll(node, [...counts].map(([policy, { agents, plots }]) => el("li", {},
      swatchOf(colourOf(policy)), `${policy} × ${agents}: ${plural(plots, "plot")}`)));
  };
  return { node, show };
}
