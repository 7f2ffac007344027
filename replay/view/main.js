// The start of the page: read its data, check it, show the position in the address.
import { usePalette } from "./colours.js";
import { el, replaceAll, plural } from "./dom.js";
import { save } from "./download.js";
import { drawFront } from "./front.js";
import { bytesOf } from "./journal.js";
import { OutcomeCheck } from "./outcome.js";
import { Player, drawTrack } from "./player.js";
import { Run } from "./run.js";

// Any error is shown in place of the verdict, and stays.
export function start(world) {
  const failed = (message) => document.querySelectorAll(".seal").forEach((_, index) =>
    say(index, ["broken", `This page cannot be checked, or not shown completely: ${message}.`]));
  globalThis.addEventListener("error", ({ message }) => {
    if (!message.startsWith("ResizeObserver loop")) failed(message); // a layout that takes two frames
  });
  globalThis.addEventListener("unhandledrejection", ({ reason }) => failed(String(reason)));
  begin(world());
}

function begin(WORLD) {
  document.querySelectorAll(".seal").forEach((line, index) => replaceAll(line, which(index), "Being checked: the result will be here."));
  replaceAll(document.getElementById("check"), "being checked …");
  const page = JSON.parse(document.getElementById("page").textContent);
  usePalette(page);
  let player = null; // until the journal is read
  const front = drawFront(page, {
    unit: page.vocabulary.unit, within: (unit) => player?.within(unit) ?? unit, go: (changes) => player?.go(changes),
  });
  // The front is painted before a long journal is read.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    player = open(page, front, WORLD);
  }));
}

function open(page, front, WORLD) {
  const texts = [...document.querySelectorAll("script[data-journal]")].map((node) => node.textContent);
  const runs = page.runs.map((data) => {
    const bytes = () => data.pieces.map((piece) => joined(bytesOf(texts[0]), piece.shared, bytesOf(texts[piece.bytes])));
    return new Run(data, bytes, page, WORLD.folding);
  });

  // A piece: the first `length` bytes of another one, then its own.
  function joined(other, length, own) {
    if (!length) return own;
    const bytes = new Uint8Array(length + own.length);
    bytes.set(other.subarray(0, length));
    bytes.set(own, length);
    return bytes;
  }

  if (runs.some((run) => run.count < 1)) { // no unit is whole: nothing to show
    runs.forEach((run, index) => say(index, run.broken === null
      ? ["broken", "Not checked: the other run of this page cannot be read."] : sealOf(run, index, page, WORLD)));
    return null;
  }
  const first = Math.min(...runs.map((run) => run.first));
  const last = Math.max(...runs.map((run) => run.last));
  let view = null;
  const player = new Player({
    vocabulary: page.vocabulary,
    first: runs.some((run) => run.first === page.vocabulary.first) ? first - 1 : first,
    begin: first,
    last,
    selectors: WORLD.selectors(runs),
    typed: page.selectors,
    passing: WORLD.passing ?? [],
    show: (position) => {
      view.show(position);
      front.move(player.at);
    },
    describe: () => view.describe(),
  });
  view = WORLD.create(document.getElementById("view"), runs, player);
  // The first run is behind the scrubber.
  player.track = () => {
    const { gathered } = runs[0];
    if (gathered) drawTrack(player.first, last, ...gathered.track(player.first, player.position));
  };
  player.draw(false);
  runs.forEach((run, index) => seal(run, index, WORLD.gather(run)));

  // Fold in short pieces, so that the page stays responsive; then show the verdict.
  function seal(run, index, gathered) {
    // The outcome is of the whole run; the table of two runs compares them.
    const check = WORLD.outcome && run.whole && run.trouble === null && run.broken === null
      ? new OutcomeCheck(run, page.fronts[index], WORLD.outcome, runs.length > 1 ? null : [...document.querySelectorAll(".standings tbody tr")]) : null;
    const facts = () => {
      const until = performance.now() + 25;
      while (run.checked < run.count && performance.now() < until) {
        if (run.folding === null) gathered.look(run.first + run.checked++, null);
        else run.foldNext((number, found, events) => {
          gathered.look(number, found, events);
          check?.look(number, found);
        });
      }
      if (run.checked < run.count) {
        setTimeout(facts);
        return;
      }
      run.foldedAll();
      run.gathered = gathered;
      view.ready(run);
      player.track();
      player.draw(false);
      run.sha256().then((sha256) => say(index, sealOf(run, index, page, WORLD, check, sha256)));
    };
    setTimeout(facts);
  }
  return player;
}

// Which of two runs it is.
function which(index) {
  return document.querySelectorAll(".seal").length > 1 ? el("strong", {}, `${"AB"[index]} `) : null;
}

const verdicts = []; // by run: [state, sentence]

