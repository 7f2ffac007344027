"""The version of a world's prompt: which options its agents may have, and what new rosters get.

A world has one. A journal names the version of each agent: where it is another one, its prompts
cannot be made again, and its answers cannot be read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from goldrush.agents.llm.options import ABSENT, AUTO, DEFAULT, FRAMING, NEW, OPTION
from goldrush.agents.roster import SPLIT, format_policy
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.records import Record
from goldrush.kernel.text import is_visible

if TYPE_CHECKING:
    # Imported where a model plays: with it, commands of other runs would start later.
    from goldrush.agents.llm.model import Framing
    from goldrush.agents.llm.wordings import Wordable

F = TypeVar("F", bound="Framing")

# The options of models and people that labels keep apart. Not those that the file of models alone
# can give (but for a persona), nor where the seed of a request is from.
LABELLED: Final = (
    "wording", "notes", "order", "persona", "sample", "reasoning", "reasoning_effort", "top_p",
)  # fmt: skip
DIGITS: Final = 8  # of the SHA-256 of a long text
WORDING_DIGITS: Final = 4  # of that of a wording

SHOWN_MAX: Final = 250  # characters of the longest name that is shown in full, `llm:` included
# In a name: what separates the parts of a label, and what stands in a label for that.
_SPLIT: Final = f"[{re.escape(SPLIT)}]|%({'|'.join(f'{ord(each):X}' for each in '%' + SPLIT)})"


class PromptVersion(Record, frozen=True):
    """The version of a world's prompt.

    Attributes:
        number: as a journal records it, from 1.
        longest: greatest size of a prompt, in bytes.
        framing: those of the options `model.FRAMING` that an entry may have.
        wordable: gives what wordings can change.
    """

    number: int
    longest: int
    framing: Collection[str]
    wordable: Callable[[], Wordable]

    def is_of(self, options: Mapping[str, object]) -> bool:
        """Whether an entry with these options is asked with this version."""
        number = options.get("prompt")
        return type(number) is int and number == self.number

    def other(self, options: Mapping[str, object]) -> str:
        """Text that an entry's version is not this one."""
        return (
            f"asked with version {format_value(options.get('prompt'))} of the prompt; this "
            f"goldrush asks with version {self.number}"
        )

    def check(self, options: Mapping[str, object]) -> None:
        """Raises BadInput for an entry that was asked with another version."""
        if not self.is_of(options):
            raise BadInput(
                f"an agent was {self.other(options)}",
                "use the goldrush that recorded the run, or fork it with another roster",
            )


def subject_of(name: str, options: Mapping[str, object], prompt: PromptVersion | None) -> str:
    """A model, or a person, with the options in LABELLED that differ from those of a new roster, in
    the form of a roster's text: what is compared with others, and what failures are counted by.

    Two with the same model may have been asked with another version of the prompt, which no label
    has. Of a persona, which no roster's text has, it has the first digits of the SHA-256 in hex.

    Args:
        options: as an entry has them.
        prompt: of its world.
    """
    named = {n: options[n] for n in LABELLED if type(options.get(n)) in (str, int, float, bool)}
    version = prompt if prompt is not None and prompt.is_of(options) else None
    framing = () if version is None else version.framing
    for option in NEW.keys() & framing:
        if named.setdefault(option, ABSENT[option]) == NEW[option]:
            del named[option]
    if "wording" in named:
        named["wording"] = wording_label(
            str(named["wording"]), options.get("wording_sha256"), version
        )
    if "persona" in named:
        named["persona"] = digits_of(str(named["persona"]))
    shown = {n: shown_name(v) if isinstance(v, str) else v for n, v in named.items()}
    return format_policy(_labelled(name), {n: shown[n] for n in LABELLED if n in shown})


def _labelled(name: str) -> str:
    """A name of a model as a label has it: in one that no roster can say, what separates the parts
    of a roster's text is written as in URLs (`m%5B4bit%5D`), so that it is not read as options.
    """
    shown = shown_name(name)
    if re.search(_SPLIT, shown) is None:
        return shown
    return "".join(f"%{ord(each):X}" if each in f"%{SPLIT}" else each for each in shown)


def wording_label(name: str, sha256: object, version: PromptVersion | None) -> str:
    """A wording as a label has it: of one that the version does not ship `own@1a2b`, with digits of
    its SHA-256, since another file may have the same name.
    """
    if type(sha256) is not str:  # the default has none
        return name
    if version is not None:
        from goldrush.agents.llm.wording_files import shipped_sha256

        if shipped_sha256(name, version.wordable()) == sha256:
            return name
    return f"{name}@{sha256[:WORDING_DIGITS]}"


def digits_of(text: str) -> str:
    """The first digits of the SHA-256 of a text, in hex, which stand for it in a label."""
    from hashlib import sha256

    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGITS]


def shown_name(name: str) -> str:
    """A name of a model or wording in a journal for people; one that no run writes is cut and
    escaped.
    """
    return name if len(name) <= SHOWN_MAX and is_visible(name) else format_value(name)


def decided(player: F, version: PromptVersion) -> F:
    """A model, or a person, for a new roster: what the user left open is decided, but for what
    is resolved with a model's server (`Model.unresolved`), and the text of its wording is read.

    Raises BadInput for options that the version does not have, and for a wording that cannot be
    used.
    """
    from goldrush.agents.llm.model import Model

    given: dict[str, Any] = {"prompt": version.number, "wording": player.wording or DEFAULT}
    for name in NEW:
        if getattr(player, name) is None:
            given[name] = (NEW if name in version.framing else ABSENT)[name]
    who = "a person"
    if isinstance(player, Model):
        who = f"model {player.name}"
        if player.seed_from == AUTO and player.seed is not None:
            given["seed_from"] = OPTION
    player = attrs.evolve(player, **given)
    for name in FRAMING:
        if name not in version.framing and getattr(player, name) != ABSENT[name]:
            raise BadInput(
                f"{who} has {name}, which prompts of this world do not have", "leave it out"
            )
    if player.wording == DEFAULT:
        return player
    from goldrush.agents.llm.wording_files import wording_named

    wording = wording_named(str(player.wording), version.wordable())
    return attrs.evolve(
        player, wording=wording.name, wording_sha256=wording.sha256,
        wording_text=wording.text or None,
    )  # fmt: skip
