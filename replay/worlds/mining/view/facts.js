// The facts that the page derives from a mining run's events, and its record of every round.

export const [OWNER, SINCE, HOW, GOLD] = [0, 1, 2, 3]; // indices of the facts
export const [CLAIMED, SEIZED] = [1, 2]; // how the owner gained a plot
const MARKS_MAX = 100; // marked changes of one plot
const COLUMNS_MAX = 1200; // columns of owners kept; each is of one or more rounds

export const folding = {
  apply(facts, event, round) {
    const hold = (plot, owner, since, how) => {
      facts[OWNER][plot] = owner;
      facts[SINCE][plot] = since;
      facts[HOW][plot] = how;
    };
    if (event.event === "claim_drawn") hold(event.plot, event.winner, round, CLAIMED);
    else if (event.event === "raid_resolved" && event.outcome === "captured") {
      facts.before ??= new Map(); // by plot, the holding that an authority may restore in this round
      facts.before.set(event.plot, [OWNER, SINCE, HOW].map((field) => facts[field][event.plot]));
      hold(event.plot, event.winner, round, SEIZED);
    } else if (event.event === "ruled") {
      if (event.remedy === "restored") hold(event.plot, ...facts.before.get(event.plot));
      facts[GOLD][event.captor] -= event.fine;
    } else if (event.event === "mining_settled") facts[GOLD][event.agent] += event.gold;
  },
};

// The measures of agents, by name, from the facts.
export function outcome(facts) {
  const plots = facts[GOLD].map(() => 0);
  for (const owner of facts[OWNER]) if (owner !== null) plots[owner] += 1;
  return { gold: facts[GOLD], plots };
}

// The record of all rounds: owners, plots by policy, raids by policy, and each plot's events.
export class History {
  constructor(run) {
    this.run = run;
    this.owners = []; // one array for each column
    this.plots = new Map(); // policy (null: nobody) -> its plots by round
    this.raids = [];
    this.captures = [];
    this.flows = new Flows();
    this.stories = new Map(); // plot -> [[round, event]]
    this.changes = new Map(); // plot -> [[round, owner, how]]
    this.every = Math.ceil(run.count / COLUMNS_MAX); // rounds per column
  }

  look(round, facts, events) {
    let raids = 0;
    let captures = 0;
    const policies = this.run.labelsAt(round);
    for (const event of events) {
      if (!["claim_drawn", "raid_resolved", "ruled"].includes(event.event)) continue;
      push(this.stories, event.plot, [round, event]);
      if (event.event === "raid_resolved") {
        raids += 1;
        captures += event.outcome === "captured";
        this.flows.add(event, policies);
      }
      if (event.event !== "raid_resolved" || event.outcome === "captured") {
        push(this.changes, event.plot, [round, facts[OWNER][event.plot], facts[HOW][event.plot]]);
      }
    }
    this.raids.push(raids);
    this.captures.push(captures);
    this.count(facts[OWNER], policies);
    if ((round - this.run.first) % this.every === 0) {
      this.owners.push(Int32Array.from(facts[OWNER], (owner) => owner ?? -1));
    }
  }

  // Note how many plots each policy has.
  count(owners, policies) {
    const before = this.raids.length - 1;
    for (const owner of owners) {
      const policy = owner === null ? null : policies[owner];
      if (!this.plots.has(policy)) this.plots.set(policy, Array(before).fill(0));
      const counts = this.plots.get(policy);
      counts[before] = (counts[before] ?? 0) + 1;
    }
    for (const counts of this.plots.values()) counts[before] ??= 0;
  }

  // The successive owners of a plot: {owner, how, from, to}; `to` is null for the present owner.
  spells(plot) {
    const found = [];
    for (const [round, owner, how] of this.changes.get(plot) ?? []) {
      const last = found[found.length - 1];
      if (last?.owner === owner) continue;
      if (last?.from === round) found.pop();
      else if (last) last.to = round - 1;
      found.push({ owner, how, from: round, to: null });
    }
    return found;
  }

  track(first, position) {
    const { plot } = position;
    const shifted = (values) => (first < this.run.first ? [0, ...values] : values);
    const marks = this.run.forkMarks;
    const spells = plot === undefined ? [] : this.spells(plot);
    spells.forEach(({ from }, index) => {
      const isLast = index === spells.length - 1;
      if (!isLast && spells.length > MARKS_MAX) return; // too many marks would cover the chart
      marks.push({ at: from, kind: isLast ? "last" : "change", title: isLast ? `last change of plot ${plot}` : `plot ${plot} changes hands` });
    });
    return [[
      { title: "plots raided", kind: "light", values: shifted(this.raids) },
      { title: "captured (turnover)", kind: "strong", values: shifted(this.captures) },
    ], marks];
  }
}

// Raids by the policies of raiders and owners (null: nobody): how many captured the plot, and how many did not.
export class Flows {
  constructor() {
    this.counts = new Map(); // raiding policy -> owning policy -> {captured, others}
  }

  // Each raider counts: of several who raid a plot, one captures it at most.
  add({ owner, raiders, outcome, winner }, policies) {
    const to = owner === null ? null : policies[owner];
    for (const raider of raiders) {
      const from = policies[raider];
      if (!this.counts.has(from)) this.counts.set(from, new Map());
      const row = this.counts.get(from);
      if (!row.has(to)) row.set(to, { captured: 0, others: 0 });
      row.get(to)[outcome === "captured" && raider === winner ? "captured" : "others"] += 1;
    }
  }

  of(from, to) {
    return this.counts.get(from)?.get(to) ?? { captured: 0, others: 0 };
  }

  get isEmpty() {
    return this.counts.size === 0;
  }

  // The raiding policies, those that capture the most first, and the owning ones in the same order.
  get from() {
    const captured = (policy) => [...this.counts.get(policy).values()].reduce((sum, each) => sum + each.captured, 0);
    return [...this.counts.keys()].sort((a, b) => captured(b) - captured(a));
  }

  get to() {
    const owning = new Set([...this.counts.values()].flatMap((row) => [...row.keys()]));
    return [...this.from.filter((policy) => owning.has(policy)), ...[...owning].filter((policy) => !this.counts.has(policy))];
  }

  // The most captures of a pair.
  get most() {
    return Math.max(...[...this.counts.values()].flatMap((row) => [...row.values()].map(({ captured }) => captured)));
  }
}

export function push(map, key, item) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(item);
}
