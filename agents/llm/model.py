"""`Model`: a language model with everything that shapes its answers, as a journal records it.

Its options in a roster are those of options.py. What a new roster gets where a user gives nothing
is another matter: `versions.decided` decides by default, and `asker.resolve_form` resolves with a
server what is left (`Model.unresolved`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final, Self

import attrs

from goldrush.agents.llm.extra_body import SIZE_MAX, is_canonical
from goldrush.agents.llm.options import (
    ABSENT,
    ANSWERS,
    AUTO,
    DEFAULT,
    FIELD,
    FIRST,
    FRAMING,
    LIMITS,
    MAX_TOKENS_MAX,
    NAME_MAX,
    NONE,
    OPEN,
    OPTION,
    ORDERS,
    PERSONAS,
    RUN,
    SAMPLE_MAX,
    SAMPLING,
    TYPED,
)
from goldrush.agents.roster import SPLIT
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.settings import INTEGER_MAX, choice, flag, integer, real
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import is_visible

# Tokens of an answer where the user gives no limit, and where the server's template opens the
# reasoning.
TOKENS: Final = 2_000, 8_000
PERSONA_MAX: Final = 4_000, 8_000  # characters and bytes of a persona

# Fields whose wrong value may be a key or have one in it, which no message shows.
_MAY_BE_SECRET: Final = ("base_url", "extra_body", "key_env", "headers", "query")

_CONTROL: Final = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def is_clean(text: str) -> bool:
    """Whether a text has no control characters but line ends, and no lone surrogates."""
    return _CONTROL.search(text) is None


def text_like(name: str, pattern: str) -> Kind:
    """A text that matches a pattern as a whole."""
    return Kind(name, lambda v: type(v) is str and re.fullmatch(pattern, v) is not None)


def _visible(most: int, name: str, without: str = "") -> Kind:
    """A text of 1 to `most` visible characters, `without` some. `name`: of the kind."""

    def holds(value: Any) -> bool:
        is_short = type(value) is str and 0 < len(value) <= most
        return is_short and is_visible(value) and not {*value} & {*without}

    return Kind(name, holds)


def _is_persona(value: Any) -> bool:
    characters, size = PERSONA_MAX
    if type(value) is not str or not 0 < len(value) <= characters or not is_clean(value):
        return False
    return len(value.encode()) <= size


# Where a user gives it; then in a journal, and on a server.
_A_NAME: Final = f"a name of at most {NAME_MAX} visible characters"
NAME: Final = _visible(NAME_MAX, f"{_A_NAME}, none of them {' '.join(SPLIT)}", SPLIT)
_KNOWN: Final = _visible(NAME_MAX, _A_NAME)
_EFFORT: Final = _visible(32, "1 to 32 visible characters")
EXTRA: Final = Kind(
    f"a canonical JSON object of at most {SIZE_MAX:,} bytes, without secrets and without what "
    "goldrush sends itself",
    is_canonical,
)
WORDING: Final = text_like("the name of a wording: [a-z][a-z0-9-]{0,31}", "[a-z][a-z0-9-]{0,31}")
_WORDING_OR_FILE: Final = Kind(
    f"{WORDING.name}, or FILE.toml",
    lambda v: WORDING.holds(v) or (type(v) is str and v.endswith(".toml")),
)
_SHA256: Final = text_like("a SHA-256 in hex", "[0-9a-f]{64}")
_TEXT: Final = Kind("a text", lambda v: type(v) is str and is_clean(v))
_PERSONA: Final = Kind(
    "a text of 1 to {:,} characters and at most {:,} bytes, without control characters".format(
        *PERSONA_MAX
    ),
    _is_persona,
)


def field(kind: Kind, **how: Any) -> Any:
    """A field with the kind of its values; a default of None is valid, too."""
    return attrs.field(metadata={"kind": kind}, **how)


def check(of: type[attrs.AttrsInstance], name: str, value: object, where: str = "") -> None:
    """Raises BadInput for a value that a field cannot have. `where`: the name with its place in a
    file of models or a roster, whose values are shown as they are typed there, and where a wording
    may be a file.
    """
    attribute = attrs.fields_dict(of)[name]
    kind: Kind = attribute.metadata["kind"]
    is_file = where != "" and kind is WORDING
    kind = _WORDING_OR_FILE if is_file else kind
    if not kind.holds(value) and (is_file or value is not None or attribute.default is not None):
        is_typed = where != "" and type(value) is bool
        actual = str(value).lower() if is_typed else format_value(value)
        if name in _MAY_BE_SECRET:
            actual = "invalid"
        raise BadInput(f"{where or name} is {actual}", f"it must be {kind.name}")


@attrs.frozen(kw_only=True)
class Framing:
    """What of an agent's options shapes its prompt, and how its answers are read. Alone, the
    options of a person.

    Attributes:
        prompt: version of the prompt; 0: not decided yet, and never in a journal.
        notes: whether its answers may have a note to itself. None: not decided yet.
        wording: name of the wording of its prompts, or a file of one, which is not read yet. None:
            not decided yet.
        wording_sha256: of the canonical text; None for `default`.
        wording_text: the canonical text, in the first agent with that wording.
        persona: a text that it is shown as written; until the run's seed is known the function
            that draws it, if a roster names a table.
        order: of the kinds of action: `fixed`, or drawn for the `run` or for each `agent`. None:
            not decided yet.
    """

    always: ClassVar[Collection[str]] = ("prompt",)
    later: ClassVar[Collection[str]] = FRAMING

    prompt: int = field(integer(1, 2**31), default=0)
    notes: bool | None = field(flag(), default=None)
    wording: str | None = field(WORDING, default=None)
    wording_sha256: str | None = field(_SHA256, default=None)
    wording_text: str | None = field(_TEXT, default=None)
    persona: str | None = field(_PERSONA, default=None)
    order: str | None = field(choice(*ORDERS), default=None)

    def as_options(self) -> dict[str, object]:
        """These as `options` of a roster's entry."""
        options = {name: getattr(self, name) for name in self.always}
        more = ((name, getattr(self, name)) for name in self.later)
        return {**options, **{n: value for n, value in more if value not in (None, ABSENT[n])}}

    def typed(self, options: Mapping[str, object], where: str) -> Self:
        """These options with those that the text of a roster gives. `where`: that text.

        Raises BadInput for an option that cannot be given so, and for a value that it cannot have.
        """
        names = [name for name in TYPED if name in (*self.always, *self.later)]
        for name, value in options.items():
            if name not in names:
                can = ", ".join([*names, PERSONAS])
                raise BadInput(f"{where} sets {name}", f"it can set {can}")
            check(type(self), name, value, f"{where}: {name}")
        given: dict[str, Any] = dict(options)
        return attrs.evolve(self, **given)

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Self:
        """The record of an entry's options. Raises BadInput for options that no run writes."""
        for name in cls.always:
            if name not in options:
                raise BadInput(f"there is no {name}", "it must be among the options")
        for name, value in options.items():
            if name not in (*cls.always, *cls.later):
                raise BadInput(
                    f"there is the option {format_value(name)}",
                    f"it must be one of {', '.join([*cls.always, *cls.later])}",
                )
            check(cls, name, value)
        given: dict[str, Any] = {**{name: ABSENT[name] for name in cls.later}, **options}
        read = cls(**given)
        is_own, has_digest = read.wording != DEFAULT, read.wording_sha256 is not None
        if is_own is not has_digest or (read.wording_text is not None and not is_own):
            raise BadInput(
                f"wording is {read.wording!r} and wording_sha256 {read.wording_sha256!r}",
                f"it must be both, or neither for {DEFAULT!r}",
            )
        written = read.as_options()
        for name, value in options.items():
            must = "left out, as an entry without it has that"
            if name in written:
                must = format_value(written[name])
            if name not in written or pack(value) != pack(written[name]):
                raise BadInput(f"the option {name} is {format_value(value)}", f"it must be {must}")
        if list(options) != list(written):
            raise BadInput(
                f"the order of the options is {', '.join(options)}",
                f"it must be {', '.join(written)}",
            )
        return read


