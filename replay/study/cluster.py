"""A Dask cluster as the place where a study's runs are played."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Final

from kernel.errors import BadInput
from replay.study.carry_out import Place

CONNECT_MAX: Final = 10.0  # seconds to find the scheduler


@contextmanager
def cluster(address: str) -> Iterator[Place]:
    """The workers of the Dask scheduler at `address` (`tcp://host:8786`, or `host:8786`).

    They need goldrush of the same version, and no folder in common: journals come back as bytes.
    Raises BadInput without `distributed`, where no scheduler answers, and where it has no workers.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise BadInput(
            "a Dask cluster needs distributed", "install it: pip install 'goldrush[dask]'"
        ) from None
    try:
        client = Client(address, timeout=CONNECT_MAX, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(
            f"no Dask scheduler answers at {address} ({type(error).__name__})",
            "start one (dask scheduler) and give its address",
        ) from None
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise BadInput(f"the Dask scheduler at {address} has no workers", "start dask worker")
        # pure=False: equal calls are not merged, and nothing is remembered between studies.
        yield Place(
            lambda: client.get_executor(pure=False),
            window=4 * threads,
            died=(KilledWorker, BrokenExecutor),
            sees_folder=False,
        )
