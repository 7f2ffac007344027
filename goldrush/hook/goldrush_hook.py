"""Names the tasks, threads and processes of a recorded program, and says them to the proxy.

Agents that are alike send equal requests at the same time, so the recorder must know who asked. The
order of arrival does not tell: even a client's own helper threads change it. A caller's name is its
pedigree: the path of its creation in the tree of tasks, which no timing moves. `.0.3` is the fourth
child of the first child of the main thread, and the main thread is `.` in the header. Children that
run code of the standard library or of an installed package are numbered apart, by the name of their
function (`.0.getaddrinfo~2`): libraries make helpers when timing asks for them (a connection, a
worker of a pool), and these must not move the numbers of the program's own children.

The program may run on another Python (3.8 on) in another environment, so nothing but the standard
library is imported here, no library is imported early, and a library that has another shape than
expected is left as it is: its requests have no header.
"""

from __future__ import annotations

import contextlib
import contextvars
import errno
import functools
import itertools
import os
import sys
from _thread import _local
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, cast

FOLDER = os.path.dirname(os.path.abspath(__file__))
HEADER = "x-goldrush-caller"
NAME_MAX = 200  # characters of a name; a longer one becomes its digest
PROXY = os.environ.get("GOLDRUSH_PROXY", "")
STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep

# .job: the caller whose job this thread of a pool does; .forked: the children it is forking
thread = _local()


class Caller:
    """A task, thread or process: its name, what the names of its children begin with, how many.

    A caller that waits for the child it makes next lends it its own name. The children of that
    child are named apart. So a second attempt, which recorded answers do not need, moves no number.
    """

    __slots__ = ("counts", "is_waiting", "name", "stem")

    def __init__(self, name: str | None, stem: str, is_waiting: bool = False) -> None:
        self.name, self.stem, self.is_waiting = name, stem, is_waiting
        self.counts: dict[str, itertools.count[int]] = {}

    def __reduce__(self) -> tuple[type[Caller], tuple[str | None, str]]:
        return Caller, (self.name, self.stem)  # to another process; the counters stay here

    def child(self, label: str) -> Caller:
        """The next child. `label` names installed code; it is empty for the program's own."""
        if self.is_waiting or self.name is None:
            return Caller(self.name, f"{self.stem}.w")
        number = next(self.counts.setdefault(label, itertools.count()))
        name = f"{self.stem}.{label}~{number}" if label else f"{self.stem}.{number}"
        if len(name) > NAME_MAX:
            import hashlib

            name = f".~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        return Caller(name, name)


NOBODY = Caller(None, "")  # made in a way that is not known here, as is all that it makes
who: contextvars.ContextVar[Caller] = contextvars.ContextVar("goldrush_caller", default=NOBODY)


def current() -> Caller:
    """Who runs here: whom the context names, or a pool's job in a context of its ancestor."""
    caller, job = who.get(), getattr(thread, "job", NOBODY)
    if job.stem.startswith(f"{caller.stem}."):
        return job
    return caller


@contextlib.contextmanager
def acting(caller: Caller) -> Iterator[Caller]:
    """What is made inside has this caller: is made by it, or named so itself."""
    before = who.get()
    who.set(caller)
    try:
        yield caller
    finally:
        who.set(before)


def next_child(work: object, args: tuple[object, ...] = ()) -> AbstractContextManager[Caller]:
    """A new child of the current caller, made to do this work."""
    return acting(current().child(label_of(unwrapped(work, args)[0])))


def aside() -> AbstractContextManager[Caller]:
    """The current caller, while a library makes helpers that are not to be counted."""
    caller = current()
    return acting(Caller(caller.name, f"{caller.stem}.h"))


def awaiting() -> AbstractContextManager[Caller]:
    """The current caller, while it makes the one child that it waits for."""
    caller = current()
    return acting(Caller(caller.name, caller.stem, is_waiting=True))


def run_as(
    caller: Caller, work: Callable[..., object], /, *args: object, **kwargs: object
) -> object:
    """Do a job of a pool under the name of its submission, whichever worker took it."""
    before, thread.job = getattr(thread, "job", NOBODY), caller
    try:
        with acting(caller):
            return work(*args, **kwargs)
    finally:
        thread.job = before


def become(caller: Caller) -> None:
    """Name a process.

    Programs that it starts in a way that is not known here (os.system, os.posix_spawn) inherit the
    variable: they have one name together, and it is not the name of this process.
    """
    if caller.name is not None:
        who.set(caller)
        os.environ["GOLDRUSH_CALLER"] = f"{caller.name}.os"


