// An assignment from its events: tables with their contributions, trials, tests and signals, and the
// refused acts with their codes. Facts only; results that take the rules are in `ruled`.
import { jsonOf, rounded } from "../../../view/dom.js";

export const Roundtables = (() => {
  // Any recorded value as text; equal values give equal text.
  const textOf = jsonOf;

  // A name, quoted if it is not a plain word.
  const word = (value) => (typeof value === "string" && /^[\w.-]{1,40}$/.test(value) ? value : textOf(value));

  // A tested or claimed value as text.
  const number = (value) => {
    if (value === null || value === undefined) return "no value";
    return typeof value === "number" ? rounded(value, 4) : textOf(value);
  };

  // Two values as text, with enough digits to distinguish them.
  const apart = (one, other) =>
    one !== other && typeof one === "number" && typeof other === "number" && number(one) === number(other)
      ? [String(one), String(other)]
      : [number(one), number(other)];

  // The codes of refused acts by event. A refusal repeats the act and its index in the step: the
  // submissions just before the derived events. The start of the step is found by search.
  function refusals(events) {
    const codes = new Map();
    for (let at = 0; at < events.length;) {
      const start = at;
      while (events[at]?.is_input) at += 1;
      const end = at;
      const refused = [];
      for (; at < events.length && !events[at].is_input; at += 1) {
        if (events[at].event === "refused") refused.push(events[at]);
      }
      const most = Math.max(...refused.map(({ act }) => act.index));
      let first = end - 1 - most;
      while (first > start && !refused.every(({ act }) => isSame(events[first + act.index], act))) first -= 1;
      for (const { act, code } of refused) {
        const submitted = isSame(events[first + act.index], act)
          ? events[first + act.index]
          : events.findLast((event, place) => place < end && isSame(event, act)); // answers are in between
        codes.set(submitted, code);
      }
    }
    return codes;
  }

  const isSame = (event, act) =>
    event?.event === act.event && Object.keys(event).every((name) => name === "is_input" || textOf(event[name]) === textOf(act[name]));

  const PROPOSALS = new Set(["propose", "amend"]);

  const isProposal = (said) => PROPOSALS.has(said.move) && said.code === null;

  // The assignment `unit` of a run: {opened, tables, before, after, answers}.
  function assignmentOf(run, unit) {
    const events = run.events(unit);
    const codes = refusals(events);
    const ruled = run.computed.tables.find(([at]) => at === unit)?.[1] ?? [];
    const tables = [];
    const found = { unit, opened: null, tables, before: [], after: [], answers: [], events, codes };
    const tableAt = (at) => {
      while (tables.length <= at && at < ruled.length) tables.push(emptyTable(tables.length, ruled));
      return tables[at] ?? null;
    };
    let answer = null;
    for (const event of events) {
      const code = codes.get(event) ?? null;
      if (event.event === "answered") {
        answer = event;
        found.answers.push(event);
      } else if (event.event === "assignment_opened" && code === null) {
        found.opened = event;
      } else if (event.event !== "refused") {
        const place = PLACED[event.event];
        const table = place === undefined ? null : tableAt(event.table);
        if (table !== null) place(table, event, code, answer, found.answers);
        else (found.opened === null ? found.before : found.after).push({ ...event, code });
      }
    }
    for (const table of tables) table.subject = found.opened?.subjects?.[table.number] ?? null;
    return found;
  }

  const emptyTable = (number, ruled) => ({
    number, subject: null, bar: null, opened: null, settings: [], items: [], said: [], early: [], stood: [],
    tests: new Map(), concluded: null, digested: [], adopted: [], scored: [], rated: new Map(),
    debriefed: [], bottomed: null, sparks: new Map(), ruled: ruled[number],
  });

  // The effect of an event on its table.
  const PLACED = {
    table_set: (table, event, code) => table.settings.push({ ...event, code }),
    roundtable_opened: (table, event) => { table.opened = event; },
    tested(table, event, code) {
      if (code !== null) table.items.push({ kind: "refused", event, code });
      else if (event.at === null) table.bar = event;
      else {
        const last = table.said.at(-1);
        const isAnswer = last?.code === null && last.move === "challenge" && last.target === event.at && last.part === event.part;
        table.tests.set(`${event.at} ${event.part}`, { ...event, by: isAnswer ? last.id : null });
      }
    },
    tried(table, event, code) {
      if (code !== null) table.items.push({ kind: "refused", event, code });
      else (table.said.length ? (table.waiting ??= []) : table.early).push(event);
    },
    // An act refused in its author's turn counts as a pass; one out of turn does not count.
    spoke(table, event, code, answer) {
      const next = table.said.length;
      const isPass = table.ruled.passes.some(([id, agent, why]) => id === next && agent === event.agent && why === code);
      const id = code === null || isPass ? next : null;
      const isModels = answer?.agent === event.agent && answer.question === "speak";
      const said = {
        kind: "said", ...event, id, code, trials: id === null ? [] : (table.waiting ?? []), answer: isModels ? answer : null,
      };
      if (id !== null) {
        table.said.push(said);
        table.waiting = [];
      }
      table.items.push(said);
    },
    // All final stances are asked at once, so their answers come before the first of them.
    stood(table, event, code, last, answers) {
      const answer = answers.findLast(({ agent, question }) => agent === event.agent && question === "stand") ?? null;
      table.stood.push({ ...event, code, answer });
    },
    judged(table, event, code) { table.items.push({ kind: "judged", ...event, code }); },
    concluded(table, event) { table.concluded = event; },
    digested: (table, event, code) => table.digested.push({ ...event, code }),
    adopted: (table, event, code) => table.adopted.push({ ...event, code }),
    rated(table, event, code) { if (code === null) table.rated.set(event.agent, event); },
    scored: (table, event) => table.scored.push(event),
    debriefed: (table, event, code) => table.debriefed.push({ ...event, code }),
    bottomed(table, event) { table.bottomed = event; },
    sparks_moved(table, event) { table.sparks.set(event.agent, event); },
  };

  // The stances after `count` contributions: proposals by agent.
  function stancesAfter(table, count) {
    const held = new Map();
    for (const [said, agent, proposal] of table.ruled.stances) {
      if (said > count) break;
      if (proposal === null) held.delete(agent);
      else held.set(agent, proposal);
    }
    return held;
  }

  const concludedStances = (table) => new Map(table.concluded?.stances ?? []);

  // The sides by agent, in the order of speaking: proposals at the end of the talk, as the proof left
  // them, and in the end; null for no stance.
  const sidesOf = (table) => new Map(table.ruled.sides.map(([agent, talked, proven, final]) => [agent, { talked, proven, final }]));

  const provenStances = (table) => new Map([...sidesOf(table)].filter(([, { proven }]) => proven !== null).map(([agent, { proven }]) => [agent, proven]));

  // The grounds of an agent's scores and the counterfactual without it; null if not computed.
  function groundsOf(table, agent) {
    const found = table.ruled.agents[agent];
    return found === undefined ? null : { went: [], gone: [], ...found };
  }

  // The counterfactual without an agent: the conclusion and the final stances.
  function withoutAgent(table, agent) {
    const grounds = groundsOf(table, agent);
    if (grounds === null) return null;
    const [proposal, , tied] = grounds.without;
    const stances = concludedStances(table);
    stances.delete(agent);
    for (const [other, stance] of grounds.went) {
      if (stance === null) stances.delete(other);
      else stances.set(other, stance);
    }
    return { proposal, tied, stances };
  }

  // The rounds as {round, count}: the number of contributions of the table at the end of each.
  function roundsOf(table) {
    const rounds = [];
    table.said.forEach((said, index) => {
      const last = rounds.at(-1);
      const round = said.code === null ? said.round : (last?.round ?? 0);
      if (last?.round === round) last.count = index + 1;
      else rounds.push({ round, count: index + 1 });
    });
    return rounds;
  }

  return {
    textOf, word, number, apart, refusals, isProposal, assignmentOf, stancesAfter,
    concludedStances, provenStances, sidesOf, groundsOf, withoutAgent, roundsOf,
  };
})();
