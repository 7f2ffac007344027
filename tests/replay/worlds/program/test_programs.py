"""Programs that ask models: recorded, killed, resumed, run again, forked.

The servers are scripted (server.py) and answer at random, so an output that comes back came from
the journal.
"""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

import goldrush
from goldrush import testing
from goldrush.agents.worlds.program.requests import Response
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.program.world import program_world
from goldrush.replay.find import tools_for
from goldrush.replay.journal.verify import verify
from goldrush.replay.worlds.program import recording, running
from goldrush.replay.worlds.program.measures import read
from goldrush.replay.worlds.program.prompts import messages_of
from goldrush.replay.worlds.program.recording import Options, record
from goldrush.replay.worlds.program.running import ASIDE, set_aside
from goldrush.replay.worlds.program.tape import Reel
from goldrush.replay.worlds.program.texts import text_of, with_text
from tests.cli.helpers import ROOT
from tests.replay.worlds.program.kills import Trial, command_of, environment, tape_of
from tests.replay.worlds.program.server import serving

pytestmark = pytest.mark.turns("programs that ask models")
AT = "http://127.0.0.1:9"  # where nobody answers
PROGRAMS = ["sim.py", "sim3.py", "society.py", "claude.py", "node.mjs", "curl.sh", "crowd.py"]


