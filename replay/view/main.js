// The start of the page: read its data, show the position in the address, compare the journal's SHA-256.
import { usePalette } from "./colours.js";
import { el, plural, replaceAll, unpacked } from "./dom.js";
import { save } from "./download.js";
import { drawFront } from "./front.js";
import { linesOf, lineOf, storyOf } from "./lines.js";
import { Player, drawTrack } from "./player.js";
import { Run } from "./run.js";
import { chartsOfRun } from "./series.js";
import { labelOf, stateOf } from "./tables.js";

const MARKS_MAX = 100; // marked units of a selection
const SIGNS = { holds: "✓ ", broken: "✗ ", unknown: "" };
const VERDICTS = {
  holds: "The journal has the SHA-256 below",
  broken: "The journal in this page is not the one that it shows: do not rely on it",
  unknown: "The journal was not compared",
};

// `WORLD`: the part of the page that the world draws (replay/view/README.md), or null. Any error is shown, and stays.
export function start(WORLD) {
  const failed = (message) => judge("broken", `This page cannot be shown completely: ${message}`);
  globalThis.addEventListener("error", ({ message }) => {
    if (!message.startsWith("ResizeObserver loop")) failed(message); // a layout that takes two frames
  });
  globalThis.addEventListener("unhandledrejection", ({ reason }) => failed(String(reason)));
  unpacked("page").then((bytes) => open(JSON.parse(new TextDecoder().decode(bytes)), WORLD));
}

function open(page, WORLD) {
  usePalette(page);
  const runs = page.runs.map((data) => new Run(data, page));
  const [first, last] = [Math.min(...runs.map((run) => run.first)), Math.max(...runs.map((run) => run.last))];
  let draw = () => {};
  const player = new Player({
    unit: page.unit, first: first === page.begin ? first - 1 : first, begin: first, last,
    selectors: { ...Object.fromEntries(page.selectors.map((name) => [name, numberOf])), agent: (text) => agentOf(runs, text), ...WORLD?.selectorsOf(runs) },
    passing: WORLD?.passing ?? [], show: () => draw(),
    describe: () => runs.map((run) => `${page.unit} ${player.at}: ${plural(run.eventsAt(player.at).length, "event")}`).join("; "),
  });
  const front = drawFront(page, player);
  const panes = runs.map((run, index) => new Pane(run, runs, player, index, WORLD));
  replaceAll(document.getElementById("view"), el("div", { class: runs.length > 1 ? "panes" : null }, panes.map(({ node }) => node)));
  draw = () => {
    front.move(player.at);
    drawTrack(player.first, last, marksOf(runs[0], player));
    panes.forEach((pane) => pane.show(player.position));
  };
  player.draw(false);
  Promise.all(runs.map((run, index) => compare(run, index))).then((states) => {
    const state = ["broken", "unknown"].find((each) => states.includes(each)) ?? "holds";
    judge(state, state === "holds" && runs.length > 1 ? "The journals have the SHA-256 below" : VERDICTS[state]);
    document.documentElement.dataset.sealed = "";
  });
}

const numberOf = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : null);

// The agent of an address: its name, or its number; null if no run has it.
function agentOf(runs, text) {
  if (runs.some(({ numbers }) => numbers.has(text))) return text;
  const agent = numberOf(text);
  return agent !== null && runs.some((run) => agent < run.count) ? agent : null;
}

// The units behind the scrubber that failures, forks and a selection mark.
function marksOf(run, player) {
  const forks = run.forks.map(([at]) => ({ at, kind: "fork", title: "fork" }));
  const isFailed = ([, lines]) => lines.some((line) => line.at(-1)?.fault);
  const faults = run.lines.flatMap((groups, index) => (groups.some(isFailed) ? [{ at: run.first + index, kind: "failed", title: "failed answers" }] : []));
  return [run.location, "agent"].reduce((marks, name) => {
    const number = run.numberOf(player.position[name] ?? null);
    if (number === null) return marks;
    const units = [...new Set(run.eventsOf(name === "agent" ? "agent" : "place", number).map(([unit]) => unit))];
    return units.length > MARKS_MAX ? marks : [...marks, ...units.map((at) => ({ at, kind: "change", title: `${name} ${player.position[name]}` }))];
  }, [...faults, ...forks]);
}

