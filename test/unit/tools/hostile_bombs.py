"""Hostile texts: those that stand for much more than is written, and deep nests."""

# ruff: noqa: E501  # Lines of IR are as long as they are.

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hostile_names import any_name, quoted

LIMIT = 20_000
"""The greatest length of a text, in characters."""


def doubled(random: Random) -> str:
    """A chain of ops whose result is used twice by the next."""
    depth, dtype = random.choice((10, 20, 40, 60)), random.choice(("f32", "i32", "i1", "bf16"))
    shape = random.choice(("4", "2x2", "1"))
    t = f"tensor<{shape}x{dtype}>"
    lines: list[str] = []
    last = "%x"
    ops = [o for o in ("add", "mul", "max", "cmplt", "where") if dtype != "i1" or o != "cmplt"]
    op = random.choice([*ops, "index", "stack", "pad", "concat", "permuted", "call"])
    for n in range(depth):
        new = f"%v{n}"
        match op:
            case "index":
                t = "tensor<4xi32>"
                lines.append(f"{new} = tg.index {last}[{last}] : ({t}, {t}) -> {t}")
            case "where":
                c = "tensor<" + t.removeprefix("tensor<").rsplit("x", 1)[0] + "xi1>"
                lines.append(f"%c{n} = tg.cmpne {last}, {last} : ({t}, {t}) -> {c}")
                lines.append(f"{new} = tg.where %c{n}, {last}, {last} : ({c}, {t}, {t}) -> {t}")
            case "cmplt":
                c = "tensor<" + t.removeprefix("tensor<").rsplit("x", 1)[0] + "xi1>"
                lines.append(f"%c{n} = tg.cmplt {last}, {last} : ({t}, {t}) -> {c}")
                lines.append(f"{new} = tg.cast %c{n} to {dtype} : {c} -> {t}")
            case "stack":
                t = f"tensor<4x{dtype}>"
                u = f"tensor<2x4x{dtype}>"
                lines.append(f"%s{n} = tg.stack {last}, {last} : ({t}, {t}) -> {u}")
                kind = "max" if dtype != "i1" else "add"
                lines.append(f"%m{n} = tg.reduce {kind} %s{n} [0] : {u} -> tensor<1x4x{dtype}>")
                lines.append(f"{new} = tg.reshape %m{n} [4] : tensor<1x4x{dtype}> -> {t}")
            case "pad" | "concat":
                t = f"tensor<4x{dtype}>"
                lines.append(f"%p{n} = tg.pad {last} at [1] to [6] : {t} -> tensor<6x{dtype}>")
                lines.append(f"%q{n} = tg.shrink %p{n} at [2] to [4] : tensor<6x{dtype}> -> {t}")
                lines.append(f"{new} = tg.add %q{n}, {last} : {t}")
            case "permuted":
                t = f"tensor<2x2x{dtype}>"
                lines.append(f"%p{n} = tg.permute {last} [1, 0] : {t}")
                lines.append(f"{new} = tg.add %p{n}, {last} : {t}")
            case "call":
                lines.append(f"%f{n} = tg.function({last}, {last}) {{")
                lines.append(f"  %0 = tg.param 0 : {t}\n  %1 = tg.param 1 : {t}")
                lines.append(
                    f"  %2 = tg.add %0, %1 : {t}\n  %3 = tg.tuple %2 : {t} -> !tg.tuple<{t}>"
                )
                lines.append(f"}} : ({t}, {t}) -> !tg.tuple<{t}>")
                lines.append(f"{new} = tg.gettuple %f{n} 0 : !tg.tuple<{t}> -> {t}")
            case _:
                lines.append(f"{new} = tg.{op} {last}, {last} : {t}")
        last = new
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main(%x: {t}) -> {t} {{\n{body}  return {last} : {t}\n}}\n"


def called_twice(random: Random) -> str:
    """Functions of which each calls the one before twice."""
    t, depth = "tensor<4xf32>", random.choice((5, 15, 25, 40))
    text = (
        f"func.func private @f0(%x: {t}) -> {t} {{\n  %a = tg.sin %x : {t}\n  return %a : {t}\n}}\n"
    )
    for n in range(1, depth):
        text += (
            f"func.func private @f{n}(%x: {t}) -> {t} {{\n"
            f"  %a = tg.call @f{n - 1}(%x) : ({t}) -> !tg.tuple<{t}>\n"
            f"  %b = tg.gettuple %a 0 : !tg.tuple<{t}> -> {t}\n"
            f"  %c = tg.call @f{n - 1}(%b) : ({t}) -> !tg.tuple<{t}>\n"
            f"  %d = tg.gettuple %c 0 : !tg.tuple<{t}> -> {t}\n  return %d : {t}\n}}\n"
        )
    return text + (
        f"func.func @main(%x: {t}) -> {t} {{\n  %a = tg.call @f{depth - 1}(%x) : ({t}) -> !tg.tuple<{t}>\n"
        f"  %b = tg.gettuple %a 0 : !tg.tuple<{t}> -> {t}\n  return %b : {t}\n}}\n"
    )


