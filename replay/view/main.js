// The page begins: read what it carries, check it, show the moment that the address says.
import { el, replaceAll, plural } from "./dom.js";
import { bytesOf } from "./journal.js";
import { Player, drawTrack } from "./player.js";
import { Run } from "./run.js";

export function begin(WORLD) {
  const page = JSON.parse(document.getElementById("page").textContent);
  const carried = [...document.querySelectorAll("script[data-journal]")].map((node) =>
    bytesOf(node.textContent));
  const runs = page.runs.map((data) => {
    const pieces = data.pieces.map(({ shared, bytes }) => joined(carried[0], shared, carried[bytes]));
    return new Run(data, pieces, page, WORLD.folding);
  });

  // A piece that begins with the first `length` bytes of another and goes on with its own.
  function joined(other, length, own) {
    if (!length) return own;
    const bytes = new Uint8Array(length + own.length);
    bytes.set(other.subarray(0, length));
    bytes.set(own, length);
    return bytes;
  }

  const first = Math.min(...runs.map((run) => run.first));
  const last = Math.max(...runs.map((run) => run.last));
  let view = null;
  const player = new Player({
    vocabulary: page.vocabulary,
    first: runs.some((run) => run.first === page.vocabulary.first) ? first - 1 : first,
    opening: first,
    last,
    places: WORLD.places(runs),
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
    const line = document.getElementById(`seal-${index}`);
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
      run.gathered = gathered;
      view.ready(run);
      player.track();
      player.draw(false);
      run.sha256().then((sha256) => report(run, line, sha256));
    };
    setTimeout(facts);
  }

  function report(run, line, sha256) {
    const unit = page.vocabulary.unit;
    if (run.broken !== null) {
      line.className = "seal broken";
      replaceAll(line, `The journal in this page does not hold: ${run.broken}. Only what is before that is shown.`);
    } else if (run.differs !== null) {
      line.className = "seal broken";
      replaceAll(line, `What this page folded differs from the print of the fold that it carries, from ${unit} ${run.differs} on.`);
    } else {
      line.className = "seal holds";
      const folded = run.folding === null ? "" : ` What is shown agrees with the fold in all ${plural(run.count, unit)}.`;
      replaceAll(line,
        `The chain of checksums holds: ${plural(run.commits, "commit")}, ${plural(run.size, "byte")}.${folded}`,
        sha256 === null ? "" : [" SHA-256 ", el("code", {}, sha256)]);
    }
    document.documentElement.dataset[`sealed${run === runs[0] ? "" : "Other"}`] = line.className;
  }
}
