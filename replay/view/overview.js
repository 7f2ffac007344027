// The page of a folder: for each world charts of the outcome by cell, and a table of runs.
import { hueOf } from "./colours.js";
import { dashOf, lineChart, numberText, swatchOf } from "./chart.js";
import { commandLine } from "./command.js";
import { el, extremes, plural, replaceAll, rounded, seen, shellQuoted, unpacked } from "./dom.js";
import { FIELDS, addressOf, chosen, numbersOf, stateOf } from "./filter.js";

const CHARTS_MAX = 12; // charts at first, and as many more at a time
const ROWS_MAX = 1000; // rows at first
const PAUSE = 150; // milliseconds after typing
const STILL = { go: () => {}, within: (unit) => unit, isStill: true }; // charts of this page move no player

// The data of a run as a run.
function runOf(data, world) {
  const { path, history, isStudied } = data;
  const cell = world.cells[data.cell];
  const { treatment, roster } = cell;
  const policies = cell.lines.map(([policy]) => policy);
  const file = path.split("/").pop().replace(/\.journal$/, "");
  return {
    ...data, cell, treatment, roster, name: isStudied ? file : path.replace(/\.journal$/, ""),
    text: [path, treatment, roster, history, ...policies].join(" ").toLowerCase(),
  };
}

const isVaried = (runs, of) => runs.some((run) => of(run) !== of(runs[0]));

// The columns of the table by name. A column of equal values has no place in it, but can be filtered by.
function columnsOf(world, runs) {
  const columns = [{ name: "run", title: "run", of: (run) => run.name }];
  const text = (name, of, title = name) => isVaried(runs, of) && columns.push({ name, title, of });
  const number = (name, title, of, definition) => isVaried(runs, of) && columns.push({ name, title, of, definition, isNumber: true });
  text("treatment", (run) => run.treatment);
  text("roster", (run) => run.roster);
  number("seed", "seed", (run) => run.seed);
  number("units", world.units, (run) => run.units);
  const { title: outcome, definition: defined } = world.outcome;
  columns.push({ name: "outcome", title: world.byPolicy ? `${outcome}, mean` : outcome, of: (run) => run.outcome, definition: defined, isNumber: true });
  if (world.byPolicy) text("ahead", (run) => run.ahead, "leading policy");
  world.columns.forEach(({ name, title, definition }, index) => number(`m:${name}`, title, (run) => run.values[index], definition));
  return new Map(columns.map((column) => [column.name, column]));
}

const tintOf = (world, policy) => hueOf(world.hues[policy]);

// A chart of the outcome of the runs of a cell: a line for each policy and, in a band, its 95% interval.
function chartOf(world, { spans, lines }, options) {
  const drawn = lines.map(([policy, values, ...band]) => {
    const title = policy || world.outcome.title;
    return {
      title, values, band, width: 2, colour: policy ? tintOf(world, policy) : "var(--accent)", dash: policy ? dashOf(world.hues[policy]) : null,
    };
  });
  const units = spans.map(([, last]) => last);
  // The units for which a point stands, the last of them: `hours 71–72`.
  const momentOf = (number) => {
    const [first, last] = spans[units.indexOf(number)] ?? [number, number];
    return first === last ? `${world.unit} ${rounded(last)}` : `${world.units} ${rounded(first)}–${rounded(last)}`;
  };
  return lineChart({ unit: world.unit, units, spans, momentOf, definition: world.outcome.definition, lines: drawn, player: STILL, limits: [0], ...options }).node;
}

// One scale and one span for charts of several cells.
function sharedBy(some) {
  const values = some.flatMap(({ lines }) => lines.flatMap(([, ...rows]) => rows.flat()));
  const [first, last] = extremes(some.flatMap(({ spans }) => [spans[0], spans.at(-1)]).map(([, end]) => end)) ?? [0, 0];
  return { scale: values, span: { first, last } };
}