_AS_REAL: Final = attrs.converters.optional(float)


@attrs.frozen
class Model(Framing):
    """A model with all its request options, which are an agent's `options` in the journal. Of these
    None is not sent.

    Attributes:
        name, model: its name in the roster, and on the server.
        max_tokens: greatest number of tokens of an answer; 0: not resolved yet.
        answer: `schema`: with a JSON schema; `text`: without.
        limit: the parameter that carries `max_tokens`.
        extra_body: further fields of its requests, as canonical JSON: see extra_body.py.
        seed_from: `option`: requests have `seed`; `run`: each has one of its own, from the run's
            seed.
        sample: another number samples anew, with other seeds of requests.
        reasoning: `field`: the first field of the answer is for reasoning; `open`: the server's
            template opens the reasoning itself, before the text of the answer.

    What is AUTO is resolved as a run begins (see asker.resolve_form), and never in a journal.
    """

    always: ClassVar[Collection[str]] = FIRST
    later: ClassVar[Collection[str]] = (*SAMPLING, *FRAMING)

    name: str = field(_KNOWN)
    model: str = field(_KNOWN)
    temperature: float | None = field(real(0, 2), default=None, converter=_AS_REAL)
    max_tokens: int = field(integer(0, MAX_TOKENS_MAX), default=0)
    seed: int | None = field(integer(0, INTEGER_MAX), default=None)
    answer: str = field(choice(*ANSWERS), default=AUTO)
    limit: str = field(choice(*LIMITS), default=LIMITS[0])
    top_p: float | None = field(real(0, 1), default=None, converter=_AS_REAL)
    reasoning_effort: str | None = field(_EFFORT, default=None)
    extra_body: str | None = field(EXTRA, default=None)
    seed_from: str = field(choice(AUTO, OPTION, RUN), default=AUTO)
    sample: int = field(integer(0, SAMPLE_MAX), default=0)
    reasoning: str = field(choice(AUTO, NONE, FIELD, OPEN), default=AUTO)

    @property
    def unresolved(self) -> dict[str, object]:
        """The options that are resolved with a server as a run begins, with what they are until
        then.
        """
        until = {"max_tokens": 0, "answer": AUTO, "seed_from": AUTO, "reasoning": AUTO}
        return {name: value for name, value in until.items() if getattr(self, name) == value}

    @classmethod
    def asked(cls, options: Mapping[str, object]) -> Self:
        """The model of an entry's options, as it is asked: with nothing unresolved but `answer`.
        Raises BadInput as `of`.
        """
        return cls.of(options).resolved()

    def resolved(self, **server: str) -> Self:
        """The model with nothing unresolved but `answer`. `server`: values that differ from the
        default, by option, as asking its server has shown.
        """
        usual: dict[str, Any] = {"reasoning": NONE, "seed_from": RUN, **server}
        decided = {name: usual[name] for name in self.unresolved & usual.keys()}
        chosen = attrs.evolve(self, **decided)
        most = chosen.max_tokens or TOKENS[chosen.reasoning == OPEN]
        return attrs.evolve(chosen, max_tokens=most)


