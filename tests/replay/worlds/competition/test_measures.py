"""The measures of a season, derived a second time from its events, by their definitions alone.

`Told` reads a season assignment by assignment, and shares no code with what it is held against: the
landscapes of `nk` are hashed anew, correlations are scipy's. What has a known answer stands below.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from goldrush.agents.players import RunContext
from goldrush.agents.worlds.competition.arenas import arena_record, opened_tests, rules_of
from goldrush.agents.worlds.competition.benches.mining import atlas
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.play import session_of
from goldrush.agents.worlds.competition.players import configured, record
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel import run
from goldrush.kernel.journal import JournalReader, JournalWriter
from goldrush.kernel.world import Batch, Event
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition import events as kinds
from goldrush.kernel.worlds.competition.arenas.mining import conducts
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Phase
from goldrush.replay.data.measures import Span
from goldrush.replay.worlds.competition.measures import (
    LEARNING,
    MEASURES,
    STABILITY,
    MeasuredSeason,
    measured,
    spearman,
    stability,
)
from goldrush.replay.worlds.competition.quality import Atlases
from tests.arena_oracle import LOCI, READ, nk_value, word
from tests.golden import ANYTHING, FORKED_SEASON, MODEL_SEASON, SEASON, SEASON_NAMES, season_path
from tests.journals import commits_of
from tests.seasons import HEADER, events_of

Value = float | None


def mean_of(values: Sequence[Value]) -> Value:
    """The mean of what is defined."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def share(part: int, whole: int) -> Value:
    return part / whole if whole else None


# Landscapes of `nk`, without noise.


@functools.cache
def nk_values(landscape: int, treatment: str, drift: float) -> Mapping[str, float]:
    """The value of each of the 4,096 conducts."""
    family, generation = map(int, treatment.split("."))
    entries = []
    for locus in range(LOCI):
        h = generation
        while h and word(["drift", landscape, family, h, locus], 0) >= int(drift * 2**64):
            h -= 1
        entries.append(
            [
                (word(["landscape", landscape, family, h, locus, p], 0) >> 11) * 2.0**-53
                for p in range(2**READ)
            ]
        )
    values = {}
    for number in range(2**LOCI):
        twice = number | number << LOCI  # bits i .. i + 4, the last ones followed by the first
        read = [twice >> locus & 2**READ - 1 for locus in range(LOCI)]
        total = 0.0
        for locus in range(LOCI):
            total += entries[locus][read[locus]]
        values[f"{number:0{LOCI}b}"[::-1]] = total / LOCI
    return values


def test_landscapes_are_those_that_the_rules_oracle_tells_conduct_by_conduct() -> None:
    values = nk_values(5, "2.3", 0.2)

    assert 4_096 == len(values)
    for conduct in ("000000000000", "100000000000", "011010011101", "111111111111"):
        assert nk_value(conduct, 5, "2.3", 0.2) == values[conduct]


# A season told by its events.

UNTOLD = -9.0  # below all values of a measure: the events do not tell it


def plain(value: Any) -> Any:
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def without_refused(events: Sequence[Event]) -> Iterator[tuple[Event, bool]]:
    """The events, and whether each counts as not done: a refusal has the whole act in it, and comes
    behind it.
    """
    refused: set[int] = set()
    for place, event in enumerate(events):
        if event.name == "refused":
            act = {name: plain(v) for name, v in event["act"].items() if name != "index"}
            name = act.pop("event")
            refused.add(
                next(
                    k
                    for k in range(place - 1, -1, -1)
                    if k not in refused
                    and events[k].name == name
                    and {n: plain(v) for n, v in events[k].fields.items() if n in act} == act
                )
            )
    for place, event in enumerate(events):
        yield event, place in refused


