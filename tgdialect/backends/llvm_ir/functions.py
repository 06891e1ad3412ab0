"""Functions and global variables of the `llvm` dialect as LLVM IR: signatures, blocks, phis and
terminators."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects import builtin, llvm
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.hints import isa

from tgdialect.backends.llvm_ir.instructions import (
    INSTRUCTIONS,
    LOOP_MARK,
    calling_convention,
    integer,
)
from tgdialect.backends.llvm_ir.values import (
    CONSTANTS,
    Names,
    attribute_text,
    quoted,
    symbol_text,
    type_text,
)
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.llvm_dialect.loops import LOOP_ANNOTATION
from tgdialect.ops import tg

VISIBILITIES = ("", "hidden ", "protected ")
UNNAMED_ADDRESSES = ("", "local_unnamed_addr", "unnamed_addr")

# ---- Signatures ------------------------------------------------------------------------------

_PARAMETER_FLAGS = frozenset(
    f"llvm.{name}"
    for name in (
        *("immarg", "inreg", "nest", "noalias", "nocapture", "nofree", "nonnull", "noundef"),
        *("readnone", "readonly", "returned", "signext", "writable", "writeonly", "zeroext"),
    )
)
_PARAMETER_NUMBERS = {
    "llvm.align": "align {}",
    "llvm.alignstack": "alignstack({})",
    "llvm.dereferenceable": "dereferenceable({})",
    "llvm.dereferenceable_or_null": "dereferenceable_or_null({})",
}
_PARAMETER_TYPES = frozenset(("llvm.byref", "llvm.byval", "llvm.inalloca", "llvm.sret"))

_FUNCTION_FLAGS = {
    "always_inline": "alwaysinline",
    "convergent": "convergent",
    "no_inline": "noinline",
    "no_unwind": "nounwind",
    "optimize_none": "optnone",
    "will_return": "willreturn",
}
_FUNCTION_STRINGS = {
    "target_cpu": "target-cpu",
    "tune_cpu": "tune-cpu",
    "rocdl.flat_work_group_size": "amdgpu-flat-work-group-size",
}
_FUNCTION_EXTENTS = ("nvvm.maxntid", "nvvm.reqntid")

_KERNEL_CONVENTIONS = {"nvvm.kernel": "ptx_kernel ", "rocdl.kernel": "amdgpu_kernel "}


def _parameter_attribute(name: str, value: Attribute) -> str:
    if name in _PARAMETER_FLAGS:
        return f" {name.removeprefix('llvm.')}"
    if name in _PARAMETER_NUMBERS and isinstance(value, builtin.IntegerAttr):
        return f" {_PARAMETER_NUMBERS[name].format(value.value.data)}"
    if name in _PARAMETER_TYPES:
        return f" {name.removeprefix('llvm.')}({type_text(value)})"
    if name.startswith("llvm."):
        raise LLVMTranslationException(f"parameter attribute '{name} = {value}' is not supported")
    return ""  # Attributes of other dialects are not for LLVM.


def _parameter_attributes(
    attributes: builtin.ArrayAttr[builtin.DictionaryAttr] | None, count: int
) -> list[str]:
    """The attributes of each of `count` parameters, each after a space."""
    if attributes is None:
        return [""] * count
    return [
        "".join(_parameter_attribute(name, value) for name, value in sorted(each.data.items()))
        for each in attributes
    ]


def _passthrough(attribute: Attribute) -> str:
    match attribute:
        case builtin.StringAttr(data=name):
            return name if re.fullmatch("[a-z_]+", name) else quoted(name.encode())
        case builtin.ArrayAttr(
            data=(builtin.StringAttr(data=name), builtin.StringAttr(data=value))
        ):
            return f"{quoted(name.encode())}={quoted(value.encode())}"
        case _:
            raise LLVMTranslationException(f"'passthrough' cannot hold {attribute}")


def _function_attributes(attributes: Mapping[str, Attribute]) -> Iterable[str]:
    """The attributes after the parameter list."""
    for name, value in attributes.items():
        if name in _FUNCTION_FLAGS and isinstance(value, builtin.UnitAttr):
            yield _FUNCTION_FLAGS[name]
        elif name in _FUNCTION_STRINGS and isinstance(value, builtin.StringAttr):
            yield f'"{_FUNCTION_STRINGS[name]}"={quoted(value.data.encode())}'
        elif name in _FUNCTION_EXTENTS and isinstance(value, builtin.DenseArrayBase):
            yield f'"{name}"="{",".join(map(str, value.iter_values()))}"'
        elif name == "frame_pointer" and isinstance(value, llvm.FramePointerKindAttr):
            yield f'"frame-pointer"="{value.data.value}"'
        elif name == "target_features" and isinstance(value, llvm.TargetFeaturesAttr):
            features = ",".join(feature.data for feature in value.features)
            yield f'"target-features"={quoted(features.encode())}'
        elif name == "passthrough" and isa(value, builtin.ArrayAttr[Attribute]):
            yield from map(_passthrough, value)


def _signature(func: llvm.FuncOp, names: Sequence[str]) -> str:
    """The text between `define` or `declare` and the body. Each of `names` begins with a space."""
    attributes = {**func.attributes, **func.properties}
    kernel = [text for name, text in _KERNEL_CONVENTIONS.items() if name in attributes]
    linkage = func.linkage.linkage.data
    inputs = func.function_type.inputs.data
    parameters = [
        f"{type_text(type)}{extra}{name}"
        for type, extra, name in zip(
            inputs, _parameter_attributes(func.arg_attrs, len(inputs)), names, strict=True
        )
    ]
    if func.function_type.is_variadic:
        parameters.append("...")
    result = _parameter_attributes(func.res_attrs, 1)[0].lstrip()
    return " ".join(
        filter(
            None,
            (
                "" if linkage == "external" else linkage,
                VISIBILITIES[func.visibility_.value.data].rstrip(),
                (kernel[0] if kernel else calling_convention(func)).rstrip(),
                result,
                type_text(func.function_type.output),
                f"{symbol_text(func.sym_name.data)}({', '.join(parameters)})",
                UNNAMED_ADDRESSES[integer(func, "unnamed_addr")],
                *_function_attributes(attributes),
            ),
        )
    )


# ---- Bodies ----------------------------------------------------------------------------------

_Edge = tuple[str, Sequence[SSAValue]]
"""An incoming edge of a block: the label of its source, and the values of the phis."""


class _Body:
    """Writes the reachable blocks. Phis of unreachable ones would have no edges."""

    def __init__(self, func: llvm.FuncOp) -> None:
        self.blocks = _reachable(func)
        self.names = Names()
        self.label = {block: f"bb{index}" for index, block in enumerate(self.blocks)}
        self.edges: dict[Block, list[_Edge]] = {block: [] for block in self.blocks}

    def write(self) -> list[str]:
        # A value may be used before the text of its definition, so all are named first.
        names = self.names
        for block in self.blocks:
            for argument in block.args:
                names.define(argument)
            for op in ops_of(block):
                if op.results:
                    try:
                        names.define_results(op)
                    except LLVMTranslationException as error:
                        raise locate(error, op) from None
        texts = [(block, self._block(block)) for block in self.blocks]
        # The edges into a block are known when the terminators of all blocks are written.
        lines: list[str] = []
        for block, text in texts:
            lines.append(f"{self.label[block]}:")
            lines += self._phis(block)
            lines += text
        return lines

    def _block(self, block: Block) -> list[str]:
        names = self.names
        lines: list[str] = []
        for op in ops_of(block):
            row = INSTRUCTIONS.get(op.name)
            if row is not None:
                try:
                    text = row.write(names, op, row.spelling)
                except LLVMTranslationException as error:
                    raise locate(error, op) from None
                results = op.results
                lines.append(f"  {names.name[results[0]]} = {text}" if results else f"  {text}")
            elif (terminator := _TERMINATORS.get(op.name)) is not None:
                lines += terminator(self, op, self.label[block])
            elif op.name not in CONSTANTS:
                message = f"'{op.name}' has no translation to LLVM IR"
                raise locate(LLVMTranslationException(message), op)
        return lines

    def _phis(self, block: Block) -> list[str]:
        incoming = self.edges[block]
        if block is self.blocks[0]:
            if incoming:
                raise LLVMTranslationException("the entry block of a function has predecessors")
            return []
        name = self.names.name
        phis: list[str] = []
        for index, argument in enumerate(block.args):
            edges = [f"[ {name[values[index]]}, %{label} ]" for label, values in incoming]
            type = self.names.type(argument.type)
            phis.append(f"  {name[argument]} = phi {type} {', '.join(edges)}")
        return phis

    def connect(self, source: str, target: Block, values: Sequence[SSAValue]) -> str:
        """Adds an edge for the target's phis; returns the operand of the branch."""
        self.edges[target].append((source, values))
        return f"label %{self.label[target]}"