// Show whether a run "holds", is "broken" or only "cut", and what else is to be said; an earlier error stays.
function say(index, [state, verdict, ...others]) {
  const line = document.getElementById(`seal-${index}`);
  if (line.classList.contains("broken")) return;
  line.className = `seal ${state}`;
  replaceAll(line, el("p", {}, which(index), el("strong", {}, `${state === "holds" ? "✓" : "✗"} ${verdict}`)), others.map((part) => (part instanceof Node ? part : el("p", {}, part))));
  verdicts[index] = [state, verdict];
  sum();
  document.documentElement.dataset[index ? "sealedOther" : "sealed"] = line.className;
}

// The verdicts on all runs in one line above the headline; a page with a broken run is marked as a whole.
function sum() {
  const seals = [...document.querySelectorAll(".seal")];
  const link = (index, text) => el("a", {
    href: `#seal-${index}`,
    click(event) {
      event.preventDefault(); // the address is the position's
      seals[index].scrollIntoView({ block: "center" });
      seals[index].focus({ preventScroll: true });
    },
  }, text);
  const wrong = ["broken", "cut"].flatMap((state) => seals.map((_, index) => index).filter((index) => verdicts[index]?.[0] === state));
  const check = document.getElementById("check");
  if (wrong.length) {
    const [state, verdict] = verdicts[wrong[0]];
    const isBroken = state === "broken";
    check.className = "check broken";
    document.documentElement.classList.toggle("broken", isBroken);
    replaceAll(check, isBroken ? el("strong", {}, "✗ This page does not hold: do not rely on what stands below. ") : "✗ ", which(wrong[0]), link(wrong[0], verdict.replace(/[:.] .*|\.$/s, "")), ".");
  } else if (seals.every((_, index) => verdicts[index])) {
    check.className = "check holds";
    replaceAll(check, "✓ ", seals.length > 1 ? ["Checked here: ", link(0, "A"), " and ", link(1, "B")] : link(0, "Checked here"));
  }
}

// The verdict on a run: its state (see `say`), a sentence, what was not checked, and the evidence. `check`: that of its
// outcome, or null.
function sealOf(run, index, page, WORLD, check = null, sha256 = null) {
  const { unit, units } = page.vocabulary;
  const { trouble } = run;
  if (run.broken !== null) {
    return ["broken", `The journal in this page is changed or damaged: ${run.broken}. Only the ${units} before that are shown.`];
  }
  if (run.differs !== null) {
    return ["broken", `The facts folded by this page differ from their fingerprints, from ${unit} ${run.differs} on.`];
  }
  if (trouble !== null) {
    return ["cut", `The file of this page breaks off after ${unit} ${run.last}: ${trouble}. The ${units} before that hold.`];
  }
  const differs = check?.verdict() ?? null;
  if (differs !== null) return ["broken", differs];
  const isOne = page.runs.length === 1;
  const recording = run.whole ? "the recording" : `${units} ${run.first} to ${run.last}`;
  const checked = [
    `the bytes of ${recording}`, run.folding === null ? null : "the facts that follow from them",
    check === null ? null : isOne ? "the numbers behind chart and standings" : "the numbers behind its lines in the chart",
  ].filter((text) => text !== null);
  const written = [
    "The sentences on this page", "the names", "the measures",
    ...(!run.whole ? [] : check === null ? ["the chart", "the standings"] : isOne ? [] : ["the table that compares the runs"]),
  ];
  const joined = (parts) => parts.join(", ").replace(/, ([^,]*)$/, " and $1");
  const file = isOne ? "run.journal" : `run-${"ab"[index]}.journal`;
  const chain = `The chain of checksums holds: ${plural(run.commits, "commit")}, ${plural(run.size, "byte")}`;
  return [
    "holds", `Checked here, just now: ${joined(checked)}.`,
    `${joined(written)} were written by the program that made it and are not checked here.`,
    run.whole ? null : "Headline, chart and standings are of the whole run, of which this page has a part: they cannot be checked here.",
    run.whole ? el("p", {}, "To be sure: ", el("button", { type: "button", click: () => save(run.bytes[0], "application/octet-stream", file) }, "Download the journal"),
      " and derive every event again with ", el("code", {}, `goldrush verify ${file}${run.option}`), ".")
      : el("p", {}, "To be sure, take the journal, of which this page has a part: ", el("code", {}, `goldrush verify${run.option}`), " derives every event again."),
    el("details", {}, el("summary", {}, "How it was checked"),
      el("p", {}, run.whole ? `${chain}.` : `${chain}: the start of the run and ${recording}. The checksum before ${unit} ${run.first} cannot be checked here.`),
      run.folding === null ? null : el("p", {}, `${WORLD.folds} agree with the fold in every ${unit} (${run.count}): this page folds them from the events, and compares them with fingerprints made by goldrush.`),
      sha256 === null ? null : el("p", {}, "SHA-256 of the journal: ", el("code", {}, sha256), ". A checksum is no signature: compare it with one from a source that you trust.")),
  ].filter((part) => part !== null);
}
