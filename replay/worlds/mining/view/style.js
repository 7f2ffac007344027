// The style of agents and actions: fills, patterns, names and texts.
export const AGENTS_MAX = 40; // agents that are drawn and listed singly
export const SIDE_MAX = 30; // rows and columns of plots that are drawn

// Fills on which dark text is readable. The number in the cell distinguishes agents for any colour
// vision. From the ninth agent on the fills repeat, darker and striped, then dotted.
const FILLS = [
  ["#8bbbe8", "#f2a65a", "#6fcaa8", "#dba6cf", "#efdf8a", "#9be3f2", "#f79f95", "#c9cdd4"],
  ["#5b93cf", "#cf7d33", "#43a382", "#b97bab", "#c9ae3d", "#5bb9cc", "#d6746a", "#9aa1ac"],
];
export const fillOf = (agent) => FILLS[Math.floor(agent / 8) % 2][agent % 8];
export const patternOf = (agent) => [null, "stripes", "dots"][Math.floor(agent / 8) % 3];

export const shortened = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

// The name of an agent's model or, without one, of its policy.
export const calledOf = (entry) => (entry.policy === "llm" ? entry.options?.model ?? entry.options?.name ?? "llm" : entry.policy);

// Numbers as ranges: 1-3, 7.
export function ranges(numbers) {
  const parts = [];
  for (const number of numbers) {
    const last = parts[parts.length - 1];
    if (last?.[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

export const actionText = (action) => {
  if (action === null) return "(no action)";
  const [kind, plot, points] = action;
  return points === 1 && kind !== "mine" ? `${kind} ${plot}` : `${kind} ${plot} with ${points}`;
};
