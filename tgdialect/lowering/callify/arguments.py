"""The arguments of a callified function: old arguments, PARAMs, BUFFERs, BINARYs, then results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.index_expressions import ComputedExtents, index_arguments
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.creation import created
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.properties import NAME_THE_EXTENT
from tgdialect.transforms.dead_ops import erase_unused

ArgumentAttributes = dict[str, Attribute]

SEVERAL_DEVICES = "a value on several devices: tg-lower-shards makes a program of one device of it"


class NewFunction:
    """The function that replaces an old one: its block, its arguments, and their attributes."""

    def __init__(self, old: FuncOp, device: str, *, has_state: bool) -> None:
        """`device` is that of all memory of the result, whatever the program names.
        `has_state` says whether BUFFERs become arguments."""
        self.old = old
        self.device = device
        self._leaves = (tg.ParamOp, tg.BufferOp) if has_state else (tg.ParamOp,)
        self.block = Block()
        self.builder = tg.OpBuilder.at_end(self.block, old.location)
        self._attributes: list[ArgumentAttributes] = []
        self._data: dict[tuple[tg.DataAttr, Attribute], SSAValue] = {}
        self._extents = ComputedExtents({}, {}, self._add_computed)
        self._inputs = 0
        """The arguments before those of BINARYs and results."""
        self.contents: dict[SSAValue, tg.DataAttr] = {}
        """The bytes that arguments have in every call."""
        properties = {"sym_name": old.sym_name, "function_type": unchecked.function_type((), ())}
        if old.sym_visibility is not None:
            properties["sym_visibility"] = old.sym_visibility
        self._new = created(FuncOp, (), (), properties, (Region(self.block),))
        self._new.location = old.location
        self._new.attributes.update(old.attributes)

    def finish(self) -> FuncOp:
        """Return from the function, and give it the type of its arguments. Those for BINARYs are
        only those that are needed."""
        if self.contents:
            erase_unused(self.block)
        for argument in self.contents:
            if isinstance(argument, BlockArgument) and argument.first_use is None:
                del self._attributes[argument.index]
                self.block.erase_arg(argument)
        self.builder.insert(created(ReturnOp, (), ()))
        self._write_attributes()
        self._new.function_type = unchecked.function_type(self.block.arg_types, ())
        return self._new

    def error(self, message: str, op: Operation | None = None) -> Exception:
        """The failure of the pass, at an op of the program."""
        return locate(PassFailedException(message), op or self.old)

    # -- types

    def memory_type(self, value: SSAValue) -> builtin.TensorType[Attribute]:
        """The type of memory that holds a value, on the device of all memory of the result.

        Raises PassFailedException for a value on several devices.
        """
        if isinstance(tg.place_of(tg.tensor(value)).device, tuple):
            raise self.error(SEVERAL_DEVICES, value.owner if isinstance(value, OpResult) else None)
        place = tg.PlaceAttr.of(self.device, tg.AddrSpace.GLOBAL)
        type = tg.tensor(value)
        return tg.tensor_type(type.element_type, type.get_shape(), place)

    def _argument_type(self, value: SSAValue) -> Attribute:
        """Index scalars stay values; everything else is memory."""
        return (
            tg.tensor(value)
            if tg.tensor(value) == tg.tensor_type(tg.INDEX)
            else self.memory_type(value)
        )

    # -- arguments

    def _add(
        self,
        type: Attribute,
        attributes: ArgumentAttributes,
        hint: str | None,
        position: int | None = None,
    ) -> SSAValue:
        """Add an argument, last unless a position is given."""
        position = len(self.block.args) if position is None else position
        argument = self.block.insert_arg(type, position)
        argument.name_hint = hint
        self._attributes.insert(position, attributes)
        return argument

    def _write_attributes(self) -> None:
        self._new.arg_attrs = builtin.ArrayAttr(builtin.DictionaryAttr(a) for a in self._attributes)

    def add_arguments(self) -> Mapping[SSAValue, SSAValue]:
        """An argument for each old argument, and for each slot of the PARAMs and BUFFERs of the
        body; returns the argument that each of these values is."""
        values: dict[SSAValue, SSAValue] = {}
        old = self.old
        given = (
            old.arg_attrs.data if old.arg_attrs else [builtin.DictionaryAttr({})] * len(old.args)
        )
        for argument, attributes in zip(old.args, given, strict=True):
            type = self._argument_type(argument)
            values[argument] = self._add(type, dict(attributes.data), argument.name_hint)
        for kind in self._leaves:
            self._add_slots(kind, values)
        # The shapes of values are inferred from the attributes while the body is built.
        self._write_attributes()
        known = index_arguments(self.block.args)
        positions: dict[SSAValue, int] = {a: a.index for a in self.block.args if a in known}
        self._extents = ComputedExtents(known, positions, self._add_computed)
        self._inputs = len(self.block.args)
        return values

    def _add_computed(self, attributes: Mapping[str, Attribute], name: str) -> tuple[SSAValue, int]:
        """Add an index argument that no caller passes. It comes before those of BINARYs and
        results, which later stages may erase: positions of index arguments stay."""
        position = self._inputs
        self._inputs += 1
        return self._add(tg.tensor_type(tg.INDEX), dict(attributes), name, position), position

    def _add_slots(
        self, kind: type[tg.ParamOp] | type[tg.BufferOp], values: dict[SSAValue, SSAValue]
    ) -> None:
        leaves = [op for op in ops_of(self.old.body.block) if isinstance(op, kind)]
        by_slot: dict[int, SSAValue] = {}
        dynamic: list[tuple[ArgumentAttributes, tg.ParamOp | tg.BufferOp]] = []
        for op in sorted(leaves, key=lambda op: op.slot.data):
            slot, result = op.slot.data, op.results[0]
            type = self._argument_type(result)
            # The first op of a slot makes the argument, the others have to agree with it.
            if slot not in by_slot:
                attributes: ArgumentAttributes = {}
                by_slot[slot] = self._add(type, attributes, result.name_hint)
                attributes |= self._leaf_attributes(op)
                if op.dims:
                    dynamic.append((attributes, op))
            if by_slot[slot].type != type:
                raise self.error(f"slot {slot} is {by_slot[slot].type} and {result.type}", op)
            values[result] = by_slot[slot]
        # Dynamic dimensions are index arguments, of which some may be PARAMs themselves. Those that
        # the body computes are known when it is built (`sized`).
        for attributes, op in dynamic:
            extents = [values[d] for d in op.dims if d in values]
            if len(extents) == len(op.dims):
                attributes["tg.dims"] = self._dims_attribute(extents, op)

    def sized(
        self, op: tg.ParamOp | tg.BufferOp, memory: SSAValue, dims: Sequence[SSAValue]
    ) -> SSAValue:
        """The memory of a PARAM or BUFFER, an argument, with the extents that it has in the body;
        `dims` are the dynamic ones."""
        assert isinstance(memory, BlockArgument)
        found, attributes = self._dims_attribute(dims, op), self._attributes[memory.index]
        if attributes.setdefault("tg.dims", found) != found:
            raise self.error(f"slot {op.slot.data} has two shapes", op)
        self._write_attributes()
        rest = iter(dims)
        static = tg.tensor(memory).get_shape()
        return self._reshaped(memory, [next(rest) if d < 0 else d for d in static])

    def _reshaped(self, value: SSAValue, shape: Sequence[int | SSAValue]) -> SSAValue:
        """A value with other index values for its extents, which they equal in each call."""
        if tuple(shape) == tg.shape_of(value):
            return value
        return self.builder.put(tg.ShrinkOp(value, [0] * len(shape), shape))

    def _leaf_attributes(self, op: tg.ParamOp | tg.BufferOp) -> ArgumentAttributes:
        """The attributes of the argument that a PARAM or BUFFER becomes (`ops/arguments.py`)."""
        attributes: ArgumentAttributes = {}
        is_scalar = tg.tensor(op.results[0]) == tg.tensor_type(tg.INDEX)
        if isinstance(op, tg.BufferOp):
            attributes["tg.buffer"] = builtin.IntegerAttr(op.slot.data, 64)
        elif is_scalar:
            for name, bound in (("tg.min", op.min), ("tg.max", op.max)):
                if bound is not None:
                    attributes[name] = builtin.IntegerAttr(bound.data, tg.INDEX)
        if isinstance(op, tg.ParamOp) and op.symbol is not None:
            attributes[tg.NAME] = op.symbol
        if (constant := op.attributes.get("tg.constant")) is not None:
            if constant != builtin.UnitAttr() or is_scalar:
                raise self.error("tg.constant is a unit, and for tensors alone", op)
            attributes["tg.constant"] = constant
        if (donated := op.attributes.get("tg.donated")) is not None:
            if not isinstance(donated, builtin.IntegerAttr) or is_scalar:
                raise self.error("tg.donated is the number of a result, and for tensors alone", op)
            attributes["tg.donated"] = donated
        return attributes

    def data(self, contents: tg.DataAttr, dtype: Attribute) -> SSAValue:
        """The argument, a vector, that has bytes as the elements of a dtype: one for all that are
        equal."""
        if (found := self._data.get((contents, dtype))) is None:
            extent = contents.nbytes // tg.dtype_row(dtype).itemsize
            place = tg.PlaceAttr.of(self.device, tg.AddrSpace.GLOBAL)
            attributes: ArgumentAttributes = {
                "tg.constant": builtin.UnitAttr(),
                "tg.data": contents,
            }
            found = self._add(tg.tensor_type(dtype, (extent,), place), attributes, "data")
            self._data[contents, dtype] = found
            self.contents[found] = contents
        return found

    def returned(self, value: SSAValue) -> SSAValue:
        """A result of the function whose dynamic extents are index arguments."""
        shape = [d if isinstance(d, int) else self._extent(d) for d in tg.shape_of(value)]
        return self._reshaped(value, shape)

    def add_result(self, value: SSAValue, number: int) -> SSAValue:
        """An argument for a result of the function, whose dynamic extents are index arguments."""
        attributes: ArgumentAttributes = {"tg.output": builtin.UnitAttr()}
        if (name := tg.name_attribute(tg.result_attributes(self.old, number))) is not None:
            attributes[tg.NAME] = builtin.StringAttr(name)
        if dims := [d for d in tg.shape_of(value) if not isinstance(d, int)]:
            attributes["tg.dims"] = self._dims_attribute(dims)
        return self._add(self.memory_type(value), attributes, f"out{number}")

    def _dims_attribute(self, dims: Sequence[tg.Dim], op: Operation | None = None) -> Attribute:
        """The positions of the index arguments that the dynamic dimensions of an argument are."""
        arguments = [self._extent(dim, op) for dim in dims]
        return builtin.DenseArrayBase.from_list(builtin.i64, [a.index for a in arguments])

    def _extent(self, dim: tg.Dim, op: Operation | None = None) -> BlockArgument:
        """The index argument that a dynamic extent is."""
        argument = dim if isinstance(dim, BlockArgument) else self._extents.argument(dim)
        if not isinstance(argument, BlockArgument):
            raise self.error(
                "the dynamic dimensions of arguments, results, PARAMs and BUFFERs are index "
                f"arguments, or computed from them: {NAME_THE_EXTENT}",
                op,
            )
        return argument
