"""A Dask cluster as a backend for studies."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.extras import require
from goldrush.replay.study.backend import Backend, WorkersLost
from goldrush.version import __version__

CONNECT_MAX: Final = 30.0  # seconds to wait for the scheduler, and for a first worker
BATCH: Final = 64  # runs in a task, at most: the scheduler needs about 2 ms for each task
IDLE_MAX: Final = 3  # consecutive checks that find a cluster idle, after which it is given up

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:\[[0-9A-Fa-f:]+\]|[^\s/:]+):[0-9]{1,5}")


@contextmanager
def cluster(address: str) -> Iterator[Backend]:
    """A backend of the workers of a Dask scheduler.

    They need the same version of goldrush, but no shared folder: they return journals as bytes.
    With `tls://` in the address, Dask's configuration names the certificates.

    Raises BadInput if `distributed` is not installed, certificates are missing, no scheduler
    answers or it has no workers, or if a worker has another version of goldrush.
    """
    require("distributed", "a Dask cluster needs", "dask")
    from distributed import Client, KilledWorker, Security
    from distributed.utils import silence_logging_cmgr

    if not _ADDRESS.fullmatch(address):  # Dask retries some malformed addresses forever
        raise BadInput(
            f"{format_value(address)} is not the address of a scheduler", "write host:8786"
        )
    with silence_logging_cmgr(logging.CRITICAL):  # the errors below say what matters
        try:
            secured = Security().get_connection_args("client").get("ssl_context") is not None
            if address.startswith(("tls:", "wss:")) and not secured:
                raise ValueError("Dask's configuration has no certificates: distributed.comm.tls")
            client = Client(address, timeout=CONNECT_MAX, set_as_default=False)
        except (OSError, ValueError, AssertionError) as error:
            raise BadInput(
                f"no Dask scheduler answers at {address} ({error or type(error).__name__})",
                "start one (dask scheduler) and give its address",
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=CONNECT_MAX)  # they may still be starting
            except TimeoutError:
                raise BadInput(
                    f"the Dask scheduler at {address} has no workers", "start dask worker"
                ) from None
            _check_versions(client)
            # pure=False: Dask neither merges equal calls nor caches their results.
            yield Backend(
                lambda runs: client.get_executor(pure=False),
                window=4 * max(1, sum(client.nthreads().values())),
                batch=BATCH,
                lost_errors=(KilledWorker, BrokenExecutor),
                stop=lambda executor: executor.shutdown(wait=False),
                shares_folder=False,
                watch=_watch(client, address),
            )


def _watch(client: Any, address: str) -> Callable[[], bool]:
    """A `Backend.watch` that is true after the cluster was idle at `IDLE_MAX` consecutive calls.

    Dask does not always report the loss of a result on a worker that died. Raises WorkersLost if
    the cluster had no workers at that many calls; one that died may be restarted in between.
    """
    idle = 0

    def watch() -> bool:
        nonlocal idle
        try:
            tasks: dict[str, list[Any]] = client.processing()
        except OSError:  # the scheduler is gone: the futures will raise
            tasks = {}
        idle = 0 if any(tasks.values()) else idle + 1
        if idle < IDLE_MAX:
            return False
        if not tasks:
            raise WorkersLost(f"the Dask scheduler at {address} has no workers left")
        idle = 0
        return True

    return watch


def _version() -> str:
    return __version__


def _check_versions(client: Any) -> None:
    """Raises BadInput if a worker has another version of goldrush: its journals would differ."""
    try:
        found = client.run(_version)
    except Exception as error:  # of any type: it is raised on the worker
        raise BadInput(
            f"a Dask worker has no goldrush ({type(error).__name__})", "install it there"
        ) from None
    for worker, there in found.items():
        if there != __version__:
            raise BadInput(
                f"the Dask worker {worker} has goldrush {there}, this machine has {__version__}",
                "install the same version",
            )
