"""The outcome of a run: who ended with how much, by policy and by agent, and a headline.

The outcome is the first measure of agents that a world declares (`Measures.of_agents`), such as
gold; where nobody earns anything, the first measure of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from goldrush.kernel.measures import Value, mean
from goldrush.kernel.rosters import Config
from goldrush.kernel.text import escaped, format_count
from goldrush.replay.data.measures import AgentMeasure, Measure, Measured
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.text import capitalized, format_number, format_table
from goldrush.replay.tools import Tools

SHOWN_MAX: Final = 10  # rows of a table in Python
NAMED_MAX: Final = 5  # policies that a headline names; of more it names the first and the last
_NUMBERS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip


class Standing(msgspec.Struct, frozen=True):
    """What the agents of a policy ended with: their mean, the lowest and the highest value; None if
    it is undefined for all of them. `agents`: their numbers.
    """

    policy: str
    agents: Sequence[int]
    mean: Value
    lowest: Value
    highest: Value


class RunOutcome(msgspec.Struct, frozen=True):
    """The outcome of a run.

    Attributes:
        measure: what is compared.
        standings: by policy, the highest mean first; empty where the measure is of the run.
        by_agent: the value of each agent.
        policies: the policy of each agent, as it is shown.
        value: of the whole run, where the measure is of the run.
        sentences: the outcome in one to three sentences, the standings first.
        compares: whether the standings tell anything beside the sentences: not where those are
            the world's and all agents have one policy.
    """

    measure: AgentMeasure | Measure
    standings: Sequence[Standing]
    by_agent: Sequence[Value]
    policies: Sequence[str]
    value: Value
    sentences: Sequence[str]
    compares: bool = True

    def __repr__(self) -> str:
        text = "\n".join(self.sentences)
        table = format_table(self.rows, (1, 2, 3, 4), SHOWN_MAX, ".standings has all")
        return f"{text}\n\n{table}" if self.standings else text

    @property
    def rows(self) -> list[Sequence[str]]:
        """The standings as rows, with a head."""
        title = f"mean {escaped(self.measure.title)}"
        rows: list[Sequence[str]] = [("policy", "agents", title, "lowest", "highest")]
        rows += [
            (
                escaped(each.policy), f"{len(each.agents):,}",
                *map(format_number, (each.mean, each.lowest, each.highest)),
            )
            for each in self.standings
        ]  # fmt: skip
        return rows

    @property
    def headline(self) -> str:
        """The outcome as one text."""
        return " ".join(self.sentences)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "measure": self.measure.name,
            "title": self.measure.title,
            "headline": self.headline,
            "value": self.value,
            "policies": [msgspec.structs.asdict(standing) for standing in self.standings],
            "agents": list(self.by_agent),
        }


def outcome_of(
    tools: Tools, run: Measured[Config], name: str | None = None, *, breaks_off: bool = False
) -> RunOutcome:
    """The outcome of a measured run.

    Args:
        name: the measure, of agents or of the run, also one of the user's; None: the outcome of
            the world.
        breaks_off: the journal is damaged after the units that were measured.

    Raises BadInput for an unknown measure, and for a world without measures.
    """
    measures = msgspec.structs.replace(tools.measures, known=run.known)
    if not run.roster and run.known:
        # Nobody is there to earn anything.
        measures = msgspec.structs.replace(measures, of_agents={})
    measure = measures.outcome(tools.name, name)
    if isinstance(measure, Measure) and measure.name in run.by_agent:
        measure = of_agents(measure)
    if not run.units:
        sentences = [f"No {run.vocabulary.unit} is closed yet."]
        return RunOutcome(measure, [], (), run.roster, None, sentences)
    remarks, leads = tools.headline(run), tools.headline_leads and name is None
    after = "" if run.finished else _after(tools, run, breaks_off)
    value: Value = None
    values: Sequence[Value] = ()
    standings: list[Standing] = []
    if isinstance(measure, AgentMeasure):
        values = run.by_agent.get(measure.name, ())
        standings = standings_of(values, run.roster) if values else []
        sentence = _standings(measure, standings, ends=not after)
    else:
        value = run.of(measure.name)
        sentence = _whole(run, measure, value)
    is_alone = leads and bool(remarks) and len(standings) <= 1
    standing = [] if is_alone else [sentence]
    sentences = [*remarks, *standing] if leads else [*standing, *remarks]
    if after and standings and not leads:
        sentences[0] = f"{after}, {sentence[:1].lower()}{sentence[1:]}"
    elif after:
        sentences[0] = f"{after}: {sentences[0]}"
    return RunOutcome(measure, standings, values, run.roster, value, sentences, not is_alone)


def _after(tools: Tools, run: Measured[Config], breaks_off: bool) -> str:
    """How far an unfinished run goes: `After 6 of 200 rounds`."""
    planned = run.config.as_dict().get(tools.players.horizon)
    words = run.vocabulary
    units = format_count(run.counted, words.unit)
    if type(planned) is int and planned > run.counted:
        units = f"{run.counted:,} of {planned:,} {words.units}"
    return f"After {units}{', where the file breaks off' if breaks_off else ''}"


def of_agents(measure: Measure) -> AgentMeasure:
    """A measure of the user's that gives a value for each agent, as a measure of agents."""
    return AgentMeasure(measure.name, measure.title, measure.definition)


