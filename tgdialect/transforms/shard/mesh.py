"""`tg-shard-to-mesh`: collectives as LLVM 19's `mlir-opt` knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.shard import ReductionKind, ReductionKindAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tgdialect.ops import tg

_NAMES: Mapping[str, str] = {"grid": "mesh", "grid_axes": "mesh_axes", "shard.grid": "mesh.mesh"}
"""The names of LLVM 19 that are not those of today with `mesh.` in place of `shard.`."""
_OURS = ("shard.", "tg.")


@dataclass(frozen=True)
class ShardToMeshPass(ModulePass):
    """Rename the `shard` dialect to `mesh`, as LLVM 19 calls it, for upstream's `mlir-opt`.

    With `--print-op-generic`, what `tg-opt` prints is for `mlir-opt --allow-unregistered-dialect`,
    which verifies the collectives; ops of `tg` are unregistered ops there. Properties that are
    numbers become integers of 64 bits. The result is for
    printing: no pass of this project takes it.
    """

    name = "tg-shard-to-mesh"

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        for each in list(op.walk()):
            if each.name.startswith(_OURS):
                _replace(each)


def _replace(op: Operation) -> None:
    """Replace an op by the unregistered one that upstream knows."""
    name = _NAMES.get(op.name, op.name.replace("shard.", "mesh.", 1))
    attributes = {
        _NAMES.get(key, key): _readable(value)
        for key, value in {**op.properties, **op.attributes}.items()
    }
    new = builtin.UnregisteredOp.with_name(name).create(
        operands=op.operands,
        result_types=op.result_types,
        attributes=attributes,
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    new.location = op.location
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
    Rewriter.replace_op(op, new)


def _readable(attribute: Attribute) -> Attribute:
    """An attribute as LLVM 19 can read it."""
    match attribute:
        case tg.NumberAttr(data=number):
            return builtin.IntegerAttr(number, builtin.i64)
        case ReductionKindAttr():
            return builtin.UnregisteredAttr.with_name_and_type("mesh.partial", False)(
                "mesh.partial", False, False, str(ReductionKind(attribute.data))
            )
        case builtin.ArrayAttr(data=entries):
            return builtin.ArrayAttr(map(_readable, entries))
        case builtin.DictionaryAttr(data=entries):
            return builtin.DictionaryAttr({key: _readable(value) for key, value in entries.items()})
        case _:
            return attribute
