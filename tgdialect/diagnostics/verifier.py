"""
Verification of a module that stops at one error, located at the operation that is wrong.

xDSL's `Operation.verify` raises exceptions without a position that contain the whole module, and
does not check dominance. This walk calls the same verifiers of the operations, in the same order
(nested operations first), and adds MLIR's dominance rule.
"""

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, UnregisteredOp
from xdsl.ir import Block, BlockArgument, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.ir.post_order import PostOrderIterator
from xdsl.traits import IsTerminator, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics.diagnostic import (
    CompilationError,
    diagnose,
    exception_text,
    operation_diagnostic,
)
from tgdialect.diagnostics.facts import kept_facts

GRAPH_REGION_OPS = frozenset({"equivalence.graph", "hw.module"})
"""
Operations, besides modules and unregistered ones, with graph regions: values may be used before the
operation that defines them. xDSL has no trait for them.
"""

_REDEFINITION = "Redefinition of symbol"
"""The beginning of an error that xDSL raises at a symbol table, not at the symbol in it."""


@kept_facts()
def verify_module(module: Operation) -> None:
    """
    Verify an operation and all nested ones, without recursion. Raises `CompilationError` with one
    diagnostic for the first operation in the text, innermost first, that breaks a rule.
    """
    dominance = _Dominance()
    valid: set[tuple[object, ...]] = set()
    stack = [(module, _nested_operations(module))]
    while stack:
        op, nested = stack[-1]
        if (child := next(nested, None)) is None:
            stack.pop()
            _verify_operation(op, valid)
            dominance.complete(op)
            continue
        dominance.check_operands(child)
        if child.regions:
            stack.append((child, _nested_operations(child)))
        else:
            _verify_operation(child, valid)
            dominance.complete(child)


def _error(op: Operation, message: str) -> CompilationError:
    return CompilationError(operation_diagnostic(op, message))


def _nested_operations(op: Operation) -> Iterator[Operation]:
    """The operations directly in the regions of `op`; empty blocks are checked on the way."""
    for region in op.regions:
        for block in region.blocks:
            if (
                block.first_op is None
                and len(region.blocks) == 1
                and not op.has_trait(NoTerminator)
            ):
                raise _error(op, f"the block of '{op.name}' is empty, a terminator is expected")
            yield from block.ops


def _kind(op: Operation) -> tuple[object, ...] | None:
    """The key of an op whose class, attributes and types decide whether it is valid; None for other
    ops. Attributes and types are compared by identity, since nothing is freed while a module is
    verified."""
    if not getattr(op, "is_valid_by_types", False):
        return None
    attributes = (*op.properties.items(), ("", None), *op.attributes.items())
    types = (value.type for values in (op.operands, op.results) for value in values)
    return type(op), *((name, id(value)) for name, value in attributes), *map(id, types)


def _is_static(op: Operation) -> bool:
    """Whether all types of an op are of tensors without dynamic extents."""
    for value in (*op.operands, *op.results):
        type: Any = value.type
        # `isinstance` with an abstract class is a call of Python code.
        if type.__class__ is not TensorType:
            return False
        if DYNAMIC_INDEX in [extent.data for extent in type.shape.data]:
            return False
    return True


def _verify_operation(op: Operation, valid: set[tuple[object, ...]]) -> None:
    """Verify an op; `valid` has the kinds of those that are valid, and gets its own."""
    _verify_position_in_block(op)
    if (kind := _kind(op)) in valid:
        return
    _verify_by_itself(op)
    if kind is not None and _is_static(op):
        valid.add(kind)


def _verify_by_itself(op: Operation) -> None:
    """Call the op's verifier."""
    try:
        if type(op).verify is Operation.verify:
            op.verify_()
        else:
            op.verify(verify_nested_ops=False)
    except VerifyException as error:
        if "location" in vars(error):
            raise CompilationError(diagnose(error)) from error
        message = str(error).removeprefix("Operation does not verify: ")
        at = _redefinition(op) if message.startswith(_REDEFINITION) else op
        raise _error(at, message or f"'{op.name}' does not verify") from error
    except CompilationError:
        raise
    except Exception as error:
        # Verifiers of operations that are badly malformed fail on their own assumptions.
        message = f"'{op.name}' does not verify ({exception_text(error)})"
        raise _error(op, message) from error


def _redefinition(symbol_table: Operation) -> Operation:
    """The first operation in the table whose symbol an earlier one has."""
    symbols: set[str] = set()
    for op in symbol_table.regions[0].block.ops:
        if (trait := op.get_trait(SymbolOpInterface)) is None:
            continue
        if (symbol := trait.get_sym_attr_name(op)) is not None:
            if symbol.data in symbols:
                return op
            symbols.add(symbol.data)
    return symbol_table


