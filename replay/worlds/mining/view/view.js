// The mining world's part of a run's page.
import { el, plural, replaceAll, rounded } from "../../../view/dom.js";
import { measureCharts } from "../../../view/events.js";
import { searchable } from "../../../view/front.js";
import { folding, GOLD, History, outcome, OWNER } from "./facts.js";
import { legend, PlotMap } from "./map.js";
import { ownersOf } from "./over_time.js";
import { Round } from "./round.js";
import { Story } from "./story.js";
import { openWhy } from "./why.js";

// The view of one run: map, ribbon, text and charts.
class Pane {
  constructor(run, runs, player, index) {
    Object.assign(this, { run, runs });
    this.map = new PlotMap(run, player, index);
    this.owners = ownersOf(run, runs, player);
    this.measures = measureCharts(run, runs, player);
    const name = runs.length > 1 ? `Run ${"AB"[index]}` : null;
    this.story = new Story(run, player, name);
    this.plots = el("section", { "aria-label": name ?? "Plots" },
      name === null ? null : el("h2", {}, name),
      this.map.node, legend(this.map), this.owners.node);
    const over = name === null ? "Over time" : `${name} over time`;
    this.overTime = el("section", { "aria-label": over }, el("h2", {}, over), this.measures.node);
  }

  // Called when the facts of all rounds of all runs are gathered.
  ready() {
    this.owners.draw(this.run.gathered);
  }

  show(position, round, other) {
    const has = (name, count) => (position[name] < count ? position[name] : null);
    const plot = has("plot", plotsOf(round.setup));
    const agent = has("agent", round.setup.players.length);
    const lacks = Object.entries({ plot, agent }).filter(([name, value]) => value === null && position[name] !== undefined);
    const lacking = lacks.map(([name]) => `This run has no ${name} ${position[name]}.`);
    this.round = round;
    this.map.show(round, plot, agent, other);
    this.story.show(round, plot, agent, lacking);
    this.owners.move({ ...position, plot: plot ?? undefined });
    this.measures.move(round.number);
  }

  describe({ plot, agent }) {
    const raids = this.round.of("raid_resolved");
    const captured = raids.filter(({ outcome }) => outcome === "captured").length;
    const { number, facts } = this.round;
    const said = [`round ${number}: ${plural(raids.length, "plot")} raided, ${captured} captured`];
    if (this.round.isOver) said.push(`the run ended with round ${number}`);
    if (facts[OWNER][plot] !== undefined) said.push(`plot ${plot} is ${facts[OWNER][plot] === null ? "nobody" : `agent ${facts[OWNER][plot]}`}'s`);
    if (facts[GOLD][agent] !== undefined) said.push(`agent ${agent} has ${rounded(facts[GOLD][agent])} gold and ${plural(this.round.plotsOf(agent).length, "plot")}`);
    return said.join("; ");
  }
}

class MiningView {
  constructor(room, runs, player) {
    Object.assign(this, { runs, player });
    this.panes = runs.map((run, index) => new Pane(run, runs, player, index));
    this.difference = runs.length > 1 ? el("section", { "aria-label": "Differences" }) : null;
    const beside = (...nodes) => el("div", { class: "panes" }, nodes);
    const [one, two] = this.panes;
    replaceAll(room, two === undefined
      ? [el("div", { class: "round" }, one.plots, one.story.node), one.overTime]
      : [
        beside(one.plots, two.plots), this.difference,
        beside(one.story.node, two.story.node), beside(one.overTime, two.overTime),
      ]);
  }

  ready() {
    if (this.runs.every(({ gathered }) => gathered)) this.panes.forEach((pane) => pane.ready());
  }

  show(position) {
    const rounds = this.runs.map((run) => new Round(run, position.round));
    this.panes.forEach((pane, index) => pane.show(position, rounds[index], areBoth(rounds) ? rounds[1 - index] : null));
    if (this.difference !== null) this.showDifference(rounds);
    if (position.plot !== this.plot) {
      this.plot = position.plot;
      this.player.track();
    }
  }

  // The number of plots with different owners, and a table of the agents' gold in both runs.
  showDifference(rounds) {
    const over = rounds.findIndex(({ isOver }) => isOver);
    if (over >= 0) {
      replaceAll(this.difference, el("p", {}, `Run ${"AB"[over]} ended with round ${this.runs[over].last}: behind it nothing is compared.`));
      return;
    }
    const [a, b] = rounds.map(({ facts }) => facts);
    const agents = Array.from({ length: Math.max(a[GOLD].length, b[GOLD].length) }, (_, agent) => agent);
    const apart = areBoth(rounds) ? a[OWNER].filter((owner, plot) => owner !== b[OWNER][plot]).length : null;
    const [titles, numbers] = [["agent", "gold in A", "gold in B", "B − A"], ["gold in A", "gold in B", "B − A"]];
    replaceAll(this.difference, el("h2", {}, `After round ${this.player.at}`),
      el("p", {}, apart === null ? "The grids differ, so owners are not compared." : `${plural(apart, "plot")} with other owners, outlined in both maps.`),
      searchable("Gold in both runs", titles, agents.map((agent) => goldRow(agent, a[GOLD][agent], b[GOLD][agent])), numbers));
  }

  describe() {
    const said = this.panes.map((pane) => pane.describe(this.player.position));
    return said.length > 1 ? `Run A, ${said[0]}. Run B, ${said[1]}` : said[0];
  }
}

const plotsOf = ({ config }) => config.rows * config.cols;

// Whether two runs can be compared by plot: neither has ended, and their grids are equal.
function areBoth(rounds) {
  const [one, two] = rounds.map(({ setup }) => setup.config);
  return two !== undefined && one.rows === two.rows && one.cols === two.cols && rounds.every(({ isOver }) => !isOver);
}

function goldRow(agent, one, two) {
  const change = one === undefined || two === undefined ? "–" : `${two > one ? "+" : ""}${rounded(two - one)}`;
  return [agent, rounded(one), rounded(two), change];
}

export const WORLD = {
  folding,
  folds: "Owners, since when and how they own, and gold",
  outcome,
  // Parsers of a selected plot or agent, for the numbers that at least one of the runs has.
  selectors(runs) {
    const setups = runs.map((run) => run.setupAt(run.first));
    const { config } = setups[0];
    const most = (count) => Math.max(...setups.map(count));
    const under = (limit) => (text) => (/^\d{1,9}$/.test(text) && Number(text) < limit ? Number(text) : null);
    const numbered = under(most(plotsOf));
    const plotOf = (text) => {
      const [, row, col] = /^(\d{1,6})\s*,\s*(\d{1,6})$/.exec(text) ?? [];
      if (row === undefined) return numbered(text);
      return Number(row) < config.rows && Number(col) < config.cols ? config.cols * Number(row) + Number(col) : null;
    };
    return { plot: plotOf, agent: under(most(({ players }) => players.length)) };
  },
  gather: (run) => new History(run),
  create: (room, runs, player) => {
    runs.forEach(openWhy);
    return new MiningView(room, runs, player);
  },
};
