// The style of agents and actions: fills, patterns and texts.
import { coloursOf, hueIndexOf } from "../../../view/colours.js";

export const SIDE_MAX = 30; // rows and columns of plots that are drawn as cells with labels

// A colour on which dark text can be read.
export const fillOf = (colour) => `light-dark(color-mix(in srgb, ${colour} 62%, #ffffff), ${colour})`;

// The fills of the plots of agents who play these policies.
const fillsKnown = new WeakMap();
export function fillsOf(policies) {
  if (!fillsKnown.has(policies)) {
    fillsKnown.set(policies, coloursOf(policies).map(fillOf));
  }
  return fillsKnown.get(policies);
}

// The second sign of a policy.
export const patternOf = (policy) => [null, "stripes", "dots", "bars"][hueIndexOf(policy) % 4];

export const shortened = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

export const actionText = (action) => {
  if (action === null) return "(no action)";
  const [kind, plot, points] = action;
  return points === 1 && kind !== "mine" ? `${kind} ${plot}` : `${kind} ${plot} with ${points}`;
};
