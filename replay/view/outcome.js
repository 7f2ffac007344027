// Whether the numbers of the outcome follow from the facts that the page folds: the points of the chart, the values
// of agents, and the standings by policy. Names and sentences are not compared.
import { seen } from "./dom.js";
import { labelsOf } from "./run.js";

const POLICIES_MAX = 16; // with a line and a row each (replay/view/numbers.py)
const RATIOS = [0, 0.25, 0.5, 0.75, 1]; // lowest, quartiles, highest, as in replay/data/spread.py

const averageOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function quartilesOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return RATIOS.map((ratio) => {
    const at = ratio * (sorted.length - 1);
    const low = sorted[Math.floor(at)];
    return low + (at % 1) * (sorted[Math.ceil(at)] - low);
  });
}

// Whether a number of the page's data, with six digits, is this value (NaN: undefined, null in the data).
const isSame = (number, value) => (number === null ? Number.isNaN(value) : Math.abs(number - value) <= 6e-6 * Math.abs(value));

// The same for a number as replay/outcome.py formats it: whole, or with three digits.
function isWritten(text, value) {
  const size = Math.abs(value);
  return text === "-" ? Number.isNaN(value) : Math.abs(Number(text.replaceAll(",", "")) - value) <= (size >= 100 && size < 1e15 ? 0.5 : 0.005 * size) + 1e-12 * size;
}

export class OutcomeCheck {
  // `front`: the page's data on the outcome of the run; `outcome(facts)`: the values of agents by name of a measure;
  // `rows`: those of the standings, or null.
  constructor(run, front, outcome, rows) {
    Object.assign(this, { run, front, outcome, rows, labels: labelsOf(front.labels), compared: 0, differs: null });
  }

  // Compare the points of the chart after a unit.
  look(unit, facts) {
    const { units, lines, measures: [{ name }] } = this.front;
    if (units[this.compared] !== unit) return;
    const at = this.compared++;
    const values = this.outcome(facts)[name];
    const { labels } = this;
    const holds = lines.every(({ agent, policy, values: points, bands }) => {
      if (agent !== undefined) return isSame(points[at], values[agent]);
      const some = values.filter((_, each) => labels[each] === policy);
      if (!bands) return isSame(points[at], averageOf(some));
      const [[first, third], [low, high]] = bands;
      return quartilesOf(some).every((value, index) => isSame([low, first, points, third, high][index][at], value));
    });
    if (!holds) this.differs ??= `The chart differs from the recording in ${this.run.vocabulary.unit} ${unit}.`;
  }

  // After the last unit: what differs from the recording, as a sentence, or null.
  verdict() {
    const { run, front: { units, lines, measures }, labels, compared } = this;
    const values = this.outcome(run.current);
    const when = `${run.vocabulary.unit} ${run.last}`;
    const most = lines[0].agent === undefined ? Math.min(POLICIES_MAX, new Set(labels).size) : labels.length;
    if (compared !== units.length || units[compared - 1] !== run.last || lines.length !== most) this.differs ??= `The chart does not show the recording up to ${when}.`;
    const holds = Object.entries(values).every(([name, some]) => {
      const shown = measures.find((measure) => measure.name === name).values;
      return shown.length === some.length && shown.every((number, agent) => isSame(number, some[agent]));
    });
    return this.differs ?? (holds && this.haveRows(Object.values(values), labels) ? null : `The standings differ from the recording after ${when}.`);
  }

  // Whether the rows of policies have these values of each measure, by agent.
  haveRows(measures, labels) {
    return this.rows === null || (this.rows.length === Math.min(POLICIES_MAX, new Set(labels).size) && this.rows.every(({ cells }) => {
      const [policy, count, mean, range, ...others] = Array.from(cells, ({ textContent }) => textContent);
      const [first, ...more] = measures.map((values) => values.filter((_, agent) => seen(labels[agent]) === policy));
      const [low, high = low] = range.split(" – ");
      const ends = quartilesOf(first);
      return [[count, first.length], [mean, averageOf(first)], [low, ends[0]], [high, ends[4]], ...more.map((values, index) => [others[index], averageOf(values)])]
        .every(([text, value]) => isWritten(text, value));
    }));
  }
}
