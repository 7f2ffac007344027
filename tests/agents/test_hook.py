"""The hook of recorded Python programs: who asks has the same name in each run.

Each text runs in processes of its own. `ask(name)` sends a request to `/name` after a random pause,
so the server sees under which name of a caller each place in the program asks.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.waiting import HANGS

HOOK = Path(__file__).resolve().parents[2] / "goldrush" / "hook"
RUNS = 5
OTHERS = [*filter(None, os.environ.get("GOLDRUSH_PYTHONS", "").split(os.pathsep))]
ASK = """
import contextvars, os, random, sys, threading, time, urllib.request
PROXY = os.environ["GOLDRUSH_PROXY"]
def pause(): time.sleep(random.random() * 0.02)
def ask(name):
    pause()
    urllib.request.urlopen(f"{PROXY}/{name}").read()
def run_all(kind, *jobs):
    made = [kind(target=ask, args=args) for args in jobs]
    for one in made: one.start()
    for one in made: one.join()
"""
ASYNCIO = """
import asyncio
async def one(name):
    await asyncio.sleep(random.random() * 0.02)
    await asyncio.get_running_loop().run_in_executor(None, pause)
    ask(name)
async def agent(k):
    await one(k)
    await asyncio.gather(one(f"{k}0"), one(f"{k}1"))
    for _ in range(random.randrange(3)):  # attempts
        await asyncio.wait_for(one(f"{k}tried"), 9)
    ask(f"{k}tried")
    await asyncio.gather(*[asyncio.ensure_future(one(f"{k}{i}")) for i in (2, 3)])
async def main():
    await asyncio.gather(*[agent(k) for k in "abc"])
RUN(main())
RUN(one("again"))
"""
GROUPS = """
import asyncio
async def agent(k):
    await asyncio.sleep(random.random() * 0.02)
    await asyncio.to_thread(ask, k)
async def main():
    for n, factory in enumerate([None, getattr(asyncio, "eager_task_factory", None)]):
        asyncio.get_running_loop().set_task_factory(factory)
        async with asyncio.TaskGroup() as group:
            for k in range(3): group.create_task(agent(f"{k}{n}"))
asyncio.run(main())
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    list(pool.map(ask, range(5)))
    for job in [pool.submit(contextvars.copy_context().run, ask, f"context{k}") for k in "ab"]:
        job.result()
    contexts = [contextvars.copy_context() for _ in range(3)]  # as LangChain maps
    list(pool.map(lambda k: contexts.pop().run(ask, k), "xyz"))
run_all(threading.Thread, *[(f"thread{k}",) for k in range(3)])
"""
PROCESSES = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    context = multiprocessing.get_context("METHOD")
    run_all(context.Process, ("a",), ("b",))
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(ask, ["job0", "job1"]))
    with context.Pool(2) as pool:
        pool.map(ask, ["map0", "map1"], chunksize=1)
        for job in [pool.apply_async(ask, (f"apply{k}",)) for k in range(2)]: job.get()
    ask("main")
"""
PROGRAMS = """
import subprocess
child = [sys.executable, "-c", "import sys, runpy; runpy.run_path(sys.argv[1])['ask'](sys.argv[2])"]
if len(sys.argv) == 1:
    child.append(__file__)
    ps = [subprocess.Popen([*child, f"python{k}"]) for k in range(2)]
    ps += [subprocess.Popen([*child, "bare"], env={"LANG": "C"})]
    for one_made in ps: one_made.wait()
    for k in range(2):
        if not os.fork():
            ask(f"fork{k}")
            os._exit(0)
    for k in range(2): os.wait()
    ask("main")
"""
MODES = {
    "asyncio": (ASYNCIO.replace("RUN", "asyncio.run"), 19),
    "uvloop": ("import uvloop" + ASYNCIO.replace("RUN", "uvloop.run"), 19),
    "groups": (GROUPS, 6),
    "threads": (THREADS, 13),
    **{way: (PROCESSES.replace("METHOD", way), 9) for way in ("fork", "spawn", "forkserver")},
    "programs": (PROGRAMS, 6),
}


