"""Builtin functions that check arrays and call compiled code, without Python code in between.

Python and ctypes take microseconds to check a few arrays and to pass their addresses, as long as a
product of 64x64 matrices takes. A launcher is a builtin function whose machine code LLVM has
generated. It reads the fields of NumPy's arrays (`PyArrayObject`, which is part of NumPy's ABI) and
calls the compiled function. If an argument is not as expected, it does nothing and returns False.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from tgdialect.runtime.images import Image, load_ir
from tgdialect.runtime.native import native_ir
from tgdialect.runtime.once import once

MAX_SLOTS, MAX_AXES = 1024, 8
"""Limits of a launcher: the arguments of a function, and the axes of an array. More arguments take
more of the stack, 24 bytes each; with fewer, a program of many BINARYs is called by Python: 300 of
them took 53 us, and take 23 on the processor of docs/notes/runtime.md."""

TYPE, DATA, RANK, EXTENTS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Offsets of the fields of an array, in bytes. `TYPE` is the same in every object."""
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""NumPy's flags of an array: C_CONTIGUOUS, ALIGNED, WRITEABLE."""
ADDRESS = -1
"""The number of axes of a slot that is an address instead of an array."""
HEADER, SLOT = 5, 5 + MAX_AXES
"""Words of a launcher's table: those of the function, and those of each slot."""
HOLDER_HEADER = 15
"""Words of a holding launcher's table before its pairs of an offset and an object."""


def launcher_ir() -> str:
    """The LLVM IR of both kinds of launchers."""
    arrays = {"TYPE": TYPE, "DATA": DATA, "RANK": RANK, "EXTENTS": EXTENTS, "DTYPE": DTYPE}
    tables = {"ADDRESS": ADDRESS, "HEADER": HEADER, "SLOT": SLOT, "HOLDER_HEADER": HOLDER_HEADER}
    return native_ir("launcher", **arrays, **tables, FLAGS=FLAGS)


Launcher = Callable[..., bool]
"""Takes an array, or an address, for each slot. Returns whether it has called the function."""

_FASTCALL = 0x80
"""CPython's METH_FASTCALL: arguments are an array and its length."""


class FrameSlot(NamedTuple):
    """An argument of a launcher: its position in the frame, and the array that it has to be. If
    `shape` is None it is an address or a scalar, an int. A dynamic extent is None in `shape`, and
    `sizes` has, in order, the positions of the scalars with these extents."""

    position: int
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any]
    is_written: bool
    sizes: tuple[int, ...] = ()


def launcher(function: int, slots: Sequence[FrameSlot], results: int) -> Launcher | None:
    """A builtin that calls the function at an address with a frame: an array of pointers, one for
    each slot. The function has to live as long as the builtin.

    Scalars come before the arrays whose extents they are. It accepts arrays of NumPy's own class
    (no subclass) with the slots' shapes and the same dtype objects, in C order, aligned, and
    writable if they are written. The first `results` slots, of which some may be scalars, must
    share no memory with any other. It releases the interpreter's lock during the call.

    Returns None if there are too many arguments or axes, or if this Python lays out objects in
    another way.
    """
    if len(slots) > MAX_SLOTS or any(len(slot.shape or ()) > MAX_AXES for slot in slots):
        return None
    if (own := _code("launch")) is None:
        return None
    words = [function, len(slots), results, id(np.ndarray), id(int)]
    for slot in slots:
        shape, sizes = slot.shape or (), iter(slot.sizes)
        rank = ADDRESS if slot.shape is None else len(shape)
        flags = CONTIGUOUS | ALIGNED | (WRITEABLE if slot.is_written else 0)
        # The bytes of an array are those of one of its static extents, times its dynamic ones,
        # which are the complements of positions in the frame.
        nbytes = slot.dtype.itemsize * math.prod(e for e in shape if e is not None)
        words += [slot.position, id(slot.dtype), rank, flags, nbytes]
        words += [~next(sizes) if extent is None else extent for extent in shape]
        words += [0] * (MAX_AXES - len(shape))
    return _new_builtin(own, words, *[slot.dtype for slot in slots])


