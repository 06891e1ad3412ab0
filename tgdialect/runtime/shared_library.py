"""A program as a shared library for C: its header, and the C code around its object code.

The function of C checks the scalars of a call, allocates what the caller does not, and calls the
program with a frame (`Program`). The library needs the C library only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast
from zlib import crc32

from tgdialect.backends.c_compiler import shared_library
from tgdialect.lowering.render.names import SOURCE
from tgdialect.ops.expressions import OPERATIONS, WRAP, Expression, argument_at, infix
from tgdialect.runtime.native import native_text
from tgdialect.runtime.program import Parameter, Program, with_contents
from tgdialect.runtime.program_file import ProgramFile
from tgdialect.runtime.threads import POOL_LINES
from tgdialect.targets.cpu import ALIGNMENT
from tgdialect.targets.listed_features import CPUINFO, LINE, listed_name, needs_tiles

_INT64_MIN = -(2**63)
"""The least i64, which stands for no lower bound."""

_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
} | {f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""Types of C by NumPy's names of dtypes. What C has no type for is passed as its bits; any other
dtype has 8 of them."""

_HEADER_FILE = "library.h"
_ANY_THREAD = "Any number\n   of threads may call at the same time."
_ONE_THREAD = """Calls of
   several threads take turns: the program has BUFFERs, which live from call to call."""

_DATA = r"""
extern const char data{0}[] __asm__("tg.data{0}") __attribute__((visibility("hidden")));
__asm__(".section .rodata\n.balign {1}\ntg.data{0}: .incbin \"data{0}\"\n.byte 0\n.previous");
"""
"""The contents of a BINARY, which are in a file."""
_OPERATIONS = {
    "add": "({0} + {1})",
    "mul": "({0} * {1})",
    "idiv": "quotient({0}, {1})",
    "mod": "remainder_of({0}, {1})",
    "max": "({0} > {1} ? {0} : {1})",
    "where": "({0} ? {1} : {2})",
    "and": "({0} & {1})",
    "or": "({0} | {1})",
    "xor": "({0} ^ {1})",
    WRAP: "wrapped({0}, {1}, {2})",
    "cmplt": "({0} < {1})",
    "cmpgt": "({0} > {1})",
    "cmple": "({0} <= {1})",
    "cmpge": "({0} >= {1})",
    "cmpeq": "({0} == {1})",
    "cmpne": "({0} != {1})",
}
"""The operations of windows' bounds in C, in which integers wrap (`c_compiler.FLAGS`)."""


def threads_of_library() -> dict[str, bytes]:
    """The C of a library whose loops have threads, as a file that it includes."""
    return {"threads.c": native_text("threads.c", POOL_LINES=POOL_LINES).encode()}


class _Named(NamedTuple):
    """A parameter of the program. `position` is that in the frame, `name` that in the header. In
    the library it is `local`, which is different from all other names there."""

    position: int
    parameter: Parameter
    name: str

    @property
    def local(self) -> str:
        return f"a{self.position}"

    @property
    def is_given(self) -> bool:
        """Whether it is an input that the caller passes."""
        return self.parameter.role in ("input", "scalar") and self.parameter.computed is None

    @property
    def is_number(self) -> bool:
        return self.parameter.role == "scalar"

    def declared(self, name: str) -> str:
        """The parameter of the C function by a name."""
        if self.is_number:
            return f"int64_t {name}"
        const = "" if self.is_written else "const "
        return f"{const}{_TYPES.get(self.parameter.dtype.name, 'uint8_t')} *{name}"

    @property
    def is_written(self) -> bool:
        return self.parameter.role == "output" or self.parameter.by_reference


