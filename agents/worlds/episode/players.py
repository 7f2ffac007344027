"""Who acts in episodes: recording by command, forks, and asking again.

A run that is driven here resets its environment by drawn seeds when an episode is over, until it
has its steps; without a number of steps it ends with the first episode, which must end within
UNENDED_MAX steps. Where recorded actions are
done again, their resets are, too, and the run ends where the recording has no action for an agent
that must act.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeGuard, cast

import attrs
import msgspec

from goldrush.agents.players import (
    PROGRAM,
    AskAgain,
    Facts,
    ForkChange,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
    recordings_of,
)
from goldrush.agents.recorded import Recording
from goldrush.agents.replacements import ReplacedByStep, replaced_in
from goldrush.agents.roster import Entry, Roster, entries_in
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.agents.trust import EXTERNAL, RECORDED
from goldrush.agents.worlds.episode.policies import (
    CALLER,
    ActionSampler,
    EpisodePolicy,
)
from goldrush.agents.worlds.episode.subjects import Subjects
from goldrush.kernel.errors import BadInput, BadPlan, RulesFailed, format_value, unknown
from goldrush.kernel.fold import checked, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.run import Ask, Inputs
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.episode.config import (
    AGENTS_MAX,
    DISABLED,
    OWN,
    UNENDED_MAX,
    VECTOR,
    EpisodeConfig,
    config_of,
)
from goldrush.kernel.worlds.episode.events import ACTED, CLOSED, RESET
from goldrush.kernel.worlds.episode.fork import FORKS, check_parameters
from goldrush.kernel.worlds.episode.state import EpisodeState, drawn_seed
from goldrush.kernel.worlds.episode.values import ARRAY, DICT, Encoded
from goldrush.kernel.worlds.episode.world import NAME, episode_world

RANDOM: Final = "random"
NOTHING: Final = episode_world()  # runs nothing, but has the events and the nouns

Recordings = Mapping[int, "EpisodeRecording"]  # by agent


class EpisodePlayers(SimultaneousPlayers[EpisodeState, EpisodeState]):
    """The agents of environments. Nobody acts in a model."""

    world = NOTHING
    policy_set = PolicySet(
        world=NAME,
        policies={RANDOM: ActionSampler},
        default=RANDOM,
        agents=1,
        agents_max=AGENTS_MAX,
        method="act",
        recording=lambda path: EpisodeRecording(path),
    )
    codes = (ACTED,)
    horizon = "steps"
    forks = FORKS
    stand_in = RANDOM
    leaves_state = True

    def __init__(self, subjects: Subjects) -> None:
        """`subjects`: the live environments of this process."""
        super().__init__()
        self.subjects = subjects

    def config_of(self, settings: Mapping[str, object]) -> EpisodeConfig:
        return config_of(settings)

    def unit(self, state: EpisodeState) -> int:
        return state.unit

    def turn(self, state: EpisodeState) -> tuple[int, Sequence[int]]:
        return 0, state.acting

    def view(self, state: EpisodeState) -> EpisodeState:
        return state

    def ask(self, policy: EpisodePolicy | ActionSampler, entry: Entry, view: EpisodeState) -> Row:
        """The row of an action. Raises BadInput for one that cannot be recorded; what the policy
        raises.
        """
        seen = self.subjects.seen(view, entry.agent)
        if seen.is_out:
            return entry.agent, None
        if isinstance(policy, ActionSampler):
            action = policy.sample(seen, view.config.seed, view.unit, entry.agent)
        else:
            # What it does to the observation must change nothing for the environment.
            action = policy.act(copy.deepcopy(seen.observation), seen.agent)
        return entry.agent, self.subjects.encoded(action, f"the action of {seen.agent}")

    def resubmitted(self, item: Mapping[str, Any], config: Any, code: int) -> Row:
        """The row of an action, which is encoded. Raises BadPlan for one of nobody."""
        if not _is_agent(item["agent"], config):
            raise BadPlan(f"there is no agent {format_value(item['agent'])}")
        return item["agent"], item["action"]

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        """See Players. What was given in this process is made, to see what it is."""
        if treatment is not None:
            raise unknown("treatment", treatment, ())
        wanted = settings.get("agents")
        named = {name: value for name, value in settings.items() if name != "agents"}
        config, about = self.subjects.prepared(named)
        if wanted not in (None, config.agents):
            raise BadInput(
                f"{about.name} has {config.agents} agents, not {format_value(wanted)}",
                "leave --agents out",
            )
        facts = {"config": config.as_dict(), "subject": about.as_dict()}
        if not config.agents:
            if roster is not None:
                raise BadInput(f"nobody acts in {about.name}, a model", "leave the roster out")
            if not config.steps:
                raise BadInput("the number of steps is missing", "give it: --set steps=100")
            return PreparedRun(facts, Roster(()))
        found = self.policy_set.parse(roster, config.agents, resources.models)
        self.check_recordings(found, config)
        return PreparedRun(facts, found)

    @contextmanager
    def start_agents(self, context: RunContext[EpisodeState]) -> Iterator[Ask[EpisodeState]]:
        """See Players. Raises BadInput for agents that only the recording program can play."""
        state, objects = context.state, context.resources.policies
        entries = entries_in(state.roster)
        for entry in entries:
            if entry.policy == EXTERNAL and entry.agent not in objects:
                raise BadInput(
                    f"{state.about.agents[entry.agent]} was played by the program that recorded "
                    "the run, and goldrush cannot go on in its place",
                    "go on there, or fork the run with --roster random, or module:Class",
                )
        driven = _Driven(
            self.subjects, _recordings_of(entries, context.recordings), replaced_in(context.forks)
        )
        if state.about.kind == VECTOR and 0 < len(driven.recordings) < len(entries):
            raise BadInput(
                "some environments of a vector environment are `recorded`, and others are not",
                "give all of them the same recording, or none",
            )
        _check_end(state, driven)
        given = replaced_in(context.forks[-1:])  # what earlier forks gave can lie behind this one
        with super().start_agents(context) as ask:

            def inputs_of(state: EpisodeState) -> Inputs:
                inputs = driven.inputs(state, lambda: ask(state))
                if given:
                    _check_used(given, state, inputs)
                return inputs

            yield inputs_of

    def policy_check(
        self, resources: Resources
    ) -> Callable[[EpisodeState, Sequence[Facts]], PolicyCheck]:
        check_of, known = super().policy_check(resources), recordings_of(self, resources.sources)

        def check(state: EpisodeState, forks: Sequence[Facts]) -> PolicyCheck:
            entries = entries_in(state.roster)
            found = _of_callers(check_of(state, forks), entries)
            if found.ask is None:
                return found
            driven = _Driven(self.subjects, _recordings_of(entries, known), replaced_in(forks))
            is_believed = bool(found.not_asked or found.unknown)
            is_outside = any(entry.policy == EXTERNAL for entry in entries)
            ask = partial(
                driven.again, found.ask, is_believed=is_believed,
                resets_are_believed=is_believed or is_outside,
            )  # fmt: skip
            return msgspec.structs.replace(found, ask=ask, pending=None)

        return check

    def resolve_change(
        self, state: EpisodeState, change: ForkChange, resources: Resources
    ) -> ResolvedChange:
        """See Players. Without a roster the later actions of agents that the recording program
        played are done again.
        """
        parent = EpisodeRecording(change.parent)  # before code runs that may leave the folder
        settings = {
            name: self.subjects.encoded(value, name) for name, value in change.settings.items()
        }
        parameters = [name for name in settings if name not in OWN]
        if state.is_model:
            self.subjects.check_changes(state, {name: change.settings[name] for name in parameters})
        for name in parameters:
            if not state.is_model and name not in state.config.parameters:
                raise unknown("setting", name, state.config.as_dict())
        check_parameters(settings, is_model=state.is_model)
        items = [self._encoded(item, state, parent) for item in change.replace]
        encoded = msgspec.structs.replace(change, settings=settings, replace=items)
        resolved = super().resolve_change(state, encoded, resources)
        if change.roster is not None:
            return resolved
        return self._going_on(state, resolved, parent, resources)

    def _going_on(
        self, state: EpisodeState, resolved: ResolvedChange, parent: EpisodeRecording,
        resources: Resources,
    ) -> ResolvedChange:  # fmt: skip
        """The change with `recorded` in place of agents that the recording program played."""
        objects, entries = resources.objects_for(state.roster), entries_in(state.roster)
        again = {"journal": parent.sha256}
        new = [
            Entry(entry.agent, RECORDED, again)
            if entry.policy == EXTERNAL and entry.agent not in objects
            else entry
            for entry in entries
        ]
        if new == [*entries]:
            return resolved
        for step, row in resolved.facts["replaced"]:
            if parent.action(NOTHING.vocabulary.unit_of(step), row[0]) is None:
                raise BadInput(
                    f"{_name_of(state, row[0])} does not act in step {step} of {parent.path}, "
                    "whose actions are done again",
                    "give another step, or a --roster that acts",
                )
        roster = Roster(new, [parent])
        return ResolvedChange({**resolved.facts, "roster": roster.as_setup()}, roster)

    def _encoded(
        self, item: Mapping[str, object], state: EpisodeState, parent: EpisodeRecording
    ) -> Mapping[str, object]:
        """A replaced action with its value encoded. Whatever else is wrong with it is found later.

        Raises BadInput for an action that the agent cannot take, and for one of an agent that does
        not act in the next step.
        """
        noun = NOTHING.vocabulary.unit
        if not isinstance(item, Mapping) or type(item.get(noun)) is not int or "action" not in item:
            return item
        step, agent = cast(int, item[noun]), item.get("agent")
        is_together = state.about.kind == VECTOR
        if not _is_agent(agent, state.config) or (agent is None) is not is_together:
            raise BadInput(
                f"an action of agent {format_value(agent)} is given",
                "give agent null, and an array of all actions"
                if is_together
                else f"give an agent from 0 to {state.config.agents - 1}",
            )
        if step == state.unit and (state.is_over or agent not in (None, *state.acting)):
            raise BadInput(
                f"{_name_of(state, agent)} does not act in step {step}", "fork without its action"
            )
        recorded = parent.action(NOTHING.vocabulary.unit_of(step), agent)
        like = None if recorded is None else recorded[1]
        return {**item, "action": self.subjects.action_of(item["action"], state, agent, like)}


def _check_end(state: EpisodeState, driven: _Driven) -> None:
    """Raises BadInput for a run that would never end: of a model, or of environments that reset
    themselves, without a number of steps.
    """
    has_end = state.config.steps or driven.recordings
    if has_end or not (state.is_model or state.about.kind == VECTOR):
        return
    steps = state.taken + 100
    raise BadInput(
        f"the number of steps is missing, and {state.about.name} has no end of its own",
        f"fork the run with --set steps={steps}" if state.unit else "give it: --set steps=100",
    )


def _of_callers(found: PolicyCheck, entries: Sequence[Entry]) -> PolicyCheck:
    """The check, in which programs around a wrapper are no objects that could be given."""
    played = [entry.options.get("name") for entry in entries if entry.policy == EXTERNAL]
    if not played or {*played} != {CALLER}:
        return found
    not_asked = [who.replace(EXTERNAL, PROGRAM, 1) for who in found.not_asked]
    return msgspec.structs.replace(found, not_asked=not_asked)


def _is_agent(agent: object, config: EpisodeConfig) -> TypeGuard[int | None]:
    return agent is None or (type(agent) is int and 0 <= agent < config.agents)


def _name_of(state: EpisodeState, agent: int | None) -> str:
    return "the environment" if agent is None else state.about.agents[agent]


def _recordings_of(entries: Sequence[Entry], known: Sequence[Recording]) -> Recordings:
    """Those of the known recordings that agents do again."""
    by_digest = {each.sha256: each for each in known if isinstance(each, EpisodeRecording)}
    digests = {e.agent: e.options.get("journal") for e in entries if e.policy == RECORDED}
    return {agent: by_digest[each] for agent, each in digests.items() if each in by_digest}


@attrs.frozen
class _Driven:
    """What is done to a subject, step by step.

    Attributes:
        recordings: what agents do again.
        replaced: actions given by hand.
    """

    subjects: Subjects
    recordings: Recordings
    replaced: ReplacedByStep

    def inputs(self, state: EpisodeState, ask: Callable[[], Inputs]) -> Inputs:
        """The inputs of the next step. `ask`: gives the actions of agents."""
        if state.step >= UNENDED_MAX and not (state.config.steps or self.recordings):
            raise RulesFailed(
                f"the episode of {state.about.name} has not ended in {UNENDED_MAX:,} steps",
                f"give their number to `record` or `fork`: --set steps={2 * UNENDED_MAX}",
            )
        ahead = self._without_asking(state)
        given = self.replaced.get((state.unit, 0))
        if ahead is not None:
            if given is not None:
                raise BadInput(
                    f"an action in step {state.unit} is replaced, in which nobody acts",
                    "fork without it",
                )
            return ahead
        if state.about.kind != VECTOR:
            return ask()
        if given is not None:
            return [(ACTED, list(given.values()))]
        if self.recordings:
            row = _first(self.recordings).action(state.unit + 1, None)
            return [(ACTED, [cast(Row, row)])]  # there is one
        [(_, rows)] = cast("Sequence[Batch]", ask())
        return [(ACTED, [(None, self.subjects.together(state, [row[1] for row in rows]))])]

    def again(
        self, ask: AskAgain, state: EpisodeState, recorded: Block, *, is_believed: bool,
        resets_are_believed: bool,
    ) -> Sequence[Batch]:  # fmt: skip
        """The recorded inputs of a step, asked for again.

        `is_believed`: some agents are not asked; `resets_are_believed`: nobody knows when they, or
        the program that recorded them, reset the environment.
        """
        is_step = not state.is_over and [code for code, _ in recorded] == [ACTED]
        if resets_are_believed and not is_step:
            return recorded.batches
        if is_believed and state.about.kind == VECTOR:
            return recorded.batches
        return cast("Sequence[Batch]", self.inputs(state, lambda: ask(state, recorded)))

    def _without_asking(self, state: EpisodeState) -> list[Batch] | None:
        """The inputs of a step in which nobody acts; None: somebody does."""
        unit = state.unit + 1
        if self.recordings:
            if (reset := _first(self.recordings).resets.get(unit)) is not None:
                return [(RESET, [reset])]
            is_together = state.about.kind == VECTOR
            needed = [agent for agent in state.acting if agent in self.recordings]
            actions = [
                self.recordings[agent].action(unit, None if is_together else agent)
                for agent in needed
            ]
            return [(CLOSED, [()])] if state.is_over or None in actions else None
        if state.is_model:
            config = state.config
            given: Encoded = (DICT, tuple(config.parameters.items()))
            seed = None if state.about.seed_parameter == "" else config.seed
            return [(RESET, [(seed, False, given)])] if state.is_over else []
        if state.finished and state.about.known_autoreset == DISABLED:
            mask = bytes([agent in state.finished for agent in range(state.config.agents)])
            options: Encoded = (DICT, (("reset_mask", (ARRAY, "|b1", (len(mask),), mask)),))
            return [(RESET, [_drawn_reset(state, options)])]
        if not state.is_over:
            return None
        if state.episode and not state.config.steps:
            return [(CLOSED, [()])]
        return [(RESET, [_drawn_reset(state)])]


def _drawn_reset(state: EpisodeState, options: Encoded = None) -> Row:
    """The row of a reset by a seed that is drawn, or without one of what takes none."""
    if state.about.seed_parameter == "":
        return None, False, options
    return drawn_seed(state), True, options


def _first(recordings: Recordings) -> EpisodeRecording:
    return recordings[min(recordings)]


def _check_used(given: ReplacedByStep, state: EpisodeState, inputs: Inputs) -> None:
    """Raises BadInput where the run ends with these inputs, and an action is given by hand for a
    step behind them.
    """
    codes = [code for code, _ in inputs] if isinstance(inputs, Sequence) else []
    is_closed = codes == [CLOSED]
    if not is_closed and (codes == [RESET] or state.taken + 1 != state.config.steps):
        return
    last = state.unit - is_closed
    step, _ = max(given)
    if step > last:
        raise BadInput(
            f"an action in step {step} is replaced, and the run ends with step {last}",
            "give an earlier step, or fork without it",
        )


class EpisodeRecording(Recording):
    """The actions and resets of a journal, in memory.

    Attributes:
        resets: the rows of resets, by the number of the unit.
    """

    def __init__(self, path: str | Path) -> None:
        """Read a journal. Raises BadInput, JournalError if it cannot be read."""
        world = episode_world()
        super().__init__(path, world, (ACTED,))
        self.resets: dict[int, Row] = {}
        with JournalReader(path) as reader:
            for unit in units(checked(world, reader), world.arrange):
                rows = [row for step in unit.steps for row in step.inputs.rows(RESET)]
                if rows:
                    self.resets[unit.number] = rows[0]

    def action(self, unit: int, agent: int | None) -> Row | None:
        """The row of an agent's action, or of all together (None), in a unit, from 1 on; None:
        there is none.
        """
        if not 1 <= unit <= len(self.units):
            return None
        actions = cast("Mapping[tuple[int, int | None], Row]", self.units[unit - 1])
        return actions.get((0, agent))

    def check(self, agent: int, units: int) -> None:
        """Raises BadInput unless some unit has an action of this agent, or of all together."""
        if not any(who in (agent, None) for rows in self.units for _, who in rows):
            raise BadInput(
                f"{self.path} holds no actions of agent {agent}",
                "give `recorded` to agents that it has",
            )
