"""Builtin functions that call compiled code: they look at arguments as C would.

To look at a few arrays and pass their addresses on takes Python and ctypes microseconds, as long as
a product of 64x64 matrices takes. A launcher is a builtin whose code LLVM has generated: it reads
the fields of NumPy's arrays (`PyArrayObject`, which is part of NumPy's ABI) and calls the compiled
function. Where an argument is not as it should be it does nothing, and says so.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.loader import load

Launcher = Callable[..., bool]
"""Takes an array, or an address, for each slot. Whether it has called the function."""

MAX_SLOTS, MAX_AXES = 256, 8
"""The most arguments that a function, and axes that an array may have."""

_TYPE, _DATA, _RANK, _EXTENTS, _DTYPE, _FLAGS = 8, 16, 24, 32, 56, 64
"""Where the fields of an array are, in bytes."""
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_FASTCALL = 0x80
_ADDRESS = -1
"""In place of a number of axes."""
_HEADER, _SLOT = 5, 5 + MAX_AXES
"""Words of the table of a launcher: of the function, and of each slot."""


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
    each slot. The function and the dtypes of the slots have to live as long as it does.

    It calls it with arrays of NumPy's own class, of the slots' shapes and very dtypes, in C order,
    aligned, and writable if they are written; the results, which come first, share no memory with
    others. It releases the interpreter's lock meanwhile. None where there is no launcher: for too
    many arguments or axes, and in a Python whose objects are laid out in other ways.
    """
    if len(slots) > MAX_SLOTS or any(len(slot.shape or ()) > MAX_AXES for slot in slots):
        return None
    if (method := _method()) is None:
        return None
    words = [function, len(slots), results, id(np.ndarray), id(int)]
    for slot in slots:
        shape = slot.shape or ()
        rank = _ADDRESS if slot.shape is None else len(shape)
        flags = _CONTIGUOUS | _ALIGNED | (_WRITEABLE if slot.is_written else 0)
        words += [slot.position, id(slot.dtype), rank, flags, slot.nbytes]
        words += [*shape, *[0] * (MAX_AXES - len(shape))]
    return _new_builtin(method, bytes((ctypes.c_int64 * len(words))(*words)))


class _Method(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _new_builtin(method: _Method, table: bytes) -> Launcher:
    new: Any = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.byref(method), table, None)


@cache
def _method() -> _Method | None:
    """The code of all launchers; None where it would not fit."""
    if not _has_known_layout():
        return None
    try:
        code = load(_object_code())
    except OSError:
        return None
    _kept.append(code)
    doc = b"Call compiled code with these arrays; whether it was called."
    return _Method(b"launch", code.address("launch"), _FASTCALL, doc)


_kept: list[object] = []