// One world of the page: what is chosen of its runs, drawn.
class Browser {
  // `save()`: puts what is chosen in all worlds into the address.
  constructor(world, index, save) {
    Object.assign(this, { world, save, prefix: index ? `${index + 1}.` : "" });
    this.runs = world.runs.map((row) => runOf(row, world));
    this.columns = columnsOf(world, this.runs);
    this.names = ["treatment", "roster"].map((name) => [...new Set(world.cells.map((cell) => cell[name]))]);
    this.state = {};
    this.rows = new Map();
    this.shown = { charts: CHARTS_MAX, rows: ROWS_MAX };
    this.status = el("p", { role: "status", class: "count" });
    this.charts = el("div");
    this.table = el("div", { class: "scroll long runs-table", tabindex: "0", role: "group", "aria-label": "Runs" });
    this.more = el("p");
    this.command = el("div", {}, el("p", { class: "note" }, "This command, given in the folder of this page, writes the page of a run and opens it; a run’s name puts the run into it."), el("div"));
    this.choose(this.runs[0]);
    document.getElementById(`world-${index}`).append(this.controls(), this.charts, el("h2", {}, "Runs"), el("p", { class: "note" }, "A click on a column’s title sorts by it: the lowest first, then the highest, then in the first order."), this.command, this.table, this.more);
  }

  // The form of filters; its fields have the names of the state.
  controls() {
    const set = (name) => (event) => this.set({ [name]: event.target.value });
    const later = (name) => (event) => {
      clearTimeout(this.timer);
      const { value } = event.target;
      this.timer = setTimeout(() => this.set({ [name]: value }), PAUSE);
    };
    this.fields = {};
    const select = (name, title, options) => this.field(name, title, el("select", { name, change: set(name) },
      options.map(([value, text]) => el("option", { value }, text))));
    const input = (name, title, attributes) => this.field(name, title, el("input", { name, autocomplete: "off", input: later(name), ...attributes }));
    const all = (texts) => [["", "all"], ...texts.map((text) => [text, text])];
    const [treatments, rosters] = this.names;
    return el("form", { class: "filters", role: "search", "aria-label": `Filter ${this.world.name}`, submit: (event) => event.preventDefault() },
      treatments.length > 1 ? select("treatment", "Treatment", all(treatments)) : null,
      rosters.length > 1 ? select("roster", "Roster", all(rosters)) : null,
      this.columns.has("seed") ? input("seed", "Seeds", { size: 8, placeholder: "0-9, 17" }) : null,
      input("find", "Find", { size: 14, type: "search", placeholder: "policy, path, text" }),
      el("button", { type: "button", click: () => this.reset() }, "Show all"), this.status);
  }

  field(name, title, node) {
    this.fields[name] = node;
    return el("label", {}, `${title} `, node);
  }

  set(change) {
    this.state = { ...this.state, ...change };
    this.save();
    this.draw();
  }

  reset() {
    this.state = { sort: this.state.sort };
    this.save();
    this.draw();
  }

  // Take a state from the address.
  load(state) {
    if (this.drawn && FIELDS.every((name) => (state[name] ?? "") === (this.state[name] ?? ""))) return;
    this.state = state;
    this.draw();
  }

  draw() {
    this.drawn = true;
    const isWrong = Boolean(this.state.seed) && numbersOf(this.state.seed) === null;
    for (const [name, node] of Object.entries(this.fields)) {
      if (node !== document.activeElement || node.tagName === "SELECT") node.value = this.state[name] ?? "";
      if (name === "seed" && isWrong) node.setAttribute("aria-invalid", "true");
      else node.removeAttribute("aria-invalid");
    }
    this.some = chosen(this.runs, this.state, this.columns);
    this.shown = { charts: CHARTS_MAX, rows: ROWS_MAX };
    const wrong = isWrong ? " Not understood: seed." : "";
    this.status.textContent = `${this.some.length === this.runs.length ? "" : `${rounded(this.some.length)} of `}${plural(this.runs.length, "run")}.${wrong}`;
    this.drawCharts();
    this.drawTable();
  }

  drawCharts() {
    const groups = this.world.cells.filter((cell) => cell.lines.length && this.some.some((run) => run.cell === cell));
    const some = groups.slice(0, this.shown.charts);
    if (some.length === 0) return replaceAll(this.charts);
    const shared = sharedBy(some);
    const { title } = this.world.outcome;
    const policies = Object.keys(this.world.hues).filter((policy) => some.some(({ lines }) => lines.some(([each]) => each === policy)));
    replaceAll(this.charts,
      el("h2", {}, `${title[0].toUpperCase()}${title.slice(1)} over the ${this.world.units}`),
      el("p", { class: "note" }, "Lines: means over all runs of a treatment, roster and length, on one scale; bands: 95% intervals."),
      this.world.byPolicy ? el("ul", { class: "legend" }, policies.map((policy) => el("li", {}, swatchOf(tintOf(this.world, policy)), policy))) : null,
      el("div", { class: "charts" }, some.map((cell) => chartOf(this.world, cell, { ...shared, title: this.cellTitle(cell), note: cell.note }))),
      moreOf(groups.length, some.length, "chart", CHARTS_MAX, (count) => {
        this.shown.charts += count;
        this.drawCharts();
      }));
  }