def _verify_position_in_block(op: Operation) -> None:
    """Terminators end their block, and branch within their region."""
    block = op.parent
    region = None if block is None else block.parent
    if block is None or region is None:
        if op.successors:
            raise _error(op, f"'{op.name}' has successors but is in no region")
        return
    if block.last_op is not op:
        if op.successors:
            raise _error(op, f"'{op.name}' has successors and must end its block")
        return
    if any(successor.parent is not region for successor in op.successors):
        raise _error(op, f"'{op.name}' branches to a block of a different region")
    if op.has_trait(IsTerminator) or isinstance(op, UnregisteredOp):
        return
    parent = region.parent
    if len(region.blocks) > 1 or (parent is not None and not parent.has_trait(NoTerminator)):
        raise _error(op, f"'{op.name}' ends its block but is not a terminator")


class _Dominance:
    """
    MLIR's rule for operands: in a region that is not a graph, the definition dominates the use.
    Within a block that is order; between blocks, the dominator tree of their region.
    """

    def __init__(self) -> None:
        self._completed: set[Operation] = set()
        self._subtrees: dict[Region, dict[Block, range]] = {}

    def complete(self, op: Operation) -> None:
        """The walk has gone past `op`: what comes later in its block may use its results."""
        self._completed.add(op)

    def check_operands(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            if isinstance(operand, ErasedSSAValue):
                raise _error(op, f"operand #{index} is a value that was erased")
            if not isinstance(operand, OpResult | BlockArgument):
                raise _error(op, f"operand #{index} is a value that is not defined")
            owner = operand.owner
            if owner in self._completed and owner.parent is op.parent:
                continue
            if owner is op.parent:
                continue
            if not self._dominates(operand, op):
                name = f" (%{operand.name_hint})" if operand.name_hint else ""
                raise _error(op, f"operand #{index}{name} does not dominate this use")

    def _dominates(self, value: SSAValue, use: Operation) -> bool:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        region = None if block is None else block.parent
        # The operation in the region of the definition that is, or contains, the use.
        ancestor: Operation | None = use
        while ancestor is not None and (at := ancestor.parent) is not None:
            if at.parent is region:
                break
            ancestor = at.parent_op()
        else:
            return False
        if region is None or block is None or _is_graph(region):
            return True
        if at is block:
            return not isinstance(value, OpResult) or owner in self._completed
        subtrees = self._subtrees.get(region)
        if subtrees is None:
            subtrees = self._subtrees[region] = _dominated(_immediate_dominators(region))
        if at not in subtrees:
            return True  # Unreachable blocks are dominated by every block.
        return block in subtrees and subtrees[at].start in subtrees[block]


def _is_graph(region: Region) -> bool:
    op = region.parent
    return op is None or isinstance(op, ModuleOp | UnregisteredOp) or op.name in GRAPH_REGION_OPS


def _dominated(dominators: dict[Block, Block]) -> dict[Block, range]:
    """
    The numbers of the blocks that each block dominates, in an order of the dominator tree in which
    a block comes right before those that it dominates. Its own number is the first.
    """
    children: dict[Block, list[Block]] = {block: [] for block in dominators}
    for block, nearest in dominators.items():
        if nearest is not block:
            children[nearest].append(block)
    first: dict[Block, int] = {}
    subtrees: dict[Block, range] = {}
    stack = [block for block, nearest in dominators.items() if nearest is block]
    while stack:
        block = stack[-1]
        if block not in first:
            first[block] = len(first)
            stack += children[block]
        else:
            stack.pop()
            subtrees[block] = range(first[block], len(first))
    return subtrees


def _immediate_dominators(region: Region) -> dict[Block, Block]:
    """
    The immediate dominator of each reachable block; the entry block is its own. Algorithm of
    Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    entry = region.blocks[0]
    postorder = list(PostOrderIterator(entry))
    number = {block: index for index, block in enumerate(postorder)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in postorder}
    for block in postorder:
        if (terminator := block.last_op) is not None:
            for successor in terminator.successors:
                if successor in predecessors:
                    predecessors[successor].append(block)

    dominators = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(postorder[:-1]):
            known = [each for each in predecessors[block] if each in dominators]
            nearest = known[0]
            for other in known[1:]:
                while nearest is not other:
                    if number[nearest] < number[other]:
                        nearest = dominators[nearest]
                    else:
                        other = dominators[other]
            if dominators.get(block) is not nearest:
                dominators[block] = nearest
                changed = True
    return dominators