_SIZES = (0, 1, 7, 1000, 16384, 2**20, 2**31, 2**32 + 1, 2**62, 2**63 - 1, 2**64, 10**30)


def wide_kernel(random: Random) -> str:
    """A kernel with ranges of great extents and of any kind."""
    count = random.choice((1, 2, 3, 8, 40))
    extents = [random.choice(_SIZES[1:8] if random.randrange(4) else _SIZES) for _ in range(count)]
    total = 1
    for extent in extents:
        total *= extent
    kinds = (
        "loop",
        "upcast",
        "unroll",
        "global",
        "local",
        "thread",
        "warp",
        "group_reduce",
        "reduce",
    )
    g = f"tensor<{random.choice((total, 16384, 2**40))}xf32, #tg.place<global>>"
    lines = [f"%o = tg.param 0 : {g}", "%v = tg.const 1.0 : tensor<f32>"]
    position = None
    for n, extent in enumerate(extents):
        lines.append(f"%c{n} = tg.const {extent} : tensor<index>")
        lines.append(f"%r{n} = tg.range {n} {random.choice(kinds)} to %c{n} : tensor<index>")
        if position is None:
            position = f"%r{n}"
        else:
            lines.append(f"%m{n} = tg.mul {position}, %c{n} : tensor<index>")
            lines.append(f"%a{n} = tg.add %m{n}, %r{n} : tensor<index>")
            position = f"%a{n}"
    lines.append(
        f"%p = tg.index %o[{position}] : ({g}, tensor<index>) -> tensor<f32, #tg.place<global>>"
    )
    lines.append("%s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>")
    ranges = ", ".join(f"%r{n}" for n in range(count))
    opts = ""
    if random.randrange(2):
        options = (
            f"split {random.randrange(3)}, {random.choice(_SIZES)}, {random.choice(kinds)}",
            f"padto {random.randrange(3)}, {random.choice(_SIZES)}",
            f"swap {random.randrange(99)}, {random.randrange(3)}",
            f"tc {random.choice(_SIZES)}, 0, 0, 1",
            "nolocals",
        )
        chosen = ", ".join(f"#tg.opt<{random.choice(options)}>" for _ in range(random.randrange(5)))
        opts = f" opts [{chosen}]"
    lines.append(f"%d = tg.end %s over {ranges} : !tg.void")
    lines.append(f"%e = tg.sink %d{opts} : !tg.void")
    return "tg.kernel @k {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def great_shapes(random: Random) -> str:
    """Movement ops and reductions of great extents, on little memory."""
    n, m = random.choice(_SIZES), random.choice(_SIZES)
    dtype = random.choice(("f32", "i8", "i1", "f64", "index"))
    t = f"tensor<1x{dtype}>"
    big, square = f"tensor<{n}x{dtype}>", f"tensor<{n}x{m}x{dtype}>"
    choices = (
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  %2 = tg.reduce add %1 [0] : {big} -> {t}\n  return %2 : {t}",
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  return %1 : {big}",
        f"%1 = tg.pad %x at [{m}] to [{n}] : {t} -> {big}\n  return %1 : {big}",
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  %2 = tg.reshape %1 [{n}, 1] : {big} -> tensor<{n}x1x{dtype}>\n"
        f"  %3 = tg.expand %2 [{n}, {m}] : tensor<{n}x1x{dtype}> -> {square}\n"
        f"  %4 = tg.reduce add %3 [0, 1] : {square} -> tensor<1x1x{dtype}>\n  return %4 : tensor<1x1x{dtype}>",
        f'%1 = tg.buffer 0 : tensor<{n}x{m}x{dtype}, #tg.place<"CPU", global>>\n  return %x : {t}',
        f"%1 = tg.const 1 : {square}\n  return %1 : {square}",
    )
    body = random.choice(choices)
    result = body.rsplit(" : ", 1)[1]
    return f"func.func @main(%x: {t}) -> {result} {{\n  {body}\n}}\n"


