"""Text for terminals: the summary of a mining run, its rounds and spells of ownership, and the
consequences of a difference between two runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from goldrush.agents.seats import policy_label
from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.mining.events import KINDS, OUTCOMES
from goldrush.kernel.worlds.mining.state import BY_CAPTURE, HOLDINGS, MiningState
from goldrush.replay.text import Paint, format_ranges, format_table, plain
from goldrush.replay.worlds.mining.story import tell

if TYPE_CHECKING:
    from goldrush.replay.journal.rebuild import Rebuilt
    from goldrush.replay.journal.usage import Taken
    from goldrush.replay.worlds.mining.consequences import MiningConsequences, RoundDifference
    from goldrush.replay.worlds.mining.measures import MeasuredRun
    from goldrush.replay.worlds.mining.summary import RunSummary

SHOWN_MAX: Final = 20  # listed plots with other owners, and listed agents
SINCE_MAX: Final = 8  # listed rounds in which an agent gained plots
AGENTS_MAX: Final = 40  # agents in the table at the right of a map
MAP_COLUMNS_MAX: Final = 60
MAP_ROWS_MAX: Final = 60


def format_summary(summary: RunSummary) -> str:
    """The summary of a run as text."""
    config = summary.config
    undone = f" ({summary.undone:,} more undone)" if summary.undone else ""
    rows: list[Sequence[str]] = [
        ("policy", "agents", "gold", "gold each", "plots", "defend", "mine", "claim", "raid")
    ]
    for entry in summary.policies:
        spent = sum(entry.spent.values()) or 1
        shares = [f"{points / spent:.0%}" for points in entry.spent.values()]
        rows.append(
            (
                escaped(entry.policy), str(entry.agents), f"{entry.gold:,.1f}",
                f"{entry.gold / entry.agents:,.1f}", str(entry.plots), *shares,
            )
        )  # fmt: skip
    forks = "".join(f"after round {fork.unit} {escaped(tell(fork))}\n" for fork in summary.forks)
    since = [fork.unit + 1 for fork in summary.forks if fork["roster"] is not None]
    whose = since and (
        f"\n\nThese policies play from round {since[-1]} on; gold and stamina count from round 1."
    )
    return f"""\
{_size(summary.rounds, config["agents"])} on {config["rows"]} x {config["cols"]} plots, \
seed {config["seed"]}, pressure {summary.pressure:.2f}
{summary.claims:,} plots claimed ({summary.contested:,} contested), {summary.raids:,} raided, \
{summary.captures:,} captured{undone}; {summary.owned} owned at the end; \
{summary.mined:,.1f} gold mined
{forks}{_asked(summary.models)}
{format_table(rows, numbers=range(1, 9))}{whose or ""}"""


def _size(rounds: int, agents: int) -> str:
    return f"{format_count(rounds, 'round')} of {format_count(agents, 'agent')}"


def _asked(models: Taken | None) -> str:
    """A line with the usage of language models; empty if none plays."""
    if models is None:
        return ""
    errors = ", ".join(f"{count} {escaped(error)}" for error, count in models.errors.items())
    without = f" ({errors})" if errors else ""
    partly = (
        f" ({format_count(models.uncounted, 'answer')} not counted)" if models.uncounted else ""
    )
    return (
        f"{format_count(models.answers, 'question')} to language models, "
        f"{sum(models.errors.values()):,} without a whole plan{without}; "
        f"{models.tokens_in:,} tokens in, {models.tokens_out:,} out"
        f"{partly}\n"
    )


def unit_as_dict(rebuilt: Rebuilt) -> dict[str, Any]:
    """The state after a round for JSON, without the round's events."""
    state = rebuilt.state
    cols = state.config.cols
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        "round": rebuilt.round,
        "rounds": state.config.rounds,
        "digest": f"{rebuilt.digest:016x}",
        "agents": [
            {
                "agent": agent,
                "policy": state.roster[agent]["policy"],
                "gold": gold,
                "plots": state.plots_of[agent],
                "spent": dict(zip(KINDS, state.spent[agent], strict=True)),
                "memo": state.memo[agent],
            }
            for agent, gold in enumerate(state.gold)
        ],
        "plots": [
            {
                "plot": plot,
                "row": plot // cols,
                "col": plot % cols,
                "owner": owner,
                "since": None if owner is None else state.since[plot],
                "how": HOLDINGS[state.how[plot]],
            }
            for plot, owner in enumerate(state.owner)
        ],
    }


