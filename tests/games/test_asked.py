"""Models and people play games that declare nothing for them."""

import json

import pytest

import goldrush
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint
from goldrush.agents.llm.options import FIELD, TEXT
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.errors import BadInput, PolicyFailed
from tests.games.fisheries import changed
from tests.llm.servers import completion, serving


def played(game, answer, tmp_path, roster, **settings):
    """A run in which a model gives this answer, and the requests."""
    with serving(lambda asked: completion(answer)) as server:
        models = goldrush.Models(base_url=server.address)
        run = goldrush.record(
            game, tmp_path / "run.journal", roster=roster, models=models, **settings
        )
        return run, server.asked


def test_a_model_is_told_the_rules_what_it_sees_and_the_form_of_an_answer(tmp_path) -> None:
    run, [asked, *_] = played(Fishery, '{"fish": 7}', tmp_path, "llm:test-1,share*4", seasons=2)
    rules, now = [message["content"] for message in asked.body["messages"]]

    assert rules.startswith("Does a shared stock outlive those who fish it?")
    assert '"capacity": 1000.0' in rules
    assert '{"stock": 1000.0, "landed": [0.0, 0.0, 0.0, 0.0, 0.0]}' in now
    assert 'Answer with JSON: {"fish": integer from 0 to 1000000000}' in now
    schema = asked.body["response_format"]["json_schema"]["schema"]
    assert {"type": "integer", "minimum": 0, "maximum": 10**9} == schema["properties"]["fish"]
    assert [7, 7] == [e["fish"] for e in run.events("asked", agent=0)]
    assert run.verify().holds


def test_hidden_values_are_not_shown(tmp_path) -> None:
    run, asked = played(DoubleAuction, '{"price": 50}', tmp_path, "llm:test-1*2", turns=6, agents=2)
    limits = {e["agent"]: e["limit"] for e in run.events("dealt")}

    for request in asked:
        seen = json.loads(request.text.partition("What you see: ")[2].partition("\n")[0])
        assert ["buys", "limit", "traded", "bid", "ask"] == list(seen)
        assert limits[0 if seen["buys"] else 1] == seen["limit"]
    assert 6 == len(asked)
    assert run.verify().holds


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("no idea", "no-json"),
        ('{"fish": -1}', "invalid"),
        ('{"fish": true}', "invalid"),
        ('{"fish": 99999999999}', "invalid"),
        (None, "no-answer"),
    ],
)
def test_an_answer_that_is_none_is_the_default_move(tmp_path, answer, error) -> None:
    run, _ = played(Fishery, answer, tmp_path, "llm:test-1,share*4", seasons=1)
    [asked] = run.events("asked", agent=0)

    assert (0, error) == (asked["fish"], asked["error"])
    assert run.verify().holds


ASKED = "    class Asked(goldrush.Submission):\n"
BEARS = (ASKED, f"{ASKED}        missing = None\n")


@pytest.mark.parametrize(
    ("change", "fish", "says"),
    [((), 0, "fish 0 (no usable answer: 0 stands for it)"),
     (BEARS, None, "nothing (no usable answer)")],
)  # fmt: skip
def test_what_stands_for_an_answer_is_told_if_anything_does(tmp_path, change, fish, says) -> None:
    game = changed(tmp_path, *change)
    run, _ = played(game, "no idea", tmp_path, "llm:test-1,share*4", seasons=2)

    assert [fish] * 2 == [event["fish"] for event in run.events("asked", agent=0)]
    assert f"1: agent 0 submits {says}; error no-json" in run.log()
    assert run.verify().holds


def test_a_policy_submits_something_whatever_a_game_bears(tmp_path) -> None:
    """Also in a unit that is not watched."""
    late = ("self.Asked(int(part", "self.Asked(None if seen.unit == 40 else int(part")
    with pytest.raises(PolicyFailed, match=r"season 41.*asked.fish: integer from 0"):
        goldrush.record(changed(tmp_path, *BEARS, *late), tmp_path / "run", roster="share")
    with pytest.raises(BadInput, match=r"Asked.missing is 0; write missing = None, or def default"):
        changed(tmp_path, ASKED, f"{ASKED}        missing = 0\n")


@pytest.mark.parametrize("points", ["[0, 2]", '"12"', "[11]"])
def test_each_phase_asks_for_its_own_submission_and_a_list_is_read_as_a_list(
    tmp_path, points
) -> None:
    run, asked = played(
        PublicGoods, f'{{"tokens": 9, "points": {points}}}', tmp_path, "llm:test-1,selfish*3",
        rounds=1,
    )  # fmt: skip
    [gift], [fines] = (run.events(name, agent=0) for name in ("gift", "fines"))

    assert (2, 9) == (len(asked), gift["tokens"])
    expected = ([0, 2], None) if points == "[0, 2]" else ([], "invalid")
    assert expected == (fines["points"], fines["error"])
    assert run.verify().holds


LEGAL = (
    "    def over(self, state):",
    "    def legal(self, seen, agent):\n        return [3, 5]\n\n    def over(self, state):",
)


