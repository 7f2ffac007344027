"""What models are asked afterwards: the same prompts, nothing paid twice, and what verify finds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import pytest

import goldrush
from goldrush.agents.llm.afterwards import QuestionAbout
from goldrush.agents.llm.usage import RecordedAnswer
from goldrush.agents.players import Resources
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.errors import BadInput, RunStopped
from goldrush.replay.asked.asking import AskedRequest, ask, questionnaire, verify
from goldrush.replay.asked.file import AskedFile, _end, read
from goldrush.replay.asked.tables import _outcomes, codes_in, tables
from goldrush.replay.text import csv_of_records
from tests.cli.helpers import goldrush as command
from tests.llm import seasons
from tests.llm.runs import models, playing, text_of
from tests.llm.servers import Asked, Reply, Server, closed_port, completion, serving
from tests.mining import record

TIMES = 20
ALL = AskedRequest(every=1, times=TIMES)


def varied(asked: Asked) -> Reply:
    """Two plans, by the seed of the request."""
    return completion(text_of((asked.body["seed"] or 0) % 2, asked.round or 1))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two models and a policy, which no test changes."""
    path = tmp_path_factory.mktemp("reask") / "run.journal"
    with serving(playing) as server:
        record(
            path, {"seed": 1, "rounds": 3}, "llm:a*2,random",
            models=models(server.address, tokens=300),
        )  # fmt: skip
    return path


@pytest.fixture
def journal(run: Path, tmp_path: Path) -> str:
    path = tmp_path / "run.journal"
    path.write_bytes(run.read_bytes())
    return str(path)


def reasked(
    journal: str, request: AskedRequest, respond: Callable[[Asked], Reply] = varied,
    out: str | None = None, **limits: Any,
) -> tuple[AskedFile, Server]:  # fmt: skip
    """What is in the file of answers beside the journal, of its name or `out`, and the server."""
    path = str(Path(journal).with_stem(out or Path(journal).stem).with_suffix(".asked.jsonl"))
    with serving(respond) as server:
        needs = Resources(models=models(server.address, "a", "b", tokens=300, **limits))
        found = ask(journal, request, path, resources=needs)
    assert isinstance(found, AskedFile)
    return found, server


def test_decisions_are_asked_again_with_the_same_prompts(journal: str) -> None:
    before = Path(journal).read_bytes()
    found, server = reasked(journal, ALL)
    prompts = [goldrush.open(journal).prompts(n, a)[0] for n in (1, 2, 3) for a in (0, 1)]
    seeds = {line.seed for line in found.answers.values()}

    assert 6 * TIMES == len(found.answers) == len(server.asked) == len(seeds)
    assert {json.dumps([*p.question.messages]) for p in prompts if p.question} == {
        json.dumps(asked.body["messages"]) for asked in server.asked
    }
    assert verify(found.path).holds
    assert before == Path(journal).read_bytes()
    again, unasked = reasked(journal, ALL)
    assert (again, []) == (found, unasked.asked)
    sample, _ = reasked(journal, AskedRequest(every=1, sample=0), out="0")
    assert [line.seed for line in sample.answers.values()] == [
        each.question and each.question.seed for each in prompts
    ]


def test_what_was_stopped_is_continued_and_paid_once(journal: str) -> None:
    with pytest.raises(RunStopped, match="--max-tokens"):
        reasked(journal, ALL, max_tokens=TIMES * 6_000)
    path = Path(journal).with_suffix(".asked.jsonl")
    path.write_bytes(path.read_bytes()[:-99])  # torn in a line
    half = read(str(path))
    assert (None, False) == (verify(str(path)).holds, half.is_complete)
    found, server = reasked(journal, ALL)

    assert 0 < len(half.answers) < 6 * TIMES
    assert 6 * TIMES - len(half.answers) == len(server.asked)
    assert half.answers.items() <= found.answers.items()
    assert found.data.startswith(half.data)
    assert verify(found.path).holds
    path.write_bytes(half.data)
    with pytest.raises(RunStopped, match="are left"):  # what is in the file counts
        reasked(journal, ALL, max_tokens=50)


