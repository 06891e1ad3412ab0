"""Loads object code of x86-64 Linux into this process, without LLVM.

A program from the object cache starts in less time than importing LLVM takes. This is the part of a
linker that our code needs: it places sections one after the other and applies relocations
("System V Application Binary Interface, AMD64 Architecture Processor Supplement", section 4.4).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from errno import ENOMEM
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from typing import Any, NamedTuple, Self

_FILE_HEADER = struct.Struct("<6s12xH20xQ10xHH")
_KIND = b"\x7fELF\x02\x01", 62
"""ELF of 64 bits, little-endian, of x86-64."""

_SYMBOL_TABLE, _RELOCATIONS, _ZEROS, _UNWINDING = 2, 4, 8, 0x70000001
"""Types of sections: SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_X86_64_UNWIND. Source: the ELF and
x86-64 psABI specifications, as for the other numbers."""
_CONTENTS = 1, _ZEROS
_WRITABLE, _ALLOCATED, _THREAD_LOCAL = 0x1, 0x2, 0x400
"""Flags of sections: SHF_WRITE, SHF_ALLOC, SHF_TLS."""
_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00
"""Numbers of sections in symbols: SHN_UNDEF, SHN_ABS, SHN_LORESERVE."""

_ADDRESS, _DISTANCE, _CALL, _DISTANCE_64 = 1, 2, 4, 24
"""Relocations: R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_PC64."""
_DISTANCE_OF_ADDRESS = 9, 41, 42
"""Relocations: R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX."""

_JUMP = bytes.fromhex("ff25020000000000")
"""`jmp *2(%rip)` and two bytes of padding: the address to jump to follows."""
_STUB_SIZE = len(_JUMP) + 8

_MAX_BYTES = 1 << 31
"""The range that the small code model addresses."""

_process = ctypes.CDLL(None, use_errno=True)
_BYTE: Any = ctypes.c_char


class UnsupportedError(Exception):
    """Object code that only a whole linker can load."""


class _Section(NamedTuple):
    """A section header."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def is_placed(self) -> bool:
        """Whether it is part of the running program. Raises UnsupportedError for kinds of sections
        that this loader does not know."""
        if not self.flags & _ALLOCATED or self.type == _UNWINDING:
            return False
        if self.flags & _THREAD_LOCAL or self.type not in _CONTENTS:
            raise UnsupportedError(f"section of type {self.type} with flags {self.flags:#x}")
        return True


class _Symbol(NamedTuple):
    """A function, a variable or a constant: `value` is where it is in its section."""

    name: str
    section: int
    value: int


class _Relocation(NamedTuple):
    """The address to write at `offset` of a section: `type` says in which form, `symbol` is the
    index of the symbol."""

    section: int
    offset: int
    type: int
    symbol: int
    addend: int


class _Object(NamedTuple):
    """A parsed object file."""

    sections: Sequence[_Section]
    symbols: Sequence[_Symbol]
    relocations: Sequence[_Relocation]

    @classmethod
    def parse(cls, code: bytes) -> Self:
        *kind, start, size, count = _FILE_HEADER.unpack(code[: _FILE_HEADER.size])
        if tuple(kind) != _KIND:
            raise UnsupportedError("not an ELF file of x86-64")
        headers = code[start : start + size * count]
        sections = [_Section._make(fields) for fields in struct.iter_unpack("<IIQQQQIIQQ", headers)]

        def contents(section: _Section) -> bytes:
            return code[section.offset : section.offset + section.size]

        symbols: list[_Symbol] = []
        relocations: list[_Relocation] = []
        for section in sections:
            if section.type == _SYMBOL_TABLE:
                names = contents(sections[section.link])
                for name, where, value in struct.iter_unpack("<I2xHQ8x", contents(section)):
                    text = names[name : names.index(b"\0", name)].decode()
                    symbols.append(_Symbol(text, where, value))
            elif section.type == _RELOCATIONS and sections[section.info].is_placed:
                for offset, kind, symbol, addend in struct.iter_unpack("<QIIq", contents(section)):
                    relocations.append(_Relocation(section.info, offset, kind, symbol, addend))
        return cls(sections, symbols, relocations)


