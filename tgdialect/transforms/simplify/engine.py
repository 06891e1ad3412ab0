"""The engine of `tg-simplify`: one walk over a block that leaves every value in normal form.

Operands come before their uses, so the walk visits each op once, with simplified operands. The
engine simplifies the ops of a replacement as it inserts them. Common subexpression elimination
(CSE) merges equal ops, and sums that have equal linear forms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from functools import cache

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import listener
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.ops.dtypes import Kind
from tgdialect.ops.elementwise import COMMUTATIVE, COMPARISONS, OPS
from tgdialect.ops.folding import fold_elementwise
from tgdialect.ops.numbering import op_key
from tgdialect.transforms.simplify.arithmetic import ARITHMETIC
from tgdialect.transforms.simplify.identities import IDENTITIES
from tgdialect.transforms.simplify.loops import Loops, repair_end
from tgdialect.transforms.simplify.matching import (
    RuleIndex,
    build,
    constant_of,
    match,
    operand_dtype,
    proven,
    repeated,
    same_extent,
)

RULES = RuleIndex((*IDENTITIES, *ARITHMETIC))
"""All rules. The engine tries them in this order, and applies the first that matches."""

MAX_DEPTH = 32
"""The greatest depth of nested rewrites: a rewrite of an op that another rewrite has inserted. At
this depth ops stay as they are. The limit stops rules that rewrite each other's results forever."""

MAX_LOOKS = 32
"""The budget of visits under conditions (`assumptions.py`), per op of a block. A value under
several conditions is visited once for each of them: without a limit the number of visits may
multiply, and with a smaller one values are not simplified. Programs need four at most."""

NAMING = frozenset({tg.EndOp.name, tg.ReduceOp.name, tg.AfterOp.name})
"""Ops whose operands after the first only name RANGEs or effects, and do not use their values."""

_ARGUMENTS = 2**32
"""An offset that sorts arguments before all other atoms of a sum: no block has as many values."""


_OF_USES = COMPARISONS - {"tg.cmpgt"} | {"tg.where", "tg.and", "tg.or"}
"""Ops whose rewrites also depend on other uses of their operands or their result: operands that
nothing else reads are simplified under a condition, and a comparison of a clamp stays."""


class Settled:
    """The ops that need no visit in a walk over a block that was simplified before: the state of
    each op after the last walk, and the values that this walk has found changed.

    A visit depends on the op and on what it is computed from. If neither has changed since the last
    walk, the visit would find again that no rewrite applies, so the engine only registers the op
    for value numbering. OptOps simplify a kernel several times, and change a part of it each time.
    """

    def __init__(self) -> None:
        self._before: dict[Operation, Hashable] = {}
        self._now: dict[Operation, Hashable] = {}
        self._changed: set[SSAValue] = set()

    def begin(self) -> None:
        """Begin a walk over the block that the last walk has left."""
        self._before, self._now = self._now, {}
        self._changed.clear()

    def forget(self) -> None:
        """Have the next walk visit all ops."""
        self._now.clear()

    @property
    def is_first(self) -> bool:
        """Whether no walk was before this one."""
        return not self._before

    def note(self, op: Operation, key: Hashable) -> None:
        """Note that no rewrite applies to an op; `key` has its operands and properties."""
        self._now[op] = _facts(op, key)

    def is_same(self, op: Operation, key: Hashable) -> bool:
        """Whether an op, and all that it is computed from, is as the last walk has left it."""
        before = self._before.get(op)
        if before == _facts(op, key) and self._changed.isdisjoint(op.operands):
            return True
        self._changed.update(op.results)
        return False


def _facts(op: Operation, key: Hashable) -> Hashable:
    """The facts that rewrites of an op and of its users may depend on: of a RANGE only its
    extent."""
    return op.operands[0] if type(op) is tg.RangeOp else key


def depends_on_context(op: Operation) -> bool:
    """Whether the rewrites of an op depend on more than what it is computed from."""
    return (
        op.name in _OF_USES
        or type(op) is tg.ReduceOp
        or (type(op) is tg.LoadOp and op.gate is not None)
    )


