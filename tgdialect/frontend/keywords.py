"""Keyword arguments by the names that PyTorch and NumPy have for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, cast

SYNONYMS = (
    ("axis", "dim"),
    ("axis", "dims"),
    ("dim", "axis"),
    ("dim", "dims"),
    ("dim", "dimension"),
    ("dims", "dim"),
    ("dims", "axis"),
    ("order", "dims"),
    ("order", "axes"),
    ("keepdim", "keepdims"),
    ("correction", "unbiased"),
    ("correction", "ddof"),
    ("min_", "min"),
    ("max_", "max"),
    ("y", "other"),
    ("x", "other"),
    ("x", "input"),
    ("x", "exponent"),
    ("w", "other"),
    ("w", "tensor"),
    ("sorted_", "sorted"),
    ("sizes", "split_size"),
    ("sizes", "split_size_or_sections"),
    ("shape", "size"),
    ("stop", "end"),
    ("padding", "pad"),
    ("src", "value"),
    ("Y", "target"),
    ("Y", "input"),
    ("neg_slope", "negative_slope"),
    ("formula", "equation"),
    ("diagonal", "k"),
    ("offset", "k"),
)
"""Names of ours, which are mostly tinygrad's, and another that is accepted where a method has the
first name and not the second. Where a method has several of the first names, the first entry
counts."""

CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {"unbiased": int}
"""The value that a parameter of ours has for the value of another name, where that differs."""


def accept_synonyms(cls: type) -> None:
    """Make the public methods of a class accept keyword arguments by their `SYNONYMS`. A keyword
    that a method has by no name is a TypeError that names those that it has."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            found = _accepting(cast(Any, member).__func__)
            if found is not None:
                setattr(cls, name, type(cast(Any, member))(found))
        elif isinstance(member, FunctionType) and (found := _accepting(member)) is not None:
            setattr(cls, name, found)


def _accepting(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """A function that passes its arguments on to a method by their names there; None for a method
    that takes no keywords, or all."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if len(names) <= 1 or code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    known = frozenset(names)
    ours: dict[str, str] = {}
    for name, other in SYNONYMS:
        if name in known and other not in known:
            ours.setdefault(other, name)

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