FORGED: list[tuple[tuple[Any, ...], object]] = [
    ((1, "submission", "actions"), []),
    ((1, "source", "raw"), '{"actions": []}'),
    ((1, "source", "prompt"), "0" * 64),
    ((1, "seed"), 5),
    ((1, "error"), "refusal"),
    ((1, "round"), 9),
    ((1, "sample"), 2),
    ((1, "text"), "more"),
    ((0, "journal"), "0" * 64),
    ((0, "options", "decisions", 0, 2), "b"),
    ((0, "options", "decisions", 0, 0), 99),
    ((0, "options", "times"), 10**9),
    ((0, "options", "times"), 3),
    ((0, "options", "changes"), {"persona": "A pirate."}),
    ((0, "options", "changes"), {"shell": "rm"}),
    ((0, "options", "moves"), []),
]


@pytest.mark.parametrize(("place", "value"), FORGED)
def test_verify_finds_a_change_that_was_signed(
    journal: str, place: tuple[Any, ...], value: object
) -> None:
    found, _ = reasked(journal, AskedRequest(at=1, times=2), concurrency=1)
    lines = [json.loads(line) for line in found.data.splitlines()[:-1]]
    *inner, last = place
    part: Any = lines
    for each in inner:
        part = part[each]
    part[last] = value
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    Path(found.path).write_bytes(body + _end(body))

    assert verify(found.path).holds is (None if last == "journal" else False)


def test_several_journals_have_one_ceiling(journal: str, tmp_path: Path) -> None:
    paid: list[RecordedAnswer] = []
    with serving(varied) as server:
        needs = Resources(models=models(server.address, tokens=300, max_tokens=11_000))
        ask(journal, AskedRequest(at=1, agents=[0]), resources=needs, earlier=paid)
        other = AskedRequest(at=1, agents=[1])
        paid *= 90  # as many tokens as other journals would have taken
        with pytest.raises(RunStopped, match="--max-tokens"):
            ask(journal, other, str(tmp_path / "b"), resources=needs, earlier=paid)

    assert 1 == len(server.asked)


def test_verify_finds_other_bytes_and_needs_the_journal(journal: str, tmp_path: Path) -> None:
    found, _ = reasked(journal, AskedRequest(at=1, times=2))
    moved = tmp_path / "apart" / "x.asked.jsonl"
    moved.parent.mkdir()
    moved.write_bytes(found.data)
    Path(found.path).write_bytes(found.data.replace(b'"tries":1', b'"tries":2'))

    assert verify(found.path).holds is False
    assert verify(str(moved)).holds is None
    assert verify(str(moved), [journal]).holds


def test_hostile_answers_are_recorded_as_they_are_read(journal: str) -> None:
    hostile = [
        completion("no plan"), completion(None), completion("{" * 70_000),
        completion('{"actions": [["mine", 1e999, -1]]}', usage=(-1, "x")),
        completion("I cannot.", refusal="I cannot."), completion('{"actions": [', finish="length"),
        completion("<think>\u202e\0</think>[]"), completion(text_of(0, 1)),
    ]  # fmt: skip
    replies = iter(hostile)
    found, _ = reasked(
        journal, AskedRequest(at=1, agents=[0], times=len(hostile)),
        lambda asked: next(replies), concurrency=1,
    )  # fmt: skip
    errors = [line.error for line in found.answers.values()]

    assert {"no-json", "refusal", "cut", "no-answer", None} <= {*errors}
    assert len(hostile) == len(errors)
    assert verify(found.path).holds
    [row] = tables([found])["decisions"]
    assert len(hostile) - errors.count("no-answer") == row["answers"]


def test_another_model_wording_and_temperature(journal: str, tmp_path: Path) -> None:
    (tmp_path / "terse.toml").write_text('[messages]\nquestion = "Round $round!"\n')
    plain = AskedRequest(at=2, times=2, wording=str(tmp_path / "terse.toml"), temperature=1.5)
    worded, server = reasked(journal, plain, out="w")
    assert {1.5} == {asked.body["temperature"] for asked in server.asked}
    assert all("Round 2!" in asked.text for asked in server.asked)
    other, server = reasked(journal, AskedRequest(at=2, times=2, model="b"), out="b")
    assert {"b-1"} == {asked.body["model"] for asked in server.asked}

    assert [True] * 2 == [verify(each.path, [journal]).holds for each in (worded, other)]
    rows = tables([worded, other])["decisions"]
    assert {("a", "terse"), ("b", "defau")} == {
        (row["model"], str(row["wording"])[:5]) for row in rows
    }
    with pytest.raises(BadInput, match="begun with other options"):
        reasked(journal, plain, out="b")