def goldrush_(*words, url, folder, **more):
    return subprocess.run(
        [sys.executable, "-m", "goldrush", *words], cwd=folder,
        env={k: v for k, v in environment(url, **more).items() if v is not None},
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip


def apart(function, *args, **kwargs):
    """Call it in a thread: tests of pages leave a loop running in that of the tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args, **kwargs).result()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_killed_program_goes_on_and_is_run_again(name, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTS", "60")
    if name == "claude.py":
        pytest.importorskip("anthropic")
    if name == "node.mjs" and shutil.which("node") is None:
        pytest.skip("Node is not installed")
    with serving(limited=0.1, failing=0.05) as server:
        trial = Trial(command_of(name), tmp_path, server, random.Random(name), requests=12)
        trial.killed_and_resumed(kills=2, forks=1)


def test_the_way_to_servers_is_that_of_the_environment(tmp_path):
    """Its proxy is asked; credentials of ~/.netrc and of other variables are not for them."""
    (tmp_path / "netrc").write_text("default login me password secret-of-netrc")
    with serving() as server:
        more = {
            "OPENAI_BASE_URL": "http://models.test/v1", "http_proxy": server.url,
            "NETRC": str(tmp_path / "netrc"), "ODD_KEY": os.fsdecode(b"\xff" * 9),
        }  # fmt: skip
        line = ["record", "--out", "run.journal", "--", *command_of("curl.sh")]
        recorded = goldrush_(*line, url=server.url, folder=tmp_path, **more)

    assert 0 == recorded.returncode, recorded.stderr
    assert {"http://models.test/v1/chat/completions"} == {each["path"] for each in server.asked}
    keys = {each["headers"].get("authorization") for each in server.asked}
    assert {"Bearer sk-secret-of-curl"} == keys


def test_an_answer_without_headers_that_breaks_off_is_not_taken_for_whole(tmp_path):
    body = '{"model": "m", "messages": [{"role": "user", "content": "gold?"}]}'
    ask = f"curl -sS -d '{body}' $OPENAI_BASE_URL/chat/completions"
    with serving(cut=1.0, is_bare=True) as server:
        line = ["record", "--out", "run.journal", "--", "sh", "-c", ask]
        recorded = goldrush_(*line, url=server.url, folder=tmp_path)

    assert b"ended with exit code 18" in recorded.stderr  # curl's, of a transfer that was cut


RAISES = """
import goldrush
class Odd(Exception): __init__ = lambda self, a, b: super().__init__(str(a + b))
def fail(number):
    raise [OSError(2, "no such place"), KeyError("gold"), Odd(1, 2), TimeoutError()][number]
for number in range(4):
    try: goldrush.outside(fail)(number)
    except Exception as error: print(type(error).__name__ * (number != 2), error)
"""


def test_what_a_function_raises_is_raised_again(tmp_path):
    line = ["--output", "nofile", "--", sys.executable, "-c", RAISES]
    done = goldrush_("record", "--out", "a.journal", *line, url=AT, folder=tmp_path)
    verdict = goldrush_("verify", "a.journal", *line[2:], url=AT, folder=tmp_path)
    again = goldrush_("resume", "a.journal", *line[2:], url=AT, folder=tmp_path)
    bare = goldrush_("verify", "a.journal", url=AT, folder=tmp_path)

    assert b"a.journal has ended; record another run" in again.stderr
    assert b"JOURNAL" not in bare.stdout + bare.stderr
    assert b"the program was not run; add -- " in bare.stdout + bare.stderr
    assert (0, 0) == (done.returncode, verdict.returncode), done.stderr + verdict.stdout
    assert b"FileNotFoundError [Errno 2] no such place" in done.stdout
    assert b"4 of 4 exchanges failed; `goldrush fork a.journal --at 5 -- " in done.stderr
    assert b"nofile was not written, so it is not compared" in done.stderr


def test_whoever_reads_the_output_may_stop(tmp_path):
    script = "for n in range(20000): print('gold', n, flush=not n % 500)"
    line = f"{sys.executable} -m goldrush record --out a.journal -- {sys.executable} -c {script!r}"
    kept = environment(AT)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{line} | head -n 1"], cwd=tmp_path, env=kept,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip

    assert (0, b"gold 0\n") == (done.returncode, done.stdout), done.stderr
    assert tape_of(tmp_path / "a.journal").state.exit_code == 0


def test_another_model_is_asked_from_a_fork_on(tmp_path):
    with serving() as server:
        at, command = {"url": server.url, "folder": tmp_path}, command_of("sim.py")
        goldrush_("record", "--out", "run.journal", "--", *command, **at)
        seen = len(server.asked)
        line = ["fork", "run.journal", "--at", "9", "--model", "small", "--out", "b.journal"]
        forked = goldrush_(*line, "--", *command, **at)
        assert forked.returncode == 0, forked.stderr
        verdict = goldrush_("verify", "b.journal", "--", *command, **at, OPENAI_API_KEY=None)

    assert {"small"} == {each["body"]["model"] for each in server.asked[seen:]}
    assert 0 == verdict.returncode, verdict.stdout


SCRIPT = """
import os, time, openai, goldrush
client = openai.OpenAI()
goldrush.note("round", 1)
@goldrush.outside
def clock(): return time.time()
for now in [{}]:
    try: client.chat.completions.create(model="m", messages=[{{"role": "user", "content": now}}])
    except openai.APIError: pass
print(clock())
"""


@pytest.mark.parametrize(
    ("now", "options", "code", "says"),
    [
        ("'gold'", [], 0, "holds at levels 1 to 3"),
        ("'gold', *(['more'] if 'AGAIN' in os.environ else [])", [], 1, "in place of exchange 2"),
        ("f'it is {time.time()} now'", [], 1, "messages[0].content, character"),
        ("f'it is {time.time()} now'", ["--mask", r"(?P<time>\d+\.\d+)"], 0, "what is masked"),
    ],
)
def test_a_clock_in_a_prompt_is_named_and_can_be_masked(now, options, code, says, tmp_path):
    (tmp_path / "ask.py").write_text(SCRIPT.format(now))
    command = [sys.executable, "ask.py"]
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        recorded = goldrush_("record", "--out", "run.journal", *options, "--", *command, **at)
        assert recorded.returncode == 0, recorded.stderr
        verdict = goldrush_("verify", "run.journal", "--", *command, **at, AGAIN="1")

    assert code == verdict.returncode, verdict.stdout + verdict.stderr
    assert says in verdict.stdout.decode()


FAILS = "import goldrush, os; goldrush.outside(int)(); assert 'KEY' in os.environ, 'no key'; "


def test_a_program_that_fails_is_not_said_to_ask_something_else(tmp_path):
    command = [sys.executable, "-c", f"{FAILS} goldrush.outside(int)()"]

    def run(*words, command=command, **more):
        done = goldrush_(*words, "--", *command, url=AT, folder=tmp_path, **more)
        return done.returncode, (done.stdout + done.stderr).decode()

    assert 0 == run("record", "--out", "a.journal", KEY="1")[0]
    code, told = run("verify", "a.journal")
    assert (1, True) == (code, "(exit code 1: AssertionError: no key) before it asked" in told)
    for bad in (["false"], ["nobody-has-this"]):
        assert run("record", "--out", "b.journal", command=bad)[0]
        assert "b.journal" not in os.listdir(tmp_path)
    data = bytearray((tmp_path / "a.journal").read_bytes())
    data[-60] ^= 1
    (tmp_path / "a.journal").write_bytes(data)
    bare = goldrush_("verify", "a.journal", url=AT, folder=tmp_path)
    assert (1, bare.stdout.decode()) == run("verify", "a.journal", KEY="1")
    assert b"level 1" in bare.stdout


@pytest.mark.parametrize("line", [["verify"], ["repeats", "--journal"]])
def test_a_run_that_is_out_of_time_is_not_judged(line, tmp_path):
    program = "import goldrush, os, time; time.sleep(60 * ('AGAIN' in os.environ))"
    at = {"url": AT, "folder": tmp_path}
    command = ["--", sys.executable, "-c", program]
    goldrush_("record", "--out", "a.journal", *command, **at)
    done = goldrush_(*line, "a.journal", "--seconds", "1", *command, **at, AGAIN="1")

    told = (done.stdout + done.stderr).decode()
    assert (2, True) == (done.returncode, "a run takes longer than 1 seconds" in told), told


def test_a_run_that_broke_off_says_what_is_asked_instead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "STUCK", 0.5)
    program = (
        "import goldrush, os; [goldrush.outside(abs)(n) for n in [1, len(os.environ['N']), 3]]"
    )
    words = [sys.executable, "-c", program]
    options = Options(max_requests=2)
    monkeypatch.setenv("N", "12")
    apart(record, words, "a.journal", options, bytes)
    monkeypatch.setenv("N", "12345")

    def judge():
        with recording.running(words):
            return verify("a.journal").broken

    assert "in place of exchange 2: args[0], character 0: '5' here" in str(apart(judge))


def test_a_file_that_a_run_did_not_write_is_not_its_output(tmp_path):
    write = "test -e $F || echo gold > $F"
    at = {"url": AT, "folder": tmp_path, "F": "o.txt"}
    outputs, command = ["--output", "o.txt"], ["--", "sh", "-c", write]
    goldrush_("record", "--out", "a.journal", *outputs, *command, **at)
    (tmp_path / "o.txt").write_text("other")
    assert 0 == goldrush_("verify", "a.journal", *command, **at).returncode
    assert "other" == (tmp_path / "o.txt").read_text()
    goldrush_("record", "--out", "b.journal", *outputs, *command, **at)
    tape = tape_of(tmp_path / "b.journal")

    assert ("o.txt", "", 0) == tape.ends[tape.ended].outputs[-1]


APPENDS = """
with open("log.txt", "a") as file: print("gold", file=file)
"""


def test_output_of_a_program_that_is_run_again_is_put_back(tmp_path):
    command = ["--", sys.executable, "-c", APPENDS]
    at = {"url": AT, "folder": tmp_path}
    outputs = ["--output", "log.txt", "--output", "new/none.txt", "--output", "/dev/null"]
    assert 0 == goldrush_("record", "--out", "a.journal", *outputs, *command, **at).returncode
    log = tmp_path / "log.txt"
    for text in ("gold\n", "gold\nmine\n"):
        log.write_text(text)
        stamp = log.stat()
        for again in (["verify"], ["repeats", "--journal"]):
            done = goldrush_(*again, "a.journal", *command, **at)
            assert (0, text) == (done.returncode, log.read_text()), done.stdout + done.stderr
            assert (stamp.st_ino, stamp.st_mtime_ns) == (log.stat().st_ino, log.stat().st_mtime_ns)
    log.unlink()
    goldrush_("verify", "a.journal", *command, **at)
    assert not log.exists()


def test_what_a_killed_run_left_aside_is_put_back_or_told(tmp_path):
    log, aside = tmp_path / "log.txt", tmp_path / f"log.txt{ASIDE}"
    aside.write_text("mine")
    with set_aside([str(log)]):
        assert not log.exists()
    assert "mine" == log.read_text()
    aside.write_text("older")
    with pytest.raises(BadInput, match="keep one of the two"), set_aside([str(log)]):
        pass
    assert ("mine", "older") == (log.read_text(), aside.read_text())


def test_another_answer_leaves_nothing_of_the_recorded_one():
    """A stream of OpenAI's responses has the text in pieces, and whole in its last events."""

    def stream(*pieces):
        item = {"content": [{"type": "output_text", "text": "".join(pieces)}]}
        events = [*({"delta": piece} for piece in pieces), item["content"][0], {"item": item}]
        events = map(json.dumps, [*events, {"response": {"model": "take 1", "output": [item]}}])
        return Response(200, [], [f"data: {event}\n\n".encode() for event in events])

    changed = b"".join(with_text(stream("take", " 1"), "share").chunks)
    assert (1, 4) == (changed.count(b"take 1"), changed.count(b"share"))
    assert '{"act": 1}' == text_of(with_text(stream("take", " 1"), '{"act": 1}'))
    assert [b'{"a": 1}'] == with_text(Response(429, [], []), '{"a": 1}').chunks
    two = stream("take", " 1").chunks
    with pytest.raises(BadInput, match="in several parts"):
        with_text(Response(200, [], [*two, *two]), "share")


WRITES = """
import sys, openai
client = openai.OpenAI(max_retries=0)
with open(sys.argv[1], "w") as out:
    for number in range(3):
        chat = [{"role": "user", "content": f"{number} of {open(sys.argv[2]).read()}?"}]
        answer = client.chat.completions.create(model="m", messages=chat)
        print(answer.choices[0].message.content, file=out, flush=True)
"""


@pytest.mark.parametrize(("before", "key"), [(0, ""), (1, ""), (0, "sk-0123456789abcdefghij")])
def test_what_a_program_writes_is_not_its_code(before, key, tmp_path):
    (tmp_path / "sim.py").write_text(f"# {key}{WRITES}")
    (tmp_path / "gold.txt").write_text("gold")
    if before:
        (tmp_path / "out.csv").write_text("old")
    command = [sys.executable, "sim.py", "out.csv", "gold.txt"]
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}

        def code(*words):
            done = goldrush_(*words, "--", *command, **at)
            return done.returncode, (done.stdout + done.stderr).decode()

        assert 1 == code("record", "--out", "a.journal", "--max-requests", "2")[0]
        shutil.copy(tmp_path / "a.journal", tmp_path / "begun.journal")
        os.utime(tmp_path / "begun.journal", (0, 0))  # what is edited below is newer
        assert 0 == code("resume", "a.journal")[0]
        told = [code("verify", "a.journal") for _ in range(2)]
        assert [(0, False)] * 2 == [(code, "other code" in text) for code, text in told]
        fork = ["fork", "a.journal", "--at", "2", "--out", "b.journal"]
        assert [0, 0] == [code(*fork)[0], code("verify", "b.journal")[0]]
        for name in ("gold.txt", "sim.py"):
            (tmp_path / name).write_text((tmp_path / name).read_text() + "\n")
            os.utime(tmp_path / name, (0, 0))
            assert "other code" in code("verify", "a.journal")[1]
            assert "other code" in code("resume", "begun.journal")[1]


