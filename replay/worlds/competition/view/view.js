// The tables of an assignment: who was right, the transcript as cards with lines to what they refer to, claims beside
// their tests, who stands where, and the scores.
import { el, fold, plural, replaceAll, scrolling, svg, tableOf, valueText } from "../../../view/dom.js";
import { commandLine } from "../../../view/command.js";
import { agentLink, answerOf, longText, sentenceOf } from "../../../view/lines.js";

const GUTTER = { step: 7, left: 5, lanes: 6 };
const DOTS = { width: 240, height: 22, left: 6, right: 234, middle: 11 };
const FOLDED = 3; // trials in a row from which on they are folded

// A number line with the bar, what a proposal claimed, and what it tested.
function dotPlot([low, high], bar, [claimed, tested, holds]) {
  const span = high / 2 - low / 2 || 1; // the whole may be larger than the largest number
  const x = (value) => DOTS.left + (DOTS.right - DOTS.left) * ((value / 2 - low / 2) / span);
  const words = [bar === null ? null : `bar ${valueText(bar)}`, `claimed ${valueText(claimed)}`, tested === null ? "not tested" : `tested ${valueText(tested)}, ${holds ? "holds" : "does not hold"}`];
  const cross = tested === null || holds ? null : `M${x(tested) - 5} 6l10 10m0 -10l-10 10`;
  return svg("svg", { class: "dots", viewBox: `0 0 ${DOTS.width} ${DOTS.height}`, role: "img", "aria-label": words.filter(Boolean).join(", ") },
    svg("line", { class: "axis", x1: DOTS.left, x2: DOTS.right, y1: DOTS.middle, y2: DOTS.middle }),
    bar === null ? null : svg("line", { class: "bar", x1: x(bar), x2: x(bar), y1: 3, y2: 19 }),
    svg("circle", { class: "claimed", cx: x(claimed), cy: DOTS.middle, r: 4.5 }),
    tested === null ? null : holds ? svg("circle", { class: "holds", cx: x(tested), cy: DOTS.middle, r: 4 }) : svg("path", { class: "fails", d: cross }));
}

class Table {
  // `number`: of the table; `events`: at it; `other`: those of the same table in the other run, or null.
  constructor(view, at, number, table, events, other, chosen) {
    Object.assign(this, { ...view, at, number, table, events, chosen });
    this.theirs = other === null ? null : new Map(other.filter(({ behind }) => behind.id !== undefined).map((event) => [event.behind.id, JSON.stringify(event.parts)]));
    const values = events.flatMap(({ behind }) => behind.claim ?? []).concat(table.bar).filter((value) => typeof value === "number");
    this.scale = [Math.min(...values), Math.max(...values)];
  }

  link(id) {
    return el("a", { href: this.player.href({ line: `${this.number}.${id}` }) }, `#${id}`);
  }

