"""`Target`: the description of a processor that every pass asks."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Target:
    """What a processor has. A pass reads these fields and detects nothing itself.

    Sizes are in bytes. A default is a usual value of a CPU; `host_target` puts what this machine
    has in place of the caches' sizes and the threads, and detects nothing else. A default that is
    "fitted" comes from timing kernels on one CPU (Emerald Rapids, docs/notes/heuristic.md): it has
    been measured on no other.
    """

    name: str
    """The kind of machine; the table of `targets` says which there are."""
    features: frozenset[str] = frozenset()
    """The features of its instruction set, in LLVM's spelling, with all that they imply."""

    execution: str = "loops"
    """What runs a loop nest: `loops` of threads, or a `grid` of workgroups."""

    native: frozenset[str] = frozenset()
    """Decomposed elementwise ops, without the dialect's name, that are one instruction or few."""
    converted: frozenset[str] = frozenset()
    """The narrow floats with an instruction to and from f32; the others are converted by integer
    operations on their bits. All of them are only stored: arithmetic is in f32."""

    instructions: frozenset[str] = frozenset()
    """The mnemonics that INS may name."""

    axis_types: frozenset[str] = frozenset()
    """The AxisTypes that a SPLIT may give a range, by their names."""

    vector_bits: int = 0
    """The width of the widest vector registers, a power of two; 0 where there are none."""
    vector_registers: int = 0
    """How many vector registers of that width there are."""
    masks_stores: bool = False
    """Whether one instruction stores some lanes of a vector, of 4 bytes each or more."""
    vector_ports: int = 2
    """How many vector operations a core starts in a cycle."""
    mulacc_latency: int = 4
    """The cycles from a multiply-accumulate to the next one that needs its result."""
    division_cycles: int = 6
    """The cycles between two divisions, or square roots, of vectors: an order of magnitude."""

    l1: int = 32 << 10
    """The L1 data cache of a core."""
    l2: int = 512 << 10
    """The L2 cache of a core."""
    llc: int = 16 << 20
    """The last-level cache: the part of it that a process may count on."""
    local: int = 4 << 20
    """The LOCAL and REG buffers that a kernel may have in all: half of the usual stack of a thread,
    where threads run loop nests."""

    cache_line: int = 64
    """The unit in which caches move memory, a power of two. Rows of a tile that lie in lines of
    their own are dearer, and threads do not share a line that they store to."""
    l1_ways: int = 8
    """How many rows of a tile may lie in one set of L1: those beyond evict one another. Fitted,
    on an L1 of 12 ways: what else a tile loads takes some of them."""
    page: int = 4096
    """The unit in which addresses are translated, a power of two: the smallest that systems use."""
    tlb_pages: int = 64
    """How many pages the first TLB knows, a usual number: a tile that is spread over more is copied
    together."""
    page_streams: int = 32
    """How many steps a block of a reduction has that goes down one page after another. More pages
    at once lose the prefetcher, fewer are more passes over the results. Fitted."""
    bytes_per_cycle: int = 8
    """The bytes that a core loads from memory and stores to it in a cycle, by which the heuristic
    tells whether a kernel is long enough for threads: an order of magnitude."""

    threads: int = 1
    """How many threads a kernel may use."""
    parallel_cycles: int = 30_000
    """The cycles that a kernel takes on one core from which on threads share it: waking them and
    waiting for the last takes a part of that. An order of magnitude."""

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} is {value}, not a positive number")
        for name in ("vector_bits", "vector_registers"):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} is {value}, a negative number")
        for name in ("vector_bits", "cache_line", "page"):
            if (value := getattr(self, name)) & (value - 1):
                raise ValueError(f"{name} is {value}, not a power of two")
        if bool(self.vector_bits) != bool(self.vector_registers):
            raise ValueError(
                f"{self.vector_registers} vector registers of {self.vector_bits} bits: "
                "either there are some of some bits, or both numbers are 0"
            )
        if self.l1 < self.l1_ways:
            raise ValueError(f"l1 is {self.l1} bytes, fewer than its {self.l1_ways} ways")

    @property
    def l1_way(self) -> int:
        """The bytes apart at which addresses are in one set of L1: a page at most, because an L1 is
        indexed by the part of an address that is not translated."""
        return min(self.page, 1 << ((self.l1 // self.l1_ways).bit_length() - 1))

    @property
    def packed_block(self) -> int:
        """The bytes up to which a column of packed steps needs no blocks. Blocks keep it in L1, but
        cost passes over the results. 48 KiB was fitted, 1.5 times the default of `l1`; that the
        bound grows with L1 is an assumption."""
        return self.l1 + self.l1 // 2

    @property
    def copied(self) -> int:
        """The bytes that a kernel may copy of one operand, to have it in L2 in order: two operands
        fit into `local`."""
        return min(self.l2, self.local // 2)

    @property
    def alignment(self) -> int:
        """What buffers are aligned to: a cache line, and the widest vector."""
        return max(self.cache_line, self.vector_bits // 8, _WIDEST_SCALAR)

    @property
    def mulaccs_in_flight(self) -> int:
        """How many multiply-accumulates that do not wait for one another keep a core busy."""
        return self.vector_ports * self.mulacc_latency

    @property
    def registers_at_once(self) -> int:
        """How many registers the vector of one op takes at most, a power of two. The code
        generator divides it, to the same machine code, and until then there are fewer ops: with 4,
        kernels compiled in two thirds of the time (docs/notes/heuristic.md)."""
        return 1 << min(max(self.vector_registers, 1), 4).bit_length() - 1

    def lanes(self, itemsize: int) -> int:
        """How many elements of that many bytes a vector has; 1 without vectors."""
        return max(self.vector_bits // (8 * itemsize), 1)

    def __str__(self) -> str:
        """All fields as text, the same in every process: a set has no order of its own."""
        return ", ".join(f"{f.name} = {_text(getattr(self, f.name))}" for f in fields(self))


_POSITIVE = (
    *("vector_ports", "mulacc_latency", "division_cycles", "l1", "l2", "llc", "local"),
    *("cache_line", "l1_ways", "page", "tlb_pages", "page_streams", "bytes_per_cycle"),
    *("threads", "parallel_cycles"),
)
"""The fields of which 0 makes no sense."""

_WIDEST_SCALAR = 8
"""The bytes of the widest dtype."""


def _text(value: str | int | frozenset[str]) -> str:
    return repr(sorted(value) if isinstance(value, frozenset) else value)
