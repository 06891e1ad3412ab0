"""Random names for symbols and values, and modules whose kernels and functions have them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tgdialect.lowering.render import reserved
from tgdialect.lowering.render.names import OBJECT, SOURCE

EXTENT = 12
KERNELS = 6

_WORDS = sorted(w for w in reserved.SOURCE if not w[-1].isdigit() or len(w) < 4)
_OURS = (
    "tg_parallel",
    "tg_threads",
    "tg_frame_entry",
    "tg.frame",
    "tg_max_i32",
    "tg_floor_div_i32",
)
_FAMILIES = ("convert_int", "as_float", "get_x", "float4", "vload4", "int32_t", "INT8_MAX", "M_PI")
_MACROS = ("INFINITY", "NAN", "NULL", "UINT64_C", "FP_NAN", "CLK_LOCAL_MEM_FENCE", "WARP_SZ")
_INTRINSICS = ("llvm.memcpy.p0.p0.i64", "llvm.sqrt.f32", "llvm.foo", "llvm.trap")
_LIBRARY = ("_start", "__udivti3", "_Z3foov", "__extendhfsf2", "_GLOBAL_OFFSET_TABLE_", "_x20_")
_HOSTILE = (
    'a"b', "a\\", "a\\\nb", "*/ x /*", "// x\n", "a??/\nb", "\0", "a\0b", "a\0c", "", " ", "1",
    "9a", "é", "e\u0301", "\U0001d54f", "a b", "a_b", "a-b", "a.b", "a$b", "x){}; void y(",
    'system("x");', "`id`", "$(id)", "-o", "\x1b[2J", "a;b", "#define x", "@x", "%x", "k" * 300,
    "k" * 299 + "l", "main", "main_", "main__", "main.frame", "x5f_a", "_x5f_a",
    "\x7f", "{}", "{0}", "%s%n",
)  # fmt: skip
_CHARACTERS = "abkx_059AZ .$-\"\\\n*/?<>(){};#'é\0%\t"
_HINT_FIRST = "abcxyzABXEILN"
_HINT_CHARACTERS = "abxyz_059AZ.$-"


def random_symbol(random: Random, others: Sequence[str]) -> str:
    """A name of a symbol: any text. It may be what another one becomes in a language."""
    pools = (_WORDS, _OURS, _FAMILIES, _MACROS, _INTRINSICS, _LIBRARY, _HOSTILE, _HOSTILE)
    kind = random.randrange(len(pools) + 2)
    if kind < len(pools):
        return random.choice(pools[kind])
    if kind == len(pools) and others:
        name = random.choice(others)
        mapped = (SOURCE.symbol(name), OBJECT.symbol(name), SOURCE.symbol(name)[:-1])
        return random.choice((*mapped, f"{name}_", f"{name}.threads", f"{name}_0"))
    return "".join(random.choice(_CHARACTERS) for _ in range(random.randrange(1, 7)))


def random_hint(random: Random, others: Sequence[str]) -> str:
    """A name of a value: the letters of an identifier in MLIR. It may be that of a function."""
    pools = [[name for name in (*_WORDS, *_FAMILIES) if name.isidentifier()], _MACROS, _OURS[:3]]
    shared = [name for name in others if name.isidentifier() and name.isascii() and name[0] != "_"]
    pools += [shared, [SOURCE.symbol(name) for name in others]] if shared else []
    if random.random() < 0.8:
        return random.choice(random.choice(pools))
    rest = (random.choice(_HINT_CHARACTERS) for _ in range(random.randrange(7)))
    return random.choice(_HINT_FIRST) + "".join(rest)


def quoted(text: str) -> str:
    """A string literal of MLIR."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(plain)}"'


class Program:
    """A function that calls kernels: each stores a function of its argument to a result of its
    own."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.symbols: list[str] = []
        while len(self.symbols) < KERNELS + 1:
            name = random_symbol(random, self.symbols)
            if name not in self.symbols:
                self.symbols.append(name)
        self._random = random
        *kernels, self.entry = self.symbols
        parts = [self._kernel(name, number) for number, name in enumerate(kernels)]
        self.text = "\n".join([*parts, self._function(kernels)])

    def _hints(self, count: int) -> Sequence[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[f"%{random_hint(self._random, self.symbols)}"] = None
        return list(found)

    def _place(self) -> str:
        return f"loc({quoted(random_symbol(self._random, self.symbols))}:1:2)"

    def _kernel(self, name: str, number: int) -> str:
        o, i, n, r, k, q, v, w, x, d, y, p, s, e = self._hints(14)
        g = "#tg.place<global>"
        memory, cell = f"tensor<{EXTENT}xi32, {g}>", f"tensor<i32, {g}>"
        return f"""\
tg.kernel @{quoted(name)} {{
  {o} = tg.param 0 : {memory} {self._place()}
  {i} = tg.param 1 : {memory}
  {n} = tg.const {EXTENT} : tensor<index>
  {r} = tg.range 0 loop to {n} : tensor<index> {self._place()}
  {k} = tg.const {number + 3} : tensor<i32>
  {q} = tg.index {i}[{r}] : ({memory}, tensor<index>) -> {cell}
  {v} = tg.load {q} : {cell} -> tensor<i32>
  {w} = tg.mul {v}, {v} : tensor<i32> {self._place()}
  {x} = tg.max {w}, {k} : tensor<i32>
  {d} = tg.idiv {v}, {x} : tensor<i32>
  {y} = tg.add {x}, {d} : tensor<i32>
  {p} = tg.index {o}[{r}] : ({memory}, tensor<index>) -> {cell}
  {s} = tg.store {p}, {y} : {cell}, tensor<i32>
  {e} = tg.end {s} over {r} : !tg.void
  %sink = tg.sink {e} : !tg.void
}}"""

    def _function(self, kernels: Sequence[str]) -> str:
        memory = f'tensor<{EXTENT}xi32, #tg.place<"CPU", global>>'
        given, *results = self._hints(len(kernels) + 1)
        arguments = ", ".join(
            [f"{given}: {memory}", *(f"{r}: {memory} {{tg.output}}" for r in results)]
        )
        calls = [
            f"  %call.{number} = tg.call @{quoted(name)}({result}, {given}) : "
            f"({memory}, {memory}) -> !tg.void"
            for number, (name, result) in enumerate(zip(kernels, results, strict=True))
        ]
        done = ", ".join(f"%call.{number}" for number in range(len(kernels)))
        voids = ", ".join(["!tg.void"] * len(kernels))
        return "\n".join(
            [
                f"func.func @{quoted(self.entry)}({arguments}) {{",
                *calls,
                f"  %sink = tg.sink {done} : {voids}",
                "  func.return",
                f"}} {self._place()}",
            ]
        )