class Handler(BaseHTTPRequestHandler):
    """Keeps the name of the caller by run and path. Closes every other connection or so."""

    protocol_version = "HTTP/1.1"
    seen: dict[str, set[tuple[str, str | None]]]

    def do_GET(self) -> None:
        _, run, place = self.path.split("/")
        self.seen.setdefault(run, set()).add((place, self.headers["x-goldrush-caller"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        if len(self.seen[run]) % 2:
            self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 300


@pytest.fixture
def server() -> Iterator[Server]:
    Handler.seen = {}
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path, server: Server) -> Start:
    """Start a text as a recorded program, as the n-th run of it."""

    def started(text: str, run: int = 0, python: str = sys.executable, **more: str) -> object:
        (tmp_path / "program.py").write_text(text)
        path = os.pathsep.join([str(HOOK), *filter(None, [more.pop("PYTHONPATH", "")])])
        proxy = f"http://127.0.0.1:{server.server_port}/{run}"
        return subprocess.Popen(
            [python, tmp_path / "program.py"],
            env={**os.environ, "PYTHONPATH": path, "GOLDRUSH_PROXY": proxy, **more},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    return started


def output(program: "subprocess.Popen[str]") -> str:
    out, err = program.communicate(timeout=HANGS)

    assert (0, "") == (program.returncode, err)
    return out


def names_each_run(
    start: Start, text: str, python: str = sys.executable, count: int = RUNS
) -> dict[str, str | None]:
    """The name of each place, which is to be the same in each run."""
    for program in [start(text, run, python) for run in range(count)]:
        output(program)
    runs = [Handler.seen.pop(str(run)) for run in range(count)]

    assert [runs[0]] * count == runs
    names = dict(runs[0])
    assert len(names) == len(runs[0]), "a place has two names"
    return names


@pytest.mark.turns("ways to make a caller")
@pytest.mark.parametrize("mode", MODES)
def test_each_place_has_a_name_of_its_own_and_the_same_in_each_run(mode: str, start: Start) -> None:
    text, places = MODES[mode]
    if mode == "uvloop":
        pytest.importorskip("uvloop")
    names = names_each_run(start, ASK + text)

    assert places == len(names)
    asked_in_sequence = {name for place, name in names.items() if "tried" in place}
    assert places - len(asked_in_sequence) == len(set(names.values()))
    assert None not in names.values()


@pytest.mark.parametrize("python", OTHERS)
@pytest.mark.parametrize("mode", ["asyncio", "groups", "threads"])
def test_names_are_the_same_under_other_pythons(mode: str, python: str, start: Start) -> None:
    here = names_each_run(start, ASK + MODES[mode][0], count=1)

    assert here == names_each_run(start, ASK + MODES[mode][0], python, count=3)


CLIENTS = """
import asyncio, importlib, contextlib
async def with_httpx(kind):
    async with importlib.import_module(kind).AsyncClient() as client:
        for _ in range(4): await client.get(f"{PROXY}/{kind}")  # connects again or not
        async def one(name): await client.get(f"{PROXY}/{name}")
        await asyncio.gather(*[one(f"{kind}{k}") for k in range(2)])
        await client.get(f"{PROXY}/own", headers={"X-Goldrush-Caller": "its own"})
        await client.get(PROXY[:-1] + "x/elsewhere")
    with importlib.import_module(kind).Client() as client: client.get(f"{PROXY}/{kind}sync")
async def with_aiohttp(kind):
    async with importlib.import_module(kind).ClientSession() as client:
        async def one(name): await (await client.get(f"{PROXY}/{name}")).read()
        for _ in range(4): await one(kind)
        await asyncio.gather(*[one(f"{kind}{k}") for k in range(2)])
def with_requests():
    import requests, urllib3
    requests.get(f"{PROXY}/requests"); urllib3.PoolManager().request("GET", f"{PROXY}/urllib3")
for use, kind in ((with_httpx, "httpx2"), (with_httpx, "httpx"), (with_aiohttp, "aiohttp")):
    with contextlib.suppress(ImportError): asyncio.run(use(kind))
with contextlib.suppress(ImportError): with_requests()
"""


def test_each_client_says_the_name_and_its_helpers_move_no_number(start: Start) -> None:
    names = names_each_run(start, ASK + CLIENTS, count=3)

    assert "its own" == names.pop("own")
    assert (".0", ".0.0", ".0.1") == (names["httpx2"], names["httpx20"], names["httpx21"])
    for kind, number in (("httpx", 1), ("aiohttp", 2)):
        if kind in names:
            assert [f".{number}.{k}" for k in range(2)] == [names[f"{kind}{k}"] for k in range(2)]
    assert {"."} >= {names[one] for one in ("requests", "urllib3") if one in names}
    assert {("elsewhere", None)} == Handler.seen["x"]


def test_the_programs_own_sitecustomize_and_path_stay(tmp_path: Path, start: Start) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nsys.own = __file__\n")
    text = "import sys\nprint(sys.own, sitecustomize_, sys.path)".replace(
        "sitecustomize_", "sys.modules['sitecustomize'].__file__"
    )
    (tmp_path / "program.py").write_text(text)
    plain = {**os.environ, "PYTHONPATH": str(own)}
    without = subprocess.run(
        [sys.executable, tmp_path / "program.py"], env=plain, capture_output=True, text=True
    )

    assert without.stdout == output(start(text, PYTHONPATH=str(own))) != ""


OFFLINE = """
import asyncio, socket, urllib.request
asyncio.run(asyncio.sleep(0)); ask("here")
for connect in (
    lambda: socket.create_connection(("192.0.2.1", 443), 1),
    lambda: urllib.request.urlopen("http://api.example.org/v1"),
    lambda: asyncio.run(asyncio.open_connection("api.example.org", 443)),
):
    try: connect()
    except OSError as error: print(error)
"""


def test_offline_a_program_reaches_nothing_but_this_machine(start: Start) -> None:
    out, err = start(ASK + OFFLINE, GOLDRUSH_OFFLINE="1").communicate(timeout=HANGS)
    said = out.splitlines()
    way_out = "record what it gives: name it by --upstream, or use goldrush.outside"

    assert [("here", ".")] == list(Handler.seen["0"])
    assert (3, 2) == (len(said), err.count(way_out))  # each machine is told once
    for line, host in zip(said, ["192.0.2.1", "api.example.org", "api.example.org"], strict=True):
        assert f"nothing but this machine, and not to {host}; {way_out}" in line
