"""Who plays a season: what people type, and classes of their own."""

from pathlib import Path

import pytest

from goldrush.agents.llm.model import options_by_prefix
from goldrush.agents.trust import import_names
from goldrush.agents.worlds.competition.cast import (
    cast_of,
    check_playable,
    questions_of,
)
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.seats import Seat
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.kernel.errors import BadInput, PolicyFailed
from goldrush.kernel.worlds.competition.config import CLASSES, SeasonConfig
from goldrush.kernel.worlds.competition.terms import OFFICES, Role
from goldrush.replay.journal.rebuild import rebuild
from tests.journals import events_of
from tests.playing import nk, steps
from tests.seasons import LAST, fork, kept

# A worker of somebody's own that only ever passes, by the names of its role's questions.
METHODS = "\n".join(
    f"    def {name}(self, seen, draws, **told):\n        return None"
    for name in questions_of(Role.WORKER)
    if name != "speak"
)
SPEAKS = "    def speak(self, seen, draws):\n        return {'source': object()}\n"
OWN = f"class Own:\n{METHODS}\n{SPEAKS}"


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (["nobody=scripted"], "names no agent or role"),
        (["ada=planted"], "there is no policy 'planted'"),
        ([""], "is no entry"),
        (["ada=random", "ada=silent"], "is cast twice"),
        (["random", "worker=x"], "is cast twice"),
        (["worker=llm:a*2"], "counts agents"),
        (["sonnet=llm:b", "worker=random"], "no worker is a model"),
        (["worker=llm:a", "sonnet=random"], "sonnet=random is no model"),
        *(
            ([f"{office}={policy}"], f"{policy} is a policy of workers")
            for office in (*OFFICES, Role.USER)
            for policy in ("random", "silent")
        ),
    ],
)
def test_a_cast_that_cannot_be_is_refused(parts: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        cast_of(3, parts)


@pytest.mark.parametrize("part", ["planted", "worker=planted"])
def test_of_a_planted_cast_the_first_half_of_the_workers_is_scripted(part: str) -> None:
    assert ["scripted"] * 3 + ["random"] * 4 == [seat.policy for seat in cast_of(7, [part])[5:]]


def names_by_class(seat: Seat) -> dict[str, object]:
    return {class_: options["name"] for class_, options in options_by_prefix(seat.options).items()}


PARTS = ["worker=llm:a[top_p=0.5]", "ben=random", "cleo=llm:c", "sonnet=llm:b"]


@pytest.mark.parametrize("at", range(len(PARTS)))
def test_wherever_it_is_named_all_workers_that_are_models_are_another_model_as_sonnets(
    at: int,
) -> None:
    parts = [*PARTS[:at], PARTS[-1], *PARTS[at:-1]]
    ada, ben, cleo = cast_of(3, parts)[5:]

    assert {"": "a", "sonnet": "b"} == names_by_class(ada)
    assert [0.5, None] == [
        options.get("top_p") for options in options_by_prefix(ada.options).values()
    ]
    assert ("random", {}) == (ben.policy, ben.options)
    assert {"": "c", "sonnet": "b"} == names_by_class(cleo)


def test_the_last_word_on_somebody_counts() -> None:
    cast = cast_of(3, ["random", "ada=other:Worker", "ben=human", "judge=human"])

    assert ["other:Worker", "human", "random"] == [seat.policy for seat in cast[5:]]
    assert ["scripted", "scripted", "human"] == [seat.policy for seat in cast[:3]]


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> str:
    (folder / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    return f"{name}:Own"


@pytest.mark.parametrize(
    ("source", "says"),
    [("raise SystemExit(3)", "SystemExit: 3"), ("class Own:\n    speak = None", "has no method")],
)
def test_a_class_that_cannot_play_is_refused_before_anything_begins(
    source: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = written(tmp_path, monkeypatch, f"no_player_{abs(hash(source))}", source)

    with pytest.raises(BadInput, match=says):
        check_playable(cast_of(3, [f"ada={policy}"]), [policy])


def test_code_of_somebodys_own_is_not_imported_unless_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = written(tmp_path, monkeypatch, "never_imported", "raise AssertionError")

    with pytest.raises(BadInput, match="--trust"):
        check_playable(cast_of(3, [f"ada={policy}"]), ["other:Own"])
    with pytest.raises(BadInput, match="--trust"):
        list(steps({"arena": nk(), "assignments": 1}, cast_of(6, [f"ada={policy}"])))


def test_who_answers_nothing_that_can_be_recorded_plays_on_and_only_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = cast_of(6, [f"ada={written(tmp_path, monkeypatch, 'season_player', OWN)}"])
    found = list(
        steps({"arena": nk(), "assignments": 2}, cast, import_names(seat.policy for seat in cast))
    )
    said = [line for step in found for table in step.after.tables for line in table.contributions]

    assert {"pass"} == {line.move for line in said if line.agent == 5}
    assert {"pass"} < {line.move for line in said}


def test_what_a_class_raises_is_told_with_who_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = OWN.replace("return {'source': object()}", "raise ValueError('no')")
    cast = cast_of(6, [f"ada={written(tmp_path, monkeypatch, 'season_failer', source)}"])
    trust = import_names(seat.policy for seat in cast)

    with pytest.raises(PolicyFailed, match=r"speak: Own\.speak, \w+\.py:\d+: ValueError: no"):
        list(steps({"arena": nk(), "assignments": 1}, cast, trust))


def test_who_is_gone_at_a_fork_is_not_cast(path: Path) -> None:
    [*_, gone] = [e["agent"] for e in events_of(kept("rich")) if e.name == "deleted"]
    state = rebuild(kept("rich"), LAST).state
    with pytest.raises(BadInput, match="is gone"):
        fork(kept("rich"), LAST - 1, path, roster=f"{state.agents[gone].name}=random")


def test_with_equal_trials_every_class_has_those_of_a_haiku() -> None:
    config = configured({"arena": nk(), **TREATMENTS["equal-trials"].settings})

    assert {SeasonConfig(arena=nk()).trials_of("haiku")} == {*map(config.trials_of, CLASSES)}
