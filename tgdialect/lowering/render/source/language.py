"""The spellings of a C-like language, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from tgdialect.lowering.render.names import SOURCE, Naming
from tgdialect.ops import tg
from tgdialect.targets import TARGETS, source_language


@dataclass(frozen=True)
class Style:
    """How a source is written where a language leaves a choice."""

    parenthesizes: bool = False
    """Whether every operation is in parentheses, and not only those that need them."""
    names_loads: bool = False
    """Whether each LOAD has a variable of its own."""
    has_compound_assignments: bool = True
    """Whether `a = a + b` is `a += b`."""
    global_cell: str = "{base}[{index}]"
    """A cell of memory in the space `global`."""
    loops: Sequence[str] = "ijklmnopq"
    """The names of the outermost loops."""
    loop: str = "i"
    """The name of a loop inside of those, without its number."""

    def loop_names(self) -> Iterator[str]:
        """The names of nested loops."""
        return chain(self.loops, (f"{self.loop}{n}" for n in count()))


@dataclass(frozen=True)
class Language:
    """The table of spellings of one language. Templates are those of `str.format`."""

    name: str
    preamble: str
    """The beginning of a source."""
    types: Mapping[str, str]
    """The type of each dtype that the language has, by the dtype's name."""
    suffixes: Mapping[str, str]
    """The suffix of a literal, by dtype."""
    special_floats: Mapping[str, tuple[str, str]]
    """Infinity and NaN, by dtype; those of narrow floats are converted f32s."""
    kernel: str
    """The head of a kernel: {name}, {parameters}, and {items}, {x}, {y}, {z} work items."""
    helper: str
    """The qualifiers of a helper function."""
    scalar_parameter: str
    """A parameter that is an index: {type} and {name}."""
    functions: Mapping[str, str]
    """Names of built-in functions, by "name" or "name dtype"; CASTs and BITCASTs of a {value}, by
    "cast from to" and "bitcast from to"; a vector of {elements} that has another spelling than
    `vector_value`, by "vector dtype"."""
    async_copy: str = ""
    """Starts to copy {bytes} bytes of memory from {source} to {to} in LOCAL memory, through the
    {caches}."""
    async_copy_or_zeros: str = ""
    """Starts to copy the first {known} bytes, and to fill the others with zeros."""
    async_wait: str = ""
    """Makes a group of the copies since the last one, and waits for all but {pending} groups."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The line of the preamble that a dtype needs."""
    spaces: Mapping[tg.AddrSpace, str] = field(default_factory=dict[tg.AddrSpace, str])
    """The qualifiers of pointers."""
    shared: str = ""
    """The qualifiers of an array that a workgroup shares."""
    dynamic_shared: str = ""
    """Declares the bytes {name} that a launch allocates for a workgroup, aligned to {bytes}; the
    language has none if it is empty."""
    aligned: str = ""
    """The qualifier of an array that is aligned to {bytes}; it comes first."""
    parameters_after: tuple[str, ...] = ()
    """Parameters that each kernel has after its own."""
    specials: Mapping[str, str] = field(default_factory=dict[str, str])
    """SPECIALs: gidx, lidx and idx, with {axis} 0 to 2 and {letter} x to z."""
    barrier: str = ""
    """A barrier, for memory that a workgroup shares and for global memory."""
    unroll: str = ""
    """The pragma before a loop that the compiler is to unroll."""
    shuffles: Mapping[str, str] = field(default_factory=dict[str, str])
    """SHUFFLEs by dtype: of a {value} over a {distance}, among the work items of a {mask}."""
    vectors: Mapping[int, str] = field(default_factory=dict[int, str])
    """Vector types by their number of lanes: {element} is the name of the element's type."""
    widest_vectors: Mapping[str, int] = field(default_factory=dict[str, int])
    """The most lanes of a vector of a dtype, where they are fewer than those of `vectors`."""
    vector_load: str = ""
    vector_store: str = ""
    """Accesses of {lanes} elements of vector type {type} at {pointer}, with {space}."""
    vector_value: str = ""
    """A vector of type {type} with the lanes {elements}."""
    loads_need_alignment: bool = True
    """Whether a vector has to be aligned to its size."""
    atomics: Mapping[str, str] = field(default_factory=dict[str, str])
    """ATOMICADD of a {value} to a {cell} or its address {pointer}, by dtype; {space} is the
    qualifier. "helper name" is a helper function."""
    has_mma: bool = False
    """Whether it has inline assembly of PTX, as matrix instructions of GPUs are."""
    has_tiles: bool = False
    """Whether it has inline assembly of CPUs, as their matrix instructions are."""
    signed_wraps: bool = True
    """Whether arithmetic on signed integers wraps. Otherwise it is done on unsigned ones."""
    names: Naming = SOURCE
    """The names that are taken."""
    style: Style = field(default_factory=Style)


def to_source(language: Language) -> str:
    """The pass that makes sources in a language of a program on tensors, for the first target that
    has this language, or whose kernels it can express."""
    name = language.name
    for target in TARGETS:
        if source_language(target) == name:
            return f"'tg-to-source{{target={target}}}'"
    target = "opencl" if language.specials else "c"
    return f"'tg-to-source{{target={target} output={name}}}'"
