"""A Dask cluster as the place where a study's runs are played."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.replay.extras import require
from goldrush.replay.study.place import Place, WorkersLost

CONNECT_MAX: Final = 30.0  # seconds to find the scheduler, and for a worker to come
IDLE_MAX: Final = 3  # how often in a row a cluster is found idle before it is given up

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:\[[0-9A-Fa-f:]+\]|[^\s/:]+):[0-9]{1,5}")


@contextmanager
def cluster(address: str) -> Iterator[Place]:
    """The workers of the Dask scheduler at `address` (`tcp://host:8786`, or `host:8786`).

    They need goldrush of the same version, and no folder in common: journals come back as bytes.
    For `tls://` the certificates are those of Dask's own configuration. Raises BadInput without
    `distributed` or these, where no scheduler answers, and where it has no workers.
    """
    require("distributed", "a Dask cluster needs", "dask")
    from distributed import Client, KilledWorker
    from distributed.utils import silence_logging_cmgr

    if not _ADDRESS.fullmatch(address):  # Dask would not give up trying some that are none
        raise BadInput(f"{format_value(address)} is no address of a scheduler", "write host:8786")
    if address.startswith(("tls:", "wss:")):
        _check_certificates(address)
    with silence_logging_cmgr(logging.CRITICAL):  # what matters of it, an error says
        try:
            client = Client(address, timeout=CONNECT_MAX, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise BadInput(
                f"no Dask scheduler answers at {address} ({type(error).__name__})",
                "start one (dask scheduler) and give its address",
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=CONNECT_MAX)  # they may be starting
            except TimeoutError:
                raise BadInput(
                    f"the Dask scheduler at {address} has no workers", "start dask worker"
                ) from None
            _check_versions(client)
            # pure=False: equal calls are not merged, and nothing is remembered between studies.
            yield Place(
                lambda runs: client.get_executor(pure=False),
                window=4 * max(1, sum(client.nthreads().values())),
                died=(KilledWorker, BrokenExecutor),
                stop=lambda executor: executor.shutdown(wait=False),
                sees_folder=False,
                watch=_watch(client, address),
            )


def _check_certificates(address: str) -> None:
    """Raises BadInput where Dask's configuration has not what an encrypted connection takes."""
    from distributed import Security

    try:
        context = Security().get_connection_args("client").get("ssl_context")
    except (OSError, ValueError, AssertionError):  # files that are none, or not all of them
        context = None
    if context is None:
        raise BadInput(
            f"{address} needs certificates, which Dask's configuration does not have",
            "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, and with CLIENT__CERT and CLIENT__KEY "
            "in place of CA_FILE your own",
        )


def _watch(client: Any, address: str) -> Callable[[], bool]:
    """Whether a cluster is at work on nothing while its results are waited for, three times in a
    row: of a result that was on a worker which died, Dask does not always say that it is gone.

    Raises WorkersLost where it has no workers as often: one that died may be started again.
    """
    idle = 0

    def watch() -> bool:
        nonlocal idle
        try:
            tasks: dict[str, list[Any]] = client.processing()
        except OSError:  # the scheduler is gone: what was handed over will say so
            tasks = {}
        idle = 0 if any(tasks.values()) else idle + 1
        if idle < IDLE_MAX:
            return False
        if not tasks:
            raise WorkersLost(f"the Dask scheduler at {address} has no workers any more")
        idle = 0
        return True

    return watch


def _check_versions(client: Any) -> None:
    """Raises BadInput where a worker has not this goldrush: its journals would be others."""
    here = version("goldrush")
    try:
        found = client.run(version, "goldrush")
    except Exception as error:  # whatever a worker that has none says
        raise BadInput(
            f"a Dask worker has no goldrush ({type(error).__name__})", "install it there"
        ) from None
    for worker, there in found.items():
        if there != here:
            raise BadInput(
                f"the Dask worker {worker} has goldrush {there}, here is {here}",
                "install the same",
            )
