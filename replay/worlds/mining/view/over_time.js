// Charts of a mining run over time: owners and gold.
import { lineChart, sampleOf, spanOf } from "../../../view/chart.js";
import { el } from "../../../view/dom.js";
import { changesOf } from "../../../view/events.js";
import { AGENTS_MAX, calledOf, fillOf } from "./style.js";

const PLOTS_MAX = 2500; // rows of the ribbon

// The ribbon: a row for each plot, coloured by owner over the rounds; a click selects round and plot. Its
// scales hold the rounds and plots of all `runs` of the page.
export function ribbonOf(run, runs, player) {
  const plotsIn = (each) => each.setupAt(each.first).config.rows * each.setupAt(each.first).config.cols;
  const plots = Math.min(Math.max(...runs.map(plotsIn)), PLOTS_MAX);
  const { first, last } = spanOf(runs);
  const count = last - first + 1;
  const canvas = el("canvas", { role: "img", "aria-label": "Owners of all plots over all rounds" });
  const cursor = el("div", { class: "ribbon-cursor" });
  const row = el("div", { class: "ribbon-row" });
  const frame = el("div", { class: "ribbon" }, canvas, row, cursor);
  const at = (round) => (round - first + 0.5) / count;
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    const plot = Math.floor(((event.clientY - box.top) / box.height) * plots);
    player.go({ round: player.within(first + Math.floor(part * count)), plot });
  });
  return {
    node: el("figure", { class: "over-time" },
      el("figcaption", {}, el("strong", {}, "Who owned what"), el("span", { class: "note" }, ` ${plots < plotsIn(run) ? `the first ${plots} of ${plotsIn(run)} ` : ""}plots by rounds, coloured by owner; click to go there`)),
      frame),
    draw(history) {
      if (!history.owners.length) return;
      const before = Math.floor((run.first - first) / history.every);
      canvas.width = before + Math.max(history.owners.length, Math.ceil((last - run.first + 1) / history.every));
      canvas.height = plots;
      const context = canvas.getContext("2d");
      const picture = context.createImageData(canvas.width, plots);
      const colours = new Map();
      history.owners.forEach((owners, column) => {
        for (let plot = 0; plot < plots; plot += 1) {
          const owner = owners[plot] ?? -1;
          if (owner < 0) continue;
          if (!colours.has(owner)) colours.set(owner, fillOf(owner).match(/[0-9a-f]{2}/g).map((part) => Number.parseInt(part, 16)));
          picture.data.set([...colours.get(owner), 255], 4 * (plot * canvas.width + before + column));
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

// The policies of an agent in the rounds of the page, one after the other.
function playedBy(run, agent) {
  return changesOf(run.rosters.map(([first, players]) => [first, calledOf(players[agent])]), "round");
}

export function goldChart(run, runs, size) {
  const agents = Math.min(run.setupAt(run.first).players.length, AGENTS_MAX);
  const chart = lineChart({
    title: "gold by agent", unit: "round", size, from: run.first, runs, limits: [0],
    scale: runs.flatMap(({ gathered }) => gathered.gold.flatMap((gold) => gold.slice(0, AGENTS_MAX))),
    series: Array.from({ length: agents }, (_, agent) => ({ title: `agent ${agent}`, values: run.gathered.gold.map((gold) => gold[agent]) })),
  });
  const key = el("ul", { class: "legend" }, Array.from({ length: agents }, (_, agent) =>
    el("li", {}, sampleOf(agent), `${agent} ${playedBy(run, agent)}`)));
  return { node: el("div", { class: "wide" }, chart.node, key), move: chart.move };
}
