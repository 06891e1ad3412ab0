"""`Target`: the description of a processor, which passes query."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

LOCAL_BUFFER = 64 << 10
"""The size in bytes of the largest LOCAL buffer that fusion makes, on any target. The cost model
takes reads of it for cheap, so it must stay in a cache close to the core. With a smaller limit more
rows take a kernel and a pass over memory of their own; with a greater one reads of a row miss the
cache. An order of magnitude."""


@dataclass(frozen=True)
class Target:
    """The properties of a processor. Passes read these fields and detect nothing themselves.

    Sizes are in bytes. A default is a usual value for a CPU. `host_target` detects the cache sizes
    and the number of threads, and nothing else. A default called "fitted" comes from timing kernels
    on one CPU (Emerald Rapids, docs/notes/heuristic.md), and has not been measured on others.
    """

    name: str
    """The kind of machine, a key of `targets.TARGETS`."""
    features: frozenset[str] = frozenset()
    """The features of its instruction set, in LLVM's spelling, including implied ones."""

    execution: str = "loops"
    """How a loop nest is executed: as `loops` of threads, or on a `grid` of workgroups."""

    native: frozenset[str] = frozenset()
    """The decomposable elementwise ops that take one or a few instructions, so they are not
    decomposed. Names are without the prefix `tg.`."""
    converted: frozenset[str] = frozenset()
    """The narrow floats that an instruction converts to and from f32. Others are converted by
    integer operations on their bits. Arithmetic on narrow floats is always in f32."""
    has_f64: bool = True
    """Whether it computes with f64. Without, values that are f64 only between conversions from and
    to narrower floats are f32, and others are errors."""

    matrix: frozenset[str] = frozenset()
    """The matrix instructions, by their names in `matrix.py`."""

    axis_types: frozenset[str] = frozenset()
    """The AxisTypes that a SPLIT may give a range, by their names."""

    vector_bits: int = 0
    """The width of the widest vector registers, a power of two; 0 if there are none."""
    vector_registers: int = 0
    """The number of vector registers of that width."""
    masks_stores: bool = False
    """Whether one instruction stores selected lanes of a vector, of 4 bytes or more each."""
    load_store: bool = False
    """Whether arithmetic takes no operand from memory, as in a load-store architecture. Then a step
    of a register tile has all its operands in registers, each element that it broadcasts too;
    otherwise it loads them one after the other, and one register is enough."""
    vector_ports: int = 2
    """The vector operations that a core starts in a cycle."""
    datapath_bits: int = 512
    """The bits that a port computes, loads or stores at once: an instruction on wider registers
    takes it for several cycles."""
    vector_loads: int = 2
    """The loads of whole vectors that a core starts in a cycle."""
    mulacc_latency: int = 4
    """The cycles from a multiply-accumulate to the next one that needs its result."""
    division_cycles: int = 6
    """The cycles between two divisions, or square roots, of vectors: an order of magnitude."""

    l1: int = 32 << 10
    """The L1 data cache of a core."""
    l2: int = 512 << 10
    """The L2 cache of a core."""
    llc: int = 16 << 20
    """The part of the last-level cache that a process may assume to have for itself."""
    local: int = 4 << 20
    """The total size of the LOCAL buffers of a kernel, which a workgroup shares. On a CPU, of its
    LOCAL and REG buffers: they are on the stack, and this is half of a thread's usual stack."""

    static_local: int = 0
    """The bytes of `local` that a kernel can declare; with more, its launch allocates all of it. 0
    if there is no such limit. A processor has room for several workgroups that declare theirs."""

    cache_line: int = 64
    """The size of a cache line, a power of two. Rows of a tile in separate lines cost more, and
    threads do not share a line that they store to."""
    l1_ways: int = 8
    """The rows of a tile that may map to one set of L1; more rows evict one another. Fitted on an
    L1 of 12 ways: the other data of a tile takes some of them."""
    page: int = 4096
    """The size of a page of memory, a power of two: the smallest that systems use."""
    tlb_pages: int = 64
    """The pages that the first-level TLB holds, a usual value. A tile spread over more pages is
    packed into contiguous memory, and blocks of the steps of a reduction have so many at most."""
    tlb_cycles: int = 1
    """The cycles of an access to a page that the first-level TLB does not hold, and the second one
    does, as far as other instructions do not hide them."""
    streams: int = 16
    """The rows of memory that the prefetchers of a core follow at a time: of 16 rows a Zen 2 reads
    a line in 10 cycles, of 32 in 20."""
    unforeseen_cycles: int = 14
    """The cycles of a cache line that comes from beyond L2 and was not loaded ahead, as far as
    other instructions do not hide them. Measured on a Zen 2: 1024 lines of rows 4096 bytes apart
    take 20 cycles each, of rows 4160 bytes apart 6, which are those of the sum."""
    l2_bytes: int = 32
    """The bytes that come from L2 in a cycle."""
    llc_bytes: int = 16
    """The bytes that come from the last-level cache in a cycle."""
    bytes_per_cycle: int = 8
    """The bytes that a core transfers from and to memory in a cycle: an order of magnitude."""

    workgroup: int = 1
    """The most work items of a workgroup, on a grid."""
    warp: int = 1
    """The work items of a workgroup that execute one instruction together: a warp, wavefront or
    subgroup. Their accesses to consecutive cells are one transaction."""
    shuffles: bool = False
    """Whether a work item can read a register of another one of its warp."""
    copies_asynchronously: bool = False
    """Whether an instruction copies 4, 8 or 16 bytes from GLOBAL to LOCAL memory while the work
    item goes on."""
    units: int = 1
    """The processors of a grid that run workgroups at the same time: NVIDIA's multiprocessors,
    OpenCL's compute units. `l1`, `llc_bytes` and `bytes_per_cycle` are those of one of them."""
    mulaccs: int = 128
    """The multiply-accumulates of f32, or other operations on elements, that a unit starts in a
    cycle."""
    matrix_mulaccs: int = 1024
    """The multiply-accumulates of 16-bit factors that matrix instructions of warps start in a cycle
    of a unit."""
    group_mulaccs: int = 1024
    """The same of instructions of several warps, which read LOCAL memory themselves."""
    schedulers: int = 4
    """The warps of a unit that compute at the same time: each has a part of what it computes
    with."""
    local_bytes: int = 128
    """The bytes that LOCAL memory transfers in a cycle: 32 banks of 4 bytes."""
    register_file: int = 256 << 10
    """The bytes of the registers of a unit, which its work items share. Each of them can have
    `vector_registers` of `vector_bits`."""
    resident: int = 2048
    """The most work items that a unit has at the same time."""
    memory_latency: int = 500
    """The cycles from a load to its value, if it comes from memory."""
    barrier_cycles: int = 30
    """The cycles of a BARRIER, or of an exchange between the work items of a warp: in both of them
    a value goes once through the pipeline of LOCAL memory."""

    view_alignment: int = 1
    """Where a part of a buffer may begin that is an argument of a kernel, a power of two: an OpenCL
    device takes no others."""

    threads: int = 1
    """The most threads of a kernel."""
    parallel_cycles: int = 30_000
    """The least number of cycles on one core for which a kernel is run by several threads. Waking
    threads and waiting for the last one costs a part of that: with a smaller value short kernels
    become slower, with a greater one longer kernels leave cores idle. An order of magnitude."""
    loop_parallel_cycles: int = 8_000
    """The same for a kernel that a loop over CALLs runs. Threads are still awake from the kernel
    before, so that sharing costs less. A smaller value makes short steps wait for each other, a
    greater one leaves cores idle. From timing tanh in such a loop on two threads: 0.95 of the time
    with 5,800 cycles, 0.73 with 11,500. Where threads sleep, waking them takes some 50,000."""

    def __post_init__(self) -> None:
        for least, wrong, names in (
            (1, "not a positive number", _POSITIVE),
            (0, "a negative number", ("vector_bits", "vector_registers", "static_local")),
        ):
            for name in names:
                if (value := getattr(self, name)) < least:
                    raise ValueError(f"{name} is {value}, {wrong}")
                if value >= _MOST:
                    raise ValueError(f"{name} is {value}, not a number below {_MOST}")
        for name in ("vector_bits", "cache_line", "page", "view_alignment"):
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
    def is_grid(self) -> bool:
        """Whether loop nests run on a grid of workgroups."""
        return self.execution == "grid"

    @property
    def local_buffer(self) -> int:
        """The most bytes of a LOCAL buffer that fusion makes: half of what a kernel has, so that a
        schedule may stage operands as well."""
        return min(LOCAL_BUFFER, self.local // 2)

    @property
    def declared_local(self) -> int:
        """The most LOCAL memory that a kernel declares."""
        return min(self.local, self.static_local or self.local)

    @property
    def l1_way(self) -> int:
        """The distance in bytes at which addresses map to the same set of L1. It is a page at most,
        because the L1 is indexed by the part of an address that is not translated."""
        return min(self.page, 1 << ((self.l1 // self.l1_ways).bit_length() - 1))

    @property
    def copied(self) -> int:
        """The most bytes of one operand that a kernel may pack into contiguous memory. They fit
        into L2, and two packed operands fit into `local`."""
        return min(self.l2, self.local // 2)

    @property
    def alignment(self) -> int:
        """The alignment of buffers: a cache line, the widest vector or that of views, whichever is
        greatest."""
        return max(self.cache_line, self.vector_bits // 8, self.view_alignment, _WIDEST_SCALAR)

    @property
    def mulaccs_in_flight(self) -> int:
        """The independent multiply-accumulates that keep a core's vector units busy."""
        return max(round(self.vector_ports * self.datapath * self.mulacc_latency), 1)

    @property
    def datapath(self) -> float:
        """The part of a vector register that a port computes, loads or stores in a cycle."""
        return min(self.datapath_bits / self.vector_bits, 1.0) if self.vector_bits else 1.0

    @property
    def in_loop(self) -> Target:
        """The machine as a kernel finds it that a loop over CALLs runs: threads are awake, and what
        the kernel transfers is in caches. So the bytes for which it is shared stay the same."""
        bytes = self.bytes_per_cycle * self.parallel_cycles // self.loop_parallel_cycles
        return replace(
            self,
            parallel_cycles=self.loop_parallel_cycles,
            bytes_per_cycle=max(bytes, 1),
        )

    @property
    def registers_at_once(self) -> int:
        """The most registers that the vector of one op spans, a power of two.

        The code generator splits such vectors, with the same machine code. Wider vectors mean fewer
        ops to compile: with 4, kernels compiled in two thirds of the time
        (docs/notes/heuristic.md). On a grid, vectors are what one access moves.
        """
        if self.is_grid:
            return 1
        return 1 << min(max(self.vector_registers, 1), 4).bit_length() - 1

    @property
    def workgroup_items(self) -> int:
        """The most work items of a workgroup each of which can have all registers that there are
        names for."""
        each = self.vector_registers * self.vector_bits // 8
        return max(min(self.workgroup, self.register_file // each if each else self.workgroup), 1)

    def lanes(self, itemsize: int) -> int:
        """The elements of `itemsize` bytes that a vector register holds; 1 without vectors."""
        return max(self.vector_bits // (8 * itemsize), 1)

    def __str__(self) -> str:
        """All fields as text. Sets are sorted, so the text is the same in every process."""
        return ", ".join(f"{f.name} = {_text(getattr(self, f.name))}" for f in fields(self))


_POSITIVE = (
    *("vector_ports", "mulacc_latency", "division_cycles", "l1", "l2", "llc", "local"),
    *(
        "cache_line",
        "l1_ways",
        "page",
        "tlb_pages",
        "tlb_cycles",
        "unforeseen_cycles",
        "bytes_per_cycle",
    ),
    *("vector_loads", "datapath_bits", "l2_bytes", "llc_bytes"),
    *("threads", "parallel_cycles", "loop_parallel_cycles", "workgroup", "warp", "units"),
    *(
        "mulaccs",
        "matrix_mulaccs",
        "group_mulaccs",
        "schedulers",
        "local_bytes",
        "register_file",
        "resident",
    ),
    *("memory_latency", "barrier_cycles", "view_alignment"),
)
"""The fields that must be at least 1."""

_MOST = 1 << 48
"""More than any machine has of anything: multiples of a field are 64-bit numbers in code."""

_WIDEST_SCALAR = 8
"""The bytes of the widest dtype."""


def _text(value: str | int | frozenset[str]) -> str:
    return repr(sorted(value) if isinstance(value, frozenset) else value)