  // Text with its contributions as links.
  linked = (text) => text.split(/#(\d+)/).map((part, index) => (index % 2 ? this.link(Number(part)) : part));

  sentence(event) {
    return sentenceOf(this.run, this.player, event, this.linked);
  }

  node() {
    const { about, says, bar } = this.table;
    return el("section", { class: "table", "aria-label": `Table ${this.number}` },
      el(`h${this.level}`, {}, `Table ${this.number}: ${about}`),
      el("p", { class: "note" }, bar === null ? "There is no bar." : `The bar is ${valueText(bar)}.`),
      el("ul", { class: "says" }, says.map((parts) => el("li", {}, this.sentence({ parts })))),
      this.transcript(), this.sides(), this.scores());
  }

  transcript() {
    const gutter = svg("svg", { class: "edges", "aria-hidden": "true" });
    const list = el("ol", { class: "cards" }, this.rows());
    new ResizeObserver(() => this.drawEdges(gutter, list)).observe(list);
    return el("div", { class: "transcript" }, gutter, list);
  }

  // The cards, successive trials in one.
  rows() {
    const rows = [];
    let trials = [];
    const close = () => {
      const lines = trials.map((event) => el("p", { class: "aside" }, this.sentence(event)));
      if (lines.length >= FOLDED) rows.push(el("li", { class: "trials" }, fold(plural(lines.length, "trial"), false, () => lines)));
      else if (lines.length) rows.push(el("li", { class: "trials" }, lines));
      trials = [];
    };
    for (const event of this.events) {
      if (event.event === "tried" && !event.behind.refused) trials.push(event);
      else {
        close();
        rows.push(this.card(event));
      }
    }
    close();
    return rows;
  }

  card(event) {
    const { id, move, claim, marks = [], refused } = event.behind;
    const isChosen = id !== undefined && this.chosen === `${this.number}.${id}`;
    const differs = this.theirs !== null && id !== undefined && this.theirs.get(id) !== JSON.stringify(event.parts);
    const kind = refused ? "refused" : event.event === "spoke" ? move : event.event;
    const chip = (text, look) => [" ", el("span", { class: `chip ${look}` }, text)];
    return el("li", { class: `${event.event === "spoke" ? "card" : "aside"} ${kind}${differs ? " differs" : ""}`, "data-line": id, "aria-current": isChosen ? "true" : null },
      el("p", {}, this.sentence(event),
        marks.map((mark) => chip(mark, mark.startsWith("redirected") ? "bad" : "good")), differs ? chip("differs", "differ") : null),
      refused ? el("p", { class: "bad" }, `Refused: ${refused}`) : null,
      event.fault ? el("p", { class: "bad" }, "The model gave no usable answer.") : null,
      claim ? el("div", { class: "claim" }, dotPlot(this.scale, this.table.bar, claim), claim[1] === null ? null : el("span", { class: `chip ${claim[2] ? "good" : "bad"}` }, claim[2] ? "holds" : "does not hold")) : null,
      answerOf(this.run, this.at, event));
  }

  // Lines from each card to those that it refers to.
  drawEdges(gutter, list) {
    const top = list.getBoundingClientRect().top;
    const places = new Map([...list.querySelectorAll("[data-line]")].map((card) => [Number(card.dataset.line), card.getBoundingClientRect().top - top + 18]));
    const edges = this.events.map(({ behind }) => behind).filter(({ id, refs }) => id !== undefined && refs)
      .flatMap(({ id, move, refs }) => refs.map((to) => ({ from: id, to, move, low: places.get(to), high: places.get(id) })))
      .filter(({ low, high }) => low !== undefined && high !== undefined).toSorted((one, other) => one.high - one.low - (other.high - other.low));
    const lanes = [];
    for (const edge of edges) {
      let lane = lanes.findIndex((taken) => taken.every(({ low, high }) => edge.high <= low || edge.low >= high));
      if (lane < 0) lane = lanes.length < GUTTER.lanes ? lanes.push([]) - 1 : GUTTER.lanes - 1;
      lanes[lane].push(edge);
      edge.lane = lane;
    }
    const [width, height] = [GUTTER.left + GUTTER.step * (lanes.length + 1), list.offsetHeight];
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) gutter.setAttribute(name, value);
    gutter.replaceChildren(...edges.map(({ from, to, move, low, high, lane }) => {
      const [x, end] = [width - GUTTER.left - GUTTER.step * (lane + 1) + 2, low + 5];
      const isChosen = [from, to].some((id) => `${this.number}.${id}` === this.chosen);
      return svg("g", { class: `edge ${move}${isChosen ? " chosen" : ""}` },
        svg("path", { d: `M${width} ${high}H${x + 5}Q${x} ${high} ${x} ${high - 5}V${end + 5}Q${x} ${end} ${x + 5} ${end}H${width - 6}` }),
        svg("path", { class: "tip", d: `M${width} ${end}l-7 -3.5v7z` }));
    }));
  }

  agent(agent) {
    return agentLink(this.run, this.player, agent);
  }

  sides() {
    const stance = (id) => (id === null ? "–" : this.link(id));
    const rows = this.table.sides.map(([agent, ...stances]) => [this.agent(agent), ...stances.map(stance)]);
    return this.part("Who stands where", ["worker", "after the talk", "after the proof", "in the end"], rows, []);
  }

  scores() {
    const numbers = ["novelty", "accuracy", "impact", "challenge", "total"];
    const why = (reason, index) => el("p", {}, `${numbers[index]}: “`, longText(reason), "”");
    const { scores } = this.table;
    const rows = scores.map(([agent, four, total, reasons]) => [this.agent(agent), ...four, total, reasons.map(why)]);
    const command = `goldrush score run.journal --at ${this.at} --agent ${scores[0]?.[0]}${this.run.option}`;
    return [this.part("Scores", ["worker", ...numbers, "the therapist's reasons"], rows, numbers), scores.length ? commandLine(command) : null];
  }

  part(title, head, rows, numbers) {
    return rows.length ? [el(`h${this.level + 1}`, {}, title), scrolling(`${title}, table ${this.number}`, tableOf(head, rows, numbers))] : null;
  }
}

// The events at a table of an assignment.
const eventsAt = (run, at, number, { group }) => run.groupsAt(at).filter(([title]) => title === group)
  .flatMap(([, events]) => events).filter(({ behind }) => (behind.table ?? 0) === number);

function partOf(run, runs, player) {
  const node = el("div", {});
  const other = runs.find((each) => each !== run) ?? null;
  const level = runs.length > 1 ? 3 : 2;
  const show = (at, { line = null }) => {
    const tables = run.valueAt("tables", at) ?? [];
    replaceAll(node, tables.map((table, number) =>
      new Table({ run, player, level }, at, number, table, eventsAt(run, at, number, table), other !== null && at <= other.last ? eventsAt(other, at, number, table) : null, line).node()));
    if (line !== null) node.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  };
  return { node, show };
}

const selectorsOf = () => ({ line: (text) => (/^\d{1,4}\.\d{1,6}$/.test(text) ? text : null) });

export const WORLD = { partOf, isLong: true, selectorsOf, passing: ["line"] };
