"""Who plays a season: what people type, and classes of their own."""

from pathlib import Path

import pytest

from goldrush.agents.llm.model import options_by_prefix
from goldrush.agents.players import Resources
from goldrush.agents.trust import import_names
from goldrush.agents.worlds.competition.cast import (
    cast_of,
    check_playable,
    questions_of,
    recast,
    seated_in,
)
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.seats import Seat
from goldrush.kernel.errors import BadInput, PolicyFailed
from goldrush.kernel.worlds.competition.terms import OFFICES, Role, names_of
from tests.playing import nk, steps

# A worker of somebody's own that only ever passes, by the names of its role's questions.
METHODS = "\n".join(
    f"    def {name}(self, seen, draws, **told):\n        return None"
    for name in questions_of(Role.WORKER)
    if name != "speak"
)
OWN = f"class Own:\n{METHODS}\n    def speak(self, seen, draws):\n        return {{}}\n"


@pytest.mark.parametrize(
    "part", ["nobody=scripted", "ada", "ada=", "ada=nonsense", "=scripted", ""]
)
def test_a_cast_that_is_none_is_told(part: str) -> None:
    with pytest.raises(BadInput, match=r"names no agent or role|there is no policy|is no entry"):
        cast_of(6, [part])


def test_a_model_without_a_name_is_told_how_to_name_one() -> None:
    with pytest.raises(BadInput, match="`llm` alone names no model; write llm:MODEL"):
        cast_of(3, ["ada=llm"])


@pytest.mark.parametrize("office", [*OFFICES, Role.USER])
@pytest.mark.parametrize("policy", ["random", "silent"])
def test_a_policy_of_workers_is_refused_for_an_office(office: str, policy: str) -> None:
    with pytest.raises(BadInput, match=f"{policy} is a policy of workers.*take scripted, human"):
        cast_of(3, [f"{office}={policy}"])


def test_a_policy_alone_is_that_of_all_workers() -> None:
    assert {"mine:Own"} == {seat.policy for seat in cast_of(3, ["mine:Own"])[5:]}
    with pytest.raises(BadInput, match="there is no policy 'foo'"):
        cast_of(3, ["foo"])


@pytest.mark.parametrize(("workers", "scripted"), [(6, 3), (7, 3), (12, 6)])
def test_of_a_planted_cast_the_first_half_of_the_workers_is_scripted(
    workers: int, scripted: int
) -> None:
    expected = ["scripted"] * scripted + ["random"] * (workers - scripted)

    assert expected == [seat.policy for seat in cast_of(workers, ["planted"])[5:]]
    assert expected == [seat.policy for seat in cast_of(workers, ["worker=planted"])[5:]]
    with pytest.raises(BadInput, match="there is no policy 'planted'"):
        cast_of(workers, ["ada=planted"])


@pytest.mark.parametrize(
    "parts", [["ada=random", "ada=silent"], ["judge=human", "judge=human"], ["random", "worker=x"]]
)
def test_who_is_cast_twice_is_told(parts: list[str]) -> None:
    with pytest.raises(BadInput, match="is cast twice"):
        cast_of(3, parts)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (["sonnet=llm:b"], "no worker is a model; cast worker=llm:MODEL too"),
        (["worker=llm:a", "sonnet=llm:b", "worker=random"], "worker is cast twice"),
        (["sonnet=llm:b", "worker=random"], "no worker is a model; cast worker=llm:MODEL too"),
        (["worker=llm:a", "sonnet=random"], "sonnet=random is no model"),
        (["worker=llm:a*2"], "counts agents"),
    ],
)
def test_a_model_of_sonnets_that_cannot_be_is_told(parts: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        cast_of(3, parts)


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


@pytest.mark.parametrize("text", ["sonnet=llm:b,worker=llm:c", "worker=llm:c,sonnet=llm:b"])
def test_a_cast_that_changes_has_the_model_of_its_sonnets_in_any_order(text: str) -> None:
    cast = recast(cast_of(2, ["worker=llm:a"]), seated_in(text))

    assert [{"": "c", "sonnet": "b"}] * 2 == [names_by_class(seat) for seat in cast[5:]]


def test_a_setting_that_has_gone_names_what_has_taken_its_place() -> None:
    gone = {"class_models": {"haiku": "a", "sonnet": "b"}}
    with pytest.raises(BadInput, match="gone; give the roster worker=llm:MODEL,sonnet=llm:MODEL"):
        SEASON_PLAYERS.prepare(gone, None, None, Resources())


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
    [
        ("raise SystemExit(3)", "cannot be made: .*SystemExit: 3"),
        ("class Own:\n    def __init__(self, needed): pass", "cannot be made: TypeError"),
        ("class Own:\n    speak = None", "has no method"),
        ("", "cannot be made: there is no name in"),
    ],
)
def test_a_class_that_cannot_play_is_refused_before_anything_begins(
    source: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = written(tmp_path, monkeypatch, f"no_player_{abs(hash(source))}", source)

    with pytest.raises(BadInput, match=says) as refused:
        check_playable(cast_of(3, [f"ada={policy}"]), [policy])
    assert "\n" not in str(refused.value)


def test_code_of_somebodys_own_is_not_imported_unless_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = written(tmp_path, monkeypatch, "never_imported", "raise AssertionError")

    with pytest.raises(BadInput, match=f"allow it with trust \\(--trust {policy}\\)"):
        check_playable(cast_of(3, [f"ada={policy}"]), ["other:Own"])
    with pytest.raises(BadInput, match="allow it with trust"):
        list(steps({"arena": nk(), "assignments": 1}, cast_of(6, [f"ada={policy}"])))


def test_who_answers_nothing_plays_on_and_only_passes(
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
    source = OWN.replace("return {}", "raise ValueError('no')")
    cast = cast_of(6, [f"ada={written(tmp_path, monkeypatch, 'season_failer', source)}"])
    trust = import_names(seat.policy for seat in cast)

    with pytest.raises(PolicyFailed, match=r"speak: Own\.speak, \w+\.py:\d+: ValueError: no"):
        list(steps({"arena": nk(), "assignments": 1}, cast, trust))


def test_a_role_is_asked_what_its_script_answers() -> None:
    assert all(name in QUESTIONS for role in names_of(Role) for name in questions_of(role))