def unwrapped(work: object, args: tuple[object, ...] = ()) -> tuple[object, object]:
    """What is called in the end, and the context it is run in, if it is given one."""
    context = None
    while True:
        owner = getattr(work, "__self__", None)
        if isinstance(work, functools.partial):
            args, work = (*work.args, *args), work.func
        elif isinstance(owner, contextvars.Context) and args:
            context, work, args = owner, args[0], args[1:]
        else:
            return work, context


def label_of(work: object) -> str:
    """Empty for code of the program's own, else the name of the function."""
    try:
        codes = [getattr(work, name, None) for name in ("cr_code", "gi_code", "__code__")]
        codes.append(getattr(type(work).__call__, "__code__", None) if callable(work) else None)
        code = next(filter(None, codes), None)
        if work is None or (isinstance(code, CodeType) and not is_installed(code.co_filename)):
            return ""
        return plain_text(getattr(work, "__name__", type(work).__name__))
    except Exception:
        return "unknown"


def is_installed(path: str) -> bool:
    folders = [f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages")]
    return path.startswith((STANDARD_LIBRARY, "<frozen ")) or any(one in path for one in folders)


def plain_text(name: object) -> str:
    """A part of a name as it may stand in a header."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in str(name)) or "_"


def inherit(context: object, caller: Caller) -> None:
    """Name the caller in the context that it is given."""
    if isinstance(context, contextvars.Context):
        with contextlib.suppress(RuntimeError):  # it is entered already, by somebody else
            context.run(who.set, caller)


def caller() -> str:
    """Who runs here, as the header says it; empty if it is not known."""
    name = current().name
    return "" if name is None else name or "."


def say_caller(url: object, put: Callable[[str, str], object]) -> None:
    """Put the header on a request, if it goes to the proxy and the caller is known."""
    with contextlib.suppress(Exception):
        if PROXY and str(url).startswith(PROXY) and caller():
            put(HEADER, caller())


def replace(owner: object, name: str) -> Callable[[Callable[..., object]], None]:
    """Put a function in the place of another one, which becomes its first argument."""

    def put(new: Callable[..., Any]) -> None:
        plain = getattr(owner, name)

        @functools.wraps(plain)
        def replacement(*args: object, **kwargs: object) -> object:
            return new(plain, *args, **kwargs)

        setattr(owner, name, replacement)

    return put


# Where children are made. Each function changes a module right after its import.


def patch_loop(loop: type) -> None:
    @replace(loop, "create_task")
    def create_task(plain: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        with next_child(args[0] if args else kwargs.get("coro")) as child:
            inherit(kwargs.get("context"), child)
            return plain(self, *args, **kwargs)


def patch_tasks(module: ModuleType) -> None:
    @replace(module, "run_coroutine_threadsafe")
    def run_coroutine_threadsafe(plain: Any, coro: Any, loop: Any) -> Any:
        with next_child(coro):  # numbered now, and not when the loop's thread comes to it
            return plain(coro, loop)

    @replace(module, "wait_for")
    async def wait_for(plain: Any, fut: Any, timeout: Any, **kwargs: Any) -> Any:
        if not module.coroutines.iscoroutine(fut):
            return await plain(fut, timeout, **kwargs)
        with awaiting() as caller:
            if timeout is not None and sys.version_info < (3, 12):  # it would make a task itself
                fut = module.ensure_future(fut)
        with acting(caller.child("")):
            return await plain(fut, timeout, **kwargs)


def patch_to_thread(module: ModuleType) -> None:
    @replace(module, "to_thread")
    async def to_thread(plain: Any, func: Any, /, *args: Any, **kwargs: Any) -> Any:
        work = functools.partial(contextvars.copy_context().run, func, *args, **kwargs)
        with awaiting():
            future = module.events.get_running_loop().run_in_executor(None, work)
        return await future


def patch_executor(executor: type) -> None:
    @replace(executor, "submit")
    def submit(plain: Any, self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        with next_child(fn, args) as child:
            return plain(self, run_as, child, fn, *args, **kwargs)


def patch_pool(module: ModuleType) -> None:
    """A pool of multiprocessing: a `map` is one child, and its chunks are children of that one."""

    @replace(module.Pool, "apply_async")
    def apply_async(plain: Any, self: Any, func: Any, args: Any = (), *rest: Any, **kw: Any) -> Any:
        with next_child(func) as child:
            return plain(self, run_as, (child, func, *args), *rest, **kw)

    @replace(module.Pool, "_guarded_task_generation")
    def generate(plain: Any, self: Any, result_job: Any, func: Any, iterable: Any) -> Any:
        with next_child(func) as child:
            tasks = plain(self, result_job, func, iterable)
        return (
            (job, i, run_as, (child.child(""), work, *args), kwargs)
            for job, i, work, args, kwargs in tasks
        )


def patch_thread(module: ModuleType) -> None:
    @replace(module.Thread, "start")
    def start(plain: Any, self: Any) -> None:
        work, context = unwrapped(getattr(self, "_target", None), getattr(self, "_args", ()))
        with next_child(work or type(self).run) as child:
            inherit(context, child)
            run = self.run

            def run_named() -> None:
                self.__dict__.pop("run", None)
                who.set(child)
                run()

            self.run = run_named
            plain(self)


def patch_process(module: ModuleType) -> None:
    @replace(module.BaseProcess, "start")
    def start(plain: Any, self: Any) -> None:
        with next_child(self._target or type(self).run) as child:
            self._goldrush_caller = child  # goes with the object, whether forked or spawned
            plain(self)

    @replace(module.BaseProcess, "_bootstrap")
    def bootstrap(plain: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        become(getattr(self, "_goldrush_caller", NOBODY))
        return plain(self, *args, **kwargs)


def patch_subprocess(module: ModuleType) -> None:
    @replace(module.Popen, "__init__")
    def init(plain: Any, self: Any, args: Any, *rest: Any, **kwargs: Any) -> None:
        if len(rest) < 10:  # `env` is not among them
            kwargs["env"] = child_environment(kwargs.get("env"), args)
        plain(self, args, *rest, **kwargs)


def patch_uvloop(module: ModuleType) -> None:
    patch_loop(module.Loop)
    for name in ("subprocess_exec", "subprocess_shell"):

        @replace(module.Loop, name)
        def start(plain: Any, self: Any, factory: Any, command: Any, *args: Any, **kw: Any) -> Any:
            kw["env"] = child_environment(kw.get("env"), command)
            return plain(self, factory, command, *args, **kw)

    @replace(module.Loop, "create_connection")  # its C code tells no audit hook
    async def connect(
        plain: Any, self: Any, factory: Any, host: Any = None, *args: Any, **kw: Any
    ) -> Any:
        sys.audit("socket.getaddrinfo", host, None, 0, 0, 0)
        return await plain(self, factory, host, *args, **kw)


def child_environment(given: Mapping[str, str] | None, command: object) -> Mapping[str, str] | None:
    """The variables of a child process.

    An `env` that the program gives stays as it is, but for what the recording is lost without: our
    variables, those that point at the proxy, and this folder in PYTHONPATH.
    """
    try:
        first: Any = command[0] if isinstance(command, (list, tuple)) else command
        label = plain_text(os.path.basename(os.fsdecode(first).split()[0]))
        caller, variables = current().child(label), dict(os.environ if given is None else given)
        for name, value in os.environ.items():
            if name.startswith("GOLDRUSH_") or (PROXY and value.startswith(PROXY)):
                variables.setdefault(name, value)
        if caller.name is not None:
            variables["GOLDRUSH_CALLER"] = caller.name
        paths = variables.get("PYTHONPATH", "").split(os.pathsep)
        if FOLDER not in paths:
            variables["PYTHONPATH"] = os.pathsep.join([FOLDER, *filter(None, paths)])
        return variables
    except Exception:
        return given


def watch_forks() -> None:
    """`os.fork`, and all that stands on it."""

    def before() -> None:
        child = current().child("")
        thread.forked = (*getattr(thread, "forked", ()), child)

    def after() -> Caller:
        *thread.forked, child = thread.forked
        return cast("Caller", child)

    os.register_at_fork(
        before=before, after_in_parent=after, after_in_child=lambda: become(after())
    )


# Where requests are sent.


def patch_httpx(module: ModuleType) -> None:
    @replace(module.Client, "send")
    def send(plain: Any, self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        say_caller(request.url, request.headers.setdefault)
        return plain(self, request, *args, **kwargs)

    @replace(module.AsyncClient, "send")
    async def send_async(plain: Any, self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        say_caller(request.url, request.headers.setdefault)
        with aside():
            return await plain(self, request, *args, **kwargs)


def patch_aiohttp(module: ModuleType) -> None:
    @replace(module.ClientRequest, "__init__")
    def init(plain: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        say_caller(self.url, self.headers.setdefault)

    @replace(module.ClientSession, "_request")
    async def request(plain: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        with aside():
            return await plain(self, *args, **kwargs)


def patch_http(module: ModuleType) -> None:
    """`http.client`, and what stands on it: urllib, urllib3, requests, botocore."""

    @replace(module.HTTPConnection, "putrequest")
    def putrequest(plain: Any, self: Any, method: Any, url: Any, *args: Any, **kwargs: Any) -> Any:
        plain(self, method, url, *args, **kwargs)
        is_whole = str(url).startswith("http")
        say_caller(url if is_whole else f"http://{self.host}:{self.port}{url}", self.putheader)


# When they are changed.

PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "aiohttp": patch_aiohttp,
    "asyncio.base_events": lambda module: patch_loop(module.BaseEventLoop),
    "asyncio.tasks": patch_tasks,
    "asyncio.threads": patch_to_thread,
    "concurrent.futures.process": lambda module: patch_executor(module.ProcessPoolExecutor),
    "concurrent.futures.thread": lambda module: patch_executor(module.ThreadPoolExecutor),
    "http.client": patch_http,
    "httpx": patch_httpx,
    "httpx2": patch_httpx,
    "multiprocessing.pool": patch_pool,
    "multiprocessing.process": patch_process,
    "subprocess": patch_subprocess,
    "threading": patch_thread,
    "uvloop": patch_uvloop,
}


def patch(name: str, module: ModuleType) -> None:
    with contextlib.suppress(Exception):  # of another shape
        PATCHES[name](module)


class Finder:
    """Finds the modules of `PATCHES` where the other finders do; they are changed when they ran."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in PATCHES:
            return None
        others = [one for one in sys.meta_path if one is not cls and hasattr(one, "find_spec")]
        spec = next(filter(None, (one.find_spec(name, path, target) for one in others)), None)
        if spec is not None and spec.loader is not None:
            with contextlib.suppress(AttributeError):
                run = spec.loader.exec_module

                def exec_module(module: Any) -> None:
                    run(module)
                    patch(name, module)

                spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


refused: dict[str, None] = {}  # the machines to which a connection was refused


def refuse_network(event: str, args: tuple[object, ...]) -> None:
    """An audit hook: no connection leaves this machine.

    Raises:
        ConnectionRefusedError: with the way out in its message.
    """
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) and address else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if isinstance(host, (str, bytes)) and not is_this_machine(os.fsdecode(host)):
        way_out = "give --network, or record it as a program (goldrush record -- python FILE.py)"
        if PROXY:
            way_out = "record what it gives: name it by --upstream, or use goldrush.outside"
        name = os.fsdecode(host)
        text = f"this run may connect to nothing but this machine, and not to {name}; {way_out}"
        if name not in refused:  # the program may take it for a failure of the server, and go on
            refused[name] = None
            sys.stderr.write(f"goldrush: {text}\n")
        raise ConnectionRefusedError(errno.ECONNREFUSED, f"goldrush: {text}")


