// The view of a world without one of its own: its state, its events, charts of its states and measures.
import { el, plural, replaceAll } from "./dom.js";
import { eventList, forkNote, measureCharts } from "./events.js";
import { linesOf } from "./lines.js";
import { partsOf, picturesOf, remarksOf } from "./parts.js";
import { stateCharts } from "./series.js";
import { labelOf, stateOf } from "./tables.js";

export const WORLD = (() => {
  class GenericView {
    constructor(room, runs, player) {
      const { unit } = player;
      Object.assign(this, { player, unit, level: runs.length > 1 ? 3 : 2 });
      this.panes = runs.map((run) => ({
        run, parts: partsOf(run, runs, player), pictures: picturesOf(run, unit), state: stateOf(run, runs, unit), series: stateCharts(run, runs, player), charts: measureCharts(run, runs, player),
        heading: el(`h${this.level}`), lines: el("div", { class: "long", tabindex: "0", role: "group", "aria-label": "Sentences" }), events: el("div"),
      }));
      replaceAll(room,
        el("div", { class: "panes" }, this.panes.map(({ run, parts, pictures, state, series, charts, heading, lines, events }, index) =>
          el("section", { "aria-label": runs.length > 1 ? `Run ${"AB"[index]}` : "Run" },
            runs.length > 1 ? el("h2", {}, `Run ${"AB"[index]}`) : null,
            pictures.node, parts.node,
            el("div", { class: "panes" }, state.node, el("section", { "aria-label": labelOf("Events", run, runs) }, heading, lines, events)),
            series.node, charts.node, remarksOf(run)))));
    }

    ready() {}

    show(position) {
      const at = position[this.unit];
      for (const { run, parts, pictures, state, series, charts, heading, lines, events } of this.panes) {
        const occurred = run.events(at);
        state.show(at);
        parts.show(at);
        pictures.show(at);
        heading.textContent = `Events in ${this.unit} ${at}`;
        replaceAll(lines, forkNote(run, at), linesOf(run, occurred, this.level + 1));
        replaceAll(events, eventList(occurred, this.unit));
        for (const chart of [series, charts]) chart.move(at);
      }
    }

    describe() {
      return this.panes.map(({ run }) => `${this.unit} ${this.player.at}: ${plural(run.events(this.player.at).length, "event")}`).join("; ");
    }
  }

  function gather(run) {
    const counts = [];
    return {
      look: (number) => counts.push(run.events(number).length),
      track: (first) => [
        [{ title: "events", kind: "light", values: first < run.first ? [0, ...counts] : counts }], run.forkMarks,
      ],
    };
  }

  return {
    folding: null,
    selectors: () => ({}),
    gather,
    create: (room, runs, player) => new GenericView(room, runs, player),
  };
})();