def standings_of(by_agent: Sequence[Value], policies: Sequence[str]) -> list[Standing]:
    """The standings of policies; the highest mean first, undefined ones last."""
    standings = []
    for policy, agents in agents_by_policy(policies).items():
        values = [value for agent in agents if (value := by_agent[agent]) is not None]
        ends = (min(values), max(values)) if values else (None, None)
        standings.append(Standing(policy, agents, mean(values), *ends))
    return sorted(standings, key=lambda standing: (standing.mean is None, -(standing.mean or 0.0)))


def means_of(by_agent: Sequence[Value], policies: Sequence[str]) -> dict[str, Value]:
    """The mean over the agents of each policy."""
    return {
        policy: mean([by_agent[agent] for agent in agents])
        for policy, agents in agents_by_policy(policies).items()
    }


def _standings(measure: AgentMeasure, standings: Sequence[Standing], *, ends: bool) -> str:
    """Who has how much, as a sentence; `ends`: at the end of the run."""
    known = [standing for standing in standings if standing.mean is not None]
    if not known:
        return f"The {escaped(measure.title)} of no agent is defined."
    if not any(standing.lowest or standing.highest for standing in known):
        return f"All {'end with' if ends else 'have'} {amount_of(measure, format_number(0.0))}."
    first, *others = known
    parts = [
        f"{_members(first, ends)} {amount_of(measure, format_number(first.mean))}{_each(first)}"
    ]
    left = len(known) - NAMED_MAX
    parts += [_with(other) for other in (others if left <= 0 else others[: NAMED_MAX - 3])]
    if left > 0:
        parts += ["the others between", f"last, {_with(others[-1])}"]
    return f"{'; '.join(parts)}."


def _members(standing: Standing, ends: bool) -> str:
    one = len(standing.agents) == 1
    verb = ("ends with" if one else "end with") if ends else ("has" if one else "have")
    number = number_word(len(standing.agents)).capitalize()
    return f"{number} {escaped(standing.policy)} agent{'' if one else 's'} {verb}"


def _with(standing: Standing) -> str:
    members = f"{number_word(len(standing.agents))} {escaped(standing.policy)}"
    return f"{members} with {format_number(standing.mean)}"


def _each(standing: Standing) -> str:
    """What the mean of a policy is, behind it."""
    if len(standing.agents) == 1:
        return ""
    return " each" if standing.lowest == standing.highest else " each on average"


def number_word(count: int) -> str:
    """A number as it stands in a sentence: words up to twelve, digits from 13 on."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def amount_of(measure: AgentMeasure, number: str) -> str:
    """A number of a measure as it stands in a sentence."""
    return escaped(measure.amount or f"{{}} {measure.title}").replace("{}", number, 1)


def _whole(run: Measured[Config], measure: Measure, value: Value) -> str:
    """A measure of the run as a sentence, with the value of the last unit."""
    title = escaped(capitalized(measure.title))
    if value is None:
        return f"{title}: undefined in this run."
    last = run.values[measure.name][-1] if measure.by_unit and not measure.at_end else None
    end = "" if last is None else f", {format_number(last)} in the last {run.vocabulary.unit}"
    return f"{title}: {format_number(value)}{end}."
