"""Programs of `torch.export` as modules.

The graph of a file is traced again, on tensors without elements, so that functionalisation and the
core decompositions apply to it as to a graph of `torch.compile`. Nothing of a file becomes code:
ops are looked up among ATen's, and sizes are parsed.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false
# PyTorch's types are partial.

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from typing import IO, Any, cast

import numpy as np
import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.source import ConstantSource
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.fx.traceback import preserve_node_meta
from torch.utils._python_dispatch import TorchDispatchMode
from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import CompilationError, Diagnostic
from tgdialect.frontend.lowered import DEFAULT_BOUNDS, Spec, spec
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant, lowered, standalone
from tgdialect.interop.torch.archive import Archive, MalformedArchive, dtype_of
from tgdialect.interop.torch.complex_values import Complex, as_real
from tgdialect.interop.torch.dtypes import ours
from tgdialect.interop.torch.expansions import expand
from tgdialect.interop.torch.partition import reason_against
from tgdialect.interop.torch.reporting import location_of
from tgdialect.interop.torch.rules import Refusal
from tgdialect.interop.torch.sizes import Symbols
from tgdialect.interop.torch.table import TABLE
from tgdialect.interop.torch.translation import Translator, bound, name_of

aten = torch.ops.aten

_OP = re.compile(r"torch\.ops\.(aten|prims)\.(\w+)\.(\w+)")


def _power(base: Any, exponent: Any) -> Any:
    """Raises ValueError for more digits than sizes have."""
    is_small = isinstance(exponent, float) or (isinstance(exponent, int) and abs(exponent) < 64)
    if not is_small or _is_large(base):
        raise ValueError(f"no size is a power of {exponent}")
    return base**exponent


def _product(a: Any, b: Any) -> Any:
    """Raises ValueError for more digits than sizes have."""
    if _is_large(a) or _is_large(b):
        raise ValueError("no size is such a product")
    return a * b


def _is_large(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 2**63


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{f"_operator.{f.__name__}": f for f in (operator.add, operator.sub, operator.neg)},
    **{f"_operator.{f.__name__}": f for f in (operator.floordiv, operator.mod)},
    "_operator.truediv": operator.truediv,
    "_operator.mul": _product,
    "_operator.pow": _power,
    "torch.sym_max": torch.sym_max,
    "torch.sym_min": torch.sym_min,
    "torch.sym_float": torch.sym_float,
    "math.trunc": math.trunc,
}
"""Functions of sizes in programs, by their names."""

_MEMORY_FORMATS = (
    *(None, torch.contiguous_format, torch.channels_last, torch.channels_last_3d),
    torch.preserve_format,
)
"""PyTorch's memory formats by their numbers in files."""

_OF_EXPRESSIONS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda *sizes: reduce(operator.add, sizes),
    "Mul": lambda *sizes: reduce(_product, sizes),
    "Pow": _power,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": lambda *sizes: reduce(torch.sym_max, sizes),
    "Min": lambda *sizes: reduce(torch.sym_min, sizes),
}
"""The functions in the texts of sizes."""


def module_of(input: IO[bytes], file: str | None = None) -> ModuleOp:
    """A program of `torch.export` as a module: `@main` takes the tensors among its inputs, and
    returns those among its results.

    Raises CompilationError with all that is refused.
    """
    try:
        return ExportedProgram(Archive(input)).lowered()
    except MalformedArchive as error:
        raise CompilationError(Diagnostic(str(error), file=file)) from None
    except RefusedNodes as error:
        found = [Diagnostic(message, file=file) for message in error.messages]
        raise CompilationError(found) from None
    except Refusal as error:
        raise CompilationError(Diagnostic(str(error), file=file)) from None
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        message = f"the program is malformed: {type(error).__name__}: {error}"
        raise CompilationError(Diagnostic(message, file=file)) from None