def options_by_prefix(options: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The options of each model in an entry that has several, by the prefix of their names; those
    without a prefix by an empty text. The options in FRAMING stand without a prefix alone, and are
    given to each model.

        {"name": "a", "notes": True, "other.name": "b"}

    gives

        {"": {"name": "a", "notes": True}, "other": {"name": "b", "notes": True}}

    Options in another order than `prefixed_options` writes are returned as one model's.
    """
    by_prefix: dict[str, dict[str, Any]] = {"": {}}
    for name, value in options.items():
        prefix, _, option = name.rpartition(".")
        by_prefix.setdefault(prefix, {})[option] = value
    if list(options) != list(_prefixed(by_prefix)):
        return {"": options}
    framing = {name: value for name, value in by_prefix[""].items() if name in FRAMING}
    return {prefix: {**own, **framing} for prefix, own in by_prefix.items()}


def prefixed_options(models: Mapping[str, Model]) -> dict[str, object]:
    """The options of an entry with these models, by prefix: the inverse of `options_by_prefix`."""
    return _prefixed({prefix: model.as_options() for prefix, model in models.items()})


def _prefixed(by_prefix: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {
        f"{prefix}.{name}" if prefix else name: value
        for prefix, own in by_prefix.items()
        for name, value in own.items()
        if not (prefix and name in FRAMING)
    }