def is_this_machine(host: str) -> bool:
    import ipaddress

    try:
        number = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.lower() in ("", "localhost", os.uname().nodename.lower())
    number = getattr(number, "ipv4_mapped", None) or number
    return number.is_loopback or number.is_unspecified


def stay_here() -> None:
    """From now on this process, and Python programs that it starts, connect to nothing but this
    machine. Programs in other languages, and libraries that open sockets in C, are not kept.
    """
    os.environ["GOLDRUSH_OFFLINE"] = "1"
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *filter(None, paths)])
    start()


def start() -> None:
    """Change what is imported already, and the rest when it is."""
    if os.environ.get("GOLDRUSH_OFFLINE") == "1":
        sys.addaudithook(refuse_network)
    if PROXY:
        name = os.environ.get("GOLDRUSH_CALLER", "")
        become(Caller(name, name))
        watch_forks()
    else:  # nobody asks who calls
        for name in PATCHES.keys() - {"subprocess", "uvloop"}:
            del PATCHES[name]
    for name in PATCHES.keys() & sys.modules.keys():
        patch(name, sys.modules[name])
    sys.meta_path.insert(0, Finder)
    if folder := os.environ.get("GOLDRUSH_WATCH"):
        from goldrush.replay.repeats.attached import attach  # it has goldrush, or is not watched

        attach(folder, caller)
