"""Schedules that a user writes: OptOps for all kernels, or for the one that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.modes import EXPLICIT
from tgdialect.lowering.optimize.optops.apply import apply_opts, parse_opt
from tgdialect.ops import tg


class KernelOpt(NamedTuple):
    """An OptOp, and the name of the kernel that it is for: None for all kernels."""

    kernel: str | None
    opt: tg.OptAttr


def explicit_opts(mode: str, opts: Sequence[str]) -> Sequence[KernelOpt] | None:
    """The OptOps of a mode that is `explicit`: those of `opts`, or those behind its colon.

    `explicit:split 0, 8, upcast; @main_1: order 1, 0` is the same as `explicit` with the opts
    `split 0, 8, upcast` and `@main_1: order 1, 0`. None for other modes, which take no opts.
    Raises PassFailedException for what is no OptOp.
    """
    name, colon, rest = mode.partition(":")
    if name != EXPLICIT:
        if opts:
            raise PassFailedException(f"mode {mode!r} takes no opts: mode=explicit does")
        return None
    if colon and opts:
        raise PassFailedException(f"mode {mode!r} has its OptOps already, and opts has others")
    texts = [text for text in rest.split(";") if text.strip()] if colon else opts
    return [_parse(text) for text in texts]


def _parse(text: str) -> KernelOpt:
    text = text.strip()
    if not text.startswith("@"):
        return KernelOpt(None, parse_opt(text))
    kernel, colon, opt = text[1:].partition(":")
    if not colon:
        raise PassFailedException(f"{text!r} names no OptOp: write '@kernel: split 0, 8, upcast'")
    return KernelOpt(kernel.strip(), parse_opt(opt))


def check_kernels(opts: Sequence[KernelOpt], kernels: Sequence[tg.KernelOp]) -> None:
    """Raise PassFailedException where an OptOp names a kernel that the module does not have."""
    names = [kernel.sym_name.data for kernel in kernels]
    for each in opts:
        if each.kernel is not None and each.kernel not in names:
            there_are = ", ".join(f"@{name}" for name in names) or "none"
            raise PassFailedException(f"there is no kernel @{each.kernel}; there are: {there_are}")


def opts_of(opts: Sequence[KernelOpt], kernel: str) -> Sequence[tg.OptAttr]:
    """The OptOps that are for a kernel."""
    return [each.opt for each in opts if each.kernel in (None, kernel)]


def apply_explicit(axes: Axes, opts: Sequence[tg.OptAttr]) -> None:
    """Apply OptOps to a kernel, from left to right; an error names it, and is at it."""
    for which in opts:
        try:
            apply_opts(axes, [which])
        except IllegalOptError as error:
            message = f"kernel @{axes.kernel.sym_name.data}: {error}"
            raise locate(PassFailedException(message), axes.kernel) from None
