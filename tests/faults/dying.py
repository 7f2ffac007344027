"""A process that is killed at a system call, so that no clock says where."""

import itertools
import os
import signal
from collections.abc import Callable
from typing import Any

from goldrush.kernel import files


def die_at(dies_at: int | None, piece: int = 1 << 40) -> None:
    """Have this process killed at this call that would change a disk (the first is 0), and take
    `piece` bytes at most in one write.
    """
    calls = itertools.count()

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            if next(calls) == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given)

        return called

    system = files.system
    write = watched(lambda fd, data, offset: system.write(fd, data[:piece], offset))
    names = [name for name in files.System.__struct_fields__ if name != "write"]
    files.system = files.System(**{n: watched(getattr(system, n)) for n in names}, write=write)
