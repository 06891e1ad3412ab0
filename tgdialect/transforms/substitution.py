"""Rebuilding a function with FUNCTIONs and calls of other functions substituted by their bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import is_foreign
from tgdialect.diagnostics import locate, noted
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.ops import tg
from tgdialect.targets.costs import own_cost

MAX_COPIES = 1 << 14
"""The greatest work that copies of functions may have in one function, beyond the first copy of
each, in additions (`_work`). Larger: functions of a line each that call the one before twice, which
make 2^n copies, compile for longer until they are refused (so much work takes ten seconds);
smaller: programs of many layers that cannot be outlined are refused."""
_RECIPE, _LOOP = 8, 12
"""The additions that take as long to compile as a unit of an op's cost, and as a REDUCE or a PAD.
Larger: programs of such ops are refused sooner. Measured with chains of SIN, POW, REDUCE and of PAD
and SHRINK."""


class Substitution(ABC):
    """The rebuilding of one function, op by op, by `convert_op` of a subclass."""

    def __init__(self, function: FuncOp, builder: tg.OpBuilder) -> None:
        self.function = function
        self.builder = builder
        self.values: dict[SSAValue, SSAValue] = {}
        """The new values of old ones."""
        self.tuples: dict[SSAValue, Sequence[SSAValue]] = {}
        """The new values in old tuples."""
        self.returned: Sequence[SSAValue] = ()
        """The results of the last body that ended."""
        self._active: list[FuncOp] = []
        """The functions that are being substituted, outermost first."""
        self._sizes: dict[FuncOp, int] = {}
        """The work of each function that has been substituted."""
        self._copies = 0
        """The work of the copies beyond the first."""

    @abstractmethod
    def convert_op(self, op: Operation) -> None:
        """Rebuild one op on the new values."""

    def is_kept(self, op: Operation) -> bool:
        """Whether `keep` rebuilds this FUNCTION, SCAN or call, instead of its body: by default a
        SCAN, and a FUNCTION that has BUFFERs, which would become state of the function around it.
        """
        return isinstance(op, tg.ScanOp) or (isinstance(op, tg.FunctionOp) and op.has_memory)

    def keep(self, op: Operation) -> None:
        """Rebuild a FUNCTION or SCAN on the new values, and take it apart."""
        assert isinstance(op, tg.FunctionOp | tg.ScanOp)
        new = op.rebuild([self.values[argument] for argument in op.arguments])
        new.attributes.update(op.attributes)
        packed = self.builder.put(new)
        last = op.body.block.last_op
        assert isinstance(last, tg.TupleOp)
        elements = range(len(last.values))
        self.tuples[op.result] = [self.builder.put(tg.GetTupleOp(packed, i)) for i in elements]

    def error(self, message: str, op: Operation) -> Exception:
        """The failure of the pass, at an op of the program."""
        return locate(PassFailedException(message), op)

    def convert(self, root: Block) -> None:
        """Rebuild the ops of a body in order. Bodies that are substituted are on a stack, each with
        what is to be done at its end."""
        stack = [iter(ops_of(root))]
        finish: list[Callable[[], None]] = []
        while stack:
            op = next(stack[-1], None)
            if op is None:
                stack.pop()
                if finish:
                    finish.pop()()
                continue
            if self.is_kept(op):
                self.builder.location = op.location
                self.keep(op)
                continue
            inner = self._substituted(op)
            if inner is not None:
                body, done = inner
                stack.append(iter(ops_of(body)))
                finish.append(done)
                continue
            self.builder.location = op.location
            match op:
                case tg.ParamOp() if isinstance(op.parent_op(), tg.FunctionOp):
                    pass  # `_substituted` has bound it.
                case ReturnOp():
                    self.returned = [self.values[v] for v in op.operands]
                case tg.TupleOp():
                    self.tuples[op.result] = [self.values[v] for v in op.values]
                case tg.GetTupleOp():
                    self.values[op.result] = self.tuples[op.source][op.index.data]
                case _:
                    self.convert_op(op)

    def _substituted(self, op: Operation) -> tuple[Block, Callable[[], None]] | None:
        """The body to substitute for a FUNCTION or a call, and what to do at its end.

        The parameters of the body are bound to the arguments. None for other ops.
        """
        if isinstance(op, tg.FunctionOp):
            noted("substitute", op)
            for param in op.body.block.ops:
                if isinstance(param, tg.ParamOp):
                    argument = op.arguments[param.slot.data]
                    self.values[param.result] = self.values[argument]
            body = op.body.block

            def pack(op: tg.FunctionOp = op) -> None:
                last = op.body.block.last_op
                assert isinstance(last, tg.TupleOp)
                self.tuples[op.result] = self.tuples[last.result]

            return body, pack
        callee = called_function(op)
        if callee is None:
            return None
        if is_foreign(callee):
            reason = "it has no body" if callee.is_declaration else "it is of other dialects"
            name = callee.sym_name.data
            raise self.error(f"a tensor program cannot call @{name}: {reason}", op)
        if callee is self.function or callee in self._active:
            raise self.error(f"@{callee.sym_name.data} calls itself", op)
        self._count(callee, op)
        noted("substitute", op)
        for parameter, argument in zip(callee.args, op.operands, strict=True):
            self.values[parameter] = self.values[argument]
        self._active.append(callee)

        def bind() -> None:
            self._active.pop()
            if isinstance(op, FuncCallOp):
                self.values.update(zip(op.results, self.returned, strict=True))
            elif self.returned:
                self.tuples[op.results[0]] = self.returned
            else:
                # A CALL without results is waited for: it is the effects of the body.
                ops = [each for each in callee.body.block.ops if not isinstance(each, tg.SinkOp)]
                effects = [r for each in ops for r in each.results if r.type == tg.VOID]
                group = tg.GroupOp([self.values[effect] for effect in effects])
                self.values[op.results[0]] = self.builder.put(group)

        return callee.body.block, bind

    def _count(self, callee: FuncOp, call: Operation) -> None:
        """Raise PassFailedException where the copies of functions become too large."""
        if (size := self._sizes.get(callee)) is None:
            self._sizes[callee] = sum(map(_work, nested_ops(callee)))
            return
        self._copies += size
        if self._copies > MAX_COPIES:
            name = callee.sym_name.data
            raise self.error(
                f"calls of @{name} and other functions copy the work of more than {MAX_COPIES} "
                f"additions into @{self.function.sym_name.data}",
                call,
            )


class Flattening(Substitution):
    """A copy of a function with FUNCTIONs and calls substituted, whose arguments may be of other
    types."""

    def __init__(
        self, function: FuncOp, argument: Callable[[SSAValue], Attribute] = lambda value: value.type
    ) -> None:
        builder, values = with_arguments(function, argument)
        super().__init__(function, builder)
        self.values |= values

    def run(self) -> FuncOp:
        self.convert(self.function.body.block)
        self.builder.location = self.function.location
        self.builder.insert(ReturnOp(*self.returned))
        return finished(self.function, self.builder.block, self.function.res_attrs)

    def convert_op(self, op: Operation) -> None:
        if not isinstance(op, tg.TgOp) or op.regions:
            raise self.error(f"{op.name} does not belong in a tensor program", op)
        noted("convert", op)
        self.values[op.results[0]] = self.converted(op)

    def converted(self, op: tg.TgOp) -> SSAValue:
        """The result of an op on the new values."""
        new = op.rebuild([self.values[v] for v in op.operands])
        new.attributes.update(op.attributes)
        return self.builder.put(new)


def with_arguments(
    function: FuncOp, argument: Callable[[SSAValue], Attribute]
) -> tuple[tg.OpBuilder, dict[SSAValue, SSAValue]]:
    """The builder of a new body whose arguments have given types, and these arguments by those of a
    function."""
    block = Block(arg_types=[argument(value) for value in function.args])
    for old, new in zip(function.args, block.args, strict=True):
        new.name_hint = old.name_hint
    builder = tg.OpBuilder.at_end(block, function.location)
    return builder, dict(zip(function.args, block.args, strict=True))


def finished(
    old: FuncOp, body: Block, res_attrs: ArrayAttr[DictionaryAttr] | None = None
) -> FuncOp:
    """A function like an old one with a new body, which ends in a RETURN."""
    last = body.last_op
    assert last is not None
    type = FunctionType.from_lists(body.arg_types, [v.type for v in last.operands])
    new = FuncOp(
        old.sym_name.data,
        type,
        Region(body),
        old.sym_visibility,
        arg_attrs=old.arg_attrs,
        res_attrs=res_attrs,
    )
    new.location = old.location
    new.attributes.update(old.attributes)
    return new


def _work(op: Operation) -> int:
    """About how many additions take as long to compile as an op."""
    if isinstance(op, tg.ElementwiseOp):
        return 1 if (cost := own_cost(type(op))) <= 1 else int(_RECIPE * cost)
    return _LOOP if isinstance(op, tg.ReduceOp | tg.PadOp) else 1


def called_function(op: Operation) -> FuncOp | None:
    """The function that an op calls; None for a CALL of a kernel, and for other ops."""
    if not isinstance(op, FuncCallOp | tg.CallOp):
        return None
    callee = SymbolTable.lookup_symbol(op, op.callee)
    return callee if isinstance(callee, FuncOp) else None
