"""Records whose types are imported for type checkers alone, as importing them takes long."""

from __future__ import annotations

from collections import ChainMap
from inspect import Parameter, Signature, get_annotations
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    Record = msgspec.Struct
else:

    class _Told(type(msgspec.Struct)):
        """Tells `help` the signature of a class by the text of its types: msgspec evaluates them,
        which fails for a name that is not there at run time.
        """

        @property
        def __signature__(cls) -> Signature:
            names, defaults = cls.__struct_fields__, cls.__struct_defaults__
            types = ChainMap(*map(get_annotations, cls.__mro__))
            given = [msgspec.NODEFAULT] * (len(names) - len(defaults)) + [*defaults]
            named = zip(names, given, strict=True)
            return Signature([_parameter(cls, name, each, types[name]) for name, each in named])

    class Record(msgspec.Struct, metaclass=_Told):
        """A msgspec struct whose types need not be there at run time."""


def _parameter(cls: type[msgspec.Struct], name: str, default: Any, hint: str) -> Parameter:
    is_by_place = name in cls.__match_args__
    return Parameter(
        name,
        Parameter.POSITIONAL_OR_KEYWORD if is_by_place else Parameter.KEYWORD_ONLY,
        default=Parameter.empty if default is msgspec.NODEFAULT else default,
        annotation=hint,
    )
