// A run of the page: the journal's units with their events, and the facts folded from them, unit by unit,
// compared with the fingerprints in the page.
import { readCommits, eventsOf, printOf, START, UNIT, FORK } from "./journal.js";

export const SENTENCE = Symbol("the sentence of an event: see replay/view/told.py");

// The policy of each agent of a roster: [[policy, number of neighbours that play it], ...].
export const labelsOf = (parts) => parts.flatMap(([policy, count]) => Array.from({ length: count }, () => policy));

// The policies of an agent, one after the other: "a, from round 5 b"; `rosters`: [first unit, roster] of each.
export function playedBy(rosters, agent, unit) {
  const names = rosters.map(([from, parts]) => [from, labelsOf(parts)[agent] ?? ""]);
  return names.filter(([, name], index) => name !== names[index - 1]?.[1])
    .map(([from, name], index) => (index ? `from ${unit} ${from} ${name}` : name)).join(", ");
}

export class Run {
  // `data`: the page's data on the run (Carried in replay/view/carried.py); `bytes()`: the journal's pieces;
  // `page`: schemas and vocabulary of its world; `folding`: {apply(facts, event, number)}, or null for a
  // world without facts.
  constructor(data, bytes, page, folding) {
    Object.assign(this, {
      names: data.names,
      option: data.option, // of commands that derive its events again
      measures: data.measures,
      computed: data.computed,
      setups: data.setups, // empty for a whole run, whose journal has them
      forks: data.forks, // [first unit, sentence] of each
      rosters: data.rosters, // [first unit, roster] of each
      sentences: data.sentences,
      schemas: page.events,
      vocabulary: page.vocabulary,
      first: data.first,
      last: data.last,
      whole: data.whole,
      trouble: data.trouble, // the error that breaks off the file of the page
      prints: data.prints,
      folding,
    });
    this.units = new Map(); // number -> {digest, blocks, forks}
    this.broken = null; // the error in the journal
    this.differs = null; // the first unit whose facts differ from the fingerprint
    this.checked = 0; // units folded and compared so far
    this.commits = 0;
    this.read(data.pieces, bytes);
    this.snapshots = new Map([[this.first - 1, data.facts]]);
    this.snapshotEvery = Math.max(1, Math.ceil((this.count * sizeOf(data.facts)) / 4e6));
  }

  get count() {
    return this.last - this.first + 1;
  }

  // Read the commits; before one that does not hold, all units are shown.
  read(pieces, bytes) {
    try {
      this.bytes = bytes();
      pieces.forEach(({ offset, before }, index) => {
        const checksum = before === null ? null : BigInt(`0x${before}`);
        for (const commit of readCommits(this.bytes[index], offset, checksum)) this.take(commit);
      });
    } catch (error) {
      this.broken = error.message;
    }
    const closed = [...this.units.values()].filter(({ digest }) => digest !== null).map(({ number }) => number);
    if (this.whole || this.broken !== null) this.last = closed.reduce((one, two) => Math.max(one, two), this.first - 1);
    if (this.whole) this.first = this.vocabulary.first;
  }

  take(commit) {
    const number = commit.unit + this.vocabulary.first - 1;
    this.commits += 1;
    if (commit.kind === START && this.whole) this.setups.push([number + 1, this.started(commit.setup)]);
    if (commit.kind === FORK) {
      this.unit(number + 1).forked = commit.setup;
      if (this.whole) this.setups.push([number + 1, this.forked(commit.setup)]);
    }
    if (commit.kind === UNIT) {
      const unit = this.unit(number);
      unit.blocks.push(...commit.blocks);
      unit.digest = commit.digest;
    }
  }

  // The settings and players that START declares, as Python tells them.
  started(setup) {
    const { config, [this.vocabulary.players]: players, ...others } = setup;
    return { config: config ?? others, players: players ?? [] };
  }

  // The same after a FORK.
  forked({ changes, program, [this.vocabulary.players]: players }) {
    const { config, players: before } = this.setups[this.setups.length - 1][1];
    const instead = program ? { program } : {};
    // A fork does not repeat what START says of a player, like its name.
    return { config: { ...config, ...changes, ...instead }, players: players?.map((player, index) => ({ ...before[index], ...player })) ?? before };
  }

  // The settings and players in force in a unit: {config, players}.
  setupAt(number) {
    return this.setups.filter(([from], index) => index === 0 || from <= number).pop()[1];
  }

  // The policy of each agent in a unit.
  labelsAt(number) {
    const index = this.rosters.findLastIndex(([from], at) => at === 0 || from <= number);
    this.labels ??= this.rosters.map(([, parts]) => labelsOf(parts));
    return this.labels[index] ?? [];
  }

  unit(number) {
    if (!this.units.has(number)) {
      this.units.set(number, { number, blocks: [], digest: null, forked: null });
    }
    return this.units.get(number);
  }

  // All forks as marks behind the scrubber.
  get forkMarks() {
    return [...this.units.values()].filter(({ forked }) => forked !== null)
      .map(({ number }) => ({ at: number, kind: "fork", title: "fork" }));
  }

  // The events of a unit in their logical form, with the sentences that Python made.
  events(number) {
    const events = eventsOf(this.units.get(number)?.blocks ?? [], this.schemas);
    const { names, units } = this.sentences;
    const lines = (units[number - this.first] ?? []).values();
    for (const event of events) if (names.includes(event.event)) event[SENTENCE] = lines.next().value;
    return events;
  }

  // Fold the next unit and compare it with its fingerprint; calls `seen(number, facts, events)`.
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

  // After the last unit: there must be no further fingerprint.
  foldedAll() {
    if (this.folding !== null && this.broken === null && this.prints.length !== 16 * this.count) this.differs ??= this.last + 1;
  }

  // Apply a unit to the facts; returns its events, including a fork before it.
  apply(facts, number) {
    const events = this.events(number);
    const forked = this.units.get(number)?.forked ?? null;
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

  // The number of bytes of the journal in the page.
  get size() {
    return this.bytes.reduce((sum, { length }) => sum + length, 0);
  }

  // The SHA-256 of the journal; null unless the page has all of it.
  async sha256() {
    if (!this.whole || this.broken !== null || !globalThis.crypto?.subtle) return null;
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", this.bytes[0]));
    return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

const copied = (value) =>
  value.map((item) => (Array.isArray(item) ? copied(item) : item));

const sizeOf = (value) =>
  Array.isArray(value) ? value.reduce((sum, item) => sum + sizeOf(item), 1) : 1;
