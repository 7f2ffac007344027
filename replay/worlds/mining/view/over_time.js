// Who owned what over the rounds: by plot, or of many agents the plots of each policy.
import { LARGE, dashOf, filesOf, lineChart, spanOf, unitsFrom } from "../../../view/chart.js";
import { areSingle, colourOf, coloursOf, hueIndexOf, literalOf, onColoursChange } from "../../../view/colours.js";
import { el, replaceAll, rounded, seen, svg } from "../../../view/dom.js";
import { along, readable } from "../../../view/readable.js";

const PLOTS_MAX = 2500; // rows of the ribbon

const plotsIn = (run) => run.setupAt(run.first).config.rows * run.setupAt(run.first).config.cols;

// As {node, draw(history), move(position)}.
export function ownersOf(run, runs, player) {
  const many = runs.some((each) => !areSingle(each.labelsAt(each.first).length));
  return many ? plotsChart(run, runs, player) : new Ribbon(run, runs, player);
}

// The plots of each policy, drawn when all rounds are gathered.
function plotsChart(run, runs, player) {
  const node = el("div");
  let chart = null;
  return {
    node,
    draw({ plots }) {
      const lines = [...plots].sort(([, a], [, b]) => b[b.length - 1] - a[a.length - 1]).map(([policy, values]) => policy === null
        ? { title: "nobody", group: "nobody", values, colour: "var(--quiet)", dash: "2 3", width: 2 }
        : { title: policy, group: policy, values, colour: colourOf(policy), dash: dashOf(hueIndexOf(policy)), width: 2.5 });
      chart = lineChart({
        title: "Who owned what: plots by policy", name: "plots", unit: "round", units: unitsFrom(run.first, run.count), lines, player, size: LARGE,
        span: spanOf(runs), limits: [0], scale: runs.flatMap(({ gathered }) => [...gathered.plots.values()].flat()),
      });
      replaceAll(node, chart.node);
    },
    move: ({ round }) => chart?.move(round),
  };
}

// A row for each plot, coloured by owner over the rounds; a click selects round and plot. Its scales hold the
// rounds and plots of all `runs` of the page.
class Ribbon {
  constructor(run, runs, player) {
    Object.assign(this, { run, player, history: null, round: run.last });
    this.plots = Math.min(Math.max(...runs.map(plotsIn)), PLOTS_MAX);
    Object.assign(this, spanOf(runs));
    this.canvas = el("canvas");
    this.cursor = el("div", { class: "ribbon-cursor" });
    this.row = el("div", { class: "ribbon-row" });
    this.reading = el("output");
    const all = plotsIn(run);
    this.node = el("figure", { class: "over-time" },
      el("figcaption", {}, "Who owned what ", this.reading, filesOf("who owned what", () => this.picture(), () => this.table())),
      el("div", { class: "ribbon" }, this.canvas, this.row, this.cursor),
      el("p", { class: "note" }, `${this.plots < all ? `The first ${this.plots} of ${all} plots` : "Plots"} from top to bottom, rounds from left to right.`));
    this.refresh = readable(this.canvas, {
      label: "Who owned what, by round",
      ends: () => [run.first, run.last],
      rest: () => Math.max(run.first, Math.min(this.round, run.last)),
      under: (across) => player.within(this.first + Math.floor(across * this.count)),
      moved: along,
      textOf: (round) => this.textOf(round),
      show: (round, isLooked) => {
        this.reading.textContent = this.textOf(round);
        const at = isLooked ? round : Math.max(run.first, Math.min(this.round, run.last));
        this.cursor.style.left = `${(100 * (at - this.first + 0.5)) / this.count}%`;
      },
      choose: (round, { clientY }) => {
        const { top, height } = this.canvas.getBoundingClientRect();
        player.go(clientY ? { round, plot: Math.floor(((clientY - top) / height) * this.plots) } : { round });
      },
    });
    onColoursChange(() => this.draw(this.history));
  }

  get count() {
    return this.last - this.first + 1;
  }

  // Who owns how many plots after a round.
  textOf(round) {
    if (this.history === null) return "";
    const counts = [...this.history.plots].map(([policy, values]) => [policy ?? "nobody", values[round - this.run.first] ?? 0]);
    return seen(`round ${round}: ${counts.filter(([, count]) => count).sort((a, b) => b[1] - a[1]).map(([policy, count]) => `${policy} ${rounded(count)}`).join(", ")}`);
  }

  get before() {
    return Math.floor((this.run.first - this.first) / this.history.every);
  }

  roundOf(column) {
    return this.run.first + column * this.history.every;
  }

  draw(history) {
    this.history = history;
    if (!history?.owners.length) return;
    const { canvas, plots, before } = this;
    canvas.width = before + Math.max(history.owners.length, Math.ceil((this.last - this.run.first + 1) / history.every));
    canvas.height = plots;
    const brush = canvas.getContext("2d");
    const literals = new Map();
    history.owners.forEach((owners, column) => {
      const fills = coloursOf(this.run.labelsAt(this.roundOf(column)));
      for (let plot = 0; plot < plots; plot += 1) {
        const owner = owners[plot] ?? -1;
        if (owner < 0) continue;
        if (!literals.has(fills[owner])) literals.set(fills[owner], literalOf(fills[owner]));
        brush.fillStyle = literals.get(fills[owner]);
        brush.fillRect(before + column, plot, 1, 1);
      }
    });
    this.refresh();
  }

  move({ round, plot }) {
    this.round = round;
    this.row.style.display = plot === undefined ? "none" : "block";
    this.row.style.top = `${(100 * Number(plot)) / this.plots}%`;
    this.row.style.height = `${100 / this.plots}%`;
    this.refresh();
  }

  // The same as an SVG: a rectangle for the rounds in which an owner keeps a plot.
  picture() {
    const { owners } = this.history;
    const side = 1000 / owners.length;
    const paths = new Map();
    for (let plot = 0; plot < this.plots; plot += 1) {
      for (let from = 0, column = 1; column <= owners.length; column += 1) {
        if (column < owners.length && owners[column][plot] === owners[from][plot]) continue;
        const owner = owners[from][plot];
        if (owner >= 0) paths.set(owner, `${paths.get(owner) ?? ""}M${(from * side).toFixed(2)} ${4 * plot}h${((column - from) * side).toFixed(2)}v4H${(from * side).toFixed(2)}z`);
        from = column;
      }
    }
    const fills = coloursOf(this.run.labelsAt(this.run.last));
    const drawing = svg("svg", { viewBox: `0 0 1000 ${4 * this.plots}`, class: "unseen" }, [...paths].map(([owner, d]) => svg("path", { fill: fills[owner], d })));
    this.node.append(drawing);
    setTimeout(() => drawing.remove()); // it has its styles while it is saved
    return drawing;
  }

  table() {
    const plots = Array.from({ length: this.plots }, (_, plot) => `plot ${plot}`);
    return [["round", ...plots], this.history.owners.map((owners, column) => [this.roundOf(column), ...Array.from(owners, (owner) => (owner < 0 ? "" : owner)).slice(0, this.plots)])];
  }
}