ASKS = "import goldrush\nfor _ in range(2): goldrush.outside(int)()\nprint({})"


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_mended_program_goes_on_after_its_last_answer(is_torn, tmp_path):
    (tmp_path / "sim.py").write_text(ASKS.format("1 / 0"))
    command, path = [sys.executable, "sim.py"], tmp_path / "a.journal"

    def run(*words):
        done = goldrush_(*words, "--", *command, url=AT, folder=tmp_path)
        return done.returncode, (done.stdout + done.stderr).decode()

    line = ["record", "--out", "a.journal"]
    assert 1 == run(*line)[0]
    if is_torn:
        path.write_bytes(path.read_bytes()[:-3])
    (tmp_path / "sim.py").write_text(ASKS.format("'mended'"))
    (way_out,) = re.findall(r"`goldrush (fork .*?)`", run(*line)[1])
    assert "--at 3 --" in way_out
    fork = goldrush_(*shlex.split(way_out), url=AT, folder=tmp_path)
    assert (0, True) == (fork.returncode, fork.stdout.startswith(b"mended")), fork.stderr
    (made,) = (each for each in tmp_path.rglob("*.journal") if each != path)
    assert [1, 2] == [*tape_of(made).exchanges]
    assert 0 == run("verify", str(made))[0]
    assert "has no exchange 9" in run("fork", "a.journal", "--at", "9", "--out", "c.journal")[1]


