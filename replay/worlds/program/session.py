"""What becomes of a request: it is served from a journal, or asked and recorded, or refused.

The proxy calls it from its one thread. What arrives is committed at once, so that a kill of the
program, or of the recorder, loses nothing that was paid for.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict, defaultdict
from collections.abc import Generator
from functools import partial
from typing import Final

import msgspec

from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.models import Models
from goldrush.agents.worlds.program.requests import Masks, Response, Secrets, key_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import BODY_MAX
from goldrush.kernel.run import Inputs
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.program.events import ANSWERED, EXITED, RESTARTED
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.values import Json, packed
from goldrush.kernel.worlds.program.world import Asked, Behaviour, Done, Exit
from goldrush.replay.worlds.program.tape import Exchange, Reel, Tape, difference
from goldrush.replay.worlds.program.texts import read
from goldrush.replay.worlds.program.usage import charged, model_of

Steps = Generator[ProgramState, Inputs, ProgramState]
NO_CEILINGS: Final = Models()
EXCHANGE_MAX: Final = BODY_MAX - (1 << 20)  # bytes of an exchange with its notes
PATIENCE: Final = 2.0  # seconds that an answer waits for those that came before it
APART: Final = 0.01  # seconds between answers to two callers that follow each other
NOTES_MAX: Final = 16 << 20  # bytes of the notes between two exchanges


class Recorder:
    """A journal that is being written: its run loop, and what its program has done since the last
    commit.
    """

    def __init__(self, steps: Steps, behaviour: Behaviour, *, is_new: bool = False) -> None:
        """Begin the loop, which writes START. `is_new`: no process is recorded yet. Raises
        WriteFailed.
        """
        self._steps, self._behaviour = steps, behaviour
        begun = next(steps, None)
        if begun is None:
            raise BadInput("the run had ended; its journal is whole now", "verify it")
        self.state = begun
        self.process = begun.process + (not is_new)
        self._notes: list[tuple[str, Json]] = []
        self._again: tuple[list[int], list[int]] = [], []  # exchanges and notes
        self._is_new = not is_new  # the journal does not have the process yet

    def again(self, exchange: int) -> None:
        """Note that an exchange was served."""
        self._again[0].append(exchange)

    def note(self, name: str, value: Json, recorded: int | None) -> None:
        """Take a note. `recorded`: the number of one that is the same; None: it is new."""
        if recorded is None:
            self._notes.append((name, value))
        else:
            self._again[1].append(recorded)

    def commit(self, asked: Asked, answer: Response, arrival: int) -> None:
        """Record an exchange. Raises WriteFailed, BadInput for more than a commit can hold."""
        body = b"".join(answer.chunks)
        is_stream = len(answer.chunks) > 1 and body.startswith((b"data:", b"event:", b":"))
        found = None if is_stream or answer.is_cut else read(body)
        value, style = found or (None, None)
        row = (
            arrival, answer.status, tuple(answer.headers), style,
            self.state.seen.stored(value), () if found else tuple(answer.chunks), answer.is_cut,
        )  # fmt: skip
        if sum(map(len, map(packed, (row, asked.body, self._notes)))) > EXCHANGE_MAX:
            size = f"over {EXCHANGE_MAX:,} bytes, which no journal can hold"
            what = f"exchange {self.state.unit + 1}, {asked.method} {asked.path}, has {size}"
            raise BadInput(what, "have the program ask for less, and record again")
        self._close([(ANSWERED, [row])], asked)

    def finish(self, end: Exit) -> None:
        """Record the end of the program: that of the run, if it succeeded. Raises WriteFailed."""
        self._close([(EXITED, [()])], end)
        self.close()

    def close(self) -> None:
        """Leave the journal as it is, to be resumed."""
        self._steps.close()

    def _close(self, inputs: list[Batch], last: Asked | Exit) -> None:
        exchanges, notes = self._again
        if self._is_new or exchanges or notes:
            inputs = [(RESTARTED, [(self.process, tuple(exchanges), tuple(notes))]), *inputs]
        self._behaviour.done[self.state.unit + 1] = Done(tuple(self._notes), last)
        self._notes, self._again, self._is_new = [], ([], []), False
        try:
            self.state = self._steps.send(inputs)
        except StopIteration as end:
            self.state = end.value
        self._behaviour.done.clear()  # it is in the journal now


class Miss(msgspec.Struct, frozen=True):
    """A request that a journal does not have. `nearest`: the exchange in place of which it came;
    None: the journal has no other.
    """

    asked: Asked
    nearest: Exchange | None

    def __str__(self) -> str:
        who = f" of {self.asked.caller}" if self.asked.caller else ""
        what = f"the request{who}: {self.asked.method} {self.asked.path}"
        if self.nearest is None:
            return f"{what}, which the journal does not have: all its exchanges were asked for"
        differs = difference(self.asked, self.nearest.asked) or "the same request, once more"
        return f"{what}, in place of exchange {self.nearest.number}: {differs}"


class ProgramSession:
    """One run of a program behind the proxy.

    Attributes:
        tape: what the journal has.
        reel: what is served of it.
        recorder: None: nothing is asked, what is not there is refused.
        is_open_ended: nothing is asked, and requests that are not recorded wait, for the recording
            broke off.
        secrets, masks: of the program.
        max_requests: how many it may ask for, earlier processes included; None: as it likes.
        served, missed: the exchanges that were served, and the requests that were not there, in
            order.
        unknown: the names of headers that are not compared.
        made: the numbers of the notes of the journal that it made again.
        new_notes: the notes that the journal does not have.
        given: requests, each with the answer that is recorded for it once, in place of a server's.
        stopped: the limit that ended the asking, as text; None: none did.
        failed: what kept an answer from being recorded; None: nothing.
        failures: the numbers of exchanges that failed and did not succeed later, by caller and
            request.
        errors: the last bytes that the program wrote to stderr, where they come here.
    """

    def __init__(
        self, tape: Tape, recorder: Recorder | None = None, max_requests: int | None = None,
        models: Models = NO_CEILINGS,
    ) -> None:  # fmt: skip
        """Serve what is valid: without a recorder all, with one what succeeded. `models`: with the
        ceilings of tokens and of cost, earlier processes included, and prices. Raises BadInput for
        a ceiling of cost without the price of a model that was asked, and for an invalid mask.
        """
        self.tape = tape
        # Who resumes may ask again for what an earlier process asked: it was paid for as well.
        chosen = map(tape.exchanges.__getitem__, tape.valid if recorder is None else tape.exchanges)
        served = (each for each in chosen if recorder is None or each.answer.is_success)
        self.reel = Reel(served, is_whole=recorder is None)
        self.recorder = recorder
        self.is_open_ended = recorder is None and tape.is_open_ended
        state = tape.state if recorder is None else recorder.state
        assert state is not None
        self.secrets, self.masks = Secrets(os.environ), Masks(state.setup["masks"])
        self.max_requests = max_requests
        self.served: list[int] = []
        self.missed: list[Miss] = []
        self.unknown: dict[str, None] = {}
        self.made: list[int] = []
        self.new_notes: list[tuple[str, Json]] = []
        self.stopped: str | None = None
        self.failed: BaseException | None = None
        self.errors = b""
        self._notes_size = 0  # bytes of the notes since the last exchange
        self.failures: dict[tuple[str, bytes], list[int]] = {}
        self.under_way = 0
        self.arrived = 0 if recorder is None else recorder.state.arrived
        self.model = "" if recorder is None else recorder.state.model
        self.given: list[tuple[Asked, Response]] = []
        self._due = OrderedDict.fromkeys(tape.valid)  # exchanges whose answers are still to come
        self._turn = asyncio.Event()  # set when one of them is given
        taken = [*charged(tape.exchanges.values())] if recorder else []
        self._budget = Budget(models, [amount.name for amount in taken], taken)
        made = range(1, len(tape.notes) + 1) if recorder else tape.made
        self._notes: dict[bytes, list[int]] = defaultdict(list)  # numbers, last first
        for number in reversed(made):
            note = tape.notes[number - 1]
            self._notes[packed((note.name, note.value))].append(number)

    async def serve(self, asked: Asked) -> Response | None:
        """The recorded answer to a request, or what replaces it; None: there is none. Raises as
        `commit`.
        """
        exchange = self.reel.take(asked)
        if exchange is None:
            given = next((pair for pair in self.given if pair[0] == asked), None)
            if given is None:
                return None
            self.given.remove(given)
            self._admit()
            self.commit(*given, self.arrived)
            return given[1]
        self.served.append(exchange.number)
        if self.recorder is not None:
            self.recorder.again(exchange.number)
        else:
            self._notes_size = 0
            await self._in_turn(exchange)
        return exchange.answer

    async def _in_turn(self, exchange: Exchange) -> None:
        """Give answers in the recorded order, those of several callers APART, so that each acts on
        its answer before the next has one. After PATIENCE seconds in which the program asks for
        none of those before, the order is no longer kept.
        """
        number = exchange.number
        while number in self._due and next(iter(self._due)) != number:
            try:
                await asyncio.wait_for(self._turn.wait(), PATIENCE)
            except TimeoutError:
                self._due.clear()
        after = next((each for each in self._due if each != number), number)
        is_alone = self.tape.exchanges[after].asked.caller == exchange.asked.caller
        asyncio.get_running_loop().call_later(0 if is_alone else APART, self._pass, number)

    def _pass(self, number: int) -> None:
        """The next answer may be given."""
        self._due.pop(number, None)
        self._turn.set()
        self._turn = asyncio.Event()

    def objection(self, asked: Asked) -> str | None:
        """Why a request that is not recorded cannot be asked, as text; None: it can. Who may ask
        calls `commit`, or `drop`.
        """
        if self.recorder is None:
            miss = Miss(asked, self.reel.nearest(asked))
            if miss.nearest or not self.is_open_ended:  # else it is behind all that is recorded
                self.missed.append(miss)
            return f"the journal does not have {miss}"
        if self.failed is not None:
            return f"nothing more is recorded: {self.failed}"
        self.stopped = self.stopped or self._ceiling(model_of(asked, self.model))
        if self.stopped is not None:
            return f"the run is stopped by {self.stopped}"
        self._admit()
        return None

    def _ceiling(self, model: str) -> str | None:
        """The limit that one more request, to this model, would exceed, as text; None: none."""
        assert self.recorder is not None
        most, asked = self.max_requests, self.recorder.state.exchanges + self.under_way
        if most is not None and asked >= most:
            return f"--max-requests {most}"
        return self._budget.reached(model)

    def _admit(self) -> None:
        self.under_way += 1
        self.arrived += 1

    def drop(self) -> None:
        """Give up a request that was sent."""
        self.under_way -= 1

    def commit(self, asked: Asked, answer: Response, arrival: int) -> None:
        """Record the answer to a request. Raises as `Recorder.commit`; after that, nothing is
        recorded.
        """
        assert self.recorder is not None
        self.under_way -= 1
        try:
            self.recorder.commit(asked, answer, arrival)
            self._notes_size = 0
            state = self.recorder.state
            if self.failures or not answer.is_success:
                failed = self.failures.setdefault((asked.caller, key_of(asked)), [])
                failed[:] = [] if answer.is_success else [*failed, state.unit]
            for amount in charged([Exchange.last_of(state)]):
                self._budget.take(amount)
        except BaseException as error:  # a bug, too, ends the run
            self.failed = error
            raise

    def note(self, name: str, value: Json) -> None:
        """Take a note of the program. Raises BadInput for more than a commit could hold beside an
        exchange.
        """
        value = self.masks.in_time(partial(self.masks.in_value, value))
        data = packed((name, value))
        same = self._notes.get(data)
        known = same.pop() if same else None
        size = self._notes_size + len(data)
        if known is None and size > NOTES_MAX:
            what = f"over {NOTES_MAX:,} bytes of notes since the last exchange"
            raise BadInput(what, "note less")
        if known is None or self.recorder is None:  # else the journal has it already
            self._notes_size = size
        if self.recorder is not None and self.stopped is None:
            self.recorder.note(name, value, known)
        if known is not None:
            self.made.append(known)
        else:
            self.new_notes.append((name, value))

    def finish(self, end: Exit | None) -> None:
        """Record the end of the program, unless it was stopped. Raises WriteFailed, also of an
        answer before, and what else ended the recording.
        """
        if self.failed is not None:
            raise self.failed
        recorder = self.recorder
        if recorder is None or end is None or self.stopped is not None:
            return
        if end.code == 0 or recorder.state.unit or recorder.process > 1:  # else nothing came of it
            recorder.finish(end)

    def behaviour(self, end: Exit | None, source: str | None) -> Behaviour:
        """What the program did in the units of the journal: as recorded where it did the same, and
        in those of earlier processes. `end`: None: it was ended, for it waited for what is not
        recorded.
        """
        tape, asked = self.tape, {*self.served}
        left_out = {*tape.made} - {*self.made}
        found, notes = tape.behaviour(source, left_out), tape.notes_by_unit(left_out)
        for number in tape.valid:
            if number not in asked:
                exchange = tape.exchanges[number]
                instead = next((m for m in self.missed if m.nearest is exchange), None)
                last = None if instead is None else instead.asked
                found.done[number] = Done(notes.get(number, ()), last)
                found.reasons[number] = str(instead or self._unasked(exchange, end))
        if tape.ended is not None and not tape.is_open_ended:
            recorded = tape.ends[tape.ended]
            all_notes = (*notes.get(tape.ended, ()), *self.new_notes)
            found.done[tape.ended] = Done(all_notes, None if self.missed else end)
            if self.missed or end != recorded:
                other = self.missed[0] if self.missed else _other_end(end, recorded)
                found.reasons[tape.ended] = self.failure(end) or str(other)
        return found

    def failure(self, end: Exit | None) -> str:
        """How the program failed where it had not when it was recorded, as text; empty: it did not,
        or had asked for what is not recorded.
        """
        recorded = self.tape.ends.get(self.tape.ended or 0)
        if not end or not end.code or self.missed or (recorded and recorded.code == end.code):
            return ""
        last = self.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"the program failed (exit code {end.code}: {escaped(last[:200])})"

    def _unasked(self, exchange: Exchange, end: Exit | None) -> str:
        if failure := self.failure(end):
            return f"{failure} before it asked for exchange {exchange.number}"
        text = f"the program did not ask for exchange {exchange.number}"
        return f"{text}; it asked for {self.missed[0]}" if self.missed else text


def _other_end(end: Exit | None, recorded: Exit) -> str:
    if end is None:
        return "the program did not end"
    if end.code != recorded.code:
        return f"exit code {end.code} here, {recorded.code} in the journal"
    pairs = zip(end.outputs, recorded.outputs, strict=False)
    names = [one[0] for one, two in pairs if one != two]
    return f"other output than in the journal: {', '.join(names)}"
