// The style of agents and actions: patterns and texts.
import { hueIndexOf } from "../../../view/colours.js";

export const SIDE_MAX = 30; // rows and columns of plots that are drawn as cells with labels

// The second sign of a policy.
export const patternOf = (policy) => [null, "stripes", "dots", "bars"][hueIndexOf(policy) % 4];

export const shortened = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

export const actionText = (action) => {
  if (action === null) return "(no action)";
  const [kind, plot, points] = action;
  return points === 1 && kind !== "mine" ? `${kind} ${plot}` : `${kind} ${plot} with ${points}`;
};