PRICES = "price_in = 1e6\nprice_out = 1e6"  # a cost of 1 for each token


@pytest.mark.parametrize(
    ("table", "option", "says", "asked"),
    [
        ("[m]", "--max-requests=9", "stopped by --max-requests 9", 9),
        ("[m]", "--max-tokens=100", "stopped by --max-tokens 100", 9),
        ("[m]", "--max-cost=100", "stopped by --max-cost 100", 9),
        ("[dear]\nmodel = 'm'", "--max-cost=100", "stopped by --max-cost 100", 9),
        ("[n]", "--max-cost=1", "needs the price of m; give price_in", 0),
    ],
)
def test_a_ceiling_stops_a_run_that_a_higher_one_continues(table, option, says, asked, tmp_path):
    (tmp_path / "prices.toml").write_text(f"{table}\n{PRICES}")
    command = command_of("sim3.py")
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        line = ["record", "--out", "run.journal", "--models", "prices.toml"]
        stopped = goldrush_(*line, option, "--", *command, **at)
        assert 1 == stopped.returncode
        assert says in stopped.stderr.decode()
        again = re.findall(r"--\S+ MORE(?= .*-- )", stopped.stderr.decode())
        assert again == [f"{option.partition('=')[0]} MORE"] * (asked > 0)
        under_way = 3 * (asked > 0 and "requests" not in option)
        assert asked <= len(server.asked) <= asked + under_way
        unpriced = goldrush_("resume", "run.journal", "--max-cost=1e6", "--", *command, **at)
        assert b"needs the prices of the models; give --models" in unpriced.stderr
        below = goldrush_("resume", "run.journal", "--max-requests=-1", "--", *command, **at)
        assert (2, True) == (below.returncode, b"-1 is not in the range" in below.stderr)
        done = goldrush_(*line, "--max-tokens=99999", "--", *command, **at)
        assert 0 == done.returncode, done.stderr


