"""Wordings: the texts of a prompt as data, and how an agent of a roster is asked with them.

A wording changes messages of a version's prompt and renames what answers name. What is said when,
limits and lists stay in code. `wording_files` reads what users write, `wording_rosters` what a
roster holds.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from goldrush.agents.llm.extra_body import canonical
from goldrush.agents.llm.messages import Messages, fields_in
from goldrush.agents.llm.model import is_clean
from goldrush.agents.llm.options import DEFAULT, FIXED, NONE, RESERVED
from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.text import format_count

ID, ROW_COL = PLOTS = "id", "row,col"  # how plots are named
LETTERS: Final = "letters"  # agents: A to Z, then AA, AB, ...

TEXT_MAX: Final = 4_096  # characters of a message
TIMES_MAX: Final = 8  # how often a number can stand in a message
VARIANTS: Final = 2, 8  # the least and the greatest length of lists of messages
CANONICAL_MAX: Final = 65_536  # bytes of the canonical form
MESSAGES_MAX: Final = 16_000  # bytes of the messages in one prompt, without those of items
NUMBER_MAX: Final = 24  # bytes of a number, or of a name, in a message

_WORD: Final = re.compile("[a-z][a-z0-9_-]{0,23}")
_AGENT: Final = re.compile("[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,22}[A-Za-z0-9_-])?")


@attrs.frozen(eq=False)
class Wordable:
    """What wordings can change in one version of a world's prompt.

    Attributes:
        messages: the default texts.
        kinds, keys: the kinds of action and the keys of the answer that can be renamed.
        agents, plots: whether agents, and plots, can be renamed.
        items: ids of the messages of items in lists, whose size counts into their part's limit.
        long: names of the fields that hold lists or texts, other messages included; they have a
            limit of their own, and stand once in a message. All other fields are numbers and names
            of at most NUMBER_MAX bytes.
        more: by id, fields of a message besides those of its default text.
        times: by id, how often a message can stand in one prompt, if more than once.
        shipped: other wordings in the form of a file, by name. Once released, a version's names and
            texts stay as they are: a journal with another text under one of these names is refused.
    """

    messages: Messages
    kinds: Sequence[str] = ()
    keys: Sequence[str] = ()
    agents: bool = False
    plots: bool = False
    items: Collection[str] = ()
    long: Collection[str] = ()
    more: Mapping[str, Collection[str]] = attrs.field(factory=dict)
    times: Mapping[str, int] = attrs.field(factory=dict)
    shipped: Mapping[str, str] = attrs.field(factory=dict)

    @cached_property
    def default(self) -> Wording:
        """The wording of the default texts, which every version of a prompt has."""
        return Wording(DEFAULT, "", (self.messages,), description="the default texts")

    def fields(self, id: str) -> list[str]:
        """The fields that a message may have, in the order of its default text."""
        return list(dict.fromkeys([*fields_in(self.messages.texts[id]), *self.more.get(id, ())]))


@attrs.frozen
class Names:
    """What agents call the things of a world; the journal holds the world's own names.

    Attributes:
        kinds, keys: the names of kinds of action and keys of the answer, by the world's own; what
            is absent keeps its name.
        agents: names by id, or LETTERS; None: the ids.
        plots: `id` or `row,col`.
    """

    kinds: Mapping[str, str] = attrs.field(factory=dict)
    keys: Mapping[str, str] = attrs.field(factory=dict)
    agents: Sequence[str] | str | None = None
    plots: str = ID

    def agent(self, agent: int) -> str:
        """The name of an agent."""
        if self.agents is None:
            return str(agent)
        return _letters(agent) if self.agents == LETTERS else self.agents[agent]

    def kind(self, kind: str) -> str:
        """The name of a kind of action."""
        return self.kinds.get(kind, kind)

    def key(self, key: str) -> str:
        """The name of a key of the answer."""
        return self.keys.get(key, key)

    def check_agents(self, agents: int) -> None:
        """Raises BadInput if there are fewer names than agents."""
        if self.agents is not None and self.agents != LETTERS and len(self.agents) < agents:
            raise BadInput(
                f"names.agents has {format_count(len(self.agents), 'name')}, and {agents} agents "
                "play",
                f"give at least {agents}, or {LETTERS}",
            )


def _letters(agent: int) -> str:
    name, left = "", agent + 1
    while left:
        left, letter = divmod(left - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


@attrs.frozen(eq=False)
class Wording:
    """A wording of one version of a prompt.

    Attributes:
        name: in rosters.
        text: the canonical form, a JSON object; empty for the default.
        variants: the messages of each variant, at least one.
        names: the names of things.
        description: a line about it, of one in a file.
    """

    name: str
    text: str
    variants: Sequence[Messages]
    names: Names = Names()
    description: str = ""

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the canonical form, in hex; None for the default."""
        return digest_of(self.text) if self.text else None


