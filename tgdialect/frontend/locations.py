"""Names of a program's source: which node of a model an op was made for, and what the model calls
its values.

Importers make nodes within `located("/encoder/Conv_3")`, and name values by `named`, of `base.py`.
The ops of the module have both, and so errors and profiles name the source's nodes.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation

from tgdialect.diagnostics import (
    UNKNOWN,
    CompilationError,
    called_at,
    is_known,
    lasting_hint,
    name_location,
    names_text,
    source_names,
)
from tgdialect.fast_xdsl.walk import nested_ops

if TYPE_CHECKING:
    from tgdialect.ops import tg


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value of the lazy graph comes from.

    Attributes:
        location: the node of the source.
        name: the source's name for the value.
        body: the op with the locations of its body, where the prototype has those of another body
            that is equal otherwise.
    """

    location: LocationAttr = UNKNOWN
    name: str | None = None
    body: tg.TgOp | None = None

    def place(self, op: Operation) -> None:
        """Give a new op, and those in its regions, the location, and its result the name."""
        op.location = location = self.location
        if op.regions and is_known(location):
            for nested in nested_ops(op):
                nested.location = called_at(nested.location, location)
        if self.name is not None:
            op.results[0].name_hint = identifier(self.name)

    def within(self, caller: Origin | None) -> Origin:
        """The origin of a value of a body that is called."""
        if caller is None:
            return self
        return replace(self, location=called_at(self.location, caller.location))


_present: ContextVar[Origin | None] = ContextVar("origin", default=None)
present = _present.get
"""The origin of nodes that are made now; None if their source has no names."""


@contextmanager
def located(
    name: str | None, file: str | None = None, line: int = 0, column: int = 0
) -> Generator[None]:
    """A context in which ops of tensors get the location of a node of a program that is imported.

    Nested ones are call sites: within `located("Gelu_1")`, an op within `located("Erf")` has the
    location `callsite("Erf" at "Gelu_1")`. So has the body of a function or loop that is called.
    The body itself has no location but what is given while it is traced. An error that is raised
    within the context begins with the names: `"/encoder/Conv_3": 3 channels, the weights have 4`.

    `file`, `line` and `column` are the position of the node in a text, if it has one: lines and
    columns count from 1, and are 0 if they are unknown. `located(None)` is a context without
    location, for ops that are no node's.
    """
    outer, origin = _present.get(), None
    if name is not None:
        location = name_location(name, file, line, column)
        origin = Origin(location if outer is None else called_at(location, outer.location))
    token = _present.set(origin)
    try:
        yield
    except Exception as error:
        if origin is not None:
            _name_node(error, origin.location)
        raise
    finally:
        _present.reset(token)


def name_of_value(origin: Origin | None) -> str | None:
    """The source's name for a value; None if there is none."""
    return None if origin is None else origin.name


def origin_of(op: Operation) -> Origin | None:
    """The origin that an op of the IR shows; None if it has no location."""
    return Origin(op.location) if is_known(op.location) else None


# -- identifiers -----------------------------------------------------------------------------------

_MOST_CHARACTERS = 80
"""The most characters of an identifier. Larger: long lines, as each use of a value has it; smaller:
names that begin alike look the same. An order of magnitude."""
_OTHER = re.compile(r"[^\w$.-]+", re.ASCII)
"""Characters that an identifier cannot have."""
_NUMBER = re.compile(r"_(?=[0-9]+\Z)")
"""The separator of a number at the end, which xDSL would take for its own, and remove."""


def identifier(name: str) -> str | None:
    """A name as an identifier of MLIR, after any number of copies: `encoder.Conv.3` for
    `/encoder/Conv_3`. None for one that has no letters, digits or underscores."""
    text = _OTHER.sub(".", name[-_MOST_CHARACTERS:]).strip(".-")
    text = _NUMBER.sub(".", text)
    if text[:1].isdecimal():
        text = f"v{text}"
    return lasting_hint(text)


# -- errors ----------------------------------------------------------------------------------------

_NAMED = "_named_node"
"""Set in an error that names its node: the location, and the message without it. The error may pass
through several contexts."""


def _name_node(error: Exception, location: LocationAttr) -> None:
    """Begin the message of an error with the names in a location. If it names a node of a body that
    was traced within that location, this is where the node is called."""
    state: dict[str, Any] = vars(error)
    inner, message = cast("tuple[LocationAttr, str]", state.get(_NAMED, (UNKNOWN, "")))
    names = source_names(location)
    if not names or source_names(inner)[-len(names) :] == names:
        return
    known, location = names_text(inner), called_at(inner, location)
    shown = names_text(location)
    if isinstance(error, CompilationError):
        error.diagnostics = tuple(
            replace(each, node=shown) if each.node in (None, known) else each
            for each in error.diagnostics
        )
    elif len(error.args) == 1 and type(error).__str__ is Exception.__str__:
        message = message or str(error)
        error.args = (f"{shown}: {message}",)
    else:  # The message is made of other arguments, as a KeyError's is.
        error.add_note(f"at {shown}")
    state[_NAMED] = location, message
