// The colours of policies and agents (replay/colours.py): a policy has a hue, an agent a shade of it.

let palette = { hues: {}, lightest: 0, single: 0 };

export function usePalette({ hues, lightest, single }) {
  palette = { hues, lightest, single };
}

// Whether so many agents are shown singly: with numbers, and a shade each.
export const areSingle = (count) => count <= palette.single;

export const HUES = 8;
export const GREY = HUES - 1;

export const hueOf = (index) => `var(--hue-${index % HUES})`;

export const hueIndexOf = (policy) => palette.hues[policy] ?? GREY;

export const colourOf = (policy) => hueOf(hueIndexOf(policy));

const coloursKnown = new WeakMap(); // colours by array of policies

// The colours of agents who play these policies.
export function coloursOf(policies) {
  if (!coloursKnown.has(policies)) {
    const sizes = new Map();
    for (const policy of policies) sizes.set(policy, (sizes.get(policy) ?? 0) + 1);
    const placed = new Map();
    coloursKnown.set(policies, policies.map((policy) => {
      const place = placed.get(policy) ?? 0;
      placed.set(policy, place + 1);
      const white = areSingle(policies.length) ? (100 * palette.lightest * place) / Math.max(1, sizes.get(policy) - 1) : 0;
      return white === 0 ? colourOf(policy) : `color-mix(in srgb, #ffffff ${white.toFixed(1)}%, ${colourOf(policy)})`;
    }));
  }
  return coloursKnown.get(policies);
}