def literals(random: Random) -> str:
    """Attributes that stand for more than is written."""
    n = random.choice(_SIZES)
    dtype = random.choice(
        ("f32", "i8", "i1", "f64", "index", "i64", "complex<f32>", "bf16", "f8E4M3FN")
    )
    values = (
        f"dense<1> : tensor<{n}x{dtype}>",
        f"dense<1.0> : tensor<{n}x{dtype}>",
        f"dense<true> : tensor<{n}x{dtype}>",
        f'dense<"0x00"> : tensor<{n}x{dtype}>',
        f'dense<"0x{"00" * random.randrange(200)}"> : tensor<{n}x{dtype}>',
        f"dense<> : tensor<{n}x{dtype}>",
        f"dense<[{', '.join(['1'] * random.randrange(1, 2000))}]> : tensor<{n}x{dtype}>",
        f"sparse<[[0]], [1]> : tensor<{n}x{dtype}>",
        f"dense_resource<x> : tensor<{n}x{dtype}>",
        f"array<{dtype}: {', '.join(['1'] * 1000)}>",
        f"{'9' * random.choice((20, 400, 4000, 5000))} : i64",
        f"1.0e{'9' * random.choice((2, 5, 400))} : f64",
        f"0x{'F' * random.choice((16, 100, 4000))} : i{random.choice((1, 64, 128, 99999, 2**24, 10**9))}",
        f"tensor<{'x'.join(['1'] * random.choice((5, 33, 1000)))}x{dtype}>",
        f"vector<{n}x{dtype}>",
        f"memref<{n}x{dtype}, strided<[{n}], offset: {n}>>",
        f"affine_map<({', '.join(f'd{i}' for i in range(500))}) -> (d0)>",
        f"affine_map<(d0) -> ({' + '.join(['d0'] * 1000)})>",
        f"affine_map<(d0) -> ({'(' * 900}d0{')' * 900})>",
        f'#tg.target<"cpu", threads = {n}>',
        f'#tg.target<"cpu", l2 = {n}, threads = {random.choice(_SIZES)}>',
        f"#tg.target<{quoted(any_name(random))}>",
        f"#tg.opt<split {n}, {n}, upcast>",
        f"#tg.place<[{', '.join(f'{chr(34)}D{i}{chr(34)}' for i in range(random.choice((1, 500))))}], axis = {n}>",
    )
    value = random.choice(values)
    if random.randrange(2):
        key = (
            "tg.target"
            if value.startswith("#tg.target")
            else random.choice(("a", "tg.target", "tg.x", "llvm.y"))
        )
        attribute = f"module attributes {{{key} = {value}}} {{\n"
        t = "tensor<4xf32>"
        body = (
            f"func.func @main(%x: {t}) -> {t} {{\n  %0 = tg.exp2 %x : {t}\n  return %0 : {t}\n}}\n"
        )
        return attribute + body + "}\n"
    return f'"test.op"() {{a = {value}}} : () -> ()\n'


def nests(random: Random) -> str:
    depth = random.choice((30, 60, 300, 1500, 4000))

    def nested(opening: str, inside: str, closing: str) -> str:
        times = min(depth, (LIMIT - 200) // (len(opening) + len(closing)))
        return opening * times + inside + closing * times

    def aliases(sigil: str, first: str, step: Callable[[str], str]) -> str:
        lines = [f"{sigil}a0 = {first}"]
        for n in range(min(depth, 400)):
            lines.append(f"{sigil}a{n + 1} = {step(f'{sigil}a{n}')}")
        return "\n".join(lines), f"{sigil}a{min(depth, 400)}"

    choice = random.randrange(15)
    match choice:
        case 0:
            return nested("module {\n", "", "}\n")
        case 1:
            return nested('"test.op"() ({\n', "", "}) : () -> ()\n")
        case 2:
            return f'"test.op"() {{a = {nested("[", "1", "]")}}} : () -> ()'
        case 3:
            return f'"test.op"() {{a = {nested("{a = ", "1", "}")}}} : () -> ()'
        case 4:
            return f'"test.op"() {{a = {nested("tuple<", "i32", ">")}}} : () -> ()'
        case 5:
            return f'"test.op"() {{a = {nested("(", "i32", ") -> ()")}}} : () -> ()'
        case 6:
            return f'"test.op"() {{a = dense<{nested("[", "1", "]")}> : tensor<1xi32>}} : () -> ()'
        case 7:
            return f'"test.op"() : () -> () loc({nested("fused[", "unknown", "]")})'
        case 8:
            return f'"test.op"() : () -> () loc({nested("callsite(", "unknown", " at unknown)")})'
        case 9:
            lines, last = aliases("#", "[1, 1]", lambda a: f"[{a}, {a}]")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 10:
            lines, last = aliases("!", "i32", lambda a: f"tuple<{a}, {a}>")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 11:
            lines, last = aliases("!", "tensor<f32>", lambda a: f"!tg.tuple<{a}, {a}>")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 12:
            lines, last = aliases("#", "loc(unknown)", lambda a: f"loc(fused[{a}, {a}])")
            return f'{lines}\n"test.op"() : () -> () loc({last})'
        case 13:
            digits = "00" * random.choice((10, 1000, 4000))
            long = random.choice((f'#tg.data<"{digits}">', f'"{digits}"'))
            uses = ", ".join(["#long"] * random.choice((10, 100, 1000)))
            return f'#long = {long}\n"test.op"() {{a = [{uses}]}} : () -> ()'
        case _:
            t = "tensor<4xf32>"
            chain = "".join(
                f"  %{n + 1} = tg.neg %{n} : {t}\n" for n in range(min(depth, LIMIT // 40))
            )
            last = min(depth, LIMIT // 40)
            return f"func.func @main(%0: {t}) -> {t} {{\n{chain}  return %{last} : {t}\n}}\n"
