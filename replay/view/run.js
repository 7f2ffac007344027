// A run as the page shows it: the journal's units with their events, and what its world folds from
// them, unit by unit, held against the prints that the page carries.
import { readCommits, eventsOf, printOf, UNIT, END, FORK } from "./journal.js";

export class Run {
  // `data`: what the page carries beside the journal (replay/view/page.py says what); `schemas`,
  // `vocabulary`: of its world; `folding`: {apply(facts, event, number)}, or null where the world
  // has no facts.
  constructor(data, pieces, page, folding) {
    Object.assign(this, {
      title: data.title,
      names: data.names,
      measures: data.measures,
      computed: data.computed,
      setups: data.setups,
      bytes: pieces,
      schemas: page.events,
      vocabulary: page.vocabulary,
      first: data.first,
      last: data.last,
      whole: data.whole,
      prints: data.prints,
      size: data.size,
      folding,
    });
    this.units = new Map(); // number -> {digest, blocks, forks}
    this.differs = null; // the first unit whose facts are not those of the print
    this.checked = 0; // units folded and compared so far
    this.snapshots = new Map([[data.first - 1, data.facts]]);
    this.snapshotEvery = Math.max(1, Math.ceil((this.count * sizeOf(data.facts)) / 4e6));
    this.read(data.pieces);
  }

  get count() {
    return this.last - this.first + 1;
  }

  // Read the commits; an error in the chain of checksums is kept in `broken`, and what is before it is
  // shown.
  read(pieces) {
    const shift = this.vocabulary.first - 1;
    this.broken = null;
    this.commits = 0;
    this.finished = false;
    try {
      pieces.forEach(({ offset, before }, index) => {
        const checksum = before === null ? null : BigInt(`0x${before}`);
        for (const commit of readCommits(this.bytes[index], offset, checksum)) {
          this.commits += 1;
          const unit = this.unit(commit.unit + shift);
          if (commit.kind === FORK) this.unit(commit.unit + shift + 1).forked = commit.setup;
          if (commit.kind === END) this.finished = true;
          if (commit.kind !== UNIT) continue;
          unit.blocks.push(...commit.blocks);
          unit.digest = commit.digest;
        }
      });
    } catch (error) {
      this.broken = error.message;
      const whole = [...this.units.values()].filter(({ digest }) => digest !== null);
      this.last = Math.max(this.first - 1, ...whole.map(({ number }) => number));
    }
  }

  // The settings and the players that hold in a unit: {config, players}.
  setupAt(number) {
    return this.setups.filter(([from], index) => index === 0 || from <= number).pop()[1];
  }

  unit(number) {
    if (!this.units.has(number)) {
      this.units.set(number, { number, blocks: [], digest: null, forked: null });
    }
    return this.units.get(number);
  }

  // What a fork before a unit changed, or null; and all of them as marks behind the scrubber.
  forkBefore(number) {
    return this.units.get(number)?.forked ?? null;
  }

  get forkMarks() {
    return [...this.units.values()].filter(({ forked }) => forked !== null)
      .map(({ number }) => ({ at: number, kind: "fork", title: "fork" }));
  }

  // The events of a unit in their logical form.
  events(number) {
    return eventsOf(this.units.get(number)?.blocks ?? [], this.schemas);
  }

  // Fold the next unit and compare it with its print; `seen(number, facts, events)` is shown it.
  foldNext(look) {
    const number = this.first + this.checked;
    const facts = this.current ?? copied(this.snapshots.get(this.first - 1));
    this.current = facts;
    const events = this.apply(facts, number);
    const print = printOf(facts);
    if (this.differs === null && print !== this.prints.slice(16 * this.checked, 16 * this.checked + 16)) {
      this.differs = number;
    }
    this.checked += 1;
    if (this.checked % this.snapshotEvery === 0) this.snapshots.set(number, copied(facts));
    look(number, facts, events);
  }

  // Change the facts by a unit; gives its events. A fork before it is one more.
  apply(facts, number) {
    const events = this.events(number);
    const forked = this.forkBefore(number);
    if (forked !== null) this.folding.apply(facts, { event: "forked", ...forked }, number);
    for (const event of events) this.folding.apply(facts, event, number);
    return events;
  }

  // The facts after a unit, folded from the last snapshot before it.
  factsAt(number) {
    let from = number;
    while (!this.snapshots.has(from)) from -= 1;
    const facts = copied(this.snapshots.get(from));
    for (let next = from + 1; next <= number; next += 1) {
      this.apply(facts, next);
    }
    return facts;
  }

  // The journal's bytes, where the page carries all of them.
  async sha256() {
    if (!this.whole || !globalThis.crypto?.subtle) return null;
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", this.bytes[0]));
    return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

const copied = (value) =>
  value.map((item) => (Array.isArray(item) ? copied(item) : item));

const sizeOf = (value) =>
  Array.isArray(value) ? value.reduce((sum, item) => sum + sizeOf(item), 1) : 1;