// One run of the page.
class Pane {
  constructor(run, runs, player, index, WORLD) {
    Object.assign(this, { run, runs, player, level: runs.length > 1 ? 3 : 2, isOne: runs.length === 1 });
    this.part = WORLD?.partOf(run, runs, player, index) ?? { node: null, show() {} };
    this.state = stateOf(run, runs, player);
    this.charts = chartsOfRun(run, runs, player);
    this.said = el("div", {});
    const state = this.state.node;
    this.node = el("section", { "aria-label": this.isOne ? "Run" : `Run ${"AB"[index]}` }, this.isOne ? null : el("h2", {}, `Run ${"AB"[index]}`),
      el("div", { class: "round" }, el("div", {}, this.part.node, WORLD?.isLong ? null : state),
        el("div", {}, el("section", { "aria-label": labelOf("Events", run, runs) }, this.said), WORLD?.isLong ? state : null)),
      this.charts.node);
  }

  show(position) {
    const { run, player, level } = this;
    const at = Math.min(player.at, run.last);
    this.part.show(at, position);
    this.state.show(at);
    this.charts.move(player.at);
    replaceAll(this.said,
      player.at > run.last ? el("p", { class: "fork" }, `This run ended with ${run.unit} ${run.last}, which is shown.`) : null,
      ["agent", run.location].filter(Boolean).map((name) => this.selected(name, run.numberOf(position[name] ?? null), at)),
      el(`h${level}`, {}, at < player.begin ? `Before ${run.unit} ${player.begin}` : `Events in ${run.unit} ${at}`),
      linesOf(run, player, at, level + 1));
  }

  // What is selected: what it does in this unit, and its story.
  selected(name, value, at) {
    if (value === null) return null;
    const { run, runs, player, level } = this;
    const [form, isAgent] = name === "agent" ? ["agent", true] : ["place", false];
    const title = isAgent ? `${run.names[value] === undefined ? "Agent" : ""} ${run.names[value] ?? value} ${run.labelsAt(at)[value] ?? ""}`.trim() : `${name[0].toUpperCase()}${name.slice(1)} ${value}`;
    const here = run.eventsAt(at).filter((event) => (isAgent ? event.agent === value : event[name] === value));
    return el("section", { class: "selected", "aria-label": labelOf(`${name} ${value}`, run, runs) },
      el(`h${level}`, {}, title, el("a", { class: "close", href: player.href({ [name]: null }), "aria-label": `Close ${name}` }, "close")),
      isAgent && !(value < run.count) ? el("p", {}, `This run has no agent ${value}.`) : null,
      here.length ? el("ul", { class: "lines" }, here.map((event) => lineOf(run, player, at, event))) : null,
      storyOf(run, player, at, form, value, !here.length));
  }
}

// Compare a journal with its SHA-256 and offer it; returns whether it holds, is broken, or is not known.
async function compare(run, index) {
  const seal = document.getElementById(`seal-${index}`);
  if (document.getElementById(`journal-${index}`) === null) {
    seal.textContent = "The journal is too large for this page.";
    return "unknown";
  }
  const bytes = await unpacked(`journal-${index}`);
  const place = document.querySelectorAll("[data-download]")[index];
  replaceAll(place, el("button", { type: "button", click: () => save(bytes, "application/octet-stream", place.dataset.download) }, "Download the journal"));
  if (!globalThis.crypto?.subtle) {
    seal.textContent = "It cannot be compared here.";
    return "unknown";
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const state = found === run.sha256 ? "holds" : "broken";
  seal.className = `seal ${state}`;
  seal.textContent = state === "holds" ? "✓ The journal in this page has it." : `✗ The journal in this page has another one: ${found}.`;
  return state;
}

// Show the verdict at the top; one that is broken stays.
function judge(state, text) {
  const check = document.getElementById("check");
  if (check.classList.contains("broken")) return;
  check.className = `check ${state}`;
  replaceAll(check, `${SIGNS[state]}${text}`);
}
