"""
`tg-opt`: parse, verify, transform and print IR.

xDSL's driver with MLIR's flags and with located errors: `file:line:col: error: ...`. A run that
fails writes nothing, neither to stdout nor to the file of `-o`.
"""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from io import StringIO
from itertools import zip_longest
from typing import IO, Any, BinaryIO, ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import AnyDenseElement, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.syntax_printer import SyntaxPrinter
from xdsl.targets.mlir import MLIRTarget
from xdsl.utils.exceptions import DiagnosticException, ShrinkException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from tgdialect import registry
from tgdialect.diagnostics import (
    Action,
    Actions,
    CompilationError,
    Diagnostic,
    Severity,
    SourceFile,
    attach_source,
    diagnostic_handler,
    external_resources,
    locate,
    parse_module,
    verify_module,
)
from tgdialect.runtime.speed import at_full_speed
from tgdialect.tools.arguments import OptParser, add_arguments
from tgdialect.tools.console import (
    ToolError,
    UsageError,
    exit_code,
    print_traceback,
    report,
    show,
    tool_errors,
    write_files,
)
from tgdialect.tools.instrumentation import (
    EXTERNAL_PASSES,
    PassRunner,
    Timing,
    failures_as_diagnostics,
    flatten,
    mlir_opt_pass,
    no_external_programs,
    step_names,
)
from tgdialect.tools.ir_dumps import DumpTree
from tgdialect.tools.pass_pipeline import (
    PassSpec,
    Step,
    build_pipeline,
    instantiate,
    nearest_names,
    parse_pipeline,
    parse_spec,
    pipeline_text,
)
from tgdialect.tools.remark_output import remark_output
from tgdialect.tools.verify_diagnostics import check_diagnostics