def test_phases_of_a_game_are_asked_again(tmp_path: Path) -> None:
    path, text = str(tmp_path / "game.journal"), '{"tokens": %d, "points": [0, 1, 0, 0]}'
    with serving(lambda asked: completion(text % 3)) as server:
        goldrush.record(
            PublicGoods, path, roster="llm:a*4", models=models(server.address), rounds=2
        )
    request = AskedRequest(at=2, times=3)
    found, _ = reasked(path, request, lambda asked: completion(text % 7))

    assert {"{'tokens': 7}": 12, "{'points': [0, 1, 0, 0]}": 12} == Counter(
        str(line.submission) for line in found.answers.values()
    )
    assert {0, 1} == {number for _, _, number, _, _ in found.answers}
    assert verify(found.path).holds


def test_a_season_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "s.journal"
    with serving(seasons.playing) as server:
        seasons.recorded(path, server.address, "judge", "worker")
    (tmp_path / "own.toml").write_text('[messages]\nquotes = "QUOTES"\n')
    found, server = reasked(str(path), AskedRequest(every=1, times=2), seasons.playing)
    request = AskedRequest(at=1, wording=str(tmp_path / "own.toml"))
    worded, other = reasked(str(path), request, seasons.playing, out="w")

    assert len(server.asked) == len(found.answers) > 10
    assert {0} == {row["noise"] for row in tables([found])["decisions"]}  # one text for a prompt
    assert all("QUOTES" in asked.body["messages"][0]["content"] for asked in other.asked)
    assert [True] * 2 == [verify(each, [str(path)]).holds for each in (found.path, worded.path)]


AWARE = AskedRequest(about=questionnaire("awareness"), at=3, times=2)


def aware(asked: Asked) -> Reply:
    if "form" not in asked.text:
        return completion("It seems to be an EXPERIMENT.")
    assert "EXPERIMENT" in asked.body["messages"][-2]["content"]
    kind = "game" if asked.body["seed"] % 2 else "dream"
    return completion(json.dumps({"kind": kind, "aim": "=1+1"}))


def test_an_interview_has_prompt_and_answer_in_front(journal: str) -> None:
    whole, _ = reasked(journal, AWARE, aware)
    Path(whole.path).write_bytes(b"".join(whole.data.splitlines(keepends=True)[:4]))
    found, server = reasked(journal, AWARE, aware)
    assert 5 == len(server.asked)
    messages = server.asked[-1].body["messages"]

    assert 8 == len(found.answers)
    assert ["system", "user", *["assistant", "user"] * 2] == [each["role"] for each in messages]
    assert messages[2]["content"] in {text_of(agent, 3) for agent in (0, 1)}
    assert verify(found.path).holds
    of = tables([found])
    forms = Counter(line.error for key, line in found.answers.items() if key[4] == 1)
    assert {"form": forms[None], "open": 4} == {
        row["question"]: row["answers"] for row in of["codes"]
    }
    by_hand = codes_in(csv_of_records([{**row, "codes": "a;b"} for row in of["answers"]]))
    coded = tables([found], by_hand)["codes"]
    assert {("open", "a", 4), ("open", "b", 4), ("form", "a", 4), ("form", "b", 4)} == {
        (row["question"], row["code"], row["answers"]) for row in coded
    }


def test_questions_and_signs_are_apart_in_tables_and_a_file_counts_once(journal: str) -> None:
    def asked_for(word: str) -> AskedFile:
        about = [QuestionAbout(word, f"{word}?", {"x": ["why", "how"]})]
        said = completion(json.dumps({"x": word}))
        return reasked(journal, AskedRequest(about, 1, times=2), lambda asked: said, word)[0]

    of = tables([asked_for("why"), asked_for("how"), asked_for("why")])
    assert 4 * [0.0] == [row["noise"] for row in of["decisions"] if row["answers"] == 2]
    assert {"x": -3, "y": 1, "y z": 1} == dict(_outcomes("", {"x": -3, "y": [["z"]]}))


