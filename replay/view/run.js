// A run of the page as Python packed it: fields of states, events with their sentences, who plays.

// The policies of an agent, one after the other: "a, from round 5 b"; `rosters`: [first unit, roster] of each.
export function playedBy(rosters, agent, unit) {
  const names = rosters.map(([from, labels]) => [from, labels[agent] ?? ""]);
  return names.filter(([, name], index) => name !== names[index - 1]?.[1])
    .map(([from, name], index) => (index ? `from ${unit} ${from} ${name}` : name)).join(", ");
}

export class Run {
  // `data`: ShownRun.as_dict in replay/view/shown.py; `page`: the page's data.
  constructor(data, page) {
    Object.assign(this, data);
    this.unit = page.unit;
    this.begin = page.begin; // the number of a run's first unit
    this.location = page.location;
    this.known = new Map(); // unit -> its groups of events
    this.fields = new Map(data.fields.map((field) => [field.name, field]));
    this.numbers = new Map(Object.entries(this.names).map(([number, name]) => [name, Number(number)]));
  }

  // The policy of each agent in a unit.
  labelsAt(number) {
    return this.rosters[Math.max(0, this.rosters.findLastIndex(([from]) => from <= number))]?.[1] ?? [];
  }

  nameOf(agent) {
    return this.names[agent] ?? `agent ${agent}`;
  }

  // The number of a selected agent or location: two runs may number the same names otherwise.
  numberOf(selected) {
    return this.numbers.get(selected) ?? selected;
  }

  // The index of the latest state up to a unit; -1 before the first one.
  stateAt(number) {
    return this.stated.findLastIndex((each) => each <= number);
  }

  // The value of a field in the latest state up to a unit; null without one.
  valueAt(name, number) {
    const index = this.stateAt(number);
    return index < 0 ? null : this.fields.get(name)?.values[index] ?? null;
  }

  // The unit in whose state an item of a field was last changed; null: it is so from the first state on.
  changedAt(name, number, item) {
    const { values } = this.fields.get(name);
    let state = this.stateAt(number);
    while (state > 0 && values[state - 1][item] === values[state][item]) state -= 1;
    return state > 0 ? this.stated[state] : null;
  }

  // The lines of a unit as [title, events, heading]. An event has its name as `event`, its values by field, `parts` (texts, and
  // [form, value]), and what is behind it (replay/view/lines.py).
  groupsAt(number) {
    if (!this.known.has(number)) {
      const groups = this.lines[number - this.first] ?? [];
      this.known.set(number, groups.map(([title, lines, heading]) => [title, lines.map((line) => this.eventOf(line)), heading]));
    }
    return this.known.get(number);
  }

  eventOf([index, ...values]) {
    const [event, cases, template] = this.templates[index];
    const found = { event, ...Object.fromEntries(cases), why: null, fault: false, behind: {} };
    let next = 0;
    found.parts = template.map((part) => {
      if (typeof part === "string") return part;
      const [form, name] = part;
      const value = values[next++];
      if (name) found[name] = value;
      return [form, value];
    });
    return Object.assign(found, values[next]);
  }

  eventsAt(number) {
    return this.groupsAt(number).flatMap(([, events]) => events);
  }

  // All events that name an agent or a location, as [unit, event]; `form`: "agent" or "place".
  eventsOf(form, number) {
    const names = (event) => event.parts.some(([kind, value]) => kind === form && [value].flat().includes(number));
    return this.lines.flatMap((_, index) => this.eventsAt(this.first + index).filter(names).map((event) => [this.first + index, event]));
  }
}
