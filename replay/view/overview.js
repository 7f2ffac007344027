// The page of a folder: for each world charts of the outcome by cell, a table of runs, and each run.
import { hueOf } from "./colours.js";
import { LARGE, dashOf, lineChart, numberText, swatchOf } from "./chart.js";
import { commandLine } from "./command.js";
import { el, extremes, plural, replaceAll, rounded, seen, shellQuoted, tableOf, unpacked } from "./dom.js";
import { FIELDS, addressOf, chosen, numbersOf, stateOf } from "./filter.js";

const CHARTS_MAX = 12; // charts at first, and as many more at a time
const ROWS_MAX = 1000; // rows at first
const PAUSE = 150; // milliseconds after typing
const STILL = { go: () => {}, within: (unit) => unit, isStill: true }; // charts of this page move no player

// The data of a run as a run.
function runOf(data, world, index) {
  const run = { ...data };
  const { path, seed, headline, history } = run;
  const cell = world.cells[run.cell];
  Object.assign(run, {
    index, cell, treatment: cell.treatment, roster: cell.roster,
    standings: run.standings.map(([policy, count, mean, lowest, highest]) => ({ policy, count, mean, lowest, highest })),
  });
  const file = path.split("/").pop().replace(/\.journal$/, "");
  run.name = run.isStudied ? file : path.replace(/\.journal$/, "");
  run.title = run.isStudied ? `${run.treatment}, ${run.roster}${seed === null ? "" : `, seed ${seed}`}` : path;
  run.text = [path, run.treatment, run.roster, headline, history, ...run.standings.map(({ policy }) => policy)].join(" ").toLowerCase();
  return run;
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
  if (world.byPolicy) {
    number("lowest", "lowest", (run) => least(run.standings.map(({ lowest }) => lowest)), `The agent with the lowest ${outcome}.`);
    number("highest", "highest", (run) => most(run.standings.map(({ highest }) => highest)), `The agent with the highest ${outcome}.`);
    text("ahead", (run) => run.standings[0]?.policy ?? "", "leading policy");
  }
  world.columns.forEach(({ name, title, definition }, index) => number(`m:${name}`, title, (run) => run.values[index], definition));
  return new Map(columns.map((column) => [column.name, column]));
}

const known = (values) => values.filter((value) => value !== null);
const least = (values) => extremes(known(values))?.[0] ?? null;
const most = (values) => extremes(known(values))?.[1] ?? null;
const tintOf = (world, policy) => hueOf(world.hues[policy]);

