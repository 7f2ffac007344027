"""A season as text: its summary, one assignment, the consequences of a difference between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.agents.worlds.competition.formats import format_apart
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.text import Paint, format_table
from goldrush.replay.worlds.competition.proof import BY_PROOF, Proof, Proven, Side, proofs
from goldrush.replay.worlds.competition.right import (
    Naming,
    challenges_of,
    format_best,
    format_challenge,
    format_right,
)
from goldrush.replay.worlds.competition.story import format_ids, sentences

if TYPE_CHECKING:
    from goldrush.kernel.worlds.competition.memory import Memory
    from goldrush.kernel.worlds.competition.state import AgentState
    from goldrush.replay.journal.rebuild import Rebuilt
    from goldrush.replay.worlds.competition.consequences import (
        AssignmentResults,
        Differing,
        SeasonConsequences,
        WorkerEnd,
    )
    from goldrush.replay.worlds.competition.summary import Ended, SeasonSummary, WorkerLine

LINES_MAX: Final = 12  # of tables, and of eliminations and returns
SHOWN_MAX: Final = 20  # differing assignments, differing workers


def format_summary(summary: SeasonSummary) -> str:
    """The summary of a season as text."""
    config = summary.config
    mean = "-" if summary.mean_total is None else f"{summary.mean_total:.2f}"
    parts = [
        f"{format_count(summary.assignments, 'assignment')} in the arena "
        f"{escaped(config['arena']['name'])}, seed {config['seed']}: "
        f"{format_count(len(summary.tables), 'table')} of up to {config['workers']} workers. A "
        f"worker scored {mean} of 12 points on average.",
        *_conclusions(summary),
        *(
            f"after assignment {fork.unit} {escaped(sentences().line(fork))}"
            for fork in summary.forks
        ),
    ]
    for at, table_, round_, agent in summary.unsaid:
        parts.append(
            f"not used: the contribution given by hand for agent {agent} in assignment {at}, table "
            f"{table_}, round {round_}, because the agent had no turn there"
        )
    if summary.models:
        parts.append(f"{_answers(summary.models)} of language models")
    if summary.people:
        parts.append(f"{_answers(summary.people)} of people")
    if summary.refused:
        codes = ", ".join(f"{count} {code}" for code, count in sorted(summary.refused.items()))
        parts.append(f"acts refused: {codes}")
    parts += ["", _workers(summary.workers), "", _left(summary.left)]
    parts += ["", _ended(summary.tables)] if summary.tables else []
    return "\n".join(parts)


def format_line(rebuilt: Rebuilt) -> str:
    """The outcome of an assignment on one line: conclusions, leader, eliminations, newcomers."""
    agents = rebuilt.state.agents
    tests = {
        (e["table"], e["at"]): e["value"] for e in rebuilt.events if e.name == "tested"
        and e["part"] != "edge"
    }  # fmt: skip
    parts = []
    moves = sentences(rebuilt.state.names)
    for event in rebuilt.events:
        if event.name == "concluded":
            table_, proposal = event["table"], event["proposal"]
            bar, value = format_apart(*(tests.get((table_, at)) for at in (None, proposal)))
            parts.append(
                f"nothing concluded, the bar is {bar}"
                if proposal is None
                else f"concluded on #{proposal}, tested {value}, the bar is {bar}"
            )
        elif event.name == "leaderboard_posted" and event["rows"]:
            _, agent, rolling, _ = event["rows"][0]
            parts.append(
                f"{escaped(agents[agent].name)} leads with {format_count(rolling, 'recent point')}"
            )
        elif event.name in ("relegated", "returned", "deleted", "joined"):
            parts.append(escaped(moves.line(event)))
    return "; ".join(parts)


def _conclusions(summary: SeasonSummary) -> list[str]:
    """Counts of conclusions, claims and challenges, and the mean percentiles of conclusions."""
    counts, kinds = summary.counts, Counter[str]()
    for ended in summary.tables:
        kinds["none"] += ended.conduct is None
        kinds["drawn"] += ended.tied > 0
        kinds["adopted"] += ended.adopted is True
    tables, concluded = len(summary.tables), len(summary.tables) - kinds["none"]
    lines = [
        f"Conclusions: {concluded} of {format_count(tables, 'table')} reached one, "
        f"{kinds['drawn']} of them by a draw between equal proposals; the admin adopted "
        f"{kinds['adopted']}.",
        f"Trials: workers ordered {format_count(counts.trials, 'test')} of their own, whose "
        "results nobody else is told.",
        f"Claims: {counts.held} of {counts.claims:,} held when tested. {counts.sharp} of these "
        "were sharp: they claimed at least half of what the test showed beyond the bar.",
        f"Challenges: {counts.sustained} of {counts.challenges:,} were sustained: the test refuted "
        "the claim.",
        f"Final stances: {counts.stood:,} were given once all claims were tested. "
        f"{counts.changed:,} times a worker stood elsewhere in the end than after the talk.",
    ]
    halves = zip(("first", "second"), summary.percentiles, strict=True)
    known = [f"{_percent(share)} in the {half} half" for half, share in halves if share is not None]
    if known:
        lines.append(
            "Share of all possible conducts that a conclusion (without one, the bar's conduct) "
            f"beats on average: {', '.join(known)}."
        )
    return lines


def _percent(share: Value) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _answers(count: int) -> str:
    return f"{count:,} {'answer' if count == 1 else 'answers'}"


def _workers(workers: Sequence[WorkerLine]) -> str:
    """The table of workers, with their last ranks and the changes since the first."""
    titles = (
        "rank", "worker", "", "status", "class", "sparks", "recent points", "points", "tables",
    )  # fmt: skip
    rows = [
        (
            _or_dash(w.rank), escaped(w.name), _moved(w), format_status(w.status), w.class_,
            str(w.sparks), str(w.rolling), str(w.total), str(w.sat),
        )
        for w in workers
    ]  # fmt: skip
    return format_table([titles, *rows], numbers=(0, 5, 6, 7, 8))


def format_status(status: str) -> str:
    """A status in the word that the glossary explains."""
    return "deleted" if status == Status.GONE else status


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)


def _moved(worker: WorkerLine) -> str:
    if worker.rank is None or worker.first_rank is None or worker.rank == worker.first_rank:
        return ""
    rose = worker.rank < worker.first_rank
    return f"{'rose' if rose else 'fell'} from {worker.first_rank}"


def _left(left: Sequence[tuple[int, str, str]]) -> str:
    """The latest eliminations, returns and newcomers."""
    if not left:
        return "nobody faced elimination"
    lines = [f"assignment {at:>3}: {escaped(name)} {what}" for at, name, what in left[-LINES_MAX:]]
    more = len(left) - LINES_MAX
    return "\n".join(
        ([f"({more} earlier eliminations, returns and newcomers)"] if more > 0 else []) + lines
    )


def _ended(tables: Sequence[Ended]) -> str:
    """The last tables: their conclusions, bars and best tested values."""
    rows = [
        ("assignment", "subject", "conclusion", "tested", "bar", "best tested", "better than", "")
    ]
    for ended in tables[-LINES_MAX:]:
        value, bar, best = format_apart(ended.value, ended.bar, ended.best)
        notes = ["drawn"] * (ended.tied > 0) + ["not adopted"] * (ended.adopted is False)
        rows.append(
            (
                str(ended.assignment), escaped(f"{ended.objective}, {ended.treatment}"),
                escaped(ended.conduct or "nothing"), "-" if ended.conduct is None else value, bar,
                "-" if ended.best is None else best,
                "-" if ended.quality is None else _percent(ended.quality.percentile),
                ", ".join(notes),
            )
        )  # fmt: skip
    more = len(tables) - LINES_MAX
    shown = format_table(rows, numbers=(0, 3, 4, 5, 6))
    return f"({more} earlier tables)\n{shown}" if more > 0 else shown


def unit_as_dict(rebuilt: Rebuilt) -> dict[str, Any]:
    """The assignment for JSON, without its events."""
    state = rebuilt.state
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        "assignment": rebuilt.round,
        "assignments": state.config.assignments,
        "digest": f"{rebuilt.digest:016x}",
        "leaderboard": [list(row) for row in state.leaderboard],
        "tables": [proof.as_dict() for proof in _proofs(rebuilt)],
        "agents": [_agent_as_dict(agent) for agent in state.agents.values()],
    }


def _agent_as_dict(agent: AgentState) -> dict[str, Any]:
    fields = attrs.asdict(agent, recurse=False)
    return {
        **{name.rstrip("_"): value for name, value in fields.items()},
        "memory": _memory_as_dict(agent.memory),
        "contract": None if agent.contract is None else attrs.asdict(agent.contract),
    }


def _memory_as_dict(memory: Memory) -> dict[str, Any]:
    return {family: [attrs.asdict(fact) for fact in facts] for family, facts in memory.items()}


def format_unit(rebuilt: Rebuilt, paint: Paint) -> str:
    """The assignment as text: a headline, the proof and the choice at each table, and the workers
    after it.
    """
    state = rebuilt.state
    ranks = {agent: rank for rank, agent, _, _ in state.leaderboard}
    titles = ("worker", "status", "class", "sparks", "tier", "points", "rank", "persona")
    rows = [
        (
            escaped(agent.name), agent.status, agent.class_, str(agent.sparks), str(agent.stage),
            str(agent.all_time), str(ranks.get(agent.ordinal, "-")), escaped(agent.persona or "-"),
        )
        for agent in state.agents.values() if agent.is_worker and agent.status != Status.GONE
    ]  # fmt: skip
    parts = [
        f"assignment {rebuilt.round}, {state.config.assignments} in all, digest "
        f"{rebuilt.digest:016x}",
        *(format_proof(proof, state.names) for proof in _proofs(rebuilt)),
        format_table([titles, *rows], numbers=(3, 4, 5, 6)),
    ]
    return "\n\n".join(parts)


def _proofs(rebuilt: Rebuilt) -> Sequence[Proof]:
    """The proofs of an assignment; none of the start."""
    return proofs(rebuilt.path, rebuilt.round) if rebuilt.round >= VOCABULARY.first else ()


def format_proof(proof: Proof, names: Mapping[int, str]) -> str:
    """What a talk came to: which claims hold, who changed sides, what was concluded."""
    objective, better, treatment = proof.subject
    direction = "more" if better == UP else "less"
    head = (
        f"table {proof.table}: {escaped(objective)} ({direction} is better) under "
        f"{escaped(treatment)}, the bar is {format_apart(proof.bar)[0]}"
    )
    if not proof.proposals:
        return f"{head}\nnobody proposed anything that counts, so nothing is concluded"

    def name(agent: int) -> str:
        return escaped(names[agent])

    parts = [
        head,
        format_right(proof, name),
        *(format_challenge(each, proof, name) for each in challenges_of(proof)),
        format_proven(proof),
        _proposals(proof.proposals, names),
        format_choice(proof),
        _sides(proof.sides, names),
        format_conclusion(proof, name),
        format_best(proof, name),
    ]
    return "\n".join(parts)


def format_proven(proof: Proof) -> str:
    """How many claims held."""
    bases = [each.held for each in proof.proposals]
    edges = [each.edge_held for each in proof.proposals if each.edge_held is not None]
    tested = f"the proof: {sum(bases)} of {format_count(len(bases), 'claim')} held when tested"
    if edges:
        tested += f", and {sum(edges)} of {len(edges)} under another treatment (the edge)"
    return tested


def _proposals(proposals: Sequence[Proven], names: Mapping[int, str]) -> str:
    rows = [("proposal", "by", "conduct", "claimed", "tested", "the claim")]
    for each in proposals:
        claimed, tested = format_apart(each.claimed, each.tested)
        says = "holds" if each.held else "does not hold"
        if each.edge_held is not None:
            says += ", its edge holds" if each.edge_held else ", its edge does not hold"
        if each.refuted is not None:
            says += f", refuted by {'the proof' if each.refuted == BY_PROOF else 'a challenge'}"
        rows.append(
            (
                f"#{each.id}", escaped(names[each.agent]), escaped(each.conduct), claimed, tested,
                says,
            )
        )  # fmt: skip
    return format_table(rows, numbers=(3, 4), most=SHOWN_MAX)


def format_choice(proof: Proof) -> str:
    """How many gave a final stance, and changed sides."""
    given = sum(side.stood is not None for side in proof.sides)
    if not given:
        return "no final stances: everybody stands where the proof left it"
    changed = sum(side.changed for side in proof.sides)
    return (
        f"the choice: {given} of {len(proof.sides)} gave a final stance; {changed} changed "
        "sides since the end of the talk"
    )


def _sides(sides: Sequence[Side], names: Mapping[int, str]) -> str:
    def stance(proposal: int | None) -> str:
        return "nothing" if proposal is None else f"#{proposal}"

    titles = ("worker", "end of the talk", "after the proof", "in the end", "")
    rows = [
        (
            escaped(names[side.agent]), stance(side.talked), stance(side.proven),
            stance(side.final), "changed sides" * side.changed,
        )
        for side in sides
    ]  # fmt: skip
    return format_table([titles, *rows], most=SHOWN_MAX)


def format_conclusion(proof: Proof, name: Naming) -> str:
    """The conclusion, and why it is that."""
    if proof.conclusion is None:
        return "no conclusion: nobody stands by a proposal in the end"
    chosen = next(each for each in proof.proposals if each.id == proof.conclusion)
    counts = Counter(side.final for side in proof.sides if side.final is not None)
    most = counts[chosen.id]
    foremost = [proposal for proposal, count in counts.items() if count == most]
    why = "more than by any other"
    if proof.tied:
        among = format_ids(proof.tied)
        why = f"as many and as good a test as the others of {among}, among which it was drawn"
    elif len(foremost) > 1:
        among = format_ids(sorted(foremost))
        why = f"and of {among}, by which as many stand, it has the best test"
    elif len(counts) == 1:
        why = "and nobody by another" if most < len(proof.sides) else ""
    tested, bar = format_apart(chosen.tested, proof.bar)
    return (
        f"concluded on #{chosen.id} of {name(chosen.agent)}, tested {tested} where the "
        f"bar is {bar}: {most} of {len(proof.sides)} stand by it{', ' if why else ''}{why}"
    )


def format_consequences(came: SeasonConsequences, by_round: bool) -> str:
    """The consequences as text; with `by_round` all differing assignments with their scores."""
    head = f"from assignment {came.since} to {came.until}"
    if not came.assignments:
        return f"{head} every conclusion and every score is the same"
    shown = came.assignments if by_round else came.assignments[:SHOWN_MAX]
    titles = ("assignment", "concluded in A", "concluded in B", "mean total A", "B")
    rows = [
        (str(r.assignment), _concluded(r.a), _concluded(r.b), _mean(r.a), _mean(r.b)) for r in shown
    ]
    parts = [
        f"{head}, differences in {format_count(len(came.assignments), 'assignment')}:",
        format_table([titles, *rows], numbers=(0, 3, 4)),
    ]
    if len(came.assignments) > len(shown):
        parts.append(f"and {len(came.assignments) - len(shown)} more; --by-round has all")
    moved = came.assignments if by_round else came.assignments[:1]
    parts += [
        f"\nscores in assignment {apart.assignment}:\n{_scores(apart, came.names)}"
        for apart in moved
    ]
    parts.append(f"\nafter assignment {came.until}:\n{_standings(came.standings)}")
    return "\n".join(parts)


def _concluded(came: AssignmentResults | None) -> str:
    if came is None:
        return "-"
    return "; ".join(conduct or "nothing" for conduct in came.conclusions)


def _mean(came: AssignmentResults | None) -> str:
    return "-" if came is None or came.mean_total is None else f"{came.mean_total:.2f}"


def _scores(apart: Differing, names: Mapping[int, str]) -> str:
    """The four final scores of each agent at the tables, side by side."""
    rows = [("table", "worker", "A", "B")]
    tables = max(len(came.scores) if came else 0 for came in (apart.a, apart.b))
    for number in range(tables):
        one, two = (
            came.scores[number] if came and number < len(came.scores) else {}
            for came in (apart.a, apart.b)
        )
        for agent in sorted({*one, *two}):
            rows.append(
                (str(number), escaped(names[agent]), _four(one.get(agent)), _four(two.get(agent)))
            )
    return format_table(rows, numbers=(0,))


def _four(scores: Sequence[int] | None) -> str:
    if scores is None:
        return "-"
    return f"{' '.join(map(str, scores))} = {sum(scores)}"


def _standings(standings: Sequence[WorkerEnd]) -> str:
    if not standings:
        return "every worker ends with the same status, sparks and points"
    rows = [(escaped(end.name), _stands(end.a), _stands(end.b)) for end in standings]
    return format_table([("worker", "A: status, sparks, points", "B"), *rows], most=SHOWN_MAX)


def _stands(stands: tuple[str, int, int] | None) -> str:
    return "-" if stands is None else f"{format_status(stands[0])}, {stands[1]}, {stands[2]}"
