"""Whether the tables of a program from a file make sense: counts, positions, shapes, dtypes, names.

What stands in the tables decides which memory machine code is passed. These checks find tables that
contradict themselves. They do not look into machine code, and cannot tell whether it reads as many
elements as a shape says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from tgdialect.ops.expressions import Expression, is_expression
from tgdialect.ops.numpy_dtypes import NUMPY_NAMES
from tgdialect.runtime.devices.program import DeviceKernel, DeviceProgram, Launch, View
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
    """Raise ValueError, or an error of a value of another type, for a program whose tables
    contradict themselves."""
    parameters = program.parameters
    for position, parameter in enumerate(parameters):
        _check_parameter(parameter, parameters)
        if parameter.computed is not None:
            _require(parameter.role == "scalar", f"the value of {parameter.name}")
            _check_expression(parameter.computed, parameters[:position])
    outputs = sum(p.role == "output" for p in parameters)
    overwritten = sorted(p.result for p in parameters if p.result is not None)
    count = outputs + len(overwritten)
    _require(len({*overwritten}) == len(overwritten), "the numbers of the results")
    _require(all(each < count for each in overwritten), "the numbers of the results")
    for window in program.windows:
        _check_window(window, parameters)
    if isinstance(program, DeviceProgram):
        _check_launches(program)
    else:
        _check_objects(program)


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} cannot be what a compiler has written")


def _is_number(value: object, low: int = -(1 << _BITS), high: int = (1 << _BITS) - 1) -> bool:
    return type(value) is int and low <= value <= high


def _are_texts(*values: object) -> bool:
    return all(type(value) is str and "\0" not in value for value in values)


def _check_parameter(parameter: Parameter, all_of_them: Sequence[Parameter]) -> None:
    p, dtype = parameter, parameter.dtype
    _require(_are_texts(p.name, p.role) and p.role in _ROLES, "the name or role of a parameter")
    flags = p.by_reference, p.is_constant, p.is_read_once, p.is_cleared
    is_known = dtype.name in _DTYPES and dtype.isnative
    _require(is_known and all(type(f) is bool for f in flags), f"the dtype or a flag of {p.name}")
    are_extents = all(extent is None or _is_number(extent, 0) for extent in p.shape)
    _require(are_extents and len(p.shape) <= 64, f"the shape of {p.name}")
    nbytes = dtype.itemsize * prod(extent or 1 for extent in p.shape)
    _require(nbytes <= _MOST_BYTES, f"the shape of {p.name}")
    are_sizes = len(p.dims) == p.shape.count(None)
    are_sizes = are_sizes and all(_is_scalar(d, all_of_them) for d in p.dims)
    _require(are_sizes, f"the dynamic sizes of {p.name}")
    are_numbers = _is_number(p.low) and _is_number(p.high)
    _require(are_numbers and p.low <= p.high, f"the bounds of {p.name}")
    is_index = not p.shape and dtype.name == "int64"
    _require(p.role != "scalar" or is_index, f"the type of {p.name}")
    _require(p.data is None or type(p.data) is bytes, f"the contents of {p.name}")
    is_input = _is_number(p.result, 0) and p.role == "input"
    _require(p.result is None or is_input, f"the result of {p.name}")


def _is_scalar(position: object, parameters: Sequence[Parameter]) -> bool:
    return (
        type(position) is int
        and 0 <= position < len(parameters)
        and parameters[position].role == "scalar"
    )


def _check_window(window: Window, parameters: Sequence[Parameter]) -> None:
    place = window.axis, window.line, window.column
    are_numbers = all(_is_number(number, 0) for number in place)
    _require(are_numbers and _are_texts(window.file, window.node), "the place of a window")
    for bound in (window.offset, window.inner, window.outer):
        _check_expression(bound, parameters)


def _check_objects(program: Program) -> None:
    names = [each.name for each in program.objects]
    are_distinct = len({*names}) == len(names) > 0
    _require(are_distinct, "the number or the names of the pieces of machine code")
    for each in program.objects:
        _require(_are_texts(each.name, each.symbol), "the name of a piece of machine code")
        check_code(each.code)


def check_code(code: bytes) -> None:
    """Raise ValueError for bytes that do not begin as object code of a CPU does."""
    _require(code.startswith(_PIECE), "the size of a piece of machine code")


def _check_launches(program: DeviceProgram) -> None:
    for kernel in program.kernels:
        _check_kernel(kernel)
    is_once = _is_number(program.once, 0, len(program.launches))
    _require(is_once, "the number of launches that run once")
    for launch in program.launches:
        _check_launch(launch, program)


def _check_kernel(kernel: DeviceKernel) -> None:
    name, last = kernel.name, len(kernel.scalars) - 1
    is_code = type(kernel.code) is bytes and type(kernel.is_binary) is bool
    _require(is_code and _are_texts(name, kernel.symbol), "the name or the kind of a kernel")
    are_dtypes = all(n is None or (_are_texts(n) and n in _DTYPES) for n in kernel.scalars)
    are_slots = all(_is_number(slot, 0, last) for slot in kernel.written)
    _require(are_dtypes and are_slots, f"the parameters of @{name}")
    are_sizes = len(kernel.workgroup) == 3
    are_sizes = are_sizes and all(_is_number(n, 1, 1 << 20) for n in kernel.workgroup)
    _require(are_sizes, f"the workgroup of @{name}")
    _require(_is_number(kernel.local, 0, 1 << 31), f"the LOCAL memory of @{name}")
    if not kernel.is_binary:
        kernel.code.decode()


def _check_launch(launch: Launch, program: DeviceProgram) -> None:
    kernels, parameters = program.kernels, program.parameters
    _require(_is_number(launch.kernel, 0, len(kernels) - 1), "the kernel of a launch")
    kernel = kernels[launch.kernel]
    is_count = len(launch.arguments) == len(kernel.scalars)
    _require(is_count, f"the number of arguments of @{kernel.name}")
    expressions: list[Expression] = [*launch.groups]
    for argument, scalar in zip(launch.arguments, kernel.scalars, strict=True):
        is_view = isinstance(argument, View)
        _require(is_view == (scalar is None), f"an argument of @{kernel.name}")
        if isinstance(argument, View):
            is_memory = _is_number(argument.parameter, 0, len(parameters) - 1)
            is_memory = is_memory and parameters[argument.parameter].role != "scalar"
            _require(is_memory, f"an argument of @{kernel.name}")
            expressions += argument.offset, argument.nbytes
        else:
            expressions.append(argument)
    for expression in expressions:
        _check_expression(expression, parameters)


def _check_expression(expression: Iterable[object], parameters: Sequence[Parameter]) -> None:
    """Raise ValueError unless an expression in postfix notation has one value."""
    found = is_expression(expression, lambda i: _is_scalar(i, parameters))
    _require(found, "an expression")