@attrs.frozen
class Framed:
    """How one agent of a roster is asked.

    Attributes:
        wording: the wording of its prompts.
        variant: the index of its variant.
        notes: whether its answers may have a note to itself, and its prompt shows the last.
        reasoning: see model.Model.
        persona: a text that it is shown as written; None: none.
        order: see model.Framing.
    """

    wording: Wording
    variant: int = 0
    notes: bool = False
    reasoning: str = NONE
    persona: str | None = None
    order: str = FIXED

    @property
    def messages(self) -> Messages:
        """The messages of its prompts."""
        return self.wording.variants[self.variant]


class InvalidWording(BadInput):
    """A wording that no prompt can have."""


class UnknownWording(InvalidWording):
    """It has an id, a field or a name that the version of the prompt lacks."""


def digest_of(text: str) -> str:
    """The SHA-256 of a canonical form, in hex."""
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


# A bound, because a journal from elsewhere may have many; a run has a few.
@lru_cache(maxsize=64)
def wording_from(name: str, text: str, sha256: str, wordable: Wordable) -> Wording:
    """The wording in a journal. Raises InvalidWording for one that no run writes, or that another
    version of the prompt has.
    """
    what = f"the text of wording {name} is {format_value(text)}"
    if len(text) > CANONICAL_MAX or not is_clean(text) or digest_of(text) != sha256:
        raise InvalidWording(what, f"it must have the SHA-256 {sha256}")
    changes = changes_in(text)
    made = wording_of(name, changes.get("messages", {}), changes.get("names", {}), wordable)
    if made.text != text:
        raise InvalidWording(what, f"it must be as it is written: {format_value(made.text)}")
    return made


@lru_cache(maxsize=64)
def variants_in(text: str) -> int:
    """The number of variants of a canonical form. Raises InvalidWording."""
    messages = changes_in(text).get("messages", {}).values()
    return max((len(each) for each in messages if isinstance(each, list)), default=1)


def changes_in(text: str) -> dict[str, Mapping[str, object]]:
    """The tables of a canonical form: `messages` and `names`, as far as it has them. Raises
    InvalidWording.
    """
    try:
        tables = json.loads(text)
    except (ValueError, RecursionError):
        tables = None
    is_one = isinstance(tables, dict) and tables.keys() <= {"messages", "names"}
    if is_one and all(isinstance(table, dict) for table in tables.values()):
        return dict(tables)
    raise InvalidWording(
        f"a wording is {format_value(text)}", "it must be an object of messages and names"
    )


def wording_of(
    name: str, messages: Mapping[str, object], names: Mapping[str, object], wordable: Wordable
) -> Wording:
    """The wording with these messages and names, those of the default included or not.

    Raises InvalidWording for one that breaks a rule.
    """
    texts = {id: _texts(id, text, wordable) for id, text in messages.items()}
    read = _names(names, wordable)
    default = wordable.messages.texts
    changed = {id: each for id, each in texts.items() if each != (default[id],)}
    tables = {
        "messages": {id: each if len(each) > 1 else each[0] for id, each in changed.items()},
        # Those that are not the default's.
        "names": attrs.asdict(read, recurse=False, filter=lambda _, v: v not in (None, {}, ID)),
    }
    text = canonical({name: table for name, table in tables.items() if table})
    size = len(text.encode())
    if size > CANONICAL_MAX:
        raise InvalidWording(
            f"the wording has {size:,} bytes as it is recorded",
            f"at most {CANONICAL_MAX:,} can be",
        )
    variants = [
        Messages.of({**default, **{id: each[index % len(each)] for id, each in changed.items()}})
        for index in range(_variants(texts))
    ]
    for each in variants:
        _check_size(each, wordable)
    return Wording(name, text, variants, read)


def _texts(id: str, text: object, wordable: Wordable) -> Sequence[str]:
    """The texts of a message, checked: one, or one for each variant. Raises InvalidWording."""
    if id not in wordable.messages.texts:
        raise UnknownWording(
            f"there is no message {format_value(id)}",
            f"{nearest(id, wordable.messages.texts)}`goldrush wordings show default` has all",
        )
    least, most = VARIANTS
    is_list = isinstance(text, list | tuple)
    texts = tuple(text) if isinstance(text, list | tuple) else (text,)
    if not all(isinstance(each, str) for each in texts):
        raise InvalidWording(
            f"message {id} is {format_value(text)}", "write a text, or a list of texts"
        )
    if is_list and not least <= len(texts) <= most:
        raise InvalidWording(
            f"message {id} has {format_count(len(texts), 'text')} in its list",
            f"write {least} to {most} variants",
        )
    for each in texts:
        _check_text(id, each, wordable)
    return texts