class ToldTable:
    """A table: what was said, tested and scored at it."""

    def __init__(self, config: Mapping[str, Any], subject: Sequence[str]) -> None:
        arena = config["arena"]
        [found] = [s for s in arena["subjects"] if [s[0], s[2]] == list(subject)]
        self.treatment, self.is_up, self.family = found[2], found[1] == "up", found[3]
        self.drift = arena["options"].get("drift")
        self.landscape = arena["options"].get("landscape")
        self.participants: Sequence[int] = ()
        self.bar: Value = None
        self.bar_conduct: Any = None
        self.said: list[dict[str, Any]] = []
        self.tests: dict[tuple[int, str], Value] = {}
        self.redirected: set[int] = set()
        self.reasons: list[str] = []  # of final stances
        self.concluded: Mapping[str, Any] = {}
        self.trials = 0
        self.totals: dict[int, int] = {}
        self.raw: dict[int, int] = {}  # totals by the rubric
        self.impacts: dict[int, int] | None = {}  # by the rubric; None: the therapist rated else

    def hear(self, fields: Mapping[str, Any], *, is_refused: bool) -> None:
        """A contribution; a refused one is a pass, of who has the turn."""
        if is_refused:
            seated = fields["agent"] in self.participants
            turn = (fields["round"], fields["agent"])
            is_said = turn in [(one["round"], one["agent"]) for one in self.said]
            if not seated or is_said or self.concluded:
                return
            fields = {**fields, "move": "pass", "target": None, "words": ""}
        else:
            assert len(self.said) == fields["id"]
        self.said.append({**fields, "id": len(self.said)})

    def counted(self) -> list[dict[str, Any]]:
        """What was neither redirected nor refers to what was."""
        gone = set(self.redirected)
        for one in self.said:
            if one["target"] in gone:
                gone.add(one["id"])
        return [one for one in self.said if one["id"] not in gone]

    def is_as_good(self, value: Value, than: float) -> bool:
        if value is None:
            return False
        return value >= than if self.is_up else value <= than

    def best(self, values: Sequence[float]) -> float:
        return max(values) if self.is_up else min(values)

    def measures(self) -> dict[str, Value]:
        said = self.counted()
        claims = [one for one in said if one["move"] in ("propose", "amend")]
        challenges = [one for one in said if one["move"] == "challenge"]
        held = [
            one for one in claims
            if self.is_as_good(self.tests[one["id"], "base"], one["claim"][0])
        ]  # fmt: skip
        sharp = 0
        for one in held:
            tested = self.tests[one["id"], "base"]
            if self.bar is not None and tested is not None:
                sharp += 2 * abs(one["claim"][0] - self.bar) >= abs(tested - self.bar)
        refuted = [
            one for one in challenges
            if not self.is_as_good(
                self.tests[one["target"], one["part"]], self.said[one["target"]]["claim"][0]
            )
        ]  # fmt: skip
        return {
            **self._quality(claims),
            "drawn": float(len(self.concluded["tied"]) > 0),
            "open": float(self.concluded["proposal"] is None),
            "held": share(len(held), len(claims)),
            "sharp": share(sharp, len(claims)),
            "sustained": share(len(refuted), len(challenges)),
            "passes": share(sum(one["move"] == "pass" for one in self.said), len(self.said)),
            "words": len(" ".join([*(one["words"] for one in self.said), *self.reasons]).split()),
            "trials": self.trials,
            "total": fmean(self.totals.values()),
            "validity": self._validity(claims, self.raw),
            "merit": UNTOLD
            if self.impacts is None
            else self._validity(
                claims, {agent: raw - self.impacts[agent] for agent, raw in self.raw.items()}
            ),
        }

    def _quality(self, claims: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
        """Of `nk`, whose values are known. Where nothing was concluded, or tested, the bar's
        conduct counts.
        """
        if self.drift is None:
            return {"percentile": self._among(claims)}
        values = nk_values(self.landscape, self.treatment, self.drift)
        is_open = self.concluded["proposal"] is None
        concluded = values[self.bar_conduct if is_open else self.concluded["conduct"]]
        tested = [(self.tests[one["id"], "base"], one["conduct"]) for one in claims]
        most = max((v for v, _ in tested if v is not None), default=None)
        firsts = [conduct for value, conduct in tested if value == most is not None]
        best = values[firsts[0] if firsts else self.bar_conduct]
        below = sum(value < concluded for value in values.values())
        as_good = sum(value == concluded for value in values.values())
        optimum = max(values.values())
        middle = fmean(values.values())
        return {
            "percentile": (below + as_good / 2) / 4_096,
            "optimum_share": (concluded - middle) / (optimum - middle),
            "regret": optimum - concluded,
            "discovery": optimum - best,
            "selection": best - concluded,
        }

    def _among(self, claims: Sequence[Mapping[str, Any]]) -> Value:
        """The share of the table's proposals that the conclusion, or the bar, is better than."""
        is_open = self.concluded["proposal"] is None
        own = self.bar if is_open else self.tests[self.concluded["proposal"], "base"]
        tested = [self.tests[one["id"], "base"] for one in claims]
        points = 0.0
        for value in tested:
            if value == own:
                points += 0.5
            elif own is not None and (value is None or (own > value) == self.is_up):
                points += 1
        return share(points, len(tested))

    def _validity(self, claims: Sequence[Mapping[str, Any]], by_agent: Mapping[int, int]) -> Value:
        totals, bests = [], []
        for agent, total in by_agent.items():
            own = [self.tests[one["id"], "base"] for one in claims if one["agent"] == agent]
            values = [value for value in own if value is not None]
            if values:
                totals.append(total)
                bests.append(self.best(values) if self.is_up else -self.best(values))
        if len(totals) < 4 or len(set(totals)) == 1 or len(set(bests)) == 1:
            return None
        return float(spearmanr(totals, bests).statistic)


class Told:
    """A season: by assignment its measures; `totals`: of each agent, in order."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.by_assignment: list[dict[str, Value]] = []
        self.totals: dict[int, list[int]] = {}
        self.tables: dict[int, ToldTable] = {}
        self.sparks: dict[int, int] = {}
        self.counts = dict.fromkeys(("faced", "returned", "questions"), 0)
        self.tokens: int | None = None
        self.most_tables = 0
        self.workers: list[int] = []
        self.config: Mapping[str, Any] = {}
        self.families: set[str] = set()
        self.first: list[Value] = []  # percentiles at first visits of a family
        self.later: list[Value] = []
        for event, is_refused in without_refused(events):
            if not is_refused or event.name == "spoke":
                self._take(event, is_refused)

    def _take(self, event: Event, is_refused: bool) -> None:
        table = self.tables.get(event.fields.get("table"), None)  # type: ignore[arg-type]
        match event.name:
            case "season_started":
                self.config = event["config"]
                for one in event["cast"]:
                    if one["role"] == "worker":
                        self.workers.append(one["ordinal"])
                        self.sparks[one["ordinal"]] = self.config["sparks_start"]
            case "assignment_opened":
                self.tables = {
                    n: ToldTable(self.config, subject)
                    for n, subject in enumerate(event["subjects"])
                }
            case "roundtable_opened":
                assert table is not None
                table.participants = event["participants"]
            case "tested":
                assert table is not None
                if event["at"] is None:
                    table.bar, table.bar_conduct = event["value"], event["conduct"]
                else:
                    table.tests[event["at"], event["part"]] = event["value"]
            case "tried":
                assert table is not None
                table.trials += 1
            case "spoke":
                if table is not None:
                    table.hear(event.fields, is_refused=is_refused)
            case "stood":
                assert table is not None
                table.reasons.append(event["words"])
            case "judged":
                assert table is not None
                if event["signal"] == "redirect":
                    table.redirected |= set(event["ids"])
            case "concluded":
                assert table is not None
                table.concluded = event.fields
            case "scored":
                assert table is not None
                table.totals[event["agent"]] = event["total"]
                table.raw[event["agent"]] = event["rubric"]
                if sum(event["raw"]) != event["rubric"]:
                    table.impacts = None
                elif table.impacts is not None:
                    table.impacts[event["agent"]] = event["raw"][2]
                self.totals.setdefault(event["agent"], []).append(event["total"])
            case "sparks_moved":
                self.sparks[event["agent"]] = event["balance"]
            case "joined":
                self.sparks[event["ordinal"]] = self.config["sparks_start"]
            case "deleted":
                del self.sparks[event["agent"]]
            case "elimination_faced":
                self.counts["faced"] += 1
            case "returned":
                self.counts["returned"] += 1
            case "answered":
                self.counts["questions"] += 1
                source = event["source"] or {}
                told = [source.get(name) for name in ("tokens_in", "tokens_out")]
                self.tokens = (self.tokens or 0) + sum(n for n in told if n is not None)
            case "assignment_closed":
                self._close()

    def _close(self) -> None:
        of_tables = [table.measures() for table in self.tables.values()]
        names = of_tables[0]
        values = {name: mean_of([one[name] for one in of_tables]) for name in names}
        if any(one["merit"] == UNTOLD for one in of_tables):
            values["merit"] = UNTOLD
        for name in ("percentile", "optimum_share", "regret", "discovery", "selection"):
            values.setdefault(name, None)
        new, old = [], []
        for table, one in zip(self.tables.values(), of_tables, strict=True):
            (old if table.family in self.families else new).append(one["percentile"])
        self.first += [mean_of(new)] if new else []
        self.later += [mean_of(old)] if old else []
        self.families |= {table.family for table in self.tables.values()}
        held = list(self.sparks.values())
        gaps = sum(abs(a - b) for a in held for b in held)
        values["spark_gini"] = gaps / (2 * len(held) * sum(held)) if sum(held) else None
        values |= {**self.counts, "tokens": self.tokens}
        self.by_assignment.append(values)
        self.most_tables = max(self.most_tables, len(self.tables))
        self.tables, self.tokens = {}, None
        self.counts = dict.fromkeys(self.counts, 0)

    def over(self, name: str, first: int, last: int) -> Value:
        """Over the assignments from one up to another, counted from 1."""
        values = [of[name] for of in self.by_assignment[first - 1 : last]]
        return values[-1] if name == "spark_gini" else mean_of(values)

    def halves_of(self) -> dict[int, tuple[float, float]]:
        """Of all who sat at 8 tables: the mean at the odd ones, at the even ones, centred."""
        means = {
            agent: (fmean(totals[::2]), fmean(totals[1::2]))
            for agent, totals in self.totals.items()
            if len(totals) >= 8
        }
        if not means:
            return {}
        odd, even = (fmean(pair[k] for pair in means.values()) for k in (0, 1))
        return {agent: (a - odd, b - even) for agent, (a, b) in means.items()}


def corrected(halves: Sequence[tuple[float, float]]) -> Value:
    """Spearman and Brown's 2r ÷ (1 + r), never below −1; None where r is undefined, or −1."""
    first, second = [a for a, _ in halves], [b for _, b in halves]
    if len(halves) < 2 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    r = float(pearsonr(first, second).statistic)
    return None if math.isclose(r, -1, abs_tol=1e-12) else max(-1.0, 2 * r / (1 + r))


# Seasons: golden ones, and small ones in which more is different.

SMALL: Mapping[str, Any] = {"arena": "nk[seeds=1]", "assignments": 12}
RECORDED: Mapping[str, tuple[Mapping[str, Any], str, Sequence[str]]] = {
    "independent": ({"seed": 1}, "independent", ()),
    "no-challenges": ({"seed": 2}, "no-challenges", ()),
    "random": ({"seed": 3, "workers": 5}, "baseline", ("random",)),
    "less is better": (
        {"seed": 0, "assignments": 5, "arena": "mining[agents=5;rounds=20;seeds=1]"},
        "baseline",
        ("random",),
    ),
    "silent": ({"seed": 4, "elimination_bottoms": 1}, "baseline", ("ben=silent",)),
}
SEASONS = (*sorted(SEASON_NAMES), *RECORDED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seasons")


@pytest.fixture(scope="module")
def path_of(folder: Path) -> Callable[[str], Path]:
    @functools.cache
    def path(name: str) -> Path:
        if name in SEASON_NAMES:
            return season_path(name)
        settings, treatment, parts = RECORDED[name]
        settings = {**SMALL, **TREATMENTS[treatment].settings, **settings}
        cast = cast_of(settings.get("workers", 6), parts)
        record(folder / f"{name}.journal", settings, cast)
        return folder / f"{name}.journal"

    return path


def measure(path: Path) -> MeasuredSeason:
    with JournalReader(path) as reader:
        return measured(reader)


Both = tuple[MeasuredSeason, Told]


@pytest.fixture(scope="module")
def both(path_of: Callable[[str], Path]) -> Callable[[str], Both]:
    return functools.cache(lambda name: (measure(path_of(name)), Told(events_of(path_of(name)))))


def almost(value: Any) -> Any:
    """To 1e-9, None being nothing but None."""
    if isinstance(value, (list, tuple)):
        return [almost(item) for item in value]
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


BY_UNIT = [name for name, one in MEASURES.items() if one.by_unit]


@pytest.mark.parametrize("season", SEASONS)
def test_by_assignment_measures_are_those_of_the_events(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)

    assert len(told.by_assignment) == found.units > 0
    assert set(BY_UNIT) == set(found.values) == set(told.by_assignment[0])
    for name in BY_UNIT:
        for of, value in zip(told.by_assignment, found.values[name], strict=True):
            if of[name] != UNTOLD:
                assert almost(of[name]) == value, name


@pytest.mark.parametrize("season", SEASONS)
def test_over_halves_and_the_whole_measures_are_those_of_the_events(
    season: str, both: Callable[[str], Both]
) -> None:
    """A tenth is left out at the start, or none; the second half has the odd assignment."""
    found, told = both(season)
    units = len(told.by_assignment)

    for name in BY_UNIT:
        if any(of[name] == UNTOLD for of in told.by_assignment):
            continue
        assert almost(told.over(name, 1, units)) == found.of(name)
        for is_burnt_in, start in ((True, units // 10), (False, 0)):
            middle = start + (units - start) // 2
            halves: list[Value] = [None, None]
            if middle > start:
                halves = [told.over(name, start + 1, middle), told.over(name, middle + 1, units)]
            assert almost(halves) == list(found.compared(name, burn_in=is_burnt_in)), name


@pytest.mark.parametrize("season", SEASONS)
def test_stability_is_that_of_the_events_and_of_a_whole_season_alone(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)
    halves = told.halves_of()

    assert set(halves) == set(found.halves_of)
    for agent, pair in halves.items():
        assert almost(pair) == list(found.halves_of[agent])
    assert almost(corrected(list(halves.values()))) == found.of(STABILITY)
    assert STABILITY not in found.values
    if found.units > 1:
        assert found.of(STABILITY, Span(1, found.units - 1)) is None
        assert (None, None) == found.compared(STABILITY, burn_in=False)


@pytest.mark.parametrize("season", SEASONS)
def test_the_gain_of_later_visits_is_that_of_the_events_and_of_a_whole_season_alone(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)
    first, later = mean_of(told.first), mean_of(told.later)
    expected = None if first is None or later is None else later - first

    assert almost([first, later]) == list(found.visits)
    assert almost(expected) == found.of(LEARNING)
    if found.units > 1:
        assert found.of(LEARNING, Span(1, found.units - 1)) is None


@pytest.mark.parametrize("season", SEASONS)
def test_first_totals_are_the_mean_totals_of_those_who_began(
    season: str, both: Callable[[str], Both]
) -> None:
    found, told = both(season)
    expected = [mean_of(told.totals.get(worker, [])) for worker in told.workers]

    assert almost(expected) == list(found.first_totals)


def test_in_these_seasons_every_measure_is_defined_somewhere_and_all_occurs(
    both: Callable[[str], Both],
) -> None:
    """Else that both are None would show nothing."""
    told = {name: both(name)[1] for name in SEASONS}
    values = [of for one in told.values() for of in one.by_assignment]
    rare = [n for n in BY_UNIT if not any(of[n] not in (None, 0, UNTOLD) for of in values)]

    assert [] == rare
    assert 2 == told[SEASON].most_tables
    assert all(of["sustained"] is None for of in told["no-challenges"].by_assignment)
    downwards = [of["validity"] for of in told["less is better"].by_assignment]
    assert 2 <= sum(value is not None for value in downwards)
    for name in ("percentile", "held", "sharp", "sustained", "validity", "tokens"):
        assert any(of[name] is None for of in values), name
    assert any((of["selection"] or 0) < 0 for of in values)
    assert any(of["open"] == 1 and of["percentile"] is not None for of in values)
    assert any(event.name == "refused" for event in events_of(season_path(ANYTHING)))
    assert any((of["tokens"] or 0) > 0 for of in told[MODEL_SEASON].by_assignment)
    assert any(len(one.halves_of()) > 2 for one in told.values())
    assert sum(bool(one.later) for one in told.values()) > 2


def test_limits_hold_and_what_is_shown_first_has_a_place_each(both: Callable[[str], Both]) -> None:
    columns = [one.column for one in MEASURES.values() if one.column]
    assert columns == list(range(1, len(columns) + 1))
    assert all(name == one.name and one.title and one.definition for name, one in MEASURES.items())
    for season in SEASONS:
        found, _ = both(season)
        for name, one in MEASURES.items():
            low, high = one.limits
            values = [*found.values.get(name, ()), found.of(name)]
            assert all(low <= value <= high for value in values if value is not None), name


def test_a_fork_is_measured_as_what_it_is(both: Callable[[str], Both]) -> None:
    forks = {name: both(name)[0].forks for name in SEASON_NAMES}

    assert {name: int(name == FORKED_SEASON) for name in SEASON_NAMES} == forks


def test_an_assignment_that_was_not_closed_is_not_measured(
    path_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """Broken off in the last assignment: all is as if the one before had been the last."""
    commits = commits_of(path_of("independent"))
    ends = [place for place, one in enumerate(commits) if one.digest is not None and one.unit]
    path = tmp_path / "cut.journal"
    with JournalWriter(path, HEADER) as journal:
        for commit in commits[: ends[-2]]:
            journal.append(commit)
    found, told = measure(path), Told(events_of(path))
    whole = measure(path_of("independent"))

    assert (False, len(told.by_assignment)) == (found.finished, found.units)
    assert 0 < found.units < whole.units
    for name in BY_UNIT:
        assert list(whole.values[name])[: found.units] == list(found.values[name])
    assert almost([mean_of(told.totals[worker]) for worker in told.workers]) == list(
        found.first_totals
    )


def test_a_test_that_was_refused_sets_no_bar(tmp_path: Path) -> None:
    """Another conduct is said to be the bar's, once it is tested; nobody says anything else."""
    config = configured({**SMALL, "assignments": 2})
    setup = {
        "config": config.as_dict(),
        "cast": [seat.as_dict() for seat in cast_of(6, ["silent"])],
    }
    world = competition(rules_of(config.arena))
    path = tmp_path / "season.journal"
    with (
        JournalWriter(path, HEADER) as journal,
        session_of(RunContext(world.initial(setup)), opened_tests(config.arena)) as season,
    ):

        def ask(state: SeasonState) -> Sequence[Batch]:
            acts = run.rest_of(season(state), lambda batches: None)
            if state.phase != Phase.JUDGE:
                return acts
            other = kinds.Tested(0, None, None, "0" * LOCI, state.table.treatment, 0.9, ())
            return [*acts, (kinds.CODES[kinds.Tested], [tuple(other)])]

        run.record(world, setup, ask, journal)
    found, events = measure(path), events_of(path)
    expected = [of["percentile"] for of in Told(events).by_assignment]

    assert 2 <= sum(e.name == "refused" and e["act"]["event"] == "tested" for e in events)
    assert almost(expected) == found.values["percentile"]
    assert almost([2_457.5 / 4_096] * 2) == expected  # rank 2,458


# Correlations whose answers are known.


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 400], 1.0),
        ([1, 2, 3, 4], [0.4, 0.3, 0.2, -9.0], -1.0),
        ([1, 2, 3], [1, 3, 2], 0.5),  # 1 − 6 · 2 ÷ (3 · 8)
        # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 ÷ √(4.5 · 5)
        ([1, 2, 2, 3], [1, 2, 3, 4], 4.5 / math.sqrt(4.5 * 5)),
        ([1, 1, 2, 2], [5, 5, 7, 7], 1.0),
        ([1, 1, 2, 2], [1, 2, 1, 2], 0.0),
        ([3, 3, 3, 3], [1, 2, 3, 4], None),
        ([1, 2, 3, 4], [0.1, 0.1, 0.1, 0.1], None),
        ([1], [1], None),
        ([], [], None),
    ],
)
def test_spearman_has_the_known_answer(
    one: list[float], other: list[float], expected: Value
) -> None:
    assert almost(expected) == spearman(one, other)
    assert almost(expected) == spearman(other, one)


_FEW = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(_FEW, _FEW), min_size=2, max_size=9))
def test_spearman_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    is_constant = len(set(one)) == 1 or len(set(other)) == 1
    expected = None if is_constant else float(spearmanr(one, other).statistic)

    assert almost(expected) == spearman(one, other)