def _reachable(func: llvm.FuncOp) -> list[Block]:
    """The blocks that are reachable from the entry, in the order of the region."""
    entry = func.body.first_block
    assert entry is not None
    walk = tg.Walk([entry])
    for block in walk:
        if block.last_op is None or block.last_op.name not in _TERMINATORS:
            raise LLVMTranslationException(
                f"a block of '{func.sym_name.data}' does not end in a terminator"
            )
        walk.add(block.last_op.successors)
    return [block for block in func.body.blocks if block in walk.seen]


# ---- Terminators -----------------------------------------------------------------------------


def _return(body: _Body, op: Operation, label: str) -> list[str]:
    values = op.operands
    return [f"  ret {body.names.typed[values[0]]}" if values else "  ret void"]


def _conditional_branch(body: _Body, op: Operation, label: str) -> list[str]:
    assert isinstance(op, llvm.CondBrOp)
    condition = body.names.typed[op.cond]
    then_values, else_values = op.then_arguments, op.else_arguments
    then_target = body.connect(label, op.then_block, then_values)
    if op.then_block is op.else_block and tuple(then_values) != tuple(else_values):
        # A phi has one value per predecessor, so the second edge needs a block of its own.
        split = f"{label}.else"
        target = body.connect(split, op.else_block, else_values)
        return [f"  br {condition}, {then_target}, label %{split}", f"{split}:", f"  br {target}"]
    else_target = body.connect(label, op.else_block, else_values)
    mark = f", {LOOP_MARK}" if LOOP_ANNOTATION in op.attributes else ""
    return [f"  br {condition}, {then_target}, {else_target}{mark}"]