def _check_text(id: str, text: str, wordable: Wordable) -> None:
    if len(text) > TEXT_MAX:
        raise InvalidWording(
            f"message {id} has {len(text):,} characters", f"at most {TEXT_MAX:,} can be"
        )
    if not is_clean(text):
        raise InvalidWording(
            f"message {id} has a control character", "only line ends can stand in it"
        )
    try:
        counts = Counter(fields_in(text))
    except ValueError as error:
        raise InvalidWording(f"message {id} has {error}", "name a field, or write $$") from None
    fields = wordable.fields(id)
    for field, count in counts.items():
        if field not in fields:
            listed = ", ".join(f"${each}" for each in fields) or "no field"
            raise UnknownWording(
                f"message {id} has the field {format_value(f'${field}')}",
                f"{nearest(field, fields)}it can have {listed}",
            )
        most, what = (1, "a list or a text") if field in wordable.long else (TIMES_MAX, "a number")
        if count > most:
            times = "once" if most == 1 else f"at most {most} times"
            raise InvalidWording(
                f"message {id} has ${field} {count} times",
                f"${field} is {what}, which can stand in it {times}",
            )


def _variants(texts: Mapping[str, Sequence[str]]) -> int:
    """The number of variants: the length of all lists, or 1. Raises InvalidWording."""
    lists = {id: len(each) for id, each in texts.items() if len(each) > 1}
    for id, length in lists.items():
        first = next(iter(lists))
        if length != lists[first]:
            what = f"message {id} has {length} texts, and {first} has {lists[first]}"
            raise InvalidWording(what, "give all lists the same length")
    return next(iter(lists.values()), 1)


def _check_size(messages: Messages, wordable: Wordable) -> None:
    """Raises InvalidWording if the messages could take more than MESSAGES_MAX bytes of a prompt."""
    size = sum(
        size_of(text, wordable) * wordable.times.get(id, 1)
        for id, text in messages.texts.items()
        if id not in wordable.items
    )
    if size > MESSAGES_MAX:
        raise InvalidWording(
            f"the messages could take {size:,} bytes of a prompt",
            f"at most {MESSAGES_MAX:,} can be, each number counted as {NUMBER_MAX} bytes",
        )


def size_of(text: str, wordable: Wordable) -> int:
    """The most bytes that a message can take, without its lists and texts."""
    fields = fields_in(text)
    numbers = sum(field not in wordable.long for field in fields)
    without = re.sub(r"\$(?:[a-z][a-z_]*|\{[a-z][a-z_]*\})", "", text.replace("$$", "\0"))
    return len(without.encode()) + numbers * NUMBER_MAX


def _names(table: Mapping[str, object], wordable: Wordable) -> Names:
    """The names in a table. Raises InvalidWording."""
    can = [name for name in ("agents", "keys", "kinds", "plots") if getattr(wordable, name)]
    for name in table:
        if name not in can:
            raise UnknownWording(
                f"names has {format_value(name)}",
                f"in this prompt it can rename {', '.join(can) or 'nothing'}",
            )
    kinds, keys = _renamed(table, {"kinds": wordable.kinds, "keys": wordable.keys})
    plots = table.get("plots", ID)
    if plots not in PLOTS:
        raise InvalidWording(
            f"names.plots is {format_value(plots)}",
            f"write {' or '.join(map(repr, PLOTS))}",
        )
    return Names(kinds, keys, _agents(table.get("agents")), str(plots))


def _renamed(
    table: Mapping[str, object], known: Mapping[str, Collection[str]]
) -> list[dict[str, str]]:
    """The names of kinds, and of keys, that are not the world's own. Raises InvalidWording."""
    renamed = {what: _new_names(what, table.get(what, {}), known[what]) for what in known}
    counts = Counter(renamed[what].get(old, old) for what in known for old in known[what])
    for what, names in renamed.items():
        for old, new in names.items():
            if counts[new] > 1:
                raise InvalidWording(
                    f"names.{what}.{old} is {new!r}, as something else is",
                    "give each a name of its own",
                )
    return list(renamed.values())


def _new_names(what: str, table: object, known: Collection[str]) -> dict[str, str]:
    if not isinstance(table, Mapping):
        raise InvalidWording(f"names.{what} is {format_value(table)}", f"write [names.{what}]")
    for old, new in table.items():
        if old not in known:
            raise UnknownWording(
                f"names.{what} has {format_value(old)}",
                f"{nearest(old, known)}it can have {', '.join(known)}",
            )
        if not isinstance(new, str) or not _WORD.fullmatch(new) or new in RESERVED:
            raise InvalidWording(
                f"names.{what}.{old} is {format_value(new)}",
                "write a small letter, then at most 23 small letters, digits, - and _; not "
                f"{', '.join(RESERVED)}",
            )
    return {old: new for old, new in table.items() if new != old}


def _agents(names: object) -> Sequence[str] | str | None:
    if names is None or names == LETTERS:
        return None if names is None else LETTERS
    if not isinstance(names, list | tuple) or not names:
        raise InvalidWording(
            f"names.agents is {format_value(names)}",
            f"write a list of names, or {LETTERS!r}",
        )
    for name in names:
        if not isinstance(name, str) or not _AGENT.fullmatch(name):
            raise InvalidWording(
                f"names.agents has {format_value(name)}",
                "write at most 24 letters, digits, spaces, - and _ in ASCII",
            )
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidWording(
            f"names.agents has {twice!r} twice", "give each agent a name of its own"
        )
    return tuple(names)