@pytest.mark.parametrize(
    ("halves", "expected"),
    [
        ([(-1, -2), (0, 0), (1, 2)], 1.0),
        ([(-1, 1), (0, 0), (1, -1)], None),  # r = −1, and 1 + r = 0
        ([(-1, 0), (0, -1), (1, 1)], 2 * 0.5 / 1.5),  # r = ½
        ([(-1, 1), (-1, -1), (1, 1), (1, -1)], 0.0),
        ([(-1, 0), (0, 1), (1, -1)], -1.0),  # r = −½, 2r ÷ (1 + r) = −2
        ([(-2, 2), (-1, -2), (1, -1), (2, 1)], 2 * -0.1 / 0.9),  # r = −1 ÷ 10
        ([(1, -1), (1, 0), (1, 1)], None),
        ([(1, 1)], None),
        ([], None),
    ],
)
def test_stability_has_the_known_answer(halves: list[tuple[float, float]], expected: Value) -> None:
    assert almost(expected) == stability(halves)


@given(st.floats(-12, 12), st.lists(st.floats(-12, 12), min_size=1, max_size=14))
@example(6.684381090675711, [float(k * k) for k in range(7)])  # 7 times it is no multiple of it
@example(11.9, [float(k * k) for k in range(13)])
def test_where_a_half_is_constant_there_is_no_stability(same: float, others: list[float]) -> None:
    """Whatever rounding leaves of a mean less itself."""
    assert stability([(same, other) for other in others]) is None
    assert stability([(other, same) for other in others]) is None