def test_variance_is_split_between_what_differs(journal: str) -> None:
    def by_model(asked: Asked) -> Reply:
        mines = [("mine", 1, 1)] * (1 + (asked.agent or 0) * 2 + asked.body["seed"] % 2)
        is_other = asked.body["model"] == "b-1"
        return completion(json.dumps({"actions": mines * (2 if is_other else 1)}))

    one, _ = reasked(journal, AskedRequest(at=1, times=40), by_model)
    two, _ = reasked(journal, AskedRequest(at=1, times=40, model="b"), by_model, out="b")
    of = tables([one, two])
    [row] = [row for row in of["variance"] if row["outcome"] == "actions"]
    parts = [row[name] for name in ("within", "decisions", "wordings", "models")]
    lines = [*one.answers.values(), *two.answers.values()]
    every = [len((line.submission or {})["actions"]) for line in lines]

    assert pvariance(every) == pytest.approx(sum(parts)) == pytest.approx(row["total"])
    assert parts[2] == 0 < min(parts[0], parts[1], parts[3])
    one_self, pair, two_self = of["differences"]
    noise = [row["noise"] for row in of["decisions"] if row["model"] == "a"]
    assert one_self["differ"] == pytest.approx(fmean(noise))
    assert 0 == one_self["excess"] == two_self["excess"]
    assert 0.4 < one_self["differ"] < 0.6 < pair["differ"] <= 1
    assert pair["excess"] == pytest.approx(
        pair["differ"] - (one_self["differ"] + two_self["differ"]) / 2
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("reask run.journal", "give --round N, or --every N"),
        ("reask run.journal --round 99", "no answer of a model"),
        ("reask run.journal --round 1 --agent 2", "agent 2 in round 1; models answered as agents"),
        ("reask run.journal --round 1 --times 0", "--times"),
        ("reask run.journal --round 1 --temperature 3", "temperature is 3.0; it must be"),
        ("reask run.journal --round 1 --wording none-such", "none-such"),
        ("reask run.journal --round 1 --out run.journal", "cannot be read"),
        ("interview run.journal --round 1", "give a question, or --questions"),
        ("interview run.journal --round 1 --questions odd.toml", "odd.toml"),
        ("measure odd.asked.jsonl", "line 1 cannot be read"),
        ("measure run.journal --table answers", "--table is not for this"),
    ],
)
def test_odd_arguments_are_one_line(journal: str, words: str, says: str) -> None:
    folder = Path(journal).parent
    (folder / "odd.toml").write_text('[[question]]\nid = "a"\ntext = "?"\ncodes = {b = "("}\n')
    (folder / "odd.asked.jsonl").write_text("[]\n")
    before = Path(journal).read_bytes()
    ran = command(
        *words.split(), cwd=folder, OPENAI_BASE_URL=f"http://127.0.0.1:{closed_port()}/v1"
    )

    assert 2 == ran.code
    assert says in ran.err
    assert 1 == len(ran.err.splitlines()) or "Usage" in ran.err
    assert before == Path(journal).read_bytes()


def test_the_command_line_tells_tables_and_estimates(journal: str) -> None:
    folder = Path(journal).parent
    with serving(varied) as server:
        table = f"[a]\nmodel = 'a-1'\nbase_url = '{server.address}'\n"
        (folder / "models.toml").write_text(table)
        reach = ("--models", "models.toml")
        words = ("reask", "run.journal", "--every", 2, "--times", 4)
        ran = command(*words, *reach, cwd=folder)
        why = ("interview", "run.journal", "--round", 1, "--out", "why.asked.jsonl", "Why?")
        asked = command(*why, *reach, cwd=folder)
    files = [each.name for each in folder.glob("*.asked.jsonl")]
    table = command("measure", *files, "--table", "decisions", cwd=folder)
    checked = command("verify", ".", cwd=folder)

    assert (0, 0) == (ran.code, asked.code)
    assert ran.out.startswith("decisions:")
    assert "text" in asked.out
    assert 5 == len(table.out.splitlines())
    assert (0, 2) == (checked.code, checked.out.count("holds: "))