// A chart of the outcome of a run, or of the runs of a cell: a line for each policy; of a cell, in a band, its 95% interval.
function chartOf(world, { spans, lines }, options) {
  const drawn = lines.map(([policy, values, ...band]) => {
    const title = policy || world.outcome.title;
    return {
      title, group: title, values, width: 2, colour: policy ? tintOf(world, policy) : "var(--accent)", dash: policy ? dashOf(world.hues[policy]) : null,
      band: band.length ? band : undefined,
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

// One scale and one span for charts of several runs or cells.
function sharedBy(some) {
  const values = some.flatMap(({ lines }) => lines.flatMap(([, ...rows]) => rows.flat()));
  const [first, last] = extremes(some.flatMap(({ spans }) => [spans[0], spans.at(-1)]).map(([, end]) => end)) ?? [0, 0];
  return { scale: values, span: { first, last } };
}

// One world of the page: what is chosen of its runs, drawn.
class Browser {
  constructor(world, index, room, page) {
    Object.assign(this, { world, index, room, page, prefix: index ? `${index + 1}.` : "" });
    this.runs = world.runs.map((row, at) => runOf(row, world, at));
    this.columns = columnsOf(world, this.runs);
    this.names = ["treatment", "roster"].map((name) => [...new Set(world.cells.map((cell) => cell[name]))]);
    this.state = {};
    this.rows = new Map();
    this.shown = { charts: CHARTS_MAX, rows: ROWS_MAX };
    this.status = el("p", { role: "status", class: "count" });
    this.charts = el("div");
    this.table = el("div", { class: "scroll long runs-table", tabindex: "0", role: "group", "aria-label": "Runs" });
    this.more = el("p");
    room.append(this.controls(), this.charts, el("h2", {}, "Runs"), el("p", { class: "note" }, "A click on a column’s title sorts by it: the lowest first, then the highest, then in the first order."), this.table, this.more);
    this.table.addEventListener("click", (event) => this.clicked(event));
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
    this.page.save();
    this.draw();
  }

  reset() {
    this.state = { sort: this.state.sort };
    this.page.save();
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
      this.rows.set(run, el("tr", { "data-run": run.index }, [...this.columns.values()].map((column, index) => {
        const value = column.of(run);
        if (index === 0) return el("th", { scope: "row" }, this.linkTo(run, value));
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

  linkTo(run, text) {
    return el("a", { href: `#${this.page.address(this, run)}`, "data-open": "", title: run.path }, text);
  }

  // A click anywhere in a row opens its run; one on a link is the link's.
  clicked({ target }) {
    const row = target.closest("tr[data-run]");
    if (row && !target.closest("a, button") && String(getSelection()) === "") this.page.open(this, this.runs[Number(row.dataset.run)]);
  }
}

function moreOf(count, shown, noun, step, more) {
  if (shown >= count) return null;
  const next = Math.min(step, count - shown);
  return el("p", {}, `${rounded(shown)} of ${plural(count, noun)}. `, el("button", { type: "button", click: () => more(next) }, `Show ${rounded(next)} more`));
}

// The page: its worlds, the run that is opened, and the address.
class Page {
  constructor(data) {
    this.dialog = document.getElementById("run");
    this.browsers = [];
    data.worlds.forEach((world, index) => {
      this.browsers.push(new Browser(world, index, document.getElementById(`world-${index}`), this));
    });
    this.dialog.addEventListener("close", () => this.closed());
    globalThis.addEventListener("hashchange", () => this.load());
    this.load();
  }

  // The address of the page as it is, with a run opened.
  address(browser, run) {
    const text = new URLSearchParams();
    for (const { state, prefix } of this.browsers) for (const [name, value] of addressOf(state, prefix)) text.set(name, value);
    if (run) text.set("run", `${browser.index + 1}/${run.path}`);
    return String(text);
  }

  save() {
    history.replaceState(null, "", `#${this.address(this.opened?.[0], this.opened?.[1])}`);
  }

  load() {
    const text = new URLSearchParams(location.hash.slice(1));
    for (const browser of this.browsers) browser.load(stateOf(text, browser.prefix));
    const [, world, path] = /^(\d+)\/(.*)$/s.exec(text.get("run") ?? "") ?? [];
    const browser = this.browsers[Number(world) - 1];
    const run = browser?.runs.find((each) => each.path === path);
    if (run) this.show(browser, run);
    else if (this.dialog.open) this.dialog.close();
  }

  open(browser, run) {
    location.hash = this.address(browser, run);
  }

  closed() {
    this.opened = null;
    this.save();
  }

  show(browser, run) {
    this.opened = [browser, run];
    const at = browser.some.indexOf(run);
    const step = (by, text) => el("button", {
      type: "button", disabled: browser.some[at + by] === undefined || at < 0, "data-step": by,
      click: () => {
        this.opened = [browser, browser.some[at + by]];
        this.save();
        this.show(...this.opened);
        this.dialog.querySelector(`[data-step="${by}"]:enabled`)?.focus();
      },
    }, text);
    replaceAll(this.dialog,
      el("div", { class: "bar" }, step(-1, "← Back"), step(1, "Next →"), el("span", { class: "note" }, at < 0 ? "" : `${rounded(at + 1)} of ${rounded(browser.some.length)}`),
        el("form", { method: "dialog" }, el("button", {}, "Close"))),
      el("h2", { id: "run-title" }, run.title),
      el("p", { class: "lead" }, run.headline),
      run.history ? el("p", { class: "fork" }, run.history) : null,
      run.page ? el("p", {}, el("a", { href: run.page }, "Open the page of this run")) : el("div", {},
        el("p", { class: "note" }, "This command, given in the folder of this page, writes the page of the run and opens it:"),
        commandLine(`goldrush view ${wordOf(run.path)}${browser.world.option} --open`)),
      standingsOf(browser, run), ownChartOf(browser, run), measuresOf(browser, run));
    if (!this.dialog.open) this.dialog.showModal();
  }
}

// A path as a word of a shell; plain ones stay as they are.
function wordOf(path) {
  const word = path.startsWith("-") ? `./${path}` : path;
  return /^[\w./,=+@:-]+$/.test(word) ? word : shellQuoted(word);
}

function standingsOf({ world }, { standings }) {
  if (standings.length === 0) return null;
  const rows = standings.map(({ policy, count, mean, lowest, highest }) =>
    [[swatchOf(tintOf(world, policy)), policy], count, ...[mean, lowest, highest].map(numberText)]);
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Standings" },
    tableOf(["policy", "agents", `${world.outcome.title}, mean`, "lowest", "highest"], rows, ["agents", `${world.outcome.title}, mean`, "lowest", "highest"]));
}

function ownChartOf({ world }, run) {
  if (run.lines.length === 0) return null;
  return chartOf(world, run, { ...sharedBy([run]), title: `${world.outcome.title}${world.byPolicy ? " by policy, mean" : ""}`, size: LARGE });
}

// The measures of a run beside the means of the runs of its treatment, roster and planned length.
function measuresOf({ world, runs }, { cell, values }) {
  if (world.columns.length === 0) return null;
  const mean = `mean of ${plural(runs.filter((run) => run.cell === cell).length, "run")}`;
  const rows = world.columns.map(({ title }, index) => [title, numberText(values[index]), cell.means[index]]);
  return el("div", {}, el("h3", {}, "Measures"), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Measures" },
    tableOf(["measure", "this run", mean], rows, ["this run", mean])));
}

export async function overview() {
  const page = new Page(JSON.parse(new TextDecoder().decode(await unpacked("page"))));
  document.documentElement.dataset.ready = seen(page.browsers.length);
}