class ElfImage:
    """Object code in memory. Its addresses are valid as long as this object lives.

    Layout: stubs that jump to functions of the process, then code and constants, then variables on
    pages of their own. All but the variables are made read-only and executable.
    """

    def __init__(self, object_code: bytes, symbols: Mapping[str, int] = {}) -> None:
        """`symbols` are addresses of external symbols; the others are looked up in the process.

        Raises UnsupportedError for object code that needs a whole linker, OSError for damaged
        object code or a symbol that the process lacks, and MemoryError.
        """
        self._symbols = symbols
        try:
            self._load(object_code)
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise OSError(f"cannot load object code: {error}") from error

    def address(self, name: str) -> int:
        """The address of a function or variable of the object code. Raises OSError if it has none
        of that name."""
        try:
            return self._addresses[name]
        except KeyError:
            raise OSError(f"cannot load '{name}': the object code does not define it") from None

    def _load(self, code: bytes) -> None:
        # Lay out stubs and sections, and map memory for them.
        parsed = _Object.parse(code)
        stubs = _stubs(parsed)
        places, variables, size = _layout(parsed.sections, start=len(stubs) * _STUB_SIZE)
        if size > _MAX_BYTES:
            raise OSError(f"cannot load object code: {size} bytes are no code of the small model")
        try:
            memory = mmap(-1, size, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE)
        except OSError as error:
            raise _memory_error(error.errno, f"cannot map {size} bytes of object code") from error
        # Copy the sections.
        base = ctypes.addressof(_BYTE.from_buffer(memory))
        for index, place in places.items():
            section = parsed.sections[index]
            if section.type != _ZEROS:
                contents = code[section.offset : section.offset + section.size]
                memory[place : place + section.size] = contents
        # Write the stubs and apply the relocations.
        addresses = [self._address(symbol, base, places) for symbol in parsed.symbols]
        for symbol, stub in stubs.items():
            memory[stub : stub + _STUB_SIZE] = _JUMP + addresses[symbol].to_bytes(8, "little")
        for section, offset, kind, symbol, addend in parsed.relocations:
            place = places[section] + offset
            target = addresses[symbol]
            if kind in _DISTANCE_OF_ADDRESS:
                target = base + stubs[symbol] + len(_JUMP)
            elif kind == _CALL and symbol in stubs:
                target = base + stubs[symbol]
            value = target + addend - (0 if kind == _ADDRESS else base + place)
            length = 8 if kind in (_ADDRESS, _DISTANCE_64) else 4
            # Signed is right for addresses too: those of user space are below 2**63.
            memory[place : place + length] = value.to_bytes(length, "little", signed=True)
        # Make all but the variables executable.
        protected = ctypes.c_void_p(base), ctypes.c_size_t(variables), PROT_READ | PROT_EXEC
        if _process.mprotect(*protected) != 0:
            raise _memory_error(ctypes.get_errno(), "this system lets no process make code")
        self._memory = memory
        self._addresses = {
            symbol.name: address
            for symbol, address in zip(parsed.symbols, addresses, strict=True)
            if symbol.section != _UNDEFINED
        }

    def _address(self, symbol: _Symbol, base: int, places: Mapping[int, int]) -> int:
        """The address of a symbol; 0 if its section is not placed."""
        if symbol.section == _UNDEFINED:
            known = self._symbols.get(symbol.name)
            if known is not None or not symbol.name:
                return known or 0
            return _address_in_process(symbol.name)
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section >= _RESERVED:
            raise UnsupportedError(f"'{symbol.name}' in section {symbol.section:#x}")
        return base + places[symbol.section] + symbol.value if symbol.section in places else 0


def _memory_error(number: int | None, message: str) -> OSError | MemoryError:
    """The exception for an error number of the operating system."""
    return MemoryError(message) if number == ENOMEM else OSError(number, message)


def _stubs(parsed: _Object) -> dict[int, int]:
    """The offset of the stub of each symbol that needs one. Raises UnsupportedError for unknown
    types of relocations."""
    stubs: dict[int, int] = {}
    for relocation in parsed.relocations:
        undefined = parsed.symbols[relocation.symbol].section == _UNDEFINED
        if relocation.type in _DISTANCE_OF_ADDRESS or (relocation.type == _CALL and undefined):
            stubs.setdefault(relocation.symbol, len(stubs) * _STUB_SIZE)
        elif relocation.type not in (_ADDRESS, _DISTANCE, _CALL, _DISTANCE_64):
            raise UnsupportedError(f"relocation of type {relocation.type}")
    return stubs


def _layout(sections: Sequence[_Section], start: int) -> tuple[dict[int, int], int, int]:
    """The offset of each section, the offset of the variables, and the total size."""
    places: dict[int, int] = {}
    end, starts = start, [0, 0]
    for kind in (0, _WRITABLE):
        end = starts[kind] = -(-end // PAGESIZE) * PAGESIZE if kind else end
        for index, section in enumerate(sections):
            if section.is_placed and section.flags & _WRITABLE == kind:
                if section.alignment > PAGESIZE:
                    raise UnsupportedError(f"alignment of {section.alignment} bytes")
                alignment = max(section.alignment, 1)
                places[index] = -(-end // alignment) * alignment
                end = places[index] + section.size
    return places, starts[_WRITABLE], max(end, 1)


def _address_in_process(name: str) -> int:
    try:
        return ctypes.cast(_process[name], ctypes.c_void_p).value or 0
    except AttributeError:
        raise OSError(f"cannot load object code: this process has no '{name}'") from None
