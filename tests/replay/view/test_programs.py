"""The page of a program's run: the conversation of each caller, told once."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.worlds.program.requests import Response
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import steps
from goldrush.kernel.worlds.program.world import NAME, RULES, Asked, Behaviour, program_world
from goldrush.replay.worlds.program.page import Changes
from goldrush.replay.worlds.program.session import Recorder
from tests.browser import PHONE, Tab
from tests.pages import data_of
from tests.replay.view.test_browser import HOSTILE

SETUP: dict[str, Any] = {
    "command": ("sim",), "upstreams": {}, "variables": {}, "masks": (), "outputs": (),
    "hashseed": "0", "source": {"sha256": "", "text": None},
}  # fmt: skip
Messages = list[dict[str, str]]


def recorded(path: Path, exchanges: Iterable[tuple[str, Messages, int, str]]) -> Path:
    """A journal of requests by caller, each with the status and the text of its answer."""
    behaviour = Behaviour()
    with JournalWriter(str(path), Header(NAME, RULES)) as journal:
        recorder = Recorder(steps(program_world(behaviour), SETUP, journal), behaviour, is_new=True)
        for number, (caller, chat, status, text) in enumerate(exchanges, 1):
            recorder.note("gold", [number, 2 * number], None)
            body: Any = {"model": "m", "messages": chat}
            answer = {"choices": [{"message": {"content": text}}], "usage": {"input_tokens": 3}}
            asked = Asked(caller, "here", "POST", "/chat", (), (), body)
            recorder.commit(asked, Response(status, (), [json.dumps(answer).encode()]), number)
        recorder.close()
    return path


def chats(callers: Sequence[str], turns: int) -> Iterable[tuple[str, Messages, int, str]]:
    """Chats that grow; the second request of each caller fails, and is sent again."""
    so_far: dict[str, Messages] = {caller: [] for caller in callers}
    for turn in range(turns):
        for caller, chat in so_far.items():
            chat.append({"role": "user", "content": f"<{caller}:{turn}>"})
            if turn == 1:
                yield caller, [*chat], 429, "slow down"
            yield caller, [*chat], 200, f"<to {caller}:{turn}>"
            chat.append({"role": "assistant", "content": f"<to {caller}:{turn}>"})


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["go on", "stop", ""]))), st.booleans()
)
def test_a_request_is_told_by_what_is_new_in_it(said: list[tuple[int, str]], fresh: bool) -> None:
    changes, so_far = Changes(), [[{"role": "system", "content": f"you are {n}"}] for n in range(3)]
    for number, (agent, text) in enumerate(said):
        chat, caller = so_far[agent], str(number if fresh else agent)
        new = [("system", f"you are {agent}")] * (len(chat) == 1) + [("user", text)]
        chat.append({"role": "user", "content": text})
        for answer in (None, f"answer {number}"):  # fails first
            told = changes.of(caller, number, {"messages": [*chat], "model": "m"}, answer)

            assert new == [each for each in told if not each[0].startswith("behind")]
            new = []
        chat.append({"role": "assistant", "content": f"answer {number}"})


def test_a_page_has_each_message_once(tmp_path: Path, paged: Callable[..., Path]) -> None:
    journal = recorded(tmp_path / "a.journal", chats("abc", 40))
    data = data_of(paged(journal).read_text())["runs"][0]
    lines, fields = json.dumps(data["lines"]), {each["name"]: each for each in data["fields"]}
    [gold] = [chart["values"] for chart in data["charts"] if chart["name"] == "note gold"]
    taken = [fields[name]["values"][-1] for name in ("exchanges", "failed", "tokens in")]

    assert {1} == {lines.count(f"<{to}{n}>") for to in ("a:", "to c:") for n in range(40)}
    assert [[41] * 3, [1] * 3, [123] * 3] == taken
    assert [(1, 123), (2, 246)] == [(line[0], line[-1]) for line in gold]


def test_callers_of_two_runs_are_read_beside_each_other(
    new_tab: Callable[..., Tab], tmp_path: Path, paged: Callable[..., Path]
) -> None:
    hostile = HOSTILE * 8_000
    more = [(HOSTILE, [{"role": HOSTILE, "content": hostile}], 200, hostile)]
    one = recorded(tmp_path / "a.journal", [*chats([".0.1", ".0.2"], 3), *more])
    two = recorded(tmp_path / "b.journal", [*more, *chats([".0.2", ".0.1"], 2)])
    tab = new_tab("light", PHONE).open(paged(one, two), "#exchange=4&agent=.0.2")
    stories = tab.texts(".selected ol li")

    assert 8 + 6 == len(stories)
    assert all("<.0.2:0>" in stories[at] and "<to .0.2:0>" in stories[at + 1] for at in (0, 8))
    assert 2 == tab.page.locator(".selected li.fault").count()
    assert 2 == tab.page.locator("#track .failed").count()
    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    tab.page.locator("a.agent", has_text="script").first.click()

    assert 0 == tab.page.locator("main img, main script").count()
    assert not set(tab.text("main")) & {"\x1b", "\u202e", "\u2066", "\x00"}
