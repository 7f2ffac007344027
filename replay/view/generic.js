// The view of a world without one of its own: its state as a tree, its measures, its events.
import { el, jsonOf, plural, replaceAll } from "./dom.js";
import { differenceOf, eventList, forkNote, measureCharts, sentenceOf } from "./events.js";

export const WORLD = (() => {
  // A value as a tree; containers can be opened.
  function tree(name, value, open) {
    if (value === null || typeof value !== "object") {
      return el("div", { class: "leaf" }, el("span", { class: "field" }, name), " ", el("code", {}, jsonOf(value)));
    }
    const items = Object.entries(value);
    const flat = Array.isArray(value) && value.every((item) => item === null || typeof item !== "object");
    if (flat && items.length <= 30) {
      return el("div", { class: "leaf" }, el("span", { class: "field" }, name), " ", el("code", {}, jsonOf(value)));
    }
    const part = el("details", { open }, el("summary", {}, name, el("span", { class: "note" }, ` (${plural(items.length, "item")})`)));
    const fill = () => part.childNodes.length === 1 && part.append(...items.map(([key, item]) => tree(key, item, false)));
    if (open) fill();
    else part.addEventListener("toggle", fill, { once: true });
    return part;
  }

  class GenericView {
    constructor(room, runs, player, page) {
      Object.assign(this, { runs, player, unit: page.vocabulary.unit, page });
      this.panes = runs.map((run) => ({
        run, state: el("div"), events: el("div"), charts: measureCharts(run, runs, page.vocabulary.unit),
      }));
      replaceAll(room,
        page.against === null ? null : differenceOf(page.against, runs, player, this.unit),
        el("div", { class: "panes" }, this.panes.map(({ state, events, charts }, index) =>
          el("section", { "aria-label": runs.length > 1 ? `Run ${"AB"[index]}` : "Run" },
            runs.length > 1 ? el("h2", {}, `Run ${"AB"[index]}`) : null, state, charts.node, events))));
    }

    ready() {}

    show(position) {
      const at = position[this.unit];
      for (const { run, state, events, charts } of this.panes) {
        const shown = run.computed.states.filter(([number]) => number <= at).pop();
        replaceAll(state, shown === undefined
          ? el("p", { class: "note" }, `This page has no state for ${this.unit} ${at}.`)
          : [
            el(this.runs.length > 1 ? "h3" : "h2", {}, `State after ${this.unit} ${shown[0]}`),
            el("p", { class: "note" }, "Computed by the world's rules when this page was made."),
            tree("state", shown[1], true),
          ]);
        const found = run.events(at);
        const lines = found.map((event) => sentenceOf(run, event)).filter((line) => line !== null);
        replaceAll(events, forkNote(run, at), lines.length ? el("ul", { class: "lines" }, lines.map((line) => el("li", {}, line))) : null,
          eventList(found, this.unit));
        charts.move(at);
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
    create: (room, runs, player, page) => new GenericView(room, runs, player, page),
  };
})();
