"""Formulas of `rearrange`: axes by name, as in einops (Rogozhnikov, 2022)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tgdialect.frontend.base import ArgumentError

Groups = list[list[str] | None]
"""The names in each axis of one side of a formula: one, or those in parentheses. None is `...`
outside of parentheses."""

_REST = "..."
_TOKEN = re.compile(r"\s*(?:([()])|(\.\.\.|[^\W\d_](?:\w*[^\W_])?|1)(?![\w.]))")
"""A parenthesis, or an axis: a name neither begins nor ends with an underscore, as in einops."""


class Rearrangement(NamedTuple):
    """The movement of a formula: RESHAPE, PERMUTE, RESHAPE."""

    split: tuple[int, ...]
    order: list[int]
    merged: tuple[int, ...]


def rearrangement(formula: str, shape: Sequence[int], sizes: Mapping[str, int]) -> Rearrangement:
    """How a formula splits, reorders and merges the axes of a shape. Raises ArgumentError for
    a formula that is none, or that does not fit the shape."""
    # Parse both sides, and give a name to each axis that `...` stands for.
    sides = formula.replace("…", _REST).split("->")
    if len(sides) != 2:
        raise ArgumentError(f"rearrange {formula!r}: there is one arrow")
    left, right = (_groups(formula, side) for side in sides)
    if any(_REST in group for group in left if group is not None):
        raise ArgumentError(f"rearrange {formula!r}: on the left ... is not in parentheses")
    count = len(shape) - sum(group is not None for group in left)
    if count < 0 or (count and None not in left):
        raise ArgumentError(f"rearrange {formula!r} of a tensor with {len(shape)} axes")
    rest = [f"{_REST}{i}" for i in range(count)]
    before, after = _with_rest(left, rest), _with_rest(right, rest)
    # Check that both sides have the same names.
    names, wanted = ([name for group in side for name in group] for side in (before, after))
    if len(set(names)) < len(names) or sorted(names) != sorted(wanted):
        raise ArgumentError(f"rearrange {formula!r}: each name is once on both sides")
    if unknown := [name for name in sizes if name not in names]:
        raise ArgumentError(f"rearrange {formula!r} has no axis {', '.join(unknown)}")
    # The extent of each name.
    extents: dict[str, int] = {}
    for group, extent in zip(before, shape, strict=True):
        extents |= _extents(formula, group, extent, sizes)
    return Rearrangement(
        tuple(extents[name] for name in names),
        [names.index(name) for name in wanted],
        tuple(math.prod(extents[name] for name in group) for group in after),
    )


def _groups(formula: str, side: str) -> Groups:
    groups: Groups = []
    parts: list[str] | None = None  # Those in the present parentheses.
    at, side = 0, side.rstrip()
    while at < len(side):
        if (match := _TOKEN.match(side, at)) is None:
            raise ArgumentError(
                f"rearrange {formula!r}: {side[at:].strip()!r} is no name of an axis"
            )
        at, token = match.end(), match[0].strip()
        if token in "()":
            if (parts is None) is (token == ")"):
                break
            parts = [] if token == "(" else None
            groups += [] if parts is None else [parts]
        elif token == "1":
            groups += [[]] if parts is None else []
        elif parts is None:
            groups.append(None if token == _REST else [token])
        else:
            parts.append(token)
    else:
        if parts is None:
            return groups
    raise ArgumentError(f"rearrange {formula!r}: parentheses that do not match")


def _with_rest(groups: Groups, rest: Sequence[str]) -> list[list[str]]:
    """Groups with names for `...`: axes of their own, or parts of an axis."""
    result: list[list[str]] = []
    for group in groups:
        if group is None:
            result += [[name] for name in rest]
        else:
            result.append([n for name in group for n in (rest if name == _REST else [name])])
    return result


def _extents(
    formula: str, group: Sequence[str], extent: int, sizes: Mapping[str, int]
) -> dict[str, int]:
    """The extent of each name in an axis; the one that is not given is inferred."""
    found = {name: sizes[name] for name in group if name in sizes}
    missing = [name for name in group if name not in sizes]
    known = math.prod(found.values())
    if len(missing) > 1:
        raise ArgumentError(
            f"rearrange {formula!r}: the extents of {', '.join(missing)} are needed"
        )
    if missing and known and extent % known == 0:
        found[missing[0]] = extent // known
    elif missing or known != extent:
        parts = " * ".join(f"{name}={sizes[name]}" if name in sizes else name for name in group)
        raise ArgumentError(f"rearrange {formula!r}: an axis of {extent} is not {parts or 1}")
    return found
