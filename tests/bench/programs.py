"""What it costs to record a program that asks models, and how large its journal is.

Ten agents each hold a chat that grows to 200 messages, 1,000 exchanges in all, of 20 kB on average:
through `goldrush record`, and through a proxy that passes them on and does nothing else. The
program reads from /proc what its parent, the proxy, has used (needs Linux).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.replay.worlds.program.server import serving

from .timing import Row, alternately, cpu_of, row

ROOT = Path(__file__).resolve().parents[2]
AGENTS, MESSAGES, LETTERS = 10, 200, 300
EXCHANGES = AGENTS * MESSAGES // 2
REPEATS = 3
PROGRAM = [sys.executable, "-c", "from tests.bench.programs import program; program()"]
BARE = [sys.executable, "-c", "from tests.bench.programs import bare; bare()"]


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    journal, used = folder / "run.journal", folder / "used.json"
    record = [sys.executable, "-m", "goldrush", "record", "--force", "--out", str(journal), "--"]
    peaks: dict[bool, int] = {}
    wire = 0

    def cpu(is_ours: bool, url: str) -> float:
        nonlocal wire
        subprocess.run(
            [*record, *PROGRAM] if is_ours else BARE, cwd=ROOT, check=True, timeout=900,
            env={**os.environ, "OPENAI_BASE_URL": url, "USED": str(used)}, capture_output=True,
        )  # fmt: skip
        seconds, peaks[is_ours], wire = json.loads(used.read_text())
        return float(seconds)

    with serving(slow=0) as server:
        pairs = alternately(
            partial(cpu, True, server.url), partial(cpu, False, server.url), REPEATS
        )
    size, chats = journal.stat().st_size, f"{EXCHANGES:,} exchanges, {MESSAGES} messages a chat"
    yield row("CPU of the proxy", "aiohttp passing the same on", pairs, "<= 1.3")
    yield "memory of the recorder", chats, f"{peaks[True] / 1024:.0f} MiB", "", (
        f"passing on: {peaks[False] / 1024:.0f} MiB"
    )  # fmt: skip
    yield "journal", f"bytes on the wire, {chats}", f"{size / wire:.3f} x", "<= 0.05", (
        f"{wire / 1e6:.1f} MB"
    )  # fmt: skip
    command = [sys.executable, "-m", "goldrush", "verify", str(journal), "--", *PROGRAM]
    spent, _ = cpu_of(command, cwd=ROOT, check=True, env={**os.environ, "USED": str(used)})
    yield "verify", chats, f"{spent:.1f} s", "", "CPU, that of the program included"


def program() -> None:
    """Hold the chats, and write down what the parent used for them, and their bytes."""
    asyncio.run(_program())


async def _program() -> None:
    async with aiohttp.ClientSession(os.environ["OPENAI_BASE_URL"] + "/") as client:
        await _ask(client, [{"role": "user", "content": "Who are you?"}])
        before, _ = _used_by(os.getppid())
        sizes = await asyncio.gather(*(_chat(client, number) for number in range(AGENTS)))
        after, peak = _used_by(os.getppid())
    Path(os.environ["USED"]).write_text(json.dumps((after - before, peak, sum(sizes))))


async def _chat(client: aiohttp.ClientSession, agent: int) -> int:
    rng, messages, sizes = random.Random(agent), list[dict[str, str]](), 0
    while len(messages) < MESSAGES:
        text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz ", k=LETTERS))
        messages.append({"role": "user", "content": text})
        answer, size = await _ask(client, messages)
        messages.append({"role": "assistant", "content": answer})
        sizes += size
    return sizes


async def _ask(client: aiohttp.ClientSession, messages: list[dict[str, str]]) -> tuple[str, int]:
    """The answer's text, and the bytes of request and answer."""
    body = json.dumps({"model": "m", "messages": messages}).encode()
    headers = {"Content-Type": "application/json"}
    async with client.post("chat/completions", data=body, headers=headers) as answer:
        given = await answer.read()
    return json.loads(given)["choices"][0]["message"]["content"], len(body) + len(given)


def _used_by(pid: int) -> tuple[float, int]:
    """CPU seconds of a process so far, without its children; the peak of its memory in KiB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return ticks / os.sysconf("SC_CLK_TCK"), int(peak[1]) if peak else 0


def bare() -> None:
    """Run the program behind a proxy that records nothing."""
    asyncio.run(_bare(os.environ["OPENAI_BASE_URL"]))


async def _bare(upstream: str) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        headers = {name: text for name, text in request.headers.items() if name != "Host"}
        body, url = await request.read(), upstream + request.path
        async with client.request(request.method, url, data=body, headers=headers) as given:
            response = web.StreamResponse(status=given.status, headers=given.headers)
            await response.prepare(request)
            async for chunk in given.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
        return response

    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        child = await asyncio.create_subprocess_exec(
            *PROGRAM, env={**os.environ, "OPENAI_BASE_URL": url}
        )
        code = await child.wait()
        await runner.cleanup()
    raise SystemExit(code)