class Engine:
    """Simplifies blocks, and keeps cached facts about values from one block to the next.

    `handlers` maps op names to handlers. The engine calls a handler where no rule of the tables
    applies.
    """

    may_store = True
    """Whether a replacement may use a REG buffer."""
    may_order = False
    """Whether a replacement may give the iterations of parallel loops an order."""

    def __init__(
        self, handlers: Mapping[str, Handler], repair: Handler, *, selected: bool = False
    ) -> None:
        """Make an engine; `selected` says that `tg-select` has run on the kernel. `repair` replaces
        a REDUCE over a loop that its operand has lost, also where no more rewrites are allowed.

        After `tg-select`, LOADs execute unconditionally, so they keep their gates, and the engine
        skips ops on floats.
        """
        self.handlers = handlers
        self.selected = selected
        self._repair = repair
        self.min_max = MinMax()
        self.validity = Validity()
        self.forms: MutableMapping[SSAValue, Linear] = {}
        self.costs: MutableMapping[SSAValue, int] = {}
        """The number of ADDs and MULs between a sum and its atoms."""
        self._order: MutableMapping[SSAValue, tuple[int, int]] = {}
        """The sort key of an atom in sums: the number of its latest leaf, then the atom's own
        number. Values are numbered in the order of their first visits."""
        self.loops = Loops()
        self._values: MutableMapping[Hashable, SSAValue] = {}
        self.sums: MutableMapping[Hashable, SSAValue] = {}
        self.assuming: dict[Hashable, Engine] = {}
        """The engine for each condition and outcome (`assumptions.py`)."""
        self.looks_left = 0
        """The visits under conditions that this block has left of its budget (MAX_LOOKS)."""
        self._depth = 0
        self._changed = False
        self._actions = listener()
        """The listener that counts rewrites."""
        self._rewrite = ""
        """The name of the rewrite that is being tried."""
        self._backwards: set[tg.RangeOp] = set()
        """The loops that this engine has reversed."""
        self._settled = Settled()

    # -- the walk --------------------------------------------------------------------------------

    def run(self, block: Block) -> bool:
        """Simplify the ops of one block, but not its regions. Returns whether the IR changed."""
        self._actions = listener()
        self.builder = tg.OpBuilder.at_end(block)
        self._changed = False
        while not self._walk(block):
            self._changed = True
            self._forget()
        for op in reversed(ops_of(block)):
            if all(r.first_use is None for r in op.results) and _is_dead(op):
                Rewriter.erase_op(op)
                self._changed = True
        return self._changed

    def run_again(self, block: Block) -> bool:
        """Simplify a block that this engine has simplified before, and no other since. The result
        is that of `run`, but only changed ops, and what is computed from them, are visited."""
        self._settled.begin()
        if not self._settled.is_first:
            # Forms of values that have changed are dropped when the walk meets these.
            self.min_max, self.validity = MinMax(), Validity()
            self._order.clear()
        return self.run(block)

    def _walk(self, block: Block) -> bool:
        """Visit the ops of a block. Returns False if a loop was reversed: the walk must restart."""
        self._values.clear()
        self.sums.clear()
        self.assuming.clear()
        ops = ops_of(block)
        self.looks_left = MAX_LOOKS * len(ops)
        self.loops = Loops.of(block, self.min_max, self.validity)
        try:
            for op in ops:
                self.builder.move_before(op)
                self._visit(op)
        except _Backwards as turned:
            self._depth = 0
            self._acted("reverse loop", turned.loop)
            _turn_round(turned.loop)
            self._backwards.add(turned.loop)
            return False
        return True

    def _forget(self) -> None:
        """Drop cached facts about values whose operands have changed."""
        self.min_max = MinMax()
        self.forms.clear()
        self.costs.clear()
        self._order.clear()
        self._settled = Settled()
        self._depth = 0

    def run_backwards(self, loop: tg.RangeOp) -> None:
        """Reverse a loop whose iterations may run in any order, and restart the walk.

        The engine reverses a loop at most once. For a loop already reversed this does nothing.
        """
        if loop not in self._backwards:
            raise _Backwards(loop)

    def _visit(self, op: Operation) -> SSAValue | None:
        """Simplify one op. Returns the value that replaces its result, or the result itself.

        Returns None for an op whose result the engine never replaces.
        """
        for result in op.results:
            self._enumerate(result, op)
        # END and STORE are changed in place.
        if op.name == tg.EndOp.name:
            assert isinstance(op, tg.EndOp)
            self._changed |= repair_end(op, self.loops, self.min_max)
        if op.name == tg.EndOp.name or op.name == tg.StoreOp.name:
            handler = self.handlers.get(op.name)
            is_allowed = handler is not None and op.parent is not None and self._may_act()
            if handler is not None and is_allowed and handler(self, op) is not None:
                self._changed = True
                self._acted(handler.__name__, op)
            return None
        # The rest applies to ops that CSE may merge: no regions, one result, repeatable.
        if op.regions or len(op.results) != 1 or not _is_repeatable(op):
            return None
        result = op.results[0]
        if not self._may_act():
            # The operand of a REDUCE may have lost a loop by the last rewrite.
            new = self._repair(self, op) if type(op) is tg.ReduceOp else None
            return result if new is None else self._replace(op, new)
        if self.selected and tg.dtype_of(result).is_float:
            return result
        if op.name in COMMUTATIVE and is_constant(op.operands[0]):
            left, right = op.operands
            if not is_constant(right):
                op.operands = (right, left)
                self._changed = True
                self._acted("constant last", op)
                if not self._may_act():
                    return result
        key = op_key(op)
        if not self._settled.is_first and self._stays(op, key):
            return result
        # Replace the op by an equal op that was visited before (CSE), or by a simpler value. An
        # equal op has no simpler value either, unless that depends on more than the operands.
        new, self._rewrite = None, "equal op"
        if not depends_on_context(op):
            new = self.visited().get(key)
        if new is None:
            new = self._replacement(op) if self._depth < MAX_DEPTH else None
            if new is None or not self.loops.keeps(result, new):
                new, self._rewrite = self._values.setdefault(key, result), "equal op"
        if new is result:
            if self._depth < MAX_DEPTH:
                self._settled.note(op, key)
            return result
        self._acted(self._rewrite, op)
        return self._replace(op, new)

    def _replace(self, op: Operation, new: SSAValue) -> SSAValue:
        """Replace an op by a value, which is returned."""
        self._changed = True
        op.results[0].replace_all_uses_with(new)
        Rewriter.erase_op(op)
        return new

    def _may_act(self) -> bool:
        """Whether one more rewrite is allowed."""
        return self._actions is None or self._actions.may_act(inner=self._depth > 0)

    def _acted(self, rewrite: str, op: Operation) -> None:
        """Count a rewrite of an op."""
        if self._actions is not None:
            self._actions.acted(rewrite, op, inner=self._depth > 0)

    def visited(self) -> Mapping[Hashable, SSAValue]:
        """The values of the ops that were visited with the intervals of now, by their keys."""
        return self._values

    def _stays(self, op: Operation, key: Hashable) -> bool:
        """Whether an op needs no visit: it is as the last walk has left it, and no equal op is
        before it. Registers it for value numbering."""
        result = op.results[0]
        if not self._settled.is_same(op, key):
            self.forms.pop(result, None)
            self.costs.pop(result, None)
            return False
        if depends_on_context(op) or key in self._values:
            return False
        if result in self.costs:
            # The last walk may have erased an atom that only it had made.
            form = self.forms[result]
            if not self._order.keys() >= form.terms.keys():
                return False
            if self.sums.setdefault(form, result) is not result:
                return False
        self._values[key] = result
        self._settled.note(op, key)
        return True

    def _enumerate(self, value: SSAValue, op: Operation) -> None:
        """Give a value its sort key in sums: values that only depend on outer loops come first.

        Sums that share the outer part then share the ops that compute it.
        """
        met = len(self._order)
        if op.name in OPS:
            latest = max([self.position(o)[0] for o in op.operands])
        else:
            latest = -_ARGUMENTS if op.name == tg.ConstOp.name else met
        self._order[value] = (latest, met)

    def _replacement(self, op: Operation) -> SSAValue | None:
        """A simpler value that equals the op's result; None if no rewrite applies."""
        if op.name in OPS:
            if (folded := fold_elementwise(op)) is not None:
                constant = self.constant(folded)
                self._rewrite = "fold"  # Last, as a visit of the constant has a name of its own.
                return constant
            if op.name != "tg.where" and tg.dtype_of(op.operands[0]).is_float:
                return None
            # An integer or bool whose interval has one element, or a rule of the tables.
            result, known = op.results[0], None
            if not tg.dtype_of(result).is_float and (value := self._only_value(result)) is not None:
                element = tg.tensor(result).element_type
                known = self.splat(tg.number_attribute(value, element), result.type)
                self._rewrite = "only value"
            if known is not None or (known := self._apply_rules(op)) is not None:
                return known
        handler = self.handlers.get(op.name)
        if handler is None:
            return None
        value = handler(self, op)
        self._rewrite = handler.__name__
        return value

    def _only_value(self, value: SSAValue) -> int | None:
        """The constant value of an integer or bool, if its interval has one element."""
        interval = self.min_max[value]
        return int(interval.lo) if interval.lo == interval.hi and self.validity[value] else None

    def _apply_rules(self, op: Operation) -> SSAValue | None:
        """The right side of the first rule that applies to an op; None if no rule applies."""
        for rule, pattern in RULES.candidates(op):
            binding = match(pattern, op)
            if binding is None:
                continue
            inner = operand_dtype(op, binding)
            if not proven(rule.when, binding, tg.dtype_row(inner), self.min_max):
                continue
            if not all(self.validity[binding[name]] for name in rule.needs_valid):
                continue
            result = op.results[0]
            value = build(rule.result, tg.tensor(result).element_type, inner, binding, self)
            if (widened := self.widened(value, result)) is not None:
                self._rewrite = rule.name
                return widened
        return None

    # -- making ops ------------------------------------------------------------------------------

    def apply(self, op: str, operands: Sequence[SSAValue]) -> SSAValue:
        """The simplified result of an elementwise op on values."""
        return self.insert(OPS[op](*operands))

    def constant(self, value: Attribute) -> SSAValue:
        """A scalar constant."""
        return self._values.get(("tg.const", value)) or self.insert(tg.ConstOp(value))

    def integer(self, value: int, like: SSAValue) -> SSAValue:
        """A scalar constant of the dtype of `like`, wrapped into it."""
        element = tg.tensor(like).element_type
        return self.constant(tg.number_attribute(tg.wrap_to(tg.dtype_row(element), value), element))

    def splat(self, value: Attribute, type: Attribute) -> SSAValue | None:
        """A tensor of `type` with a constant in every cell; None if the type has a place."""
        return repeated(self.constant(value), type, self.insert)

    def widened(self, value: SSAValue, like: SSAValue) -> SSAValue | None:
        """A value of the type of `like`: the value itself, or its constant broadcast; else None."""
        if value.type == like.type:
            return value
        constant = constant_of(value)
        return None if constant is None else self.splat(constant, like.type)

    def insert(self, op: Operation) -> SSAValue:
        """Insert an op before the op that the walk visits. Returns its simplified result."""
        self.builder.insert(op)
        self._depth += 1
        value = self._visit(op)
        self._depth -= 1
        return op.results[0] if value is None else value  # A LOAD into new memory stays.

    def adopt(self, value: SSAValue, after: Operation | None) -> SSAValue:
        """Take over the ops that another engine has inserted between `after` and the current op.

        Ops that `value` does not depend on are erased. Returns the simplified `value`.
        """
        # Collect the inserted ops.
        point, location = self.builder.insertion_point, self.builder.location
        ops: list[Operation] = []
        op = self.builder.block.first_op if after is None else after.next_op
        while op is not None and op is not point.insert_before:
            ops.append(op)
            op = op.next_op
        # Erase the ops that `value` does not depend on.
        used = {value}
        for op in reversed(ops):
            if op.results[0] in used:
                used.update(op.operands)
            else:
                Rewriter.erase_op(op)
        # Visit the others with this engine, which merges them with equal ops.
        self._depth += 1
        for op in ops:
            if op.parent is not None:
                self.builder.move_before(op)
                result, new = op.results[0], self._visit(op)
                value = new if result is value and new is not None else value
        self._depth -= 1
        self.builder.insertion_point, self.builder.location = point, location
        return value

    # -- sums ------------------------------------------------------------------------------------

    def form(self, value: SSAValue) -> Linear:
        """The linear form of an integer. A value that is not a sum is the only atom of its form."""
        known = self.forms.get(value)
        if known is None:
            # The variable of a RANGE of size 1 is the constant 0 here, although the RANGE stays.
            constant = self._only_value(value)
            known = tg.Affine({value: 1} if constant is None else {}, constant or 0)
            self.forms[value] = known
        return known

    def exact_form(self, value: SSAValue) -> Linear:
        """The form of a value over the integers: its sum if that does not wrap, else one atom."""
        form = self.form(value)
        if form.atom is not None:
            return form
        dtype = tg.dtype_of(value)
        candidates = [form]
        if dtype.kind is Kind.UNSIGNED:
            candidates.append(tg.Affine(form.terms, form.constant % (1 << dtype.bits)))
        return next((c for c in candidates if self.fits(c, dtype)), tg.Affine({value: 1}))

    def fits(self, form: Linear, dtype: tg.DType) -> bool:
        """Whether every value of a form is representable in `dtype`."""
        return self.interval(form).within(dtype.low, dtype.high)

    def interval(self, form: Linear) -> tg.Interval:
        """The interval of a form over the integers, without wrapping."""
        return form.interval(self.min_max.__getitem__)

    def emit(self, form: Linear, like: SSAValue) -> SSAValue:
        """Emit a form in the dtype of `like`, with outer atoms first and the constant last."""
        # Atoms with equal coefficients are added first, and multiplied once.
        groups = sorted(
            ((sorted(atoms, key=self.position), k) for k, atoms in form.groups.items()),
            key=lambda group: self.position(group[0][0]),
        )
        total: SSAValue | None = None
        for atoms, coefficient in groups:
            summand = atoms[0]
            for atom in atoms[1:]:
                summand = self.apply("tg.add", (summand, atom))
            if coefficient != 1:
                summand = self.apply("tg.mul", (summand, self.integer(coefficient, like)))
            total = summand if total is None else self.apply("tg.add", (total, summand))
        if total is None:
            return self.integer(form.constant, like)
        if form.constant:
            total = self.apply("tg.add", (total, self.integer(form.constant, like)))
        return total

    def position(self, atom: SSAValue) -> tuple[int, int]:
        """The sort key of an atom. Arguments and values of enclosing blocks come first."""
        return self._order.get(atom) or (getattr(atom, "index", 0) - _ARGUMENTS, 0)

    # -- for handlers ----------------------------------------------------------------------------

    def written_cost(self, op: Operation) -> int:
        """The number of ADDs and MULs between an op's operands and their atoms."""
        return sum(self.costs.get(o, 0) for o in op.operands)


