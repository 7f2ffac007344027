// The page begins: read what it carries, check it, show the moment that the address says.
import { el, replaceAll, plural } from "./dom.js";
import { bytesOf } from "./journal.js";
import { Player, drawTrack } from "./player.js";
import { Run } from "./run.js";

// An error anywhere is shown in place of the verdict, and stays.
export function start(world) {
  const failed = (message) => document.querySelectorAll(".seal").forEach((_, index) =>
    say(index, [false, `This page cannot be checked, or shown whole: ${message}.`]));
  globalThis.addEventListener("error", ({ message }) => {
    if (!message.startsWith("ResizeObserver loop")) failed(message); // a layout that takes two frames
  });
  globalThis.addEventListener("unhandledrejection", ({ reason }) => failed(String(reason)));
  begin(world());
}

function begin(WORLD) {
  const page = JSON.parse(document.getElementById("page").textContent);
  const texts = [...document.querySelectorAll("script[data-journal]")].map((node) => node.textContent);
  const runs = page.runs.map((data) => {
    const bytes = () => data.pieces.map((piece) => joined(bytesOf(texts[0]), piece.shared, bytesOf(texts[piece.bytes])));
    return new Run(data, bytes, page, WORLD.folding);
  });

  // A piece that begins with the first `length` bytes of another and goes on with its own.
  function joined(other, length, own) {
    if (!length) return own;
    const bytes = new Uint8Array(length + own.length);
    bytes.set(other.subarray(0, length));
    bytes.set(own, length);
    return bytes;
  }

  if (runs.some((run) => run.count < 1)) { // not one unit of it is whole: there is nothing to show
    runs.forEach((run, index) => say(index, run.broken === null
      ? [false, "Not checked: the other run of this page cannot be read."] : sealOf(run, null, page, WORLD)));
    return;
  }
  const first = Math.min(...runs.map((run) => run.first));
  const last = Math.max(...runs.map((run) => run.last));
  let view = null;
  const player = new Player({
    vocabulary: page.vocabulary,
    first: runs.some((run) => run.first === page.vocabulary.first) ? first - 1 : first,
    opening: first,
    last,
    selectors: WORLD.selectors(runs),
    typed: page.selectors,
    passing: WORLD.passing ?? [],
    show: (moment) => view.show(moment),
    describe: () => view.describe(),
  });
  view = WORLD.create(document.getElementById("view"), runs, player, page);
  // Behind the scrubber stands the first run.
  player.track = () => {
    const { gathered } = runs[0];
    if (gathered) drawTrack(player.first, last, ...gathered.track(player.first, player.moment));
  };
  player.draw(false);
  runs.forEach((run, index) => seal(run, index, WORLD.gather(run)));

  // Fold in pieces short enough that nothing stutters; then say what was found.
  function seal(run, index, gathered) {
    const facts = () => {
      const until = performance.now() + 25;
      while (run.checked < run.count && performance.now() < until) {
        if (run.folding === null) gathered.look(run.first + run.checked++, null);
        else run.foldNext((number, found, events) => gathered.look(number, found, events));
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
      run.sha256().then((sha256) => say(index, sealOf(run, sha256, page, WORLD)));
    };
    setTimeout(facts);
  }
}

// Say of a run whether it holds; what was found wrong before stays.
function say(index, [holds, headline, ...details]) {
  const line = document.getElementById(`seal-${index}`);
  if (line.classList.contains("broken")) return;
  line.className = holds ? "seal holds" : "seal broken";
  replaceAll(line, el("details", { open: !holds },
    el("summary", {}, `${holds ? "✓" : "✗"} ${headline}`), details.map((text) => el("p", {}, text))));
  document.documentElement.dataset[index ? "sealedOther" : "sealed"] = line.className;
}

// Whether a run holds, that in a sentence, and what it rests on.
function sealOf(run, sha256, page, WORLD) {
  const { unit } = page.vocabulary;
  const { trouble } = run;
  if (run.broken !== null) {
    return [false, `The journal in this page does not hold: ${run.broken}. Only what is before that is shown.`];
  }
  if (run.differs !== null) {
    return [false, `What this page folded differs from the print of the fold that it carries, from ${unit} ${run.differs} on.`];
  }
  if (trouble !== null) {
    return [false, `The file that this page was made from breaks off behind ${unit} ${run.last}: ${trouble}. What is before that holds.`];
  }
  const folded = run.folding === null ? "" : ", and what is folded from it agrees with goldrush";
  const bytes = plural(run.size, "byte");
  return [
    true, `Checked here, just now: the journal in this page holds${folded}.`,
    run.whole
      ? `The chain of checksums holds: ${plural(run.commits, "commit")}, ${bytes}.`
      : `The chain of checksums holds: ${plural(run.commits, "commit")}, ${bytes}: the start of the run and ${page.vocabulary.units} ${run.first} to ${run.last}. The checksum before ${unit} ${run.first} is taken as it stands in the page.`,
    run.folding === null ? null : `${WORLD.folds} agree with the fold in every ${unit} (${run.count}): this page folds them from the events, and carries a print of what goldrush folded.`,
    run.measures.length ? "Measures, and what is marked as worked out when this page was made, are not checked here." : null,
    sha256 === null ? null : ["SHA-256 ", el("code", {}, sha256)],
  ].filter((text) => text !== null);
}