def _has_known_layout() -> bool:
    """Whether the fields of objects are where `PyArrayObject` of 64 bits has them."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros((3, 5), np.float32)

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(id(array) + offset).value

    extents = (ctypes.c_int64 * 2).from_address(word(_EXTENTS))
    return (
        (word(_TYPE), word(_DATA), word(_DTYPE))
        == (id(np.ndarray), array.ctypes.data, id(array.dtype))
        and (word(_RANK) & 0xFFFFFFFF, *extents) == (2, 3, 5)
        and word(_FLAGS) & 0xFFFFFFFF == array.flags.num
    )


def _object_code() -> bytes:
    cache = object_cache()
    key = "" if cache is None else cache_key(_IR, "launcher")
    if cache is not None and (known := cache.get(key)) is not None:
        return known
    from tgdialect.backends.llvm_cpu import CpuTarget

    code = CpuTarget.host().object_code(_IR)
    if cache is not None:
        cache.put(key, code)
    return code


_IR = f"""
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define ptr @launch(ptr %self, ptr %arguments, i64 %given) {{
  %table = call ptr @PyBytes_AsString(ptr %self)
  %function = load ptr, ptr %table
  %count.at = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.at
  %results.at = getelementptr i64, ptr %table, i64 2
  %results = load i64, ptr %results.at
  %array.at = getelementptr i64, ptr %table, i64 3
  %array = load ptr, ptr %array.at
  %integer.at = getelementptr i64, ptr %table, i64 4
  %integer = load ptr, ptr %integer.at
  %slots = getelementptr i64, ptr %table, i64 {_HEADER}
  %fits = icmp eq i64 %given, %count
  br i1 %fits, label %begin, label %refuse

begin:
  %frame = alloca ptr, i64 %count
  %starts = alloca i64, i64 %count
  %stops = alloca i64, i64 %count
  br label %next

next:
  %i = phi i64 [ 0, %begin ], [ %i.next, %place ]
  %is.last = icmp eq i64 %i, %count
  br i1 %is.last, label %run, label %look

look:
  %words = mul i64 %i, {_SLOT}
  %slot = getelementptr i64, ptr %slots, i64 %words
  %position = load i64, ptr %slot
  %rank.wanted.at = getelementptr i64, ptr %slot, i64 2
  %rank.wanted = load i64, ptr %rank.wanted.at
  %argument.at = getelementptr ptr, ptr %arguments, i64 %i
  %argument = load ptr, ptr %argument.at
  %type.at = getelementptr i8, ptr %argument, i64 {_TYPE}
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %check, label %other

other:
  %is.integer = icmp eq ptr %type, %integer
  %is.wanted = icmp eq i64 %rank.wanted, {_ADDRESS}
  %is.address = and i1 %is.integer, %is.wanted
  br i1 %is.address, label %address, label %refuse

address:
  %value = call ptr @PyLong_AsVoidPtr(ptr %argument)
  br label %place

check:
  %dtype.at = getelementptr i8, ptr %argument, i64 {_DTYPE}
  %dtype = load i64, ptr %dtype.at
  %dtype.wanted.at = getelementptr i64, ptr %slot, i64 1
  %dtype.wanted = load i64, ptr %dtype.wanted.at
  %has.dtype = icmp eq i64 %dtype, %dtype.wanted
  %rank.at = getelementptr i8, ptr %argument, i64 {_RANK}
  %rank.32 = load i32, ptr %rank.at
  %rank = sext i32 %rank.32 to i64
  %has.rank = icmp eq i64 %rank, %rank.wanted
  %flags.at = getelementptr i8, ptr %argument, i64 {_FLAGS}
  %flags.32 = load i32, ptr %flags.at
  %flags = sext i32 %flags.32 to i64
  %flags.wanted.at = getelementptr i64, ptr %slot, i64 3
  %flags.wanted = load i64, ptr %flags.wanted.at
  %flags.found = and i64 %flags, %flags.wanted
  %has.flags = icmp eq i64 %flags.found, %flags.wanted
  %has.both = and i1 %has.dtype, %has.rank
  %has.all = and i1 %has.both, %has.flags
  %extents.at = getelementptr i8, ptr %argument, i64 {_EXTENTS}
  %extents = load ptr, ptr %extents.at
  %wanted = getelementptr i64, ptr %slot, i64 5
  br i1 %has.all, label %axis, label %refuse

axis:
  %j = phi i64 [ 0, %check ], [ %j.next, %extent ]
  %is.checked = icmp eq i64 %j, %rank
  br i1 %is.checked, label %take, label %extent

extent:
  %j.next = add i64 %j, 1
  %extent.at = getelementptr i64, ptr %extents, i64 %j
  %is = load i64, ptr %extent.at
  %extent.wanted.at = getelementptr i64, ptr %wanted, i64 %j
  %should = load i64, ptr %extent.wanted.at
  %has.extent = icmp eq i64 %is, %should
  br i1 %has.extent, label %axis, label %refuse

take:
  %data.at = getelementptr i8, ptr %argument, i64 {_DATA}
  %data = load ptr, ptr %data.at
  %nbytes.at = getelementptr i64, ptr %slot, i64 4
  %nbytes = load i64, ptr %nbytes.at
  %start = ptrtoint ptr %data to i64
  %stop = add i64 %start, %nbytes
  %start.at = getelementptr i64, ptr %starts, i64 %i
  store i64 %start, ptr %start.at
  %stop.at = getelementptr i64, ptr %stops, i64 %i
  store i64 %stop, ptr %stop.at
  %is.result = icmp ult i64 %i, %results
  %before.i = select i1 %is.result, i64 %i, i64 %results
  br label %overlap

overlap:
  %k = phi i64 [ 0, %take ], [ %k.next, %compare ]
  %is.apart = icmp eq i64 %k, %before.i
  br i1 %is.apart, label %place, label %compare

compare:
  %k.next = add i64 %k, 1
  %k.start.at = getelementptr i64, ptr %starts, i64 %k
  %k.start = load i64, ptr %k.start.at
  %k.stop.at = getelementptr i64, ptr %stops, i64 %k
  %k.stop = load i64, ptr %k.stop.at
  %before = icmp ult i64 %start, %k.stop
  %after = icmp ult i64 %k.start, %stop
  %shared = and i1 %before, %after
  br i1 %shared, label %refuse, label %overlap

place:
  %pointer = phi ptr [ %value, %address ], [ %data, %overlap ]
  %frame.at = getelementptr ptr, ptr %frame, i64 %position
  store ptr %pointer, ptr %frame.at
  %i.next = add i64 %i, 1
  br label %next

run:
  %thread = call ptr @PyEval_SaveThread()
  call void %function(ptr %frame)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %answer

refuse:
  br label %answer

answer:
  %called = phi i64 [ 1, %run ], [ 0, %refuse ]
  %bool = call ptr @PyBool_FromLong(i64 %called)
  ret ptr %bool
}}
"""