class SharedLibrary:
    """A library of one function, for C."""

    def __init__(self, file: ProgramFile, library: str, source: str) -> None:
        """`library` is its name without an extension, `source` that of the program.

        Raises ValueError for a file that has several functions, or a program that C cannot call.
        """
        if not file.system:
            raise ValueError(f"a shared library is for a CPU, not {file.target}: write a .tgx")
        if len(file.programs) != 1:
            raise ValueError(
                "a shared library has one function: name it by --entry, or write a .tgx"
            )
        (self._entry,) = file.programs
        program = file.programs[self._entry]
        assert isinstance(program, Program)
        if not file.system.startswith("linux"):
            raise ValueError("shared libraries are made on Linux: write a .tgx")
        for parameter in program.parameters:
            if parameter.role in ("buffer", "persistent") and parameter.is_dynamic:
                raise ValueError(f"{parameter}: a shared library has no state of symbolic size")
        self._file, self._program, self._source = file, program, source
        self._library = re.sub(r"\W", "_", library, flags=re.ASCII)
        if not re.match("[A-Za-z]", self._library):
            self._library = f"tg_{self._library}"
        self._prefix = f"TG_{self._library.upper()}"
        """The prefix of the codes: `W_OK` without `TG_` is a macro of the C library."""
        self.function = f"{self._library}_{SOURCE.symbol(self._entry).strip('_')}"
        """The name of the function in C."""
        self._named = [*_named(program.parameters)]
        given = [each for each in self._named if each.is_given]
        self._given = [*given, *(each for each in self._named if each.parameter.role == "output")]
        """The parameters of the C function."""
        self._has_threads = b"tg_parallel" in b"".join(each.code for each in program.objects)
        self._buffers = [each for each in self._named if each.parameter.role == "buffer"]
        program = with_contents(program)
        data = dict.fromkeys(p.data for p in program.parameters if isinstance(p.data, bytes))
        self._data = {each: number for number, each in enumerate(data)}
        """The contents of BINARYs, and their numbers in the library."""
        roles = {parameter.role for parameter in program.parameters}
        given_constants = any(each.parameter.is_constant for each in given)
        self._computes_sizes = any(p.computed is not None for p in program.parameters)
        self._derives_once = "persistent" in roles and not given_constants
        """Whether all that is derived from constants is derived from BINARYs."""

    def header(self, name: str) -> str:
        """The header, a file of that name without extension.

        Names that differ in case, or in what no identifier has, have different include guards.
        """
        distinct = "" if name == self._library else f"_{crc32(name.encode()):08x}"
        return native_text(
            "library.h",
            library=_in_comment(name),
            entry=_in_comment(self._entry),
            file=_in_comment(self._source),
            system=self._file.system,
            features=" ".join(self._file.features) or "none is needed",
            calls=_ONE_THREAD if self._buffers else _ANY_THREAD,
            guard=f"TG_{self.function}{distinct}_H",
            prefix=self._prefix,
            arguments="\n".join(map(self._described, self._given)) or "   It has no arguments.",
            name=self.function,
            parameters=", ".join(p.declared(p.name) for p in self._given) or "void",
        )

    def code(self, name: str) -> bytes:
        """The library, for the header of that name. Raises PassFailedException without a C
        compiler."""
        objects = [each.code for each in self._program.objects]
        files = {_HEADER_FILE: self.header(name).encode()}
        files |= {f"data{number}": data for data, number in self._data.items()}
        if self._has_threads:
            objects += [each.code for each in self._file.native if each.name == "pool"]
            files |= threads_of_library()
        return shared_library(self._body(), objects, [self.function], files)

    def _described(self, each: _Named) -> str:
        """A line of the header about a parameter of the function."""
        parameter = each.parameter
        extents = zip(parameter.shape, parameter.axes, strict=True)
        shape = " x ".join(str(n) if size is None else self._size(size) for n, size in extents)
        notes = [f"array of {shape} {parameter.dtype}" if shape else f"one {parameter.dtype}"]
        if each.is_number:
            bounds = f"from {parameter.low} to {parameter.high}"
            notes = ["integer" if parameter.low == _INT64_MIN else f"integer {bounds}"]
        if parameter.role == "output":
            notes.append("result")
        elif parameter.result is not None:
            notes.append(f"overwritten by result {parameter.result}")
        elif each.is_written:
            notes.append("read and written")
        return f"   {each.name}: {', '.join(notes)}"

    def _size(self, position: int) -> str:
        """A scalar by its name, or by those of the sizes that it is computed from."""
        formula = self._named[position].parameter.computed or argument_at(position)
        text = infix(formula, [each.name for each in self._named])
        return f"({text})" if " " in text else text

    def _body(self) -> str:
        steps, ends = [*self._checks()], list[str]()
        self._allocate(steps, ends)
        return native_text(
            "library.c",
            header=_HEADER_FILE,
            symbol=self._program.objects[-1].symbol,
            needed="".join(f'"{listed_name(feature)}", ' for feature in self._file.features),
            cpuinfo=CPUINFO,
            begins=" && ".join(f'strncmp(line, "{word}", {len(word)})' for word in LINE),
            has_tiles=int(needs_tiles(self._file.features)),
            has_threads=int(self._has_threads),
            takes_turns=int(bool(self._buffers) or self._derives_once),
            has_windows=int(bool(self._program.windows)),
            has_expressions=int(bool(self._program.windows) or self._computes_sizes),
            alignment=ALIGNMENT,
            state=self._state(),
            name=self.function,
            parameters=", ".join(p.declared(p.local) for p in self._given) or "void",
            count=max(len(self._named), 1),
            prefix=self._prefix,
            steps="".join(f"  {step}\n" for step in steps),
            ends="".join(f"  {end}\n" for end in ends),
        )

    def _state(self) -> str:
        """The contents of BINARYs; the BUFFERs of the program, which one call at a time uses; and
        what it derives from BINARYs, which the first call does alone."""
        roles = {"buffer", "persistent"} if self._derives_once else {"buffer"}
        kept = [each for each in self._named if each.parameter.role in roles]
        lines = [_DATA.format(number, ALIGNMENT) for number in self._data.values()]
        lines += [f"static void *state{each.position};\n" for each in kept]
        return "".join([*lines, *(["static int is_derived;\n"] if self._derives_once else [])])

    def _checks(self) -> Iterator[str]:
        """Statements that fill the frame, and return for arguments that do not fit."""
        bad = f"return {self._prefix}_BAD_ARGUMENT;"
        for each in self._given:
            parameter, name = each.parameter, each.local
            if not each.is_number:
                yield f"if (!{name}) {bad}"
            elif parameter.low > _INT64_MIN or parameter.high < -_INT64_MIN - 1:
                outside = f"{name} < {_number(parameter.low)} || {name} > {_number(parameter.high)}"
                yield f"if ({outside}) {bad}"
            yield f"frame[{each.position}] = (int64_t){name};"
        for each in self._named:
            if (formula := each.parameter.computed) is not None:
                yield f"frame[{each.position}] = {_expression(formula)};"
        for window in self._program.windows:
            bounds = map(_expression, (window.offset, window.inner, window.outer))
            yield f"if (is_outside({', '.join(bounds)})) {bad}"
        for each in self._named:
            if each.parameter.computed is not None:
                low, high = _number(each.parameter.low), _number(each.parameter.high)
                value = f"frame[{each.position}]"
                yield f"if ({value} < {low} || {value} > {high}) {bad}"

    def _allocate(self, steps: list[str], ends: list[str]) -> None:
        """Statements that allocate what the caller does not, and those that free it."""
        blocks: list[str] = []
        clears: list[str] = []
        if self._buffers:
            steps.append("pthread_mutex_lock(&turn);")
            ends.append("pthread_mutex_unlock(&turn);")
        elif self._derives_once:
            steps.append("int is_first = !__atomic_load_n(&is_derived, __ATOMIC_ACQUIRE);")
            steps.append("if (is_first) pthread_mutex_lock(&turn);")
            done = f"__atomic_store_n(&is_derived, code == {self._prefix}_OK, __ATOMIC_RELEASE)"
            ends.append(f"if (is_first) {done}, pthread_mutex_unlock(&turn);")
        for each in self._named:
            at, bytes = each.position, self._bytes(each.parameter)
            match each.parameter.role:
                case "data":
                    number = self._data[cast(bytes, each.parameter.data)]
                    steps.append(f"frame[{at}] = (int64_t)data{number};")
                case "persistent" | "buffer" as role if role == "buffer" or self._derives_once:
                    made = f"(state{at} = block({bytes}))"
                    steps.append(f"if (!state{at} && {made}) memset(state{at}, 0, {bytes});")
                    steps.append(f"if (!(frame[{at}] = (int64_t)state{at})) goto end;")
                case "workspace" | "persistent":
                    blocks.append(f"block{at}")
                    steps.append(f"if (!(block{at} = block({bytes}))) goto end;")
                    steps.append(f"frame[{at}] = (int64_t)block{at};")
                    if each.parameter.role == "persistent":  # Not yet computed.
                        steps.append(f"memset(block{at}, 0, sizeof(int64_t));")
                case "output" if each.parameter.is_cleared:
                    clears.append(f"memset({each.local}, 0, {bytes});")
                case _:
                    pass
        steps += clears  # When nothing can fail any more.
        ends += [f"free({name});" for name in blocks]
        if blocks:
            steps.insert(0, "void " + ", ".join(f"*{name} = 0" for name in blocks) + ";")

    def _bytes(self, parameter: Parameter) -> str:
        """The bytes of an array of a call, as an expression."""
        known = math.prod(extent for extent in parameter.shape if extent is not None)
        product = f"{parameter.dtype.itemsize * known}ull"
        for size in parameter.dims:
            product = f"times({product}, frame[{size}])"
        return product