CALLERS = """
import asyncio, os, httpx2, goldrush
async def ask(client):
    await client.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json={
        "model": "m", "messages": [{"role": "user", "content": "gold?"}]})
async def act(client, number):
    with goldrush.caller(f"agent {number}"):
        await ask(client)
        await asyncio.gather(ask(client))
    await ask(client)
async def main():
    async with httpx2.AsyncClient() as client:
        for _ in range(2):
            await asyncio.gather(*(act(client, number) for number in range(2)))
asyncio.run(main())
"""


def test_agents_that_are_made_anew_can_have_a_name(tmp_path):
    command = [sys.executable, "-c", CALLERS]
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        done = goldrush_("record", "--out", "a.journal", "--", *command, **at)
        alone = subprocess.run(command, env=environment(server.url), cwd=ROOT, check=False)

    assert (0, 0) == (done.returncode, alone.returncode), done.stderr
    callers = [each.caller for each in tape_of(tmp_path / "a.journal").exchanges.values()]
    named = {name: callers.count(name) for name in callers if name.startswith("agent")}
    assert {"agent 0": 2, "agent 1": 2, "agent 0.0": 2, "agent 1.0": 2} == named
    assert 4 == len({name for name in callers if name not in named})


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-3], lambda raw: raw[:-900] + raw[-899:],
        lambda raw: raw[:-5] + bytes([raw[-5] ^ 1]) + raw[-4:],
    ],
)  # fmt: skip
def test_the_way_out_of_a_damaged_journal_works_as_it_is_typed(damage, tmp_path):
    command = command_of("sim.py")
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        goldrush_("record", "--out", "run.journal", "--", *command, **at)
        path = tmp_path / "run.journal"
        path.write_bytes(damage(path.read_bytes()))
        verdict = goldrush_("verify", "run.journal", **at)
        (way_out,) = re.findall(r"`\S+ -m goldrush (.*?)`", verdict.stdout.decode())
        done = goldrush_(*shlex.split(way_out), **at)

    assert shlex.join(command) in way_out
    assert done.returncode == 0 or b"its journal is whole now" in done.stderr, done.stderr