  drawTable() {
    const [, sign, name] = /^(-?)(.*)$/s.exec(this.state.sort ?? "");
    const head = [...this.columns.values()].map((column) => {
      const isSorted = column.name === name;
      const next = isSorted ? (sign ? "" : `-${column.name}`) : column.name;
      return el("th", { scope: "col", class: column.isNumber ? "number" : null, "aria-sort": isSorted ? (sign ? "descending" : "ascending") : null },
        el("button", { type: "button", title: column.definition, "data-sort": column.name, click: () => this.sort(next, column.name) },
          column.title, el("span", { "aria-hidden": "true", class: "arrow" }, isSorted ? (sign ? " ▼" : " ▲") : "")));
    });
    const rows = this.some.slice(0, this.shown.rows).map((run) => this.row(run));
    const body = el("tbody");
    body.append(...rows);
    this.table.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, head)), body));
    if (rows.length === 0) this.table.append(el("p", {}, "No run fits the filter."));
    replaceAll(this.more, moreOf(this.some.length, rows.length, "run", ROWS_MAX, (count) => {
      this.shown.rows += count;
      this.drawTable();
    }));
  }

  sort(order, name) {
    this.set({ sort: order });
    this.table.querySelector(`[data-sort="${CSS.escape(name)}"]`).focus();
  }

  row(run) {
    if (!this.rows.has(run)) {
      this.rows.set(run, el("tr", {}, [...this.columns.values()].map((column, index) => {
        const value = column.of(run);
        if (index === 0) return el("th", { scope: "row" }, this.nameOf(run, value));
        return el("td", { class: column.isNumber ? "number" : null }, column.isNumber ? numberText(value) : value);
      })));
    }
    return this.rows.get(run);
  }

  // What tells a cell from the others.
  cellTitle({ treatment, roster, rounds }) {
    const [treatments, rosters] = this.names;
    const isOfLengths = isVaried(this.world.cells, (cell) => cell.rounds);
    const parts = [treatments.length > 1 ? treatment : null, rosters.length > 1 ? roster : null, isOfLengths ? plural(rounds, this.world.unit) : null].filter((part) => part !== null);
    return parts.join(", ") || treatment;
  }

  // The name of a run: a link to its page, or what puts it into the command that writes one.
  nameOf(run, text) {
    const title = `${run.path} ${run.history}`.trim();
    if (run.page) return el("a", { href: run.page, title }, text);
    return el("button", { type: "button", title, click: () => this.choose(run) }, text);
  }

  choose(run) {
    this.command.lastChild.replaceChildren(commandLine(`goldrush view ${wordOf(run.path)}${this.world.option} --open`));
  }
}

function moreOf(count, shown, noun, step, more) {
  if (shown >= count) return null;
  const next = Math.min(step, count - shown);
  return el("p", {}, `${rounded(shown)} of ${plural(count, noun)}. `, el("button", { type: "button", click: () => more(next) }, `Show ${rounded(next)} more`));
}

// A path as a word of a shell; plain ones stay as they are.
function wordOf(path) {
  const word = path.startsWith("-") ? `./${path}` : path;
  return /^[\w./,=+@:-]+$/.test(word) ? word : shellQuoted(word);
}

export async function overview() {
  const { worlds } = JSON.parse(new TextDecoder().decode(await unpacked("page")));
  const browsers = [];
  const save = () => history.replaceState(null, "", `#${browsers.map(({ state, prefix }) => String(addressOf(state, prefix))).filter((text) => text !== "").join("&")}`);
  const load = () => browsers.forEach((browser) => browser.load(stateOf(new URLSearchParams(location.hash.slice(1)), browser.prefix)));
  browsers.push(...worlds.map((world, index) => new Browser(world, index, save)));
  globalThis.addEventListener("hashchange", load);
  load();
  document.documentElement.dataset.ready = seen(browsers.length);
}