class RefusedNodes(Exception):
    """Nodes that are not translated, with the reasons."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


def _assigned(name: str) -> RefusedNodes:
    return RefusedNodes(
        [
            f"the program assigns to {name}, and a function has no state: export the model in "
            "inference (model.eval()), or return the new value"
        ]
    )


MOST_VALUES = 1 << 16
"""The most values that a program is traced to: an op of an untrusted file, as `unbind` of an axis
of 10^9, may be that many. Larger: such files take minutes; smaller: large programs are refused. A
value takes some 1.4 ms on the processor of docs/notes/torch.md."""


_PARTS: Mapping[Any, Callable[..., int]] = {
    **dict.fromkeys(
        (aten.unbind.int, aten.unbind_copy.int), lambda self, dim=0, **_: int(self.shape[dim])
    ),
    **dict.fromkeys(
        (aten.split.Tensor, aten.split_copy.Tensor, aten.unsafe_split.Tensor),
        lambda self, split_size, dim=0, **_: int(-(-self.shape[dim] // max(int(split_size), 1))),
    ),
    **dict.fromkeys(
        (aten.chunk.default, aten.unsafe_chunk.default), lambda chunks, **_: int(chunks)
    ),
}
"""The number of results of ops whose number depends on an extent or on an argument."""


def _check_parts(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], most: int) -> None:
    """Raise ValueError for an op of more results than there may be."""
    if (count := _PARTS.get(op)) is not None:
        names = [argument.name for argument in op._schema.arguments]
        number = count(**dict(zip(names, args, strict=False)), **kwargs)
        if number > most:
            raise ValueError(f"{op} has {number} results: a program has at most {most} values")


class _Interpreter(Interpreter):
    """An interpreter of the graph of a file."""

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Raises ValueError for too many results."""
        _check_parts(target, args, kwargs, MOST_VALUES)
        return super().call_function(target, args, kwargs)


class _Budget(TorchDispatchMode):
    """Counts the values of a program, those of decompositions as well."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MOST_VALUES

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Raises ValueError for a program of too many values."""
        _check_parts(func, args, kwargs or {}, self._left)
        found = func(*args, **(kwargs or {}))
        self._left -= len(found) if isinstance(found, list | tuple) else 1
        if self._left < 0:
            raise ValueError(f"a program has at most {MOST_VALUES} values")
        return found