_TERMINATORS: dict[str, Callable[[_Body, Operation, str], list[str]]] = {
    "llvm.br": lambda body, op, label: [
        f"  br {body.connect(label, op.successors[0], op.operands)}"
    ],
    "llvm.cond_br": _conditional_branch,
    "llvm.return": _return,
    "llvm.unreachable": lambda body, op, label: ["  unreachable"],
}


def function_lines(func: llvm.FuncOp) -> list[str]:
    """A definition, or a declaration if the function has no body."""
    entry = func.body.first_block
    if entry is None:
        return [f"declare {_signature(func, [''] * len(func.function_type.inputs))}"]
    if tuple(argument.type for argument in entry.args) != func.function_type.inputs.data:
        raise LLVMTranslationException(
            f"'{func.sym_name.data}': the entry block's arguments are not those of the type"
        )
    body = _Body(func)
    lines = body.write()
    parameters = [f" {body.names.name[argument]}" for argument in entry.args]
    return [f"define {_signature(func, parameters)} {{", *lines, "}"]


def global_line(op: llvm.GlobalOp) -> str:
    """A definition, or a declaration if an external variable has no initializer.

    Any other variable without an initializer holds `undef`, as a GPU's shared memory must.
    """
    linkage = op.linkage.linkage.data
    initializer = _initializer(op)
    if initializer is None and linkage not in ("external", "extern_weak"):
        initializer = "undef"
    words = (
        "" if linkage == "external" and initializer is not None else linkage,
        VISIBILITIES[integer(op, "visibility_")].rstrip(),
        "thread_local" if op.thread_local_ is not None else "",
        UNNAMED_ADDRESSES[integer(op, "unnamed_addr")],
        f"addrspace({space})" if (space := op.addr_space.value.data) else "",
        "constant" if op.constant is not None else "global",
        type_text(op.global_type),
        initializer or "",
    )
    section = f", section {quoted(op.section.data.encode())}" if op.section is not None else ""
    alignment = f", align {op.alignment.value.data}" if op.alignment is not None else ""
    return f"{symbol_text(op.sym_name.data)} = {' '.join(filter(None, words))}{section}{alignment}"


def _initializer(op: llvm.GlobalOp) -> str | None:
    if op.value is not None:
        return attribute_text(op.value, op.global_type)
    if op.body.first_block is None:
        return None
    names = Names()
    *constants, last = op.body.block.ops
    for constant in constants:
        names.define_results(constant)
    value = last.operands[0] if isinstance(last, llvm.ReturnOp) and last.operands else None
    if value is None or names.name[value].startswith("%"):
        raise LLVMTranslationException(
            f"the initializer of '{op.sym_name.data}' must return a constant operation's result"
        )
    return names.name[value]