@pytest.mark.parametrize(("answer", "fish"), [('{"fish": 5}', 5), ('{"fish": 4}', 3)])
def test_legal_values_are_an_enumeration_and_the_first_is_the_default(
    tmp_path, answer, fish
) -> None:
    run, [asked] = played(
        changed(tmp_path, *LEGAL), answer, tmp_path, "llm:test-1,share*4", seasons=1
    )
    schema = asked.body["response_format"]["json_schema"]["schema"]

    assert [3, 5] == schema["properties"]["fish"]["enum"]
    assert '{"fish": 3 or 5}' in asked.text
    assert fish == next(run.events("asked", agent=0))["fish"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ("[3, -5]", "gives -5; each must be integer from 0 to 1000000000"),
        ("{3, 5}", "gives {3, 5}; give a list of at least one value"),
        ("{'fsh': [3]}", r"gives \[3\]; name a field: fish"),
        ("[1 // 0]", "ZeroDivisionError"),
    ],
)
def test_legal_values_that_are_none_are_told_with_their_line(tmp_path, values, says) -> None:
    game = changed(tmp_path, LEGAL[0], LEGAL[1].replace("[3, 5]", values))
    run = goldrush.record(game, tmp_path / "run.journal", seasons=1)

    with pytest.raises(BadInput, match=f"Fishery.legal, fishery.py:[0-9]+.*{says}"):
        run.prompts(1, 0)


@pytest.mark.parametrize(
    ("method", "result"), [("legal", "[3, 5]"), ("prompt", "'fish?'"), ("observe", "state")]
)
def test_what_changes_the_state_where_a_model_is_asked_is_named(tmp_path, method, result) -> None:
    state = "state" if method == "observe" else "seen"
    rules = f"{method}(self, {state}, agent): {state}.landed[0] = 1.0; return {result}"
    old = "    def over(self, state):"
    game = changed(tmp_path, old, f"    def {rules}\n\n{old}")

    with pytest.raises(BadInput, match=f"`{method}` changed the state: landed.* was"):
        played(game, '{"fish": 5}', tmp_path, "llm:test-1,share*4", seasons=1)


def test_a_field_without_a_range_is_named_before_a_model_is_asked(tmp_path) -> None:
    game = changed(tmp_path, "fish: int = within(0, 10**9)", "fish: int")

    with pytest.raises(BadInput, match=r"Asked.fish has no range, so no model can be asked"):
        played(game, "{}", tmp_path, "llm:test-1,share*4", seasons=1)


def test_a_person_is_asked_with_the_same_prompt(tmp_path) -> None:
    inquiries = []

    def ask(inquiry):
        inquiries.append(inquiry)
        assert "it is not a `asked` (invalid)" == inquiry.fault('{"fish": -2}')
        for text in ("two", '{"fishes": 2}'):
            says = "it is not a `asked`: there is no JSON object with fish"
            assert says == inquiry.fault(text)
        assert inquiry.fault('{"fish": 2}') is None
        return '{"fish": 2}'

    run = goldrush.record(
        Fishery, tmp_path / "run.journal", roster="human,share*4", seasons=2, ask=ask
    )

    assert ["season 1", "season 2"] == [inquiry.unit for inquiry in inquiries]
    assert "agent 0" == inquiries[0].player
    assert [2, 2] == [e["fish"] for e in run.events("asked", agent=0)]
    assert run.verify().holds


def test_a_game_is_told_in_another_wording(tmp_path) -> None:
    (tmp_path / "blunt.toml").write_text(
        '[messages]\nrules = ["Fish.", "Take $$1."]\nsettings = ""\nyou = "You: $agent, $agent."\n'
    )
    wording = str(tmp_path / "blunt.toml")
    model = Model("m", "m", answer=TEXT, wording=wording, persona="An {old} hand", reasoning=FIELD)
    with serving(lambda asked: completion('{"fish": 1} or rather {"fish": 2}')) as server:
        models = goldrush.Models({"m": (model, Endpoint(server.address))})
        run = goldrush.record(
            Fishery, tmp_path / "run.journal", roster="llm:m*8", models=models, seasons=2
        )
        fork = run.fork(1, tmp_path / "fork.journal", seed=5)
    asked = [[m["content"] for m in request.body["messages"]] for request in server.asked]
    entries = next(run.events("run_started"))["roster"]

    assert {"Fish.", "Take $1."} == {rules for rules, _ in asked}
    for _, now in asked:
        you, persona, seen, form = now.split("\n\n")
        assert you in {f"You: {agent}, {agent}." for agent in range(8)}
        assert ("An {old} hand", "What you see: ") == (persona, seen[:14])
        assert form.startswith('Answer with JSON: {"reasoning": text, "fish": integer')
    assert {2} == {event["fish"] for event in run.events("asked")}
    assert [True] + [False] * 7 == ["wording_text" in entry["options"] for entry in entries]
    assert run.verify().holds
    assert fork.verify().holds  # with other draws of the variants from then on
