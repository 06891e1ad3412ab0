"""Builtin functions that call compiled code: they look at arguments as C would.

To look at a few arrays and pass their addresses on takes Python and ctypes microseconds, as long as
a product of 64x64 matrices takes. A launcher is a builtin whose code LLVM has generated: it reads
the fields of NumPy's arrays (`PyArrayObject`, which is part of NumPy's ABI) and calls the compiled
function. Where an argument is not as it should be it does nothing, and says so.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from tgdialect.runtime import launcher_layout as layout
from tgdialect.runtime.images import load_ir
from tgdialect.runtime.launcher_layout import MAX_AXES, MAX_SLOTS
from tgdialect.runtime.once import once

if TYPE_CHECKING:
    from tgdialect.runtime.elf import ElfImage
    from tgdialect.runtime.jit import JitLibrary

Launcher = Callable[..., bool]
"""Takes an array, or an address, for each slot. Whether it has called the function."""

_FASTCALL = 0x80


class Slot(NamedTuple):
    """An argument of a launcher: where it is in the frame, and what array it has to be; an address,
    as an int, where `shape` is None."""

    position: int
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any]
    nbytes: int
    is_written: bool


def launcher(function: int, slots: Sequence[Slot], results: int) -> Launcher | None:
    """A builtin that calls the function at an address with a frame: an array of pointers, one for
    each slot. The function has to live as long as it does.

    It calls it with arrays of NumPy's own class, of the slots' shapes and very dtypes, in C order,
    aligned, and writable if they are written; the results, which come first, share no memory with
    others. It releases the interpreter's lock meanwhile. None where there is no launcher: for too
    many arguments or axes, and in a Python whose objects are laid out in other ways.
    """
    if len(slots) > MAX_SLOTS or any(len(slot.shape or ()) > MAX_AXES for slot in slots):
        return None
    if (own := _code("launch")) is None:
        return None
    words = [function, len(slots), results, id(np.ndarray), id(int)]
    for slot in slots:
        shape = slot.shape or ()
        rank = layout.ADDRESS if slot.shape is None else len(shape)
        flags = layout.CONTIGUOUS | layout.ALIGNED | (layout.WRITEABLE if slot.is_written else 0)
        words += [slot.position, id(slot.dtype), rank, flags, slot.nbytes]
        words += [*shape, *[0] * (MAX_AXES - len(shape))]
    return _new_builtin(own, words, *[slot.dtype for slot in slots])


class Holders(NamedTuple):
    """Objects that hold arrays: an outer one has an inner one, which has the array. Both keep their
    fields in slots, of which these are the names."""

    inner: str
    array: str
    owner: str
    """What is a weak reference from the inner to the outer one."""
    serial: str
    """What is the next of `serials`."""
    serials: Iterator[int]
    alike: Sequence[str]
    """Fields of the inner object which have to be the very ones that are asked for."""


def holding_launcher(
    launch: Launcher | None,
    make: Callable[..., object],
    shape: tuple[Any, ...],
    holders: Holders,
    inputs: Sequence[Sequence[object]],
    example: object,
) -> Callable[..., Any] | None:
    """A builtin that calls a function of one result with arrays that others hold.

    Args:
        launch: the function's launcher, if it takes nothing but the result and these arrays.
        make: what makes the array of the result; without a launcher, the function itself, which
            takes the arrays and returns the result.
        shape: the arguments of what makes the array.
        holders: how arrays are held.
        inputs: for each argument, what its `alike` fields have to be.
        example: what a result looks like but for its array, its serial, and its owner.

    It takes outer objects of the example's very class, each of another array, and returns one; or
    None, having done nothing, where that is not what is given. None where there is no launcher.
    """
    table = 0 if launch is None else _text_of(cast(Any, launch).__self__[0])
    inner: object = getattr(example, holders.inner)
    outer_type: type[Any] = type(example)
    inner_type: type[Any] = type(inner)
    outer_places, inner_places = _places(outer_type), _places(inner_type)
    if (own := _code("launch_held")) is None or not (outer_places and inner_places):
        return None
    set_later = (holders.array, holders.owner, holders.serial)
    outer_fields = _fields(example, outer_places, (holders.inner,))
    inner_fields = _fields(inner, inner_places, set_later)
    checks = [
        (inner_places[name], value)
        for values in inputs
        for name, value in zip(holders.alike, values, strict=True)
    ]
    words = [id(None), len(inputs), table, id(make), id(shape)]
    words += [id(outer_type), id(inner_type), outer_places[holders.inner]]
    words += [inner_places[name] for name in set_later]
    words += [id(holders.serials), len(outer_fields), len(inner_fields), len(holders.alike)]
    assert len(words) == layout.HOLDER_HEADER
    for place, value in (*outer_fields, *inner_fields, *checks):
        words += [place, id(value)]
    return _new_builtin(own, words, launch, make, shape, holders, inputs, example)


def _fields(
    example: object, places: Mapping[str, int], but: Sequence[str]
) -> Sequence[tuple[int, object]]:
    """Where the fields of an object are, and what is in them."""
    return [(place, getattr(example, name)) for name, place in places.items() if name not in but]


@cache
def _places(kind: type[Any]) -> Mapping[str, int]:
    """Where the fields of a class's objects are, in bytes; nothing if they are not all in slots."""
    if kind.__dictoffset__ or kind.__itemsize__:
        return {}
    slots = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
    places: dict[str, int] = {}
    for name in slots:
        if name == "__weakref__":
            continue
        example, mark = object.__new__(kind), object()
        setattr(example, name, mark)
        words = range(0, kind.__basicsize__, 8)
        found = [at for at in words if _word(id(example) + at) == id(mark)]
        if len(found) != 1:
            return {}
        places[name] = found[0]
    return places


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _text_of(table: bytes) -> int:
    """Where the bytes are."""
    address = ctypes.cast(ctypes.c_char_p(table), ctypes.c_void_p).value
    assert address is not None
    return address


class _Method(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Code(NamedTuple):
    """The code of all launchers of a kind: `method` points into `library`."""

    method: _Method
    library: ElfImage | JitLibrary


_NEW_BUILTIN: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))


def _new_builtin(own: _Code, words: Sequence[int], *kept: object) -> Callable[..., Any]:
    """A builtin with a table of words, which live as long as it does, as do its code and others."""
    table = bytes((ctypes.c_int64 * len(words))(*words))
    return _NEW_BUILTIN(ctypes.byref(own.method), (table, own, *kept), None)


def _code(name: str) -> _Code | None:
    """The code of all launchers of a kind; None where it would not fit."""
    if (library := _library()) is None:
        return None
    doc = b"Call compiled code with these arrays, or what has them, if they fit."
    return _Code(_Method(name.encode(), library.address(name), _FASTCALL, doc), library)


@once
def _library() -> ElfImage | JitLibrary | None:
    if not _has_known_layout():
        return None
    try:
        return load_ir(layout.launcher_ir(), "launcher")
    except OSError:
        return None


def _has_known_layout() -> bool:
    """Whether the fields of objects are where `PyArrayObject` of 64 bits has them."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros((3, 5), np.float32)

    def field(place: int) -> int:
        return _word(id(array) + place)

    extents = (ctypes.c_int64 * 2).from_address(field(layout.EXTENTS))
    return (
        (field(layout.TYPE), field(layout.DATA), field(layout.DTYPE))
        == (id(np.ndarray), array.ctypes.data, id(array.dtype))
        and (field(layout.RANK) & 0xFFFFFFFF, *extents) == (2, 3, 5)
        and field(layout.FLAGS) & 0xFFFFFFFF == array.flags.num
    )