class ElidingPrinter(Printer):
    """Prints dense literals of more than `most_elements` elements that differ, if that is not None,
    as `dense_resource<__elided__>`."""

    most_elements: int | None = None

    def print_attribute(self, attribute: Attribute) -> None:
        if self.most_elements is None or not isinstance(attribute, DenseIntOrFPElementsAttr):
            super().print_attribute(attribute)
            return
        dense = cast("DenseIntOrFPElementsAttr[AnyDenseElement]", attribute)
        data, count = dense.data.data, len(dense)
        if count <= self.most_elements or data == data[: len(data) // count] * count:
            super().print_attribute(dense)
            return
        self.print_string("dense_resource<__elided__> : ")
        self.print_attribute(dense.type)


class ColoredPrinter(ElidingPrinter, SyntaxPrinter):
    """Prints with colors."""


def _generic(op: Operation) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(op)
    return stream.getvalue()


_STDIN_NAME = "<stdin>"
_FILES = "#tg.data<file"
"""A text without this names no files of data."""


class TgOptMain(xDSLOptMain):
    """One invocation of tg-opt. Every mistake of the user raises `CompilationError`.

    A compiler that embeds the dialect names its own tool in a subclass, and adds to what there is
    in `register_all_dialects`, `register_all_passes`, `register_all_targets` and
    `register_all_frontends` (docs/embedding.md).
    """

    program: ClassVar[str] = "tg-opt"
    steps: list[Step]
    target: Target

    def __init__(self, args: Sequence[str]):
        # xDSL's constructor is not called: it discovers plugins three times, may exit the process,
        # and raises tracebacks for malformed pipelines.
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.ctx = Context()
        self.register_all_dialects()
        self.register_all_passes()
        self.register_all_targets()
        self.register_all_frontends()
        parser = OptParser(self.program, self.available_passes)
        self.register_all_arguments(parser)
        self.args = parser.parse(args)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        self.setup_pipeline()
        self.setup_target()

    def register_all_dialects(self):
        for name, factory in registry.universe().all_dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self):
        self.available_passes |= registry.universe().all_passes | {"mlir-opt": mlir_opt_pass}

    def register_all_targets(self):
        self.available_targets |= registry.universe().all_targets

    def register_all_frontends(self):
        self.available_frontends |= cast("Any", registry.universe().all_frontends)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser):
        super().register_all_arguments(arg_parser)
        formats = dict.fromkeys((registry.MLIR, *self.available_frontends))
        add_arguments(arg_parser, self.available_targets, formats)

    def setup_pipeline(self):
        """Look up the passes of `-p` or `--pass-pipeline`, and of the flags that name passes."""
        pipelines: list[str] = self.args.pass_pipeline
        if any(self.args.passes) and pipelines:
            raise UsageError(
                "name all passes by --pass-pipeline, or all by -p and flags as --cse, not by both"
            )
        if self.args.disable_verify and self.args.verify_each:
            raise UsageError("--disable-verify and --verify-each exclude each other")
        if self.args.run_reproducer and (pipelines or any(self.args.passes)):
            raise UsageError("--run-reproducer runs the pipeline of the file: name no passes")
        local = self.args.mlir_pass_pipeline_local_reproducer
        if local and self.args.mlir_pass_pipeline_crash_reproducer is None:
            raise UsageError(
                "--mlir-pass-pipeline-local-reproducer is for --mlir-pass-pipeline-crash-reproducer"
            )
        if len(pipelines) > 1:
            raise UsageError("--pass-pipeline may be given once")
        if pipelines:
            specs = parse_pipeline(pipelines[0], anchor_required=True)
        else:
            specs = [spec for text in self.args.passes for spec in parse_pipeline(text)]
        self.steps = self.built(specs)
        self.remarks = remark_output(self.args)

    def built(self, specs: Sequence[PassSpec]) -> list[Step]:
        """The passes of a pipeline. Raises `UsageError` if it names others."""
        refused = () if self.args.allow_external else EXTERNAL_PASSES
        return flatten(build_pipeline(specs, self.available_passes, self.ctx, refused))

    def setup_target(self):
        """Look up the target of `-t`."""
        spec = parse_spec(self.args.target)
        targets = cast("dict[str, Callable[[], type[Target]]]", self.available_targets)
        self.target = instantiate("target", spec, targets)

    def run(self):
        sys.exit(self.execute())

    def execute(self) -> int:
        """Execute the command line; returns the exit code."""
        if self.args.show_dialects:
            show(f"Available Dialects: {','.join(sorted(self.ctx.registered_dialect_names))}\n")
            return 0
        if self.args.list_passes:
            return self.list_passes()
        if self.args.print_irdl is not None:
            return self.print_irdl(self.args.print_irdl)
        verify_attribute = Attribute.__post_init__
        if self.args.disable_verify:
            Attribute.__post_init__ = _verify_nothing
        try:
            return self.compile_input()
        except ShrinkException:
            if not self.args.shrink:
                raise
            show("Success, can shrink\n")
            return 0
        finally:
            Attribute.__post_init__ = verify_attribute

    def compile_input(self) -> int:
        """Compile each chunk of the input; returns the exit code."""
        timing = Timing()
        source = self.read_source()
        if self.args.run_reproducer:
            self.set_up_reproducer(source)
        runner = self.pass_runner()
        if self.args.dump_pass_pipeline:
            pipeline = f"builtin.module({pipeline_text(self.steps)})"
            show(f"Pass Manager with {len(self.steps)} passes:\n{pipeline}\n\n", sys.stderr)
        if (log := self.args.log_actions_to) not in (None, "-"):
            with tool_errors(OSError, context=f"cannot write {log}: "):
                open(log, "w").close()  # Each chunk adds to it.
        outputs: list[str] = []
        failed = False
        for chunk in _split(source, self.args.split_input_file):
            output, produced = self.compile_chunk(chunk, runner, timing)
            diagnostics = [shown for each in produced for shown in self.remarks.shown(each)]
            if self.args.verify_diagnostics:
                diagnostics = check_diagnostics(chunk, diagnostics)
            report(self.program, [attach_source(each, chunk) for each in diagnostics])
            failed |= any(each.severity is Severity.ERROR for each in diagnostics)
            outputs.append(output)
        if len(outputs) > 1 and getattr(self.target, "writes_bytes", False):
            raise UsageError(f"-t {self.target.name} writes one file, not {len(outputs)}")
        if self.args.mlir_timing:
            show(f"{timing.table()}\n", sys.stderr)
        if failed:
            return 1
        if self.args.shrink:
            show("Failure, can't shrink\n")
            return 1
        self.write_output(f"{self.args.output_split_marker}\n".join(outputs))
        return 0

    def set_up_reproducer(self, source: SourceFile) -> None:
        """Look up the pipeline that the input states. Raises `ToolError` if it states none, or one
        of unknown passes."""
        stated = external_resources(source).get("mlir_reproducer", {})
        if not isinstance(pipeline := stated.get("pipeline"), str):
            raise ToolError(f"{source.name} states no pipeline: it is no reproducer")
        if stated.get("verify_each") is False and self.args.verify_each is None:
            self.args.verify_each = False
        try:
            self.steps = self.built(parse_pipeline(pipeline, anchor_required=True))
        except UsageError as error:
            (found,) = error.diagnostics
            raise ToolError(replace(found, file=f"the pipeline of {source.name}")) from error

    def pass_runner(self) -> PassRunner:
        """The runner of the passes, set up by the flags for dumps, timing and verification."""
        args = self.args
        everything = frozenset({"*"})
        tree: str | None = args.mlir_print_ir_tree_dir
        after_all = args.mlir_print_ir_after_all or args.mlir_print_ir_after_failure
        return PassRunner(
            self.steps,
            args,
            everything
            if args.mlir_print_ir_before_all
            else self._pass_names("mlir_print_ir_before"),
            everything if after_all else self._pass_names("mlir_print_ir_after"),
            self._diffed(),
            self.text_of,
            args.syntax_highlight or (sys.stderr.isatty() and not os.environ.get("NO_COLOR")),
            None if tree is None else DumpTree(tree),
        )

    def _diffed(self) -> frozenset[str]:
        """The passes of `--diff`. Raises `UsageError` for one that is not run."""
        names, run = self._pass_names("diff"), step_names(self.steps)
        for name in names.difference(run, "*"):
            there_are = ", ".join(dict.fromkeys(run)) or "none"
            raise UsageError(f"--diff: pass '{name}' is not run; there are: {there_are}")
        return names

    def _pass_names(self, flag: str) -> frozenset[str]:
        texts: list[str] = getattr(self.args, flag)
        names = frozenset(name for text in texts for name in text.split(",") if name)
        for name in names - self.available_passes.keys() - {"*"}:
            nearest = " or ".join(nearest_names(name, self.available_passes))
            hint = f"; did you mean {nearest}?" if nearest else ""
            message = f"--{flag.replace('_', '-')}: unknown pass '{name}'{hint}"
            raise UsageError(message)
        return names

    def printer(self, stream: IO[str], colored: bool = False) -> ElidingPrinter:
        """A printer, as the flags want it, for dumps and the target `mlir`."""
        target = self.target if isinstance(self.target, MLIRTarget) else MLIRTarget()
        args = self.args
        printer = (ColoredPrinter if colored else ElidingPrinter)(
            stream,
            print_generic_format=args.print_op_generic or target.print_generic_format,
            print_properties_as_attributes=args.print_no_properties
            or target.print_properties_as_attributes,
            print_debuginfo=args.print_debuginfo or target.print_debuginfo,
        )
        printer.most_elements = args.mlir_elide_elementsattrs_if_larger
        return printer

    def text_of(self, op: Operation) -> str:
        """The text of an operation in dumps."""
        stream = StringIO()
        self.printer(stream).print_op(op)
        return stream.getvalue()

    @property
    def frontends(self) -> registry.Frontends:
        """The front ends, but for MLIR's. Before version 0.75 xDSL had functions instead."""
        return cast(registry.Frontends, self.available_frontends)

    def read_source(self) -> SourceFile:
        """The input, from the file or stdin."""
        file = "-" if self.args.input_file is None else self.args.input_file
        source = registry.read_program(file, self.args.frontend, self.frontends)
        return replace(source, data_folder=self.args.data_folder)

    def compile_chunk(
        self, chunk: SourceFile, runner: PassRunner, timing: Timing
    ) -> tuple[str, list[Diagnostic]]:
        """The output for a chunk, empty if it failed, and its diagnostics."""
        produced: list[Diagnostic] = []
        module = None
        try:
            remarks = self.remarks.are_wanted
            with diagnostic_handler(produced.append, remarks=remarks), self.counted_actions():
                with timing.measure("Parser"):
                    module = self.parse_source(chunk)
                if self.args.verify_roundtrip:
                    self.check_roundtrip(module, chunk)
                allowed = self.args.allow_external
                with nullcontext() if allowed else no_external_programs():
                    runner.run(self.ctx, module, chunk.name, timing)
                    with timing.measure("Output"):
                        return self.output_resulting_program(module), produced
        except CompilationError as error:
            print_traceback(error)
            if module is not None:
                self.leave_reproducer(chunk, runner, error)
            if module is None and self.args.parsing_diagnostics:
                show(f"{error.with_source(chunk)}\n")
            else:
                produced += error.diagnostics
        return "", produced

    @contextmanager
    def counted_actions(self) -> Generator[None]:
        """A scope in which actions are counted, logged and limited, as the flags say."""
        limit, log, covered = (
            self.args.tg_action_limit,
            self.args.log_actions_to,
            self.args.pattern_coverage,
        )
        if limit is None and log is None and covered is None:
            yield
            return
        # Imported late: few runs count.
        from tgdialect.actions.coverage import Coverage
        from tgdialect.actions.listening import listening

        coverage = Coverage()
        with ExitStack() as opened:
            stream = sys.stderr
            if log not in (None, "-"):
                with tool_errors(OSError, context=f"cannot write {log}: "):
                    stream = opened.enter_context(open(log, "a", encoding="utf-8"))

            def on_action(action: Action) -> None:
                if log is not None:
                    print(action, file=stream)
                coverage.add(action)

            opened.enter_context(listening(Actions(limit, on_action=on_action)))
            try:
                yield
            finally:
                if covered is not None:
                    with tool_errors(OSError, context=f"cannot write {covered}: "):
                        coverage.append_to(covered)

    def leave_reproducer(
        self, chunk: SourceFile, runner: PassRunner, error: CompilationError
    ) -> None:
        """Write the file that the command line asks for, after any failure, and else one among
        others, after a failure of the compiler. The error names it."""
        from tgdialect.runtime import reproducer  # Late: a run that succeeds does without.

        file: str | None = self.args.mlir_pass_pipeline_crash_reproducer
        kind = reproducer.failure_of_compiler(error)
        if file is None and kind is None:
            return
        before, steps = runner.left.module, runner.left.steps
        if before is None:
            steps = self.steps
        folder: str = self.args.data_folder or os.path.dirname(self.args.input_file or "")
        target: str = self.args.target
        flags = ("--data-folder", os.path.abspath(folder)) if _FILES in chunk.text else ()
        flags += () if target == "mlir" else ("-t", target)
        flags += ("--allow-external",) if self.args.allow_external else ()
        flags += ("--allow-unregistered-dialect",) if self.ctx.allow_unregistered else ()
        about: dict[str, Any] = {
            "pipeline": f"builtin.module({pipeline_text(steps)})",
            "command": shlex.join((self.program, *flags, reproducer.RUN)),
            "error": error.diagnostics[0].message,
        }

        def printed() -> str:
            with diagnostic_handler(lambda _: None):
                return self.whole_text(before or self.parse_source(chunk))

        if file is None:
            path = reproducer.leave("pass" if kind == "compile" else "llvm", printed, **about)
            reproducer.name_in(error, path)
            return
        try:
            text = reproducer.reproducer_text("pass", printed(), file=file, **about)
            write_files([file], [lambda out: out.write(text.encode("utf-8", "backslashreplace"))])
            reproducer.name_in(error, file)
        except CompilationError as unwritten:
            reproducer.note_in(error, unwritten.diagnostics[0].message)

    def whole_text(self, module: Operation) -> str:
        """The text of a module that is parsed as the same one."""
        stream = StringIO()
        printer = self.printer(stream)
        printer.most_elements = None
        printer.print_op(module)
        printer.print_metadata(self.ctx.loaded_dialects)
        return stream.getvalue()

    def parse_source(self, source: SourceFile) -> ModuleOp:
        """The module in the source, by the frontend for its format."""
        return registry.parse_program(
            self.ctx,
            source,
            self.args.frontend,
            self.frontends,
            implicit_module=not self.args.no_implicit_module,
        )

    def check_roundtrip(self, module: ModuleOp, source: SourceFile) -> None:
        """Check that a module can be printed and parsed again, as the same one.

        Raises `CompilationError` that shows where the printed text does not parse, or the first
        line of the generic form that differs.
        """
        if not self.args.disable_verify:
            verify_module(module)
        with failures_as_diagnostics("round trip", source.name, module):
            name = f"{source.name} as printed"
            printed = replace(source, name=name, text=self.whole_text(module), first_line=1)
            again = parse_module(self.ctx, printed)
        if module.is_structurally_equivalent(again):
            return
        lines = (_generic(each).splitlines() for each in (module, again))
        differing = ((a, b) for a, b in zip_longest(*lines, fillvalue="") if a != b)
        before, after = next(differing, ("", ""))
        message = (
            "the module is another one after it is printed and parsed: "
            f"'{before.strip()}' becomes '{after.strip()}'"
        )
        raise CompilationError(Diagnostic(message, file=source.name))

    def output_resulting_program(self, prog: ModuleOp) -> str:
        output = StringIO()
        file = self.args.input_file or _STDIN_NAME
        with failures_as_diagnostics(f"target {self.target.name}", file, prog):
            if isinstance(self.target, MLIRTarget):
                colored = self.args.syntax_highlight or self.target.syntax_highlight
                printer = self.printer(output, colored)
                printer.print_op(prog)
                printer.print_metadata(self.ctx.loaded_dialects)
                output.write("\n\n")
            else:
                self.emit(prog, output)
        return output.getvalue()

    def emit(self, prog: ModuleOp, output: StringIO) -> None:
        """Write a module in the language of the target. What it does not know is an error."""
        hint = "lower it to the dialects of this language first"
        try:
            self.target.emit(self.ctx, prog, output)
        except AssertionError as error:
            if not type(self.target).__module__.startswith("xdsl."):
                raise
            # xDSL's printers of assembly assert that they know an operation.
            raise DiagnosticException(f"does not know all operations here: {hint}") from error
        if prog.body.block.first_op is not None and not output.getvalue().strip():
            op = prog.body.block.first_op
            raise locate(DiagnosticException(f"prints nothing of '{op.name}': {hint}"), op)

    def write_output(self, text: str) -> None:
        """Write to the output file or stdout."""
        path: str | None = self.args.output_file
        is_text = not getattr(self.target, "writes_bytes", False)
        data = text.encode("utf-8", "backslashreplace") if is_text else text.encode("latin-1")
        files: dict[str, bytes] = {}
        documents = "".join(self.remarks.documents).encode("utf-8", "backslashreplace")
        if self.remarks.file == "-":
            show(documents)
        elif self.remarks.file is not None:
            files[self.remarks.file] = documents
        if path is None or path == "-":
            if not is_text and sys.stdout.isatty():
                raise UsageError(f"-t {self.target.name} writes bytes: name a file by -o")
            _write_all(files)
            show(data)
        elif path in files:
            raise UsageError(f"{path} is the file of remarks: name another by -o")
        else:
            _write_all({path: data, **files})

    def list_passes(self) -> int:
        """Print each pass with the first line of its documentation, ours first."""
        hidden = () if self.args.allow_external else EXTERNAL_PASSES
        names = [name for name in self.available_passes if name not in hidden]
        lines: list[str] = []
        for name in sorted(names, key=lambda name: (not name.startswith("tg-"), name)):
            try:
                documentation = _first_line(self.available_passes[name]())
            except (AttributeError, ImportError) as error:
                documentation = f"(not available: {error})"
            lines.append(f"{name:<40} {documentation}".rstrip() + "\n")
        show("".join(lines))
        return 0

    def print_irdl(self, name: str) -> int:
        """Print a dialect as a module of the dialect `irdl`."""
        from tgdialect.tools.irdl import irdl_of  # Here, for a short start-up time.

        if name not in self.ctx.registered_dialect_names:
            near = nearest_names(name, list(self.ctx.registered_dialect_names))
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"--print-irdl: unknown dialect '{name}'{hint}")
        dialect = registry.universe().all_dialects[name]()
        show(f"{self.text_of(ModuleOp([irdl_of(dialect)]))}\n")
        return 0

    @classmethod
    def main(cls, args: Sequence[str] | None = None) -> int:
        """Run the tool with the arguments, by default those of the process; the exit code."""
        given = sys.argv[1:] if args is None else args
        with at_full_speed():
            return exit_code(cls.program, lambda: cls(given).execute())