def _named(parameters: Sequence[Parameter]) -> Iterator[_Named]:
    """Parameters with names that are different identifiers of C."""
    taken: set[str] = set()
    for position, parameter in enumerate(parameters):
        name = SOURCE.free(SOURCE.value(parameter.name) or f"arg{position}")
        while name in taken:
            name = f"{name}_{position}"
        taken.add(name)
        yield _Named(position, parameter, name)


def _in_comment(text: str) -> str:
    """A name as it stands in a comment of C, which it cannot end: neither by `*/` nor by one whose
    halves a backslash, or its trigraph, joins over lines."""
    return "".join(c if c.isprintable() and c not in "*\\?" else "_" for c in text)


def _number(value: int) -> str:
    """An integer of 64 bits as a constant of C."""
    return "INT64_MIN" if value == _INT64_MIN else f"INT64_C({value})"


def _expression(expression: Expression) -> str:
    """The value of an expression in C."""
    stack: list[str] = []
    for token in expression:
        if isinstance(token, int):
            stack.append(_number(token))
        elif token.startswith("%"):
            stack.append(f"frame[{token[1:]}]")
        else:
            arity = OPERATIONS[token][0]
            stack[-arity:] = [_OPERATIONS[token].format(*stack[-arity:])]
    (value,) = stack
    return value
