"""How much longer xDSL takes than the code of `tgdialect/fast_xdsl` that stands in for it.

    python bench/fast_xdsl.py                        # each part, both ways
    python bench/fast_xdsl.py --compile NAME [...]   # a first compilation without each part

The first table has the least times of some turns for the same work, in ms, and their ratio. The
second one has the processor time of the main thread from a text to its executable, in new
processes: how much longer that takes with xDSL's code in place of one part (the least and the
median of some turns). NAME is a program of `bench/compile_time.py`. Both are the factors in
`tgdialect/fast_xdsl/README.md`.
"""

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import compile_time
import transformer

TURNS, COMPILATIONS = 3, 5
LAYERS = 56
"""A module of about 5,000 ops."""
OPS = 100_000
"""The ops that are made or asked for operands: more take longer, fewer give noise."""

Work = Callable[[], object]


# -- each part, both ways ------------------------------------------------------------------------


def parts() -> Iterator[tuple[str, Work, Work]]:
    """The name of a part, and the same work by xDSL and by it."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin, TensorType, f32
    from xdsl.dialects.func import Func
    from xdsl.ir import Operation
    from xdsl.irdl.declarative_assembly_format import FormatProgram
    from xdsl.irdl.operations import get_accessors_from_op_def
    from xdsl.parser import Parser

    from tgdialect.dialect import TG
    from tgdialect.fast_xdsl import unchecked
    from tgdialect.fast_xdsl.creation import created
    from tgdialect.fast_xdsl.formats import compiled_format
    from tgdialect.fast_xdsl.operations import FastOp
    from tgdialect.fast_xdsl.parser import FastParser
    from tgdialect.fast_xdsl.walk import nested_ops, ops_of
    from tgdialect.ops.dtypes import number_attribute
    from tgdialect.ops.elementwise import MulAccOp
    from tgdialect.ops.printing import printed
    from tgdialect.ops.properties import tensor_type
    from tgdialect.ops.source import ConstOp

    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    text = transformer.mlir(transformer.Config(layers=LAYERS))
    module = FastParser(context, text, "").parse_module()
    every = [op for op in nested_ops(module) if isinstance(op, FastOp)]
    block = next(op.regions[0].block for op in ops_of(module.body.block) if op.regions)
    scalar = tensor_type(f32)
    one = ConstOp(number_attribute(1, f32)).result
    fields = {"operands": (one, one, one), "result_types": (scalar,)}
    op = created(MulAccOp, *fields.values())
    theirs = get_accessors_from_op_def(MulAccOp.get_irdl_definition(), None)
    slow_create: Any = vars(Operation)["create"].__func__
    slow_operands: Any = vars(Operation)["operands"].fget
    definitions = [(k.assembly_format, k.get_irdl_definition()) for k in TG.operations]
    formats = [(text, definition) for text, definition in definitions if text is not None]

    def repeated(count: int, work: Work) -> Work:
        def all_of_them() -> None:
            for _ in range(count):
                work()

        return all_of_them

    ops = f"{len(every):,} ops"
    yield f"printing: {ops}", lambda: str(module), lambda: printed(module)
    yield (
        f"parser: {ops}",
        lambda: Parser(context, text).parse_module(),
        lambda: FastParser(context, text, "").parse_module(),
    )
    for part in ("context", "func_ops"):
        yield f"{part}: in a new process", First(part, False), First(part, True)
    yield (
        f"formats: {len(formats)}",
        lambda: [FormatProgram.from_str(*each) for each in formats],
        lambda: [compiled_format(*each) for each in formats],
    )
    yield (
        "unchecked: 10,000 tensor types",
        repeated(10_000, lambda: TensorType(f32, (4, 8))),
        repeated(10_000, lambda: unchecked.tensor_of(f32, (4, 8))),
    )
    yield (
        f"operations: create {OPS:,} ops",
        repeated(OPS, lambda: slow_create(MulAccOp, **fields)),
        repeated(OPS, lambda: MulAccOp.create(**fields)),
    )
    yield (
        "accessors: 100,000 operands by name",
        repeated(OPS, lambda: theirs["rhs"].__get__(op)),
        repeated(OPS, lambda: op.rhs),
    )
    yield (
        "accessors: 100,000 operands by number",
        repeated(OPS, lambda: slow_operands(op)[1]),
        repeated(OPS, lambda: op.operands[1]),
    )
    yield f"walk: {len(ops_of(block)):,} of a block", lambda: list(block.ops), lambda: ops_of(block)
    yield f"walk: {ops}", lambda: list(module.walk()), lambda: nested_ops(module)
    mixed = [value.owner for each in every for value in each.operands] * 5
    yield (
        f"operations: {len(mixed):,} times isinstance",
        lambda: [isinstance(each, Operation) for each in mixed],
        lambda: [isinstance(each, FastOp) for each in mixed],
    )


def seconds(work: Work) -> float:
    gc.collect()
    gc.disable()
    start = time.thread_time()
    found = work()
    end = time.thread_time()
    gc.enable()
    return found if isinstance(found, float) else end - start


class First(NamedTuple):
    """The seconds that a part takes, or xDSL in its place, when a process first does its work:
    it asks all classes of attributes whether they are a superclass."""

    part: str
    is_ours: bool

    def __call__(self) -> float:
        return float(child("--first", self.part, str(int(self.is_ours))))


def first(part: str, is_ours: str) -> None:
    """Load dialects, or parse a function, and print the seconds."""
    if not int(is_ours):
        WITHOUT[part]()
    compile_time.import_ours()
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    from tgdialect.diagnostics import SourceFile, parse_module
    from tgdialect.dialect import TG

    context = _module("fast_xdsl.context").FastContext()
    source = SourceFile("", "func.func @f(%a: f32) -> f32 {\n  func.return %a : f32\n}")

    def load() -> None:
        for dialect in (Builtin, Func, TG):
            context.load_dialect(dialect)

    loading = seconds(load)
    print(loading if part == "context" else seconds(lambda: parse_module(context, source)))


def child(*arguments: str) -> str:
    """The last line that this program prints in a new process."""
    run = subprocess.run(
        [sys.executable, __file__, *arguments],
        env=os.environ | {"TG_CACHE_DIR": ""},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(f"{' '.join(arguments)}:\n{run.stderr}")
    return run.stdout.splitlines()[-1]


def compare() -> None:
    print(f"{'':<40}{'xDSL':>10}{'ours':>10}{'factor':>8}")
    for name, theirs, ours in parts():
        turns = [(seconds(theirs), seconds(ours)) for _ in range(TURNS)]
        slow, fast = (min(times) * 1e3 for times in zip(*turns, strict=True))
        print(f"{name:<40}{slow:>10.1f}{fast:>10.1f}{slow / fast:>8.1f}", flush=True)


# -- a compilation without a part ----------------------------------------------------------------


def _module(name: str) -> Any:
    return import_module(f"tgdialect.{name}")


def _no_accessors() -> None:
    from xdsl.ir import Operation, OpResult
    from xdsl.ir.core import SSAValues

    accessors = _module("fast_xdsl.accessors")
    accessors.quicker = lambda accessor: accessor
    accessors.operands = vars(Operation)["operands"]
    accessors.FastResult, accessors.Values = OpResult, SSAValues


def _no_creation() -> None:
    from xdsl.ir import Operation

    creation = _module("fast_xdsl.creation")

    def initialize(
        op: Any, operands: Any, properties: Any, result_types: Any = (), regions: Any = ()
    ) -> None:
        Operation.__init__(
            op,
            operands=operands,
            properties=properties,
            result_types=result_types,
            regions=regions,
        )
        for name, value in creation._defaults(type(op)):
            op.properties.setdefault(name, value)

    creation.initialize = initialize


def _no_operations() -> None:
    operations = _module("fast_xdsl.operations")
    for name in ("__instancecheck__", "__subclasscheck__"):
        delattr(operations._OpClass, name)
    del operations.FastOp.create


def _no_unchecked() -> None:
    from xdsl.ir import ParametrizedAttribute

    def made(kind: Any, **fields: Any) -> Any:
        if not issubclass(kind, ParametrizedAttribute):
            return kind(*fields.values())
        return kind.new([fields[name] for name, _ in kind.get_irdl_definition().parameters])

    _module("fast_xdsl.unchecked").made = made


def _no_definitions() -> None:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    _module("fast_xdsl.definitions")._parsed = FormatProgram.parse


def _no_walk() -> None:
    walk = _module("fast_xdsl.walk")
    walk.ops_of = lambda block: list(block.ops)
    walk.nested_ops = lambda root: list(root.walk())


def _no_formats() -> None:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    _module("fast_xdsl.formats").compiled_format = FormatProgram.from_str


def _no_parser() -> None:
    parser = _module("fast_xdsl.parser")
    del parser.FastLexer.lex
    for name in vars(parser.FastParser).keys() - {"__init__", "LEXER", "_checked_extents"}:
        if callable(value := vars(parser.FastParser)[name]) or isinstance(value, property):
            delattr(parser.FastParser, name)


def _no_func_ops() -> None:
    _module("fast_xdsl.func_ops").QUICKER.clear()


def _no_context() -> None:
    from xdsl.context import Context

    _module("fast_xdsl.context").FastContext = Context


WITHOUT: dict[str, Work] = {
    "all parts": lambda: None,
    "accessors": _no_accessors,
    "context": _no_context,
    "creation": _no_creation,
    "definitions": _no_definitions,
    "formats": _no_formats,
    "func_ops": _no_func_ops,
    "operations": _no_operations,
    "parser": _no_parser,
    "unchecked": _no_unchecked,
    "walk": _no_walk,
}
"""Functions that put xDSL's code in place of a part. They run before anything else of the package
is imported."""


def compile_without(part: str, name: str) -> None:
    """Print the milliseconds of a compilation."""
    WITHOUT[part]()
    import tgdialect as tg

    compile_time.import_ours()
    text = compile_time.text_of(name)
    print(seconds(lambda: tg.compile(text)) * 1e3)


def compile_all(name: str) -> None:
    times: dict[str, list[float]] = {part: [] for part in WITHOUT}
    for _ in range(COMPILATIONS):
        for part, found in times.items():
            found.append(float(child("--child", part, name)))
    least, median = (of(times["all parts"]) for of in (min, statistics.median))
    print(f"{name:<15}{least:8.1f} ms{median:9.1f} ms")
    for part, found in times.items():
        if part != "all parts":
            print(f"  without {part:<12}{min(found) / least:9.3f}", end="")
            print(f"{statistics.median(found) / median:9.3f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        compile_without(*sys.argv[2:])
    elif sys.argv[1:2] == ["--first"]:
        first(*sys.argv[2:])
    elif sys.argv[1:2] == ["--compile"]:
        for each in sys.argv[2:]:
            compile_all(each)
    else:
        compare()
