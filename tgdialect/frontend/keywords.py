"""Keyword arguments by the names that PyTorch and NumPy have for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any

_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim", "dims"),
    "dim": ("axis", "dims", "dimension"),
    "dims": ("dim", "axis"),
    "order": ("dims", "axes"),
    "keepdim": ("keepdims",),
    "correction": ("unbiased", "ddof"),
    "min_": ("min",),
    "max_": ("max",),
    "y": ("other",),
    "x": ("other", "input", "exponent"),
    "w": ("other", "tensor"),
    "sorted_": ("sorted",),
    "sizes": ("split_size", "split_size_or_sections"),
    "shape": ("size",),
    "stop": ("end",),
    "padding": ("pad",),
    "src": ("value",),
    "Y": ("target", "input"),
    "neg_slope": ("negative_slope",),
    "formula": ("equation",),
    "diagonal": ("k",),
    "offset": ("k",),
}
SYNONYMS = tuple((name, other) for name, others in _OTHER_NAMES.items() for other in others)
"""Names of ours, which are mostly tinygrad's, and another that is accepted where a method has the
first name and not the second. Where a method has several of the first names, the first entry
counts."""

CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {"unbiased": int}
"""The value that a parameter of ours has for the value of another name, where that differs."""


def accept_synonyms(cls: type) -> None:
    """Make the public methods of a class accept keyword arguments by their `SYNONYMS`. A keyword
    that a method has by no name is a TypeError that names those that it has."""
    members: list[tuple[str, Any]] = list(vars(cls).items())
    for name, member in members:
        function: Any = getattr(member, "__func__", member)  # That of a class method.
        if not name.startswith("_") and isinstance(function, FunctionType):
            found = _accepting(function)
            setattr(cls, name, found if function is member else type(member)(found))


def _accepting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that passes its arguments on to a method by their names there; the method itself,
    if it takes no keywords, or all."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if len(names) <= 1 or code.co_flags & inspect.CO_VARKEYWORDS:
        return function
    known = frozenset(names)
    pairs = reversed(SYNONYMS)  # The first of several counts.
    ours = {other: name for name, other in pairs if name in known and other not in known}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= known:
            kwargs = _renamed(function.__name__, names[1:], ours, kwargs)
        return function(*args, **kwargs)

    return call


def _renamed(
    method: str, names: tuple[str, ...], ours: Mapping[str, str], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by our names. Raises TypeError for an unknown name, or two names of one
    argument."""
    result: dict[str, Any] = {}
    for key, value in kwargs.items():
        name = key if key in names else ours.get(key)
        if name is None:
            raise TypeError(f"{method}() has no argument {key!r}; it has {', '.join(names)}")
        if name in result:
            raise TypeError(f"{method}() got {name!r} by two names, of which one is {key!r}")
        result[name] = CONVERSIONS[key](value) if key in CONVERSIONS else value
    return result
