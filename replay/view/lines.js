// The events of a unit as sentences: by step where a unit has several, and draws apart.
import { el, fold } from "./dom.js";
import { listOf, longList, sentenceOf } from "./events.js";

// `level`: of the heading of a step.
export function linesOf(run, events, level) {
  const { draws, step_ends: stepEnds } = run.computed;
  const steps = [{ name: null, events: [] }];
  for (const event of events) {
    const last = steps[steps.length - 1];
    if (event.event === stepEnds) {
      last.name = event.step;
      steps.push({ name: null, events: [] });
    } else last.events.push(event);
  }
  return steps.filter(({ name, events: some }) => name !== null || some.length).map(({ name, events: some }) => {
    const isDraw = ({ event }) => event === draws;
    const sentences = (of) => of.map((event) => sentenceOf(run, event)).filter((line) => line !== null);
    const [lines, drawn] = [sentences(some.filter((event) => !isDraw(event))), sentences(some.filter(isDraw))];
    const item = (line) => el("li", {}, line);
    return [
      name === null ? null : el(`h${level}`, {}, name),
      lines.length ? longList("events", lines, item) : null,
      drawn.length ? fold(`Draws (${drawn.length})`, false, () => listOf(drawn, item)) : null,
    ];
  });
}