@given(st.lists(st.integers(0, 120), min_size=2, max_size=9, unique=True), st.integers(1, 9))
def test_where_ranks_are_reversed_there_is_no_stability_and_where_they_agree_it_is_1(
    totals: list[int], tables: int
) -> None:
    halves = [total / tables for total in totals]

    assert almost(1.0) == stability([(half, half / 3) for half in halves])
    assert stability([(half, -half / 3) for half in halves]) is None


# The atlas of mining, and arenas that have none.


@pytest.mark.parametrize("better", ["up", "down"])
def test_quality_in_mining_is_that_of_the_atlas(better: str) -> None:
    """By plain counting: where less is better, fewer are to be below."""
    arena = arena_record("mining", 20)
    subject = next(one for one in arena.subjects if one.better == better)
    values = dict(zip(conducts(subject.treatment), atlas().values(*subject.key), strict=True))
    defined = [value for value in values.values() if value is not None]
    optimum = max(defined) if better == "up" else min(defined)
    some = [conduct for conduct, value in values.items() if value is not None]
    concluded, best = some[3], some[40]
    mine, tested = values[concluded], values[best]
    assert mine is not None
    assert tested is not None
    worse = [v for v in values.values() if v is None or (v < mine if better == "up" else v > mine)]
    equal = [v for v in defined if v == mine]

    quality = Atlases(arena).quality(subject, concluded, best)

    sign = 1 if better == "up" else -1
    assert quality is not None
    assert (len(worse) + len(equal) / 2) / len(values) == pytest.approx(quality.percentile)
    assert sign * (optimum - mine) == pytest.approx(quality.regret)
    assert sign * (optimum - tested) == pytest.approx(quality.discovery)
    assert sign * (tested - mine) == pytest.approx(quality.selection)