def format_unit(rebuilt: Rebuilt, paint: Paint) -> str:
    """The state after a round: its digest, the map, and a table of the agents."""
    state = rebuilt.state
    return "\n\n".join((_head(rebuilt), "\n".join(_map(state, paint)), _holders(state, paint)))


def format_frame(rebuilt: Rebuilt, paint: Paint) -> str:
    """The state after a round in few lines: the map, with a table of the agents at its right."""
    state = rebuilt.state
    grid = _map(state, plain)
    rows = [("agent", "policy", "gold", "plots")]
    for agent, gold in enumerate(state.gold[:AGENTS_MAX]):
        policy = escaped(policy_label(state.roster[agent], PROMPTS))
        rows.append((str(agent), policy, f"{gold:,.10g}", str(len(state.plots_of[agent]))))
    width = max(map(len, grid))
    gaps = [" " * (width - len(line) + 4) for line in grid]
    painted = _map(state, paint)
    beside = _painted(format_table(rows, numbers=(0, 2, 3)), paint)
    if len(state.gold) > AGENTS_MAX:
        beside.append(f"and {len(state.gold) - AGENTS_MAX} agents more")
    lines = zip_longest(painted, gaps, beside, fillvalue="")
    joined = [
        (line + (gap or " " * (width + 4)) + row) if row else line for line, gap, row in lines
    ]
    return "\n".join((_head(rebuilt), "", *joined))


def format_line(rebuilt: Rebuilt) -> str:
    """One line with the claims, raids and mined gold of a round."""
    events = rebuilt.events
    claims = [event for event in events if event.name == "claim_drawn"]
    raids = [event["outcome"] for event in events if event.name == "raid_resolved"]
    gold = math.fsum(event["gold"] for event in events if event.name == "mining_settled")
    outcomes = [f"{raids.count(outcome)} {outcome}" for outcome in OUTCOMES if outcome in raids]
    came = f" ({', '.join(outcomes)})" if outcomes else ""
    return f"{len(claims)} claimed, {len(raids)} raided{came}, {gold:,.10g} gold mined"


def _head(rebuilt: Rebuilt) -> str:
    rounds = rebuilt.state.config.rounds
    return f"round {rebuilt.round} of {rounds}, digest {rebuilt.digest:016x}"


def _map(state: MiningState, paint: Paint) -> list[str]:
    """The owners by row and column; a dot marks a plot without an owner."""
    rows, cols = state.config.rows, state.config.cols
    shown_rows, shown_cols = min(rows, MAP_ROWS_MAX), min(cols, MAP_COLUMNS_MAX)
    width = len(str(max(state.config.agents - 1, shown_cols - 1)))
    edge = len(str(shown_rows - 1))
    lines = [" " * edge + "  " + " ".join(str(col).rjust(width) for col in range(shown_cols))]
    for row in range(shown_rows):
        owners = state.owner[row * cols : row * cols + shown_cols]
        cells = "".join(_cell(owner, width, paint) for owner in owners)
        lines.append(f"{row:>{edge}} {cells}")
    if (shown_rows, shown_cols) != (rows, cols):
        lines.append(f"the first {shown_rows} x {shown_cols} of {rows} x {cols}; --json has all")
    return lines


def _cell(owner: int | None, width: int, paint: Paint) -> str:
    return paint(f" {'.' if owner is None else owner:>{width}}", owner)


def _painted(text: str, paint: Paint) -> list[str]:
    """The lines of a table of agents; their numbers have the colours of the map, as its legend."""
    head, *lines = text.split("\n")
    width = len("agent")
    return [head, *(paint(line[:width], n) + line[width:] for n, line in enumerate(lines))]