def _write_all(files: Mapping[str, bytes]) -> None:
    def writer(data: bytes) -> Callable[[BinaryIO], object]:
        return lambda file: file.write(data)

    write_files([*files], [*map(writer, files.values())])


def _verify_nothing(self: Attribute) -> None:
    """Stands in for the verification of attributes under `--disable-verify`, as in xdsl-opt."""


def _first_line(pass_type: type[ModulePass]) -> str:
    """The first line of a pass's docstring; empty if only `dataclass` has generated one."""
    documentation = pass_type.__dict__.get("__doc__") or ""
    if documentation.startswith(f"{pass_type.__name__}("):
        return ""
    return documentation.strip().split("\n")[0]


def _split(source: SourceFile, mark: str | None) -> Iterator[SourceFile]:
    """The chunks of a file between the lines that are the mark, with their line numbers in the
    file; the file, if there is no mark."""
    separator = re.compile(rf"^{re.escape(mark or '')}[ \t]*\r?(\n|\Z)", re.MULTILINE)
    start, line = 0, source.first_line
    for found in separator.finditer(source.text) if mark else ():
        yield replace(source, text=source.text[start : found.start()], first_line=line)
        line += source.text.count("\n", start, found.end())
        start = found.end()
    yield replace(source, text=source.text[start:], first_line=line)


main = TgOptMain.main

if __name__ == "__main__":
    sys.exit(main())