class _Backwards(Exception):
    """Unwinds the walk, which then reverses the loop and restarts."""

    def __init__(self, loop: tg.RangeOp) -> None:
        self.loop = loop


def _turn_round(loop: tg.RangeOp) -> None:
    """Replace the uses of `i` by `bound - 1 - i`, except in ops that order or close the loop."""
    builder = tg.OpBuilder.after(loop)
    one = builder.put(tg.ConstOp(1, tg.tensor(loop.bound).element_type))
    at = builder.put(tg.SubOp(builder.put(tg.SubOp(loop.bound, one)), loop.result))
    loop.result.replace_uses_with_if(
        at,
        lambda use: (
            use.operation is not at.owner and (use.index == 0 or use.operation.name not in NAMING)
        ),
    )


def is_constant(value: SSAValue) -> bool:
    return constant_of(value) is not None


Handler = Callable[[Engine, Operation], SSAValue | None]
"""Returns a simpler value that equals the op's result, or None if it has no rewrite.

The handler of a STORE or END changes the op in place. It returns any value if it changed something.
"""


def is_even(op: Operation) -> bool:
    """Whether all operands except constants have the shape and place of the result."""
    result = op.results[0].type
    return all(same_extent(o.type, result) or is_constant(o) for o in op.operands)


@cache
def _is_pure(op: type[Operation]) -> bool:
    return op.has_trait(Pure)


def _is_dead(op: Operation) -> bool:
    """Whether an op without uses may be erased."""
    return (_is_pure(type(op)) and not op.regions) or is_trivially_dead(op)


def _is_repeatable(op: Operation) -> bool:
    """Whether two such ops with the same operands give the same value, so that CSE may merge them.

    A LOAD reads one version of memory, so it is repeatable. A LOAD with an address space is not: it
    allocates new memory.
    """
    return _is_pure(type(op)) or (op.name == tg.LoadOp.name and "addrspace" not in op.properties)
