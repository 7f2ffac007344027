// One round of a run: the facts after it, its events, and all plans.
import { OWNER } from "./facts.js";

export class Round {
  constructor(run, number) {
    this.run = run;
    this.isOver = number > run.last; // the last round is then shown instead
    this.number = Math.min(number, run.last);
    this.facts = run.factsAt(this.number);
    this.events = run.events(this.number);
    this.setup = run.setupAt(this.number);
    this.policies = run.labelsAt(this.number);
    this.plans = new Map(this.of("submitted").map((event) => [event.agent, event]));
    this.removed = new Map(this.of("pruned").map((event) => [event.agent, new Map(event.removed)]));
  }

  of(name) {
    return this.events.filter(({ event }) => event === name);
  }

  // The reasons of an agent's removed items, by their index in its plan.
  removals(agent) {
    return this.removed.get(agent) ?? new Map();
  }

  // An agent's plan after pruning.
  kept(agent) {
    const gone = this.removals(agent);
    return this.plans.get(agent).actions.filter((_, index) => !gone.has(index));
  }

  // Points of defence after pruning, by plot.
  defences() {
    const defends = [...this.plans.keys()].flatMap((agent) => this.kept(agent))
      .filter((action) => action?.[0] === "defend");
    return new Map(defends.map(([, plot, points]) => [plot, points]));
  }

  plotsOf(agent) {
    return this.facts[OWNER].flatMap((owner, plot) => (owner === agent ? [plot] : []));
  }

  // The gold mined in this round, by agent.
  mined() {
    const found = new Map();
    for (const { agent, gold } of this.of("mining_settled")) found.set(agent, (found.get(agent) ?? 0) + gold);
    return found;
  }
}
