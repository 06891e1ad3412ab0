"""The `gpu` dialect: xDSL's, with upstream's assembly where xDSL has the generic form only."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl import irdl
from xdsl.dialects import builtin, gpu
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable

from tgdialect.fast_xdsl.formats import WidenedOp
from tgdialect.gpu_dialect.target import ChipAttr

CONTAINER_MODULE = "gpu.container_module"
"""The unit attribute of a module that has `gpu.module`s and launches their kernels."""
KERNEL = "gpu.kernel"
"""The unit attribute of a function that `gpu.launch_func` launches."""


@irdl.irdl_op_definition
class ModuleOp(WidenedOp, gpu.ModuleOp):
    """Code of a GPU, compiled for each of `targets` by itself.

    ```mlir
    gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    }
    ```
    """

    name = "gpu.module"
    sym_name = irdl.prop_def(builtin.SymbolNameConstraint())
    targets = irdl.opt_prop_def(builtin.ArrayAttr[Attribute])
    body = irdl.region_def("single_block")
    traits = irdl.traits_def(
        IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable()
    )

    def __init__(self, name: str, targets: Sequence[ChipAttr], body: Region):
        properties = {"sym_name": builtin.StringAttr(name), "targets": builtin.ArrayAttr(targets)}
        irdl.IRDLOperation.__init__(self, properties=properties, regions=[body])

    @classmethod
    def parse(cls, parser: Parser) -> ModuleOp:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        targets = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        if targets is not None:
            properties["targets"] = builtin.ArrayAttr(targets)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.create(
            properties=properties,
            attributes={} if attributes is None else attributes.data,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.targets is not None:
            printer.print_string(" ")
            printer.print_attribute(self.targets)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


_SIZE = irdl.AnyOf.get(builtin.IndexType, builtin.i32, builtin.i64)
_SIZES = {"clusters": "clusterSize", "blocks": "gridSize", "threads": "blockSize"}
"""The keywords of the sizes of a launch, and the names of the operands without X, Y and Z."""


@irdl.irdl_op_definition
class LaunchFuncOp(irdl.IRDLOperation):
    """Runs a kernel of a `gpu.module` on a grid of blocks of threads, and waits for it.

    ```mlir
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) : i64
        args(%0 : !llvm.ptr<1>)
    ```
    """

    name = "gpu.launch_func"
    asyncDependencies = irdl.var_operand_def(gpu.AsyncTokenType)
    gridSizeX = irdl.operand_def(_SIZE)
    gridSizeY = irdl.operand_def(_SIZE)
    gridSizeZ = irdl.operand_def(_SIZE)
    blockSizeX = irdl.operand_def(_SIZE)
    blockSizeY = irdl.operand_def(_SIZE)
    blockSizeZ = irdl.operand_def(_SIZE)
    clusterSizeX = irdl.opt_operand_def(_SIZE)
    clusterSizeY = irdl.opt_operand_def(_SIZE)
    clusterSizeZ = irdl.opt_operand_def(_SIZE)
    dynamicSharedMemorySize = irdl.opt_operand_def(builtin.i32)
    kernelOperands = irdl.var_operand_def()
    asyncObject = irdl.opt_operand_def()
    asyncToken = irdl.opt_result_def(gpu.AsyncTokenType)
    kernel = irdl.prop_def(builtin.SymbolRefAttr)
    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        module: str,
        kernel: str,
        grid: Sequence[SSAValue],
        block: Sequence[SSAValue],
        arguments: Sequence[SSAValue],
        shared: SSAValue | None = None,
    ):
        """`shared` is how many bytes of dynamic memory each block has, an i32."""
        dynamic = [] if shared is None else [shared]
        super().__init__(
            operands=[[], *grid, *block, [], [], [], dynamic, arguments, []],
            result_types=[[]],
            properties={"kernel": builtin.SymbolRefAttr(module, [kernel])},
        )

    @classmethod
    def parse(cls, parser: Parser) -> LaunchFuncOp:
        is_async = parser.parse_optional_keyword("async") is not None
        tokens = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_operand
        )
        stream: list[SSAValue] = []
        if parser.parse_optional_punctuation("<") is not None:
            stream.append(_parse_typed_operand(parser))
            parser.parse_punctuation(">")
        kernel = parser.parse_attribute()
        sizes: dict[str, Sequence[UnresolvedOperand]] = {}
        for keyword in _SIZES:
            if parser.parse_optional_keyword(keyword) is not None:
                parser.parse_keyword("in")
                sizes[keyword] = parser.parse_comma_separated_list(
                    parser.Delimiter.PAREN, parser.parse_unresolved_operand
                )
            elif keyword != "clusters":
                parser.raise_error(f"expected '{keyword} in'")
        has_type = parser.parse_optional_punctuation(":") is not None
        type = parser.parse_type() if has_type else builtin.IndexType()
        shared: list[SSAValue] = []
        if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
            shared.append(parser.resolve_operand(parser.parse_unresolved_operand(), builtin.i32))
        arguments: Sequence[SSAValue] = ()
        if parser.parse_optional_keyword("args") is not None:
            arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_typed_operand(parser)
            )
        resolved = {
            keyword: [[parser.resolve_operand(size, type)] for size in found]
            for keyword, found in sizes.items()
        }
        cluster = resolved.get("clusters", [[], [], []])
        return cls.build(
            operands=[
                *(tokens or [], *resolved["blocks"], *resolved["threads"], *cluster),
                *(shared, arguments, stream),
            ],
            result_types=[[gpu.AsyncTokenType()] if is_async else []],
            properties={"kernel": kernel},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        if self.asyncToken is not None:
            printer.print_string(" async")
        if self.asyncDependencies:
            printer.print_string(" ")
            with printer.in_square_brackets():
                printer.print_list(self.asyncDependencies, printer.print_operand)
        if self.asyncObject is not None:
            printer.print_string(" ")
            with printer.in_angle_brackets():
                _print_typed_operand(printer, self.asyncObject)
        printer.print_string(" ")
        printer.print_attribute(self.kernel)
        for keyword, name in _SIZES.items():
            sizes: list[SSAValue | None] = [getattr(self, f"{name}{axis}") for axis in "XYZ"]
            if present := [size for size in sizes if size is not None]:
                printer.print_string(f" {keyword} in ")
                with printer.in_parens():
                    printer.print_list(present, printer.print_operand)
        if not isinstance(self.gridSizeX.type, builtin.IndexType):
            printer.print_string(" : ")
            printer.print_attribute(self.gridSizeX.type)
        if self.dynamicSharedMemorySize is not None:
            printer.print_string(" dynamic_shared_memory_size ")
            printer.print_operand(self.dynamicSharedMemorySize)
        if self.kernelOperands:
            printer.print_string(" args")
            with printer.in_parens():
                printer.print_list(
                    self.kernelOperands, lambda value: _print_typed_operand(printer, value)
                )
        printer.print_op_attributes(self.attributes)


def _parse_typed_operand(parser: Parser) -> SSAValue:
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(operand, parser.parse_type())


def _print_typed_operand(printer: Printer, value: SSAValue) -> None:
    printer.print_operand(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


_OPERATIONS: list[type[Operation]] = [LaunchFuncOp, ModuleOp]
_NAMES = {op.name for op in _OPERATIONS}

GPU_WITH_GAPS = Dialect(
    "gpu",
    [*(op for op in gpu.GPU.operations if op.name not in _NAMES), *_OPERATIONS],
    [*gpu.GPU.attributes],
)
"""The `gpu` dialect: xDSL's operations, except those replaced, and ours."""
