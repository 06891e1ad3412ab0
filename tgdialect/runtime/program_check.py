"""Whether the tables of a program from a file make sense: counts, positions, shapes, dtypes, names.

What stands in the tables decides which memory machine code is passed. These checks find tables that
contradict themselves. They do not look into machine code, and cannot tell whether it reads as many
elements as a shape says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NoReturn

from tgdialect.ops.numpy_dtypes import NUMPY_NAMES
from tgdialect.runtime.devices.program import DeviceKernel, DeviceProgram, Launch, View
from tgdialect.runtime.expressions import OPERATIONS, Expression
from tgdialect.runtime.program import Parameter, Program
from tgdialect.runtime.windows import Window

_ROLES = frozenset({"input", "scalar", "buffer", "data", "output", "workspace", "persistent"})
_DTYPES = frozenset(NUMPY_NAMES.values())
_BITS = 63
"""The bits of an i64 beside its sign: sizes and positions are below 2^63."""
_MOST_BYTES = 1 << 47
"""The memory that a process can address."""
_PIECE = b"\x7fELF", b"\xcf\xfa\xed\xfe"
"""How object code of Linux and of macOS begins."""


def check_program(program: Program | DeviceProgram) -> None:
    """Raise ValueError for a program whose tables contradict themselves."""
    parameters = program.parameters
    for parameter in parameters:
        _check_parameter(parameter, parameters)
    outputs = sum(p.role == "output" for p in parameters)
    overwritten = sorted(p.result for p in parameters if p.result is not None)
    if len({*overwritten}) < len(overwritten) or overwritten[-1:] > [
        outputs + len(overwritten) - 1
    ]:
        _refuse("the numbers of the results")
    for window in program.windows:
        _check_window(window, parameters)
    if isinstance(program, DeviceProgram):
        _check_launches(program)
    else:
        _check_objects(program)


def _refuse(what: str) -> NoReturn:
    raise ValueError(f"{what} cannot be what a compiler has written")


def _is_number(value: object, low: int = -(1 << _BITS), high: int = (1 << _BITS) - 1) -> bool:
    return type(value) is int and low <= value <= high


def _are_texts(*values: object) -> bool:
    return all(type(value) is str and "\0" not in value for value in values)


def _check_parameter(parameter: Parameter, all_of_them: Sequence[Parameter]) -> None:
    p = parameter
    if not _are_texts(p.name, p.role) or p.role not in _ROLES:
        _refuse("the name or role of a parameter")
    flags = p.by_reference, p.is_constant, p.is_read_once, p.is_cleared
    is_known = p.dtype.name in _DTYPES and p.dtype.isnative
    if any(type(flag) is not bool for flag in flags) or not is_known:
        _refuse(f"the dtype or a flag of {p.name}")
    if not all(extent is None or _is_number(extent, 0) for extent in p.shape) or len(p.shape) > 64:
        _refuse(f"the shape of {p.name}")
    if p.dtype.itemsize * prod(extent or 1 for extent in p.shape) > _MOST_BYTES:
        _refuse(f"the shape of {p.name}")
    if len(p.dims) != p.shape.count(None) or not all(_is_scalar(d, all_of_them) for d in p.dims):
        _refuse(f"the dynamic sizes of {p.name}")
    if not (_is_number(p.low) and _is_number(p.high) and p.low <= p.high):
        _refuse(f"the bounds of {p.name}")
    if p.role == "scalar" and (p.shape or p.dtype.name != "int64"):
        _refuse(f"the type of {p.name}")
    if p.data is not None and type(p.data) is not bytes:
        _refuse(f"the contents of {p.name}")
    if p.result is not None and not (_is_number(p.result, 0) and p.role == "input"):
        _refuse(f"the result of {p.name}")


def _is_scalar(position: object, parameters: Sequence[Parameter]) -> bool:
    return (
        type(position) is int
        and 0 <= position < len(parameters)
        and parameters[position].role == "scalar"
    )


def _check_window(window: Window, parameters: Sequence[Parameter]) -> None:
    numbers = window.axis, window.line, window.column
    if not all(_is_number(number, 0) for number in numbers) or not _are_texts(window.file):
        _refuse("the place of a window")
    for bound in (window.offset, window.inner, window.outer):
        _check_expression(bound, parameters)


def _check_objects(program: Program) -> None:
    names = [each.name for each in program.objects]
    if not names or len({*names}) < len(names):
        _refuse("the number or the names of the pieces of machine code")
    for each in program.objects:
        if not _are_texts(each.name, each.symbol):
            _refuse("the name of a piece of machine code")
        check_code(each.code)


def check_code(code: bytes) -> None:
    """Raise ValueError for bytes that do not begin as object code of a CPU does."""
    if not code.startswith(_PIECE):
        _refuse("the size of a piece of machine code")


def _check_launches(program: DeviceProgram) -> None:
    for kernel in program.kernels:
        _check_kernel(kernel)
    if not _is_number(program.once, 0, len(program.launches)):
        _refuse("the number of launches that run once")
    for launch in program.launches:
        _check_launch(launch, program)


def _check_kernel(kernel: DeviceKernel) -> None:
    count, dtypes = len(kernel.scalars), _DTYPES
    if type(kernel.code) is not bytes or type(kernel.is_binary) is not bool:
        _refuse("the code of a kernel")
    if not _are_texts(kernel.name, kernel.symbol):
        _refuse("the name or the kind of a kernel")
    if not all(each is None or (_are_texts(each) and each in dtypes) for each in kernel.scalars):
        _refuse(f"the parameters of @{kernel.name}")
    if not all(_is_number(each, 0, count - 1) for each in kernel.written):
        _refuse(f"the parameters of @{kernel.name}")
    if len(kernel.workgroup) != 3 or not all(_is_number(n, 1, 1 << 20) for n in kernel.workgroup):
        _refuse(f"the workgroup of @{kernel.name}")
    if not _is_number(kernel.local, 0, 1 << 31):
        _refuse(f"the LOCAL memory of @{kernel.name}")
    if not kernel.is_binary:
        kernel.code.decode()


def _check_launch(launch: Launch, program: DeviceProgram) -> None:
    if not _is_number(launch.kernel, 0, len(program.kernels) - 1):
        _refuse("the kernel of a launch")
    kernel, parameters = program.kernels[launch.kernel], program.parameters
    if len(launch.arguments) != len(kernel.scalars):
        _refuse(f"the number of arguments of @{kernel.name}")
    expressions: list[Expression] = [*launch.groups]
    for argument, scalar in zip(launch.arguments, kernel.scalars, strict=True):
        if isinstance(argument, View) != (scalar is None):
            _refuse(f"an argument of @{kernel.name}")
        if not isinstance(argument, View):
            expressions.append(argument)
            continue
        if not _is_number(argument.parameter, 0, len(parameters) - 1):
            _refuse(f"an argument of @{kernel.name}")
        if parameters[argument.parameter].role == "scalar":
            _refuse(f"an argument of @{kernel.name}")
        expressions += argument.offset, argument.nbytes
    for expression in expressions:
        _check_expression(expression, parameters)


def _check_expression(expression: Iterable[object], parameters: Sequence[Parameter]) -> None:
    """Whether an expression in postfix notation has one value."""
    depth = 0
    for token in expression:
        if _is_number(token):
            depth += 1
            continue
        text = token if isinstance(token, str) else ""
        if text.startswith("%"):
            position = text[1:]
            is_one = position.isascii() and position.isdecimal() and len(position) < 10
            if not (is_one and _is_scalar(int(position), parameters)):
                _refuse("an expression")
            depth += 1
            continue
        if text not in OPERATIONS or depth < OPERATIONS[text][0]:
            _refuse("an expression")
        depth -= OPERATIONS[text][0] - 1
    if depth != 1:
        _refuse("an expression")
