// The events of a unit as sentences: by step where a unit has several, and draws apart.
import { el, fold } from "./dom.js";
import { listOf, longList, sentenceOf } from "./events.js";

// `level`: of the heading of a step.
export function linesOf(run, events, level) {
  const { draws, step_ends: stepEnds, steps } = run.computed;
  const parts = [[]];
  for (const event of events) {
    if (stepEnds && event.event === stepEnds) parts.push([]);
    else parts[parts.length - 1].push(event);
  }
  return parts.map((part, step) => {
    const listed = (some) => some.map((event) => sentenceOf(run, event)).filter((line) => line !== null);
    const lines = listed(part.filter(({ event }) => !draws || event !== draws));
    const drawn = listed(part.filter(({ event }) => draws && event === draws));
    const item = (line) => el("li", {}, line);
    if (lines.length + drawn.length === 0) return null;
    return [
      steps.length ? el(`h${level}`, {}, steps[step]) : null,
      lines.length ? longList("events", lines, item) : null,
      drawn.length ? fold(`Draws (${drawn.length})`, false, () => listOf(drawn, item)) : null,
    ];
  });
}