def _holders(state: MiningState, paint: Paint) -> str:
    """The table of the agents' gold and plots; an asterisk marks captured plots."""
    rows = [("agent", "policy", "gold", "plots (since round; * captured)")]
    for agent, gold in enumerate(state.gold):
        policy = escaped(policy_label(state.roster[agent], PROMPTS))
        rows.append((str(agent), policy, f"{gold:,.10g}", _held(state, agent) or "none"))
    return "\n".join(_painted(format_table(rows, numbers=(0, 2)), paint))


def _held(state: MiningState, agent: int) -> str:
    """An agent's plots by the round in which it gained them; of more than SINCE_MAX rounds all
    plots, with the first and the last one.
    """
    plots = state.plots_of[agent]
    by_round: dict[tuple[int, bool], list[int]] = {}
    for plot in plots:
        by_round.setdefault((state.since[plot], state.how[plot] == BY_CAPTURE), []).append(plot)
    if len(by_round) <= SINCE_MAX:
        return "; ".join(
            f"{format_ranges(by_round[key])} ({key[0]}{'*' if key[1] else ''})"
            for key in sorted(by_round)
        )
    since = [state.since[plot] for plot in plots]
    captured = sum(len(held) for (_, is_captured), held in by_round.items() if is_captured)
    of_these = f", {captured} captured" if captured else ""
    return f"{format_ranges(plots)} ({min(since)}-{max(since)}{of_these})"


def format_consequences(came: MiningConsequences, by_round: bool) -> str:
    """The consequences as text, with `by_round` followed by a table of the rounds."""
    parts = [f"counts over rounds {came.since} to {came.round}, then gold and owners at the end:"]
    rows = [("", "A", "B", "B - A")]
    for name, a in came.counts_a.items():
        b = came.counts_b[name]
        rows.append((name, f"{a:,.10g}", f"{b:,.10g}", f"{b - a:+,.10g}"))
    for agent, one, two in came.gold[:SHOWN_MAX]:
        change = "-" if one is None or two is None else f"{two - one:+,.10g}"
        rows.append((f"gold of agent {agent}", _amount(one), _amount(two), change))
    parts.append(format_table(rows, numbers=(1, 2, 3)))
    if len(came.gold) > SHOWN_MAX:
        parts.append(f"and {len(came.gold) - SHOWN_MAX} agents more; --json has all")
    parts.append(_owners(came))
    if by_round:
        parts += ["", _rounds(came.rounds)]
    return "\n".join(parts)


def _amount(gold: float | None) -> str:
    return "-" if gold is None else f"{gold:,.10g}"


def _owners(came: MiningConsequences) -> str:
    if came.owners is None:
        return "the grids differ, so owners are not compared"
    if not came.owners:
        return "every plot has the same owner"
    listed = [
        f"{plot} ({', '.join('nobody' if owner is None else str(owner) for owner in owners)})"
        for plot, *owners in came.owners[:SHOWN_MAX]
    ]
    more = len(came.owners) - len(listed)
    rest = f" and {more} more" if more else ""
    return f"plots with other owners (A, B): {', '.join(listed)}{rest}"


def _rounds(rounds: Sequence[RoundDifference]) -> str:
    rows = [("round", "plots apart", "gold A", "gold B", "raids A", "raids B", "captures A, B")]
    rows += [
        (
            str(r.round), "-" if r.plots is None else str(r.plots),
            f"{r.gold_a:,.10g}", f"{r.gold_b:,.10g}", str(r.raids_a), str(r.raids_b),
            f"{r.captures_a}, {r.captures_b}",
        )
        for r in rounds
    ]  # fmt: skip
    return format_table(rows, numbers=range(7))


def format_spells(run: MeasuredRun) -> str:
    """The table of the spells of ownership."""
    rows: list[Sequence[str]] = [
        ("start", "end", "length", "plot", "owner", "gained by", "lost by")
    ]
    for spell in run.spells:
        lost = "still held" if spell.lost_to is None else f"capture, to {spell.lost_to}"
        numbers = (spell.start, spell.end, spell.length, spell.plot, spell.owner)
        rows.append((*map(str, numbers), spell.gained, lost))
    return format_table(rows, numbers=range(5))