@pytest.fixture(scope="module")
def society(tmp_path_factory):
    """A recorded society, with the texts of its answers."""
    folder = tmp_path_factory.mktemp("society")
    with serving(limited=0.05) as server:
        at = {"url": server.url, "folder": folder}
        done = goldrush_("record", "--out", "run.journal", "--", *command_of("society.py"), **at)
        assert done.returncode == 0, done.stderr
        yield folder / "run.journal", server


def test_what_was_under_way_at_a_fork_is_not_asked_again(society, tmp_path):
    journal, first_server = society
    exchanges, is_found = tape_of(journal).exchanges, lambda each: each.answer.is_success
    most, found = 0, {}
    for number, exchange in exchanges.items():
        most = max(most, exchange.arrival)
        later = [each for n, each in exchanges.items() if n > number and is_found(each)]
        found[number] = [each for each in later if each.arrival < most]
    at = next(n for n in found if found[n] and is_found(exchanges[n]))
    (tmp_path / "new.txt").write_text("cooperate 0.5 gold")
    line = ["fork", journal, "--at", at, "--answer", "new.txt", "--out", "fork.journal"]
    with serving() as server:
        words = [f"--upstream=openai={server.url}/v1", "--", *command_of("society.py")]
        done = goldrush_(*map(str, line), *words, url=first_server.url, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made = tape_of(tmp_path / "fork.journal").exchanges

    assert f"{len(found[at])} unchanged requests were under way" in done.stderr.decode()
    answers = {(each.asked.caller, str(each.asked.body)): each.answer for each in made.values()}
    for each in found[at]:
        assert each.answer == answers[each.asked.caller, str(each.asked.body)]
    assert all(each.asks == exchanges[n].asks for n, each in made.items() if n < at)
    changed = answers[exchanges[at].asked.caller, str(exchanges[at].asked.body)]
    assert "cooperate 0.5 gold" == text_of(changed)
    difference = goldrush_("diff", str(journal), "fork.journal", url=AT, folder=tmp_path)
    first = difference.stdout.decode().splitlines()[2]
    assert f"(exchange {at} in A," in first
    assert "the answer, character" in first
    assert "0.5 gold' in B" in first
    assert "in B: After exchange" in difference.stdout.decode().splitlines()[1]


def test_another_model_is_refused_where_no_request_names_one(tmp_path):
    ask = "curl -sS -d '{}' $OPENAI_BASE_URL/models/m:generate || true"
    at = {"url": AT, "folder": tmp_path}
    goldrush_("record", "--out", "run.journal", "--", "sh", "-c", ask, **at)
    line = ["fork", "run.journal", "--at", "1", "--model", "small", "--out", "b.journal"]
    refused = goldrush_(*line, "--", "sh", "-c", ask, **at)

    assert 2 == refused.returncode
    assert b"no request from exchange 1 on has a model in its body" in refused.stderr
    assert not (tmp_path / "b.journal").exists()


def shown(*words):
    done = goldrush_(*map(str, words), "--json", url="http://127.0.0.1:9", folder="/")
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


def test_an_answer_of_another_server_stands_in_for_none(society):
    reel = Reel(tape_of(society[0]).exchanges.values(), is_whole=True)
    asked = msgspec.structs.replace(reel.left[1].asked, body={"model": "other"})

    assert reel.substitute(msgspec.structs.replace(asked, upstream="anthropic")) is None
    assert reel.substitute(asked).number == 1


def test_usage_and_its_cost_are_by_model(society, tmp_path):
    journal, server = society
    (tmp_path / "prices.toml").write_text("[ours]\nmodel = 'm'\nprice_in = 3.0\nprice_out = 15.0")
    answered = len(server.answered)
    failed = len(server.asked) - answered  # 429s
    assert failed

    [found] = shown("measure", "--usage", journal, "--models", tmp_path / "prices.toml")

    [row] = found["agents"]
    assert (None, "m", answered + failed) == (row["agent"], row["model"], row["answers"])
    assert (10 * answered, 2 * answered) == (row["tokens_in"], row["tokens_out"])
    assert {"no-answer": failed} == row["errors"]
    assert row["cost"] == pytest.approx(answered * (10 * 3 + 2 * 15) / 1e6)


def test_prompts_are_shown_by_exchange_and_by_caller(society):
    journal, server = society
    exchanges = tape_of(journal).exchanges
    number = next(each.number for each in exchanges.values() if each.answer.is_success)
    caller = exchanges[number].asked.caller

    found = shown("prompt", journal, "--at", number, "--answer")

    [question], [answer] = found["questions"], found["answers"]
    assert caller == question["caller"]
    assert question["request"] in [each["body"] for each in server.asked]
    assert question["request"]["messages"] == question["messages"]
    assert answer["text"] in server.answered
    assert (10, 2, "m") == (answer["tokens_in"], answer["tokens_out"], answer["model"])
    own = shown("prompt", journal, "--agent", caller)["questions"]
    assert [each["exchange"] for each in own] == [
        each.number for each in exchanges.values() if each.asked.caller == caller
    ]


@pytest.mark.parametrize(
    ("body", "chat"),
    [
        ({"system": "Be", "messages": [{"role": "user", "content": [{"text": "a"}]}]},
         {"system": "Be", "user": "a"}),
        ({"instructions": "Be", "input": "a"}, {"system": "Be", "user": "a"}),
        ({"contents": [{"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}]},
         {"model": "a\nb"}),
        ({"messages": [{"role": "tool", "id": "7", "content": "a"}]}, {"tool": 'a\n{"id": "7"}'}),
        ({"prompt": "a"}, {"user": "a"}), ({"query": "a"}, {"request": '{"query": "a"}'}),
    ],
)  # fmt: skip
def test_chats_of_the_known_protocols_are_messages(body, chat):
    assert chat == {each["role"]: each["content"] for each in messages_of(body)}


def test_rounds_without_a_name_are_none(tmp_path):
    command = [sys.executable, "-c", "import goldrush; goldrush.note('round', None)"]
    done = goldrush_("record", "--out", "a.journal", "--", *command, url=AT, folder=tmp_path)

    assert 0 == done.returncode, done.stderr
    assert 0 == goldrush_("measure", "a.journal", url=AT, folder=tmp_path).returncode


def test_measures_are_by_the_rounds_that_a_program_notes(society):
    journal, server = society

    [found] = shown("measure", journal)

    answered = len(server.answered)
    assert (6, len(server.asked)) == (found["rounds"], found["exchanges"])
    assert 10 * answered == found["run"]["tokens_in"]
    golds = [note.value for note in tape_of(journal).notes if note.name == "gold"]
    measured = goldrush.open(journal).measured()
    assert [sum(gold) / len(gold) for gold in golds] == measured.values["gold"]
    assert 10 * answered == sum(measured.values["tokens_in"])
    assert 0 == measured.vocabulary.number(1), "as the program counts"
    table = goldrush_(
        "export", str(journal), "--table=exchanges", "--format=csv", url="", folder="/"
    )
    assert 1 + len(server.asked) == len(table.stdout.splitlines())
    with JournalReader(journal) as reader:
        by_exchange = read(reader)
    assert len(server.asked) == by_exchange.units
    assert measured.values["gold"][-1] == by_exchange.values["gold"][-1]
    [by_gold] = shown("measure", journal, "--step", "gold")
    assert len(golds) == by_gold["golds"]
    unknown = goldrush_("measure", str(journal), "--step=day", url="", folder="/")
    assert (2, True) == (unknown.returncode, b"its notes: gold, round" in unknown.stderr)


@pytest.mark.parametrize(
    "law",
    [
        testing.folding_in_pieces_gives_the_same, testing.damage_is_found,
        testing.events_have_fields_of_the_declared_kinds,
    ],
)  # fmt: skip
def test_the_world_keeps_the_laws_that_need_no_players(law, society):
    """A run of nothing but the recorded behaviour. A fork declares what it is of, so that its
    digests are others; what the digest covers is the chain of events.
    """
    world = program_world(tape_of(society[0]).behaviour())
    law(testing.Trial("program", tools_for("program"), world, society[0], {}, None, None))


@pytest.mark.parametrize("notes", [False, True])
def test_the_page_does_what_it_shows(notes, tmp_path):
    pytest.importorskip("openai")
    page = (ROOT / "replay/worlds/program/README.md").read_text()
    (commands,) = re.findall(r"```text\n(goldrush record.*?)```", page, re.DOTALL)
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    lines = [line for line in script.splitlines() if notes or "# new" not in line]
    (tmp_path / "sim.py").write_text("\n".join(lines))
    (tmp_path / "new.txt").write_text("share, says the page")
    words = [shlex.split(line, comments=True)[1:] for line in commands.splitlines()]
    with serving() as server:
        for line in words if notes else words[:2]:
            line = [sys.executable if word == "python" else word for word in line]
            done = goldrush_(*line, url=server.url, folder=tmp_path)
            assert done.returncode == (line[0] == "diff"), done.stderr
        measured = goldrush_("measure", "run.journal", url=server.url, folder=tmp_path)

    assert 12 == len(tape_of(str(tmp_path / "run.journal")).exchanges)
    assert notes == (b"\ngold " in measured.stdout)


def test_answers_come_in_the_order_in_which_they_came(tmp_path):
    """What a program does with the first of several answers may change what the others meet."""
    ask = "await client.post('chat/completions', json={'model': 'm', 'messages': [n]}); print(n)"
    code = f"import aiohttp, asyncio, os\nasync def ask(client, n): {ask}\nasync def main():\n"
    code += " async with aiohttp.ClientSession(os.environ['OPENAI_BASE_URL'] + '/') as client:\n"
    code += "  await asyncio.gather(*[ask(client, n) for n in range(9)])\nasyncio.run(main())"
    line = ["run.journal", "--", sys.executable, "-c", code]
    with serving(slow=0.3) as server:
        assert not goldrush_("record", "--out", *line, url=server.url, folder=tmp_path).returncode

    assert 0 == goldrush_("verify", *line, url=AT, folder=tmp_path).returncode