class ExportedProgram:
    """A program of `torch.export`."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        module = archive.program["graph_module"]
        self._graph: Mapping[str, Any] = module["graph"]
        self._signature: Mapping[str, Any] = module["signature"]
        self._ranges: Mapping[str, Any] = archive.program["range_constraints"]
        self._shape_env = ShapeEnv()
        self._mode = FakeTensorMode(shape_env=self._shape_env, allow_non_fake_inputs=True)
        self._symbols: dict[str, Any] = {}
        self._weights: dict[int, Tensor] = {}
        """The constants of arrays, by their identity."""

    # -- the graph of the file ---------------------------------------------------------------------

    @cached_property
    def _inputs(self) -> Sequence[tuple[str, str | None]]:
        """The name of each tensor that the graph takes, and that of the parameter, buffer or
        constant that it is; None for an input of the program."""
        found: list[tuple[str, str | None]] = []
        for entry in self._signature["input_specs"]:
            ((kind, given),) = entry.items()
            match kind:
                case "parameter" | "buffer" | "tensor_constant":
                    found.append((given["arg"]["name"], given[f"{kind}_name"]))
                case "user_input" if "as_tensor" in given["arg"]:
                    found.append((given["arg"]["as_tensor"]["name"], None))
                case "user_input" | "constant_input":
                    pass  # A number, for which the program was traced.
                case _:
                    raise MalformedArchive(f"no program takes a {kind}")
        return found

    @cached_property
    def _outputs(self) -> Sequence[Mapping[str, Any]]:
        """The results of the program. Raises RefusedNodes if it writes to its inputs."""
        found: list[Mapping[str, Any]] = []
        for entry in self._signature["output_specs"]:
            ((kind, given),) = entry.items()
            if kind != "user_output":
                raise _assigned(given.get("buffer_name") or given.get("user_input_name") or kind)
            found.append(given["arg"])
        return found

    def _source(self) -> Graph:
        """The graph as it is in the file.

        It is interpreted, and never a GraphModule, which is code made of the graph's names.
        """
        graph = Graph()
        nodes: dict[str, Any] = {
            name: graph.placeholder(f"input_{i}") for i, (name, _) in enumerate(self._inputs)
        }
        refused: list[str] = []
        for entry in self._graph["nodes"]:
            if not entry["outputs"]:
                continue  # An assertion about sizes: the bounds of the program's sizes have it.
            try:
                self._add(graph, entry, nodes)
            except Refusal as refusal:
                refused.append(f"{entry.get('name') or entry['target']}: {refusal}")
                break
        if refused:
            raise RefusedNodes(refused)
        returned = [self._argument(output, nodes) for output in self._outputs]
        graph.output([value for value in returned if isinstance(value, Node)])
        return graph

    def _add(self, graph: Graph, entry: Mapping[str, Any], nodes: dict[str, Any]) -> None:
        arguments = {a["name"]: self._argument(a["arg"], nodes) for a in entry["inputs"]}
        target = entry["target"]
        if (function := _FUNCTIONS.get(target)) is not None:
            if not all(isinstance(each, Node | int | float) for each in arguments.values()):
                raise Refusal(f"{target} is of numbers")
            node = graph.call_function(function, tuple(arguments.values()))
        else:
            op = overload_of(target)
            known = {argument.name for argument in op._schema.arguments}
            if unknown := arguments.keys() - known:
                raise Refusal(f"{target} has no argument {min(unknown)}")
            node = graph.call_function(op, (), arguments)
        node.meta["stack_trace"] = entry["metadata"].get("stack_trace")
        for number, output in enumerate(entry["outputs"]):
            ((kind, given),) = output.items()
            match kind:
                case "as_tensor" if len(entry["outputs"]) == 1:
                    nodes[given["name"]] = node
                case "as_tensor":
                    value = graph.call_function(operator.getitem, (node, number))
                    nodes[given["name"]] = value
                case "as_tensors":
                    for place, each in enumerate(given):
                        value = graph.call_function(operator.getitem, (node, place))
                        nodes[each["name"]] = value
                case "as_sym_int" | "as_sym_float" | "as_sym_bool" if "as_name" in given:
                    nodes[given["as_name"]] = node
                case "as_none":
                    pass
                case _:
                    raise Refusal(f"{target} has a result of kind {kind.removeprefix('as_')}")

    def _argument(self, given: Mapping[str, Any], nodes: Mapping[str, Any]) -> Any:
        ((kind, value),) = given.items()
        match kind:
            case "as_tensor":
                return nodes[value["name"]]
            case "as_tensors":
                return [nodes[each["name"]] for each in value]
            case "as_optional_tensor":
                return self._argument(value, nodes)
            case "as_optional_tensors" | "as_sym_ints" | "as_sym_floats":
                return [self._argument(each, nodes) for each in value]
            case "as_sym_int" | "as_sym_float" | "as_sym_bool":
                return self._argument(value, nodes)
            case "as_name":
                return nodes[value]
            case "as_none":
                return None
            case "as_int" | "as_float" | "as_bool" | "as_string":
                return value if kind != "as_float" else float(value)
            case "as_ints" | "as_floats" | "as_bools" | "as_int_lists":
                return list(value)
            case "as_scalar_type":
                return dtype_of(value)
            case "as_memory_format":
                return _MEMORY_FORMATS[value]
            case "as_layout":
                return torch.strided
            case "as_device":
                return torch.device("cpu")
            case "as_graph":
                raise Refusal("control flow is not translated")
            case _:
                raise Refusal(f"it has an argument of kind {kind.removeprefix('as_')}")

    # -- tensors without elements ------------------------------------------------------------------

    def _size(self, given: Mapping[str, Any]) -> Any:
        """A size of a tensor of the file."""
        if "as_int" in given:
            return int(given["as_int"])
        expression = given["as_expr"]
        try:
            tree = ast.parse(expression["expr_str"], mode="eval").body
        except (SyntaxError, RecursionError, MemoryError, ValueError):  # The parser's stack, too.
            raise MalformedArchive(f"no size is {expression['expr_str']}") from None
        return self._evaluated(tree, expression["expr_str"])

    def _evaluated(self, tree: ast.AST, text: str) -> Any:
        match tree:
            case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str() as name)]):
                return self._symbol(name)
            case ast.Call(func=ast.Name(id="Integer"), args=[number]):
                return self._evaluated(number, text)
            case ast.UnaryOp(op=ast.USub(), operand=number):
                return -self._evaluated(number, text)
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                return number
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _OF_EXPRESSIONS:
                return _OF_EXPRESSIONS[name](*(self._evaluated(a, text) for a in arguments))
            case _:
                raise MalformedArchive(f"no size is {text}")

    def _symbol(self, name: str) -> Any:
        """A symbol of the file as one of the shapes that are traced."""
        if name not in self._symbols:
            bounds = self._ranges.get(name) or {}
            low, high = DEFAULT_BOUNDS
            low = max(low, int(bounds.get("min_val") or 0))
            high = min(high, int(bounds.get("max_val") or high))
            hint = max(low, min(high, 2 + len(self._symbols)))
            source = ConstantSource(f"__{name}")
            symbol = self._shape_env.create_symbol(hint, source, DimDynamic.DYNAMIC)
            self._shape_env.constrain_symbol_range(symbol, low, high)
            self._symbols[name] = self._shape_env.create_symintnode(
                symbol, hint=hint, source=source
            )
        return self._symbols[name]

    def _fake(self, name: str) -> torch.Tensor:
        meta = self._graph["tensor_values"][name]
        try:
            shape, strides = ([self._size(s) for s in meta[key]] for key in ("sizes", "strides"))
            with self._mode:
                return torch.empty_strided(shape, strides, dtype=dtype_of(meta["dtype"]))
        except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
            raise MalformedArchive(f"{name} has no such size or stride: {error}") from None

    # -- the graph that is translated --------------------------------------------------------------

    def _traced(self) -> GraphModule:
        """The graph without mutation, of core ATen ops. Raises RefusedNodes for ops that PyTorch
        refuses."""
        source = self._source()
        fakes = [self._fake(name) for name, _ in self._inputs]
        table: dict[Any, Any] = dict(core_aten_decompositions())
        run = torch.func.functionalize(_Interpreter(torch.nn.Module(), graph=source).run)
        try:
            with torch.no_grad(), preserve_node_meta(), self._mode, _Budget():
                return make_fx(run, table)(*fakes)
        except (RuntimeError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            first = str(error).strip().split("\n")[0]
            raise RefusedNodes([f"PyTorch refuses the program: {first}"]) from None

    def lowered(self) -> ModuleOp:
        """The program as a module. Raises RefusedNodes, with all of them."""
        traced = self._traced()
        expand(traced)
        translator = Translator()
        traced.graph.eliminate_dead_code()
        refused: list[str] = []
        placeholders = traced.graph.find_nodes(op="placeholder")
        for node in traced.graph.nodes:
            if node.target is aten.copy_.default:
                name, weight = self._inputs[placeholders.index(node.args[0])]
                raise _assigned(weight or name)
            if node.op in ("placeholder", "output") or node.target is operator.getitem:
                continue
            if (reason := reason_against(node, translator)) is not None:
                where = location_of(node)
                refused.append(f"{node.name}: {reason}" + (f" ({where})" if where else ""))
        if refused:
            raise RefusedNodes(refused)
        (output,) = traced.graph.find_nodes(op="output")
        results = cast("Sequence[Node]", output.args[0])
        taken = [n for n, (_, weight) in zip(placeholders, self._inputs, strict=True) if not weight]
        if any(node.meta["val"].is_complex() for node in (*taken, *results)):
            raise RefusedNodes(
                ["functions have no complex inputs and results: export torch.view_as_real of them"]
            )
        inputs = {
            name: self._spec(node)
            for node, (name, weight) in zip(placeholders, self._inputs, strict=True)
            if weight is None
        }

        def function(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
            given = iter(tensors)
            values = [
                next(given) if weight is None else self._weight(weight, node.meta["val"])
                for node, (_, weight) in zip(placeholders, self._inputs, strict=True)
            ]
            return translator.values(traced.graph, values, results)

        return standalone(lowered(function, inputs))

    def _weight(self, name: str, traced: torch.Tensor) -> Tensor | Complex:
        """A parameter, buffer or constant. Raises MalformedArchive for one that is not as the
        program takes it."""
        array, like = self._archive.tensor(name), as_real(traced)
        if (found := self._weights.get(id(array))) is None:
            is_complex = np.iscomplexobj(array)
            pairs = np.stack([np.real(array), np.imag(array)], -1) if is_complex else array
            found = self._weights[id(array)] = constant(pairs)  # The archive keeps the array.
        if (wanted := (tuple(like.shape), ours(like.dtype))) != (found.shape, found.dtype):
            shape, dtype = wanted
            raise MalformedArchive(
                f"{name} is {found.dtype.name} {found.shape} in the archive, and the program takes "
                f"{dtype.name} {shape}"
            )
        return bound(found, traced)

    def _spec(self, node: Node) -> Spec:
        value = node.meta["val"]
        sizes = Symbols({str(size.node.expr): name for name, size in self._symbols.items()})
        try:
            return spec(tuple(sizes.of(d) for d in value.shape), ours(value.dtype))
        except Refusal as refusal:
            raise RefusedNodes([f"{name_of(node)}: {refusal}"]) from None


def overload_of(target: str) -> Any:
    """The overload of a name such as `torch.ops.aten.add.Tensor`. Raises Refusal for one that is no
    op of ATen on tensors."""
    found = _OP.fullmatch(target)
    if found is None:
        raise Refusal(f"{target} is no op of ATen")
    namespace, name, overload = found.groups()
    try:
        op = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    except AttributeError:
        raise Refusal(f"PyTorch {torch.__version__} has no {target}") from None
    if not isinstance(op, OpOverload):  # An attribute of one of PyTorch's objects.
        raise Refusal(f"{target} is no op of ATen")
    takes_tensors = any("Tensor" in str(a.type) for a in op._schema.arguments)
    if not (takes_tensors or op in TABLE or op in core_aten_decompositions()):
        raise Refusal(f"{target} has no translation")
    return op
