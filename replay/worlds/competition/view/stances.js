// The stance of each agent after each round, after the proof and in the end, and the counterfactual
// stances without one of the agents.
import { Roundtables } from "./assignment.js";
import { el, fold, scrolling, svg, tableOf } from "../../../view/dom.js";

export const Stances = (() => {
  const { stancesAfter, provenStances, concludedStances, withoutAgent, roundsOf } = Roundtables;
  const FLOW = { name: 76, node: 34, slot: 17, gap: 12, top: 26, step: 84, bottom: 8 };
  const SHRUNK = 0.8; // smallest scale; below it the drawing scrolls
  const AGENTS_MAX = 40; // of a drawn table; larger ones are only listed
  const NONE = Infinity; // agents without a stance are below all proposals

  // Columns of stances: after each round of the talk, after the proof, in the end, and without an agent.
  function columnsOf(people, table, agent) {
    const columns = roundsOf(table).map(({ round, count }) => ({ title: `round ${round}`, held: stancesAfter(table, count) }));
    if (table.concluded !== null) {
      columns.push({ title: "proof", held: provenStances(table) });
      columns.push({ title: "in the end", held: concludedStances(table), chosen: table.concluded.proposal, tied: table.concluded.tied });
    }
    const without = agent === null ? null : withoutAgent(table, agent);
    if (without !== null) {
      columns.push({ title: `without ${people.name(agent)}`, held: without.stances, chosen: without.proposal, tied: without.tied });
    }
    return columns;
  }

  // A drawing with a line per agent through its stances.
  function flow(people, table, agent) {
    const agents = table.opened?.order ?? [];
    const columns = columnsOf(people, table, agent);
    if (!columns.length || agents.length > AGENTS_MAX) return null;
    const { name, node, slot, gap, top, step, bottom } = FLOW;
    const x = (index) => name + index * step;
    let tallest = 0;
    let before = new Map(agents.map((each, index) => [each, index]));
    const placed = columns.map(({ held }) => {
      const nodes = new Map();
      for (const each of agents) {
        const at = held.get(each) ?? NONE;
        nodes.set(at, [...(nodes.get(at) ?? []), each]);
      }
      const spots = new Map();
      const boxes = [];
      let y = top;
      for (const at of [...nodes.keys()].toSorted((one, other) => one - other)) {
        const own = nodes.get(at).toSorted((one, other) => before.get(one) - before.get(other));
        boxes.push({ at, y, height: own.length * slot });
        own.forEach((each, index) => spots.set(each, y + (index + 0.5) * slot));
        y += own.length * slot + gap;
      }
      tallest = Math.max(tallest, y - gap);
      before = new Map([...before, ...spots]);
      return { boxes, spots };
    });
    const width = x(columns.length - 1) + node + name;
    const height = tallest + bottom;
    const lines = agents.map((each) => {
      const { series, dash } = people.style(each);
      let path = "";
      placed.forEach(({ spots }, index) => {
        const y = spots.get(each);
        const from = placed[index - 1]?.spots.get(each);
        const middle = x(index) - (step - node) / 2;
        path += from === undefined ? `M${x(index)} ${y}` : `C${middle} ${from} ${middle} ${y} ${x(index)} ${y}`;
        path += `H${x(index) + node}`;
      });
      return svg("path", { class: `line ${series}`, d: path, "stroke-dasharray": dash });
    });
    const label = (each, index, side) => {
      const y = placed[index].spots.get(each);
      const { tone, glyph } = people.style(each);
      return svg("text", {
        class: `name ${tone}`, y: y + 4, x: side < 0 ? x(index) - 6 : x(index) + node + 6, "text-anchor": side < 0 ? "end" : "start",
      }, side < 0 ? `${people.name(each)} ${glyph}` : `${glyph} ${people.name(each)}`);
    };
    const boxes = placed.map((column, index) => column.boxes.map(({ at, y, height: tall }) => {
      const { chosen, tied = [] } = columns[index];
      const kind = at === NONE ? "none" : at === chosen ? "chosen" : tied.includes(at) ? "tied" : "";
      const text = svg("text", { class: "id", x: x(index) + node / 2, y: y + tall / 2 + 4, "text-anchor": "middle" }, at === NONE ? "–" : `#${at}`);
      return svg("g", { class: `stance ${kind}` },
        svg("rect", { x: x(index), y, width: node, height: tall, rx: 5 }),
        at === NONE ? text : svg("a", { href: people.player.href({ table: table.number, line: at }) }, text));
    }));
    const drawing = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, class: "flow", role: "group", "aria-label": "Stances by round, after the proof and in the end, each line an agent",
    },
    columns.map(({ title }, index) => svg("text", { class: "column", x: x(index) + node / 2, y: 14, "text-anchor": "middle" }, title)),
    lines, boxes,
    agents.map((each) => [label(each, 0, -1), label(each, columns.length - 1, 1)]));
    drawing.style.maxWidth = `${width}px`;
    drawing.style.minWidth = `${SHRUNK * width}px`;
    return scrolling("Stances drawn", drawing);
  }

  // The stances as a table.
  function asTable(people, table, agent) {
    const columns = columnsOf(people, table, agent);
    const stance = (held, each) => {
      const at = held.get(each);
      return at === undefined ? "–" : el("a", { href: people.player.href({ table: table.number, line: at }) }, `#${at}`);
    };
    return fold("Stances as a table", false, () => scrolling("Stances as a table", tableOf(
      ["worker", ...columns.map(({ title }) => title)],
      (table.opened?.order ?? []).map((each) => [people.chip(each), ...columns.map(({ held }) => stance(held, each))]), [])));
  }

  return { flow, asTable, AGENTS_MAX };
})();
