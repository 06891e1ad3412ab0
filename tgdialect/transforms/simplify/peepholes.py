"""Rewrites of CAST, LOAD and STORE that need intervals or conditions."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.properties import device_argument, dtype_of, number
from tgdialect.transforms.simplify.assumptions import simplify_under
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.matching import constant_of


def simplify_cast(engine: Engine, op: Operation) -> SSAValue | None:
    """Remove two integer CASTs to a dtype and back, if that dtype holds every possible value."""
    inner = op.operands[0].owner
    if not isinstance(inner, tg.CastOp) or inner.source.type != op.results[0].type:
        return None
    source, middle = dtype_of(inner.source), dtype_of(inner.result)
    if not source.is_integer or not middle.is_integer:
        return None
    fits = engine.min_max[inner.source].within(middle.low, middle.high)
    return inner.source if fits else None


def simplify_load(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify a LOAD with a gate.

    The location is simplified under the gate. A gate that is true is dropped, and a LOAD whose gate
    is false becomes its alternative value.
    """
    assert isinstance(op, tg.LoadOp)
    if op.gate is None:
        return None
    if (gate := constant_of(op.gate)) is None:
        location = simplify_under(engine, op.buffer, op.gate)
        same = location is op.buffer
        return None if same else engine.insert(op.rebuild((location, *op.operands[1:])))
    if number(gate):
        space = None if op.addrspace is None else tg.AddrSpace(op.addrspace.data)
        return engine.insert(tg.LoadOp(op.buffer, device=device_argument(op), addrspace=space))
    return op.alt if op.alt is not None and op.alt.type == op.result.type else None


def simplify_store(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify the location and the value of a STORE under its gate; drop a gate that is true."""
    location, value, *gates = op.operands
    if not gates:
        return None
    new = [simplify_under(engine, v, gates[0]) for v in (location, value)]
    if (gate := constant_of(gates[0])) is None or not number(gate):
        new += gates
    if new == list(op.operands):
        return None
    op.operands = new
    return op.results[0]