class Holders(NamedTuple):
    """The classes of objects that hold arrays, as a Tensor and its node: an outer object has an
    inner one, which has the array. Both keep their fields in `__slots__`; these are their names."""

    inner: str
    array: str
    owner: str
    """Field of the inner object: a weak reference to the outer one."""
    serial: str
    """Field of the inner object: the next number of `serials`."""
    serials: Iterator[int]
    alike: Sequence[str]
    """Fields of the inner object that are compared, by identity, with the expected ones."""


def holding_launcher(
    launch: Launcher | None,
    make: Callable[..., object],
    shape: tuple[Any, ...],
    holders: Holders,
    inputs: Sequence[Sequence[object]],
    example: object,
) -> Callable[..., Any] | None:
    """A builtin that calls a function of one result with the arrays inside of other objects.

    Args:
        launch: the function's launcher, if its only arguments are the result and these arrays.
        make: allocates the array of the result; without a launcher it is the function itself, which
            takes the arrays and returns the result.
        shape: the arguments of `make` with a launcher.
        holders: the fields of the objects that hold arrays.
        inputs: for each argument, the expected values of its `alike` fields.
        example: an outer object. A result is a copy of it with its own array, serial and owner.

    The builtin takes outer objects of the example's exact class, each with another array, and
    returns a new one. For any other arguments it does nothing and returns None.

    Returns None if this Python lays out objects in another way.
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
    assert len(words) == HOLDER_HEADER
    for place, value in (*outer_fields, *inner_fields, *checks):
        words += [place, id(value)]
    return _new_builtin(own, words, launch, make, shape, holders, inputs, example)


def _fields(
    example: object, places: Mapping[str, int], but: Sequence[str]
) -> Sequence[tuple[int, object]]:
    """The offset and the value of each field of an object, except those named in `but`."""
    return [(place, getattr(example, name)) for name, place in places.items() if name not in but]


@cache
def _places(kind: type[Any]) -> Mapping[str, int]:
    """The offset in bytes of each field of a class's objects; empty if they have a `__dict__`.

    An offset is found by setting the field of an example and searching the object for the pointer.
    """
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
    """The address of the contents of a bytes object."""
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
    """The machine code of one kind of launcher: `method` points into `library`."""

    method: _Method
    library: Image


_NEW_BUILTIN: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))


def _new_builtin(own: _Code, words: Sequence[int], *kept: object) -> Callable[..., Any]:
    """A builtin with a table of words. It keeps the table, its code and `kept` alive."""
    table = bytes((ctypes.c_int64 * len(words))(*words))
    return _NEW_BUILTIN(ctypes.byref(own.method), (table, own, *kept), None)


def _code(name: str) -> _Code | None:
    """The machine code of one kind of launcher; None if this Python lays out objects in another
    way."""
    if (library := _library()) is None:
        return None
    doc = b"Call compiled code with these arrays, or what has them, if they fit."
    return _Code(_Method(name.encode(), library.address(name), _FASTCALL, doc), library)


@once
def _library() -> Image | None:
    if not _has_known_layout():
        return None
    try:
        return load_ir(launcher_ir(), "launcher")
    except OSError:
        return None


def _has_known_layout() -> bool:
    """Whether arrays are laid out as `PyArrayObject` of CPython on 64 bits."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros((3, 5), np.float32)

    def field(place: int) -> int:
        return _word(id(array) + place)

    extents = (ctypes.c_int64 * 2).from_address(field(EXTENTS))
    return (
        (field(TYPE), field(DATA), field(DTYPE))
        == (id(np.ndarray), array.ctypes.data, id(array.dtype))
        and (field(RANK) & 0xFFFFFFFF, *extents) == (2, 3, 5)
        and field(FLAGS) & 0xFFFFFFFF == array.flags.num
    )
