"""One invocation of tg-run: read the program and its inputs, execute, and show the results."""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, takewhile
from runpy import run_path
from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import DiagnosticException

from tgdialect import registry
from tgdialect.actions.check import CheckedExecutable, CheckError
from tgdialect.analysis.data_files import check_data_files
from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.symbols import own_functions
from tgdialect.custom import CustomCode
from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    SourceFile,
    diagnose,
    exception_text,
    external_resources,
    operation_diagnostic,
    printable,
)
from tgdialect.input_formats import ComparedFrontend, Peer
from tgdialect.interpreter import run
from tgdialect.lowering.signature import arguments_said_to_be_written
from tgdialect.ops import tg
from tgdialect.ops.arguments import overwritten_arguments
from tgdialect.ops.expressions import Expression, size_sources
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import extent_position, name_of_input, parameters
from tgdialect.runtime import compiler
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.distributed import RankError
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.profile_plot import require_matplotlib
from tgdialect.runtime.program import DEFAULT_OPT
from tgdialect.runtime.reproducer import OURS
from tgdialect.runtime.staged import check_code, rendered_function, rendered_names
from tgdialect.runtime.text import show_seconds
from tgdialect.targets import INTERPRETER, MPI
from tgdialect.targets.host import thread_count
from tgdialect.tools.console import ToolError, UsageError, show, tool_errors
from tgdialect.tools.pass_pipeline import nearest_names
from tgdialect.tools.tg_run_values import (
    ProgramInput,
    is_file_name,
    literal,
    read_input,
    show_type,
    write_outputs,
)


class Executor(NamedTuple):
    """An entry: `run` executes it on its inputs, any number of times. A compiled one has an
    `executable`."""

    run: Callable[[Sequence[Array]], tuple[Array, ...]]
    executable: Executable | None = None


_BENCHMARK_SECONDS = 1.0
"""About how long --benchmark runs, in seconds. Longer: less noise."""
_LONG_SECONDS = 10.0
"""The expected duration, in seconds, beyond which --benchmark says how long it will take."""
_TURNS = 10
"""The turns of two programs that are timed beside each other. More: both see the same changes of
the machine; fewer: less time goes to pauses."""
_PAUSE = 0.02
"""The seconds before a turn, in which the threads of the other program, which spin for milliseconds
after a run, go to sleep. Shorter: they take the cores of the program that is timed; longer:
benchmarks take longer."""
_MAX_REPETITIONS = 10_000
"""The most runs of --benchmark that it chooses by itself: more of a quick program add nothing."""
_MOST_AXES = 64
"""The axes of NumPy's arrays (`NPY_MAXDIMS`)."""


def _results(value: Array | Sequence[Array]) -> tuple[Array, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (cast(Array, value),)


def _interpreter(module: ModuleOp, entry: str, options: argparse.Namespace) -> Executor:
    def execute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        allow_custom, scalar = options.allow_custom, options.scalar
        results = run(
            module, entry, inputs, custom=custom, allow_custom=allow_custom, scalar=scalar
        )
        return _results(results)

    custom = _registered(options.custom)
    check_data_files(module)
    return Executor(execute)


def _registered(options: Sequence[str]) -> Mapping[str, Callable[..., Any]]:
    """The functions of `--custom`, by name. A module is one that Python finds, or a file."""
    found: dict[str, Callable[..., Any]] = {}
    for option in options:
        name, _, path = option.rpartition("=")
        module, _, function = path.rpartition(":")
        if not (module and function):
            raise UsageError(f"--custom {option}: write MODULE:FUNCTION or NAME=MODULE:FUNCTION")
        value = python_function(module, function, f"--custom {option}")
        found[name or function] = _reporting(value) if inspect.isfunction(value) else value
    return found


def python_function(module: str, name: str, what: str) -> Callable[..., Any]:
    """A function of a module that Python finds, or of a file. Raises `UsageError`, which begins
    with `what`."""
    try:
        is_file = module.endswith(".py")
        known = run_path(module) if is_file else vars(importlib.import_module(module))
    except (Exception, SystemExit) as error:
        raise UsageError(f"{what}: {exception_text(error)}") from error
    if not callable(value := known.get(name)):
        raise UsageError(f"{what}: {module} has no function {name!r}")
    return value


def _reporting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `--custom` whose errors are the program's, and say where they are from."""

    @functools.wraps(function)
    def reported(*arrays: Any) -> Any:
        try:
            return function(*arrays)
        except Exception as error:
            *_, (frame, line) = traceback.walk_tb(error.__traceback__)
            text = f"the function {function.__name__!r} raises {exception_text(error)}"
            file = frame.f_code.co_filename
            raise CompilationError(Diagnostic(text, file=file, line=line)) from error

    return reported


def _compiled(module: ModuleOp, entry: str, options: argparse.Namespace) -> Executor:
    target = options.target
    with tool_errors(ValueError, DeviceError, RankError):
        if target is None and launched_size() > 1 and mpi_communicator().size > 1:
            target = MPI
        executable = compiler.compile(
            module,
            entry=entry,
            target=target,
            opt=options.opt or DEFAULT_OPT,
            allow_custom=options.allow_custom,
            custom=_registered(options.custom),
            check=options.check,
        )
    assert isinstance(executable, Executable)

    def execute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        with tool_errors(CheckError, DeviceError, MemoryError, RankError, ValueError):
            return _results(executable(*inputs))

    if isinstance(executable, CheckedExecutable):
        executable.listener = lambda compared: show(f"check: {compared}\n", sys.stderr)
    return Executor(execute, executable)


# -- the program ---------------------------------------------------------------------------------


def find_entry(module: ModuleOp, name: str | None, others: Sequence[str] = ()) -> FuncOp:
    """The function to run: the one of that name, else `main`, else the only one. `others` are
    functions that an error names, too."""
    functions = [*(op.sym_name.data for op in own_functions(module)), *rendered_names(module)]
    functions = [*dict.fromkeys((*functions, *others))]
    if name is None:
        name = functions[0] if len(functions) == 1 else "main"
    found = SymbolTable.lookup_symbol(module, name)
    if isinstance(found, FuncOp) and not found.is_declaration:
        return found
    if (rendered := rendered_function(module, name)) is not None:
        return rendered
    if found is not None:
        what = "has no body" if isinstance(found, FuncOp) else f"is a {found.name}, not a function"
        raise CompilationError(operation_diagnostic(found, f"@{name} {what}"))
    there_are = ", ".join(functions)
    hint = f"name one by --entry: {there_are}" if functions else "the program has none"
    if nearest := nearest_names(name, functions):
        hint = f"did you mean {' or '.join(nearest)}?"
    raise ToolError(f"there is no function @{name}; {hint}")


def find_parameters(entry: FuncOp) -> list[ProgramInput]:
    """The inputs of the entry: its arguments, then the PARAMs of its body by slot.

    Arguments that stages have made of results and BUFFERs are not inputs.
    """
    inputs: list[SSAValue] = [
        a for a in entry.args if tg.ALLOCATED.isdisjoint(tg.argument_attributes(a))
    ]
    params = {op.slot.data: op for op in entry.body.block.ops if isinstance(op, tg.ParamOp)}
    inputs += (op.result for _, op in sorted(params.items()) if "tg.computed" not in op.attributes)
    positions = {
        value: position
        for position, value in enumerate(inputs)
        if value.type == tg.tensor_type(tg.INDEX)
    }
    bounds, written = MinMax(), written_inputs(entry)
    types = [_tensor_type(entry, value.type) for value in inputs]
    dims = [
        tuple(positions.get(d) if isinstance(d, SSAValue) else None for d in tg.shape_of(value))
        for value in inputs
    ]
    # An extent may be a multiple of an index input, from which that is read off.
    formulas: dict[int, Expression] = {}
    axes = [
        tuple(extent_position(d, positions, formulas) for d in tg.shape_of(value))
        for value in inputs
    ]
    sources = size_sources(enumerate(axes), formulas)
    return [
        ProgramInput(
            position,
            name_of_input(value),
            types[position],
            dims[position],
            bounds[value],
            value in written,
            sources.get(position),
        )
        for position, value in enumerate(inputs)
    ]


def find_results(entry: FuncOp) -> list[TensorType[Attribute]]:
    """The types of the entry's results, and of the arguments that stages have made of results."""
    outputs = [a.type for a in entry.args if "tg.output" in tg.argument_attributes(a)]
    for number, argument in overwritten_arguments(entry):
        outputs.insert(number, argument.type)
    return [_tensor_type(entry, type) for type in (*entry.function_type.outputs, *outputs)]


def result_names(entry: FuncOp) -> list[str | None]:
    """The source's name for each of `find_results`."""
    outputs = [a for a in entry.args if "tg.output" in tg.argument_attributes(a)]
    names = [tg.name_attribute(tg.argument_attributes(argument)) for argument in outputs]
    for number, _ in overwritten_arguments(entry):
        names.insert(number, None)
    count = len(entry.function_type.outputs)
    return [tg.name_attribute(tg.result_attributes(entry, i)) for i in range(count)] + names


def _tensor_type(entry: FuncOp, type: Attribute) -> TensorType[Attribute]:
    """The type of an input or output, which has to be a tensor of one of the dialect's dtypes."""
    what = f"{type}: tg-run handles tensors only"
    if isinstance(type, TensorType):
        type = cast(TensorType[Attribute], type)
        if (axes := type.get_num_dims()) > _MOST_AXES:
            what = f"a tensor of {axes} axes, and NumPy has {_MOST_AXES} at most"
        elif type.element_type in tg.DTYPES:
            return type
    message = f"@{entry.sym_name.data} takes or returns {what}"
    raise CompilationError(operation_diagnostic(entry, message))


# -- inputs --------------------------------------------------------------------------------------


def bind_inputs(
    parameters: Sequence[ProgramInput],
    positional: Sequence[str],
    named: Sequence[str],
    *,
    has_defaults: bool = False,
) -> list[Array]:
    """An array for each parameter: those of `--arg` by name, `--input` for the others in order.

    If `--input` has too few for all, the index inputs that are extents of arrays are read off
    these. With `has_defaults`, arrays that are not given are random if their sizes are.
    """
    texts = _texts_of(parameters, positional, named, reads_sizes=True)
    if has_defaults:
        texts = _with_random(texts, parameters)
    found = _read(texts, parameters)
    arrays = [array for array in found if array is not None]
    if len(arrays) < len(parameters):
        raise _wrong_count(parameters, sum(text is not None for text in texts))
    for parameter, array in zip(parameters, arrays, strict=True):
        _check_dimensions(parameter, array, arrays, parameters, texts)
    return arrays


def _with_random(
    texts: Sequence[str | None], parameters: Sequence[ProgramInput]
) -> list[str | None]:
    """The texts, and random elements for arrays without one. Raises if a size of these is neither
    given nor that of an array that is."""
    sizes, found = _read(texts, parameters), list(texts)
    for parameter in parameters:
        if texts[parameter.position] is not None or parameter.type == tg.tensor_type(tg.INDEX):
            continue
        missing = [parameters[d] for d in parameter.dims if d is not None and sizes[d] is None]
        if missing:
            args = " ".join(dict.fromkeys(f"--arg {p.name or p.label}=SIZE" for p in missing))
            kind = show_type(parameter.type).replace("?", "4")
            raise parameter.error(
                f"{show_type(parameter.type)} is not given, and its sizes are not known: "
                f"write {args}, or --input {kind}=random"
            )
        dims = zip(parameter.type.get_shape(), parameter.dims, strict=True)
        shape = [int(extent if d is None else cast(Array, sizes[d])) for extent, d in dims]
        kind = "x".join([*map(str, shape), parameter.dtype.name])
        found[parameter.position] = f"{kind}=random({parameter.position})"
    return found


def _read(
    texts: Sequence[str | None], parameters: Sequence[ProgramInput]
) -> Sequence[Array | None]:
    """The arrays of the texts that are given, and of the index inputs that are extents of these."""
    arrays = [
        None if text is None else read_input(text, parameter)
        for text, parameter in zip(texts, parameters, strict=True)
    ]
    for parameter in parameters:
        if parameter.source is not None and arrays[parameter.position] is None:
            source = parameter.source
            if (array := arrays[source.array]) is not None:
                arrays[parameter.position] = np.array(source.size(array.shape), np.int64)
    return arrays


def bind_sizes(
    parameters: Sequence[ProgramInput], positional: Sequence[str], named: Sequence[str]
) -> dict[int, int]:
    """The index inputs that are given, or extents of arrays that are, by position."""
    found = _read(_texts_of(parameters, positional, named), parameters)
    return {
        p.position: int(array)
        for array, p in zip(found, parameters, strict=True)
        if array is not None and p.type == tg.tensor_type(tg.INDEX)
    }


def _texts_of(
    parameters: Sequence[ProgramInput],
    positional: Sequence[str],
    named: Sequence[str],
    *,
    reads_sizes: bool = False,
) -> list[str | None]:
    """The text that is given for each parameter. If `reads_sizes`, positional ones that are too few
    for all others are for those that are no extents of arrays."""
    given: dict[str | None, str] = {}
    for text in named:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--arg {text}: expected NAME=INPUT")
        if name in given:
            raise UsageError(f"--arg {name}: given twice")
        if name not in (names := [p.name for p in parameters if p.name is not None]):
            known = f"the inputs are {', '.join(names)}" if names else "the inputs have no names"
            raise ToolError(f"there is no input {name!r}: {known}")
        given[name] = value
    others = [p for p in parameters if p.name not in given]
    if reads_sizes and len(positional) < len(others):
        others = [p for p in others if p.source is None]
    rest = iter(positional)
    texts = [next(rest, None) if p in others else given.get(p.name) for p in parameters]
    if next(rest, None) is not None:
        raise _wrong_count(parameters, len(positional) + len(named))
    return texts


def _wrong_count(parameters: Sequence[ProgramInput], count: int) -> CompilationError:
    expected = ", ".join(_show_parameter(p) for p in parameters) or "none"
    plural = "" if len(parameters) == 1 else "s"
    fewest = sum(p.source is None for p in parameters)
    also = f" ({fewest} without sizes)" if fewest < len(parameters) else ""
    return ToolError(f"expected {len(parameters)} input{plural}{also}, got {count}: {expected}")


def _check_dimensions(
    parameter: ProgramInput,
    array: Array,
    inputs: Sequence[Array],
    parameters: Sequence[ProgramInput],
    texts: Sequence[str | None],
) -> None:
    """Raise if an index input is out of bounds, or a dynamic extent is not equal to its index
    input, which has no text if it is the extent of another array."""
    if array.shape == () and parameter.dtype.is_integer and int(array) not in parameter.interval:
        raise parameter.error(f"{array} is outside {parameter.interval}")
    for axis, (extent, source) in enumerate(zip(array.shape, parameter.dims, strict=True)):
        if source is not None and extent != (wanted := int(inputs[source])):
            size = f"input {source}"
            if texts[source] is None and (found := parameters[source].source) is not None:
                size = f"axis {found[1]} of input {found[0]}"
            raise parameter.error(f"axis {axis} has {extent} elements, but {size} is {wanted}")


def _show_parameter(parameter: ProgramInput) -> str:
    return _show_named(parameter.name, parameter.type)


def _show_named(name: str | None, type: TensorType[Any]) -> str:
    return show_type(type) if name is None else f"%{printable(name)}: {show_type(type)}"


# -- running -------------------------------------------------------------------------------------


def benchmark(
    executor: Executor, inputs: Sequence[Array], repetitions: int, peer: Peer | None = None
) -> str:
    """A table of the times of so many runs; for 0, of as many as take a second. A peer has as many
    of its own, in turns with them, so that both have the same machine."""
    start = time.perf_counter()
    executor.run(inputs)
    first = time.perf_counter() - start
    if executor.executable is not None:
        first = executor.executable.slowest(first)
    count = repetitions or min(max(int(_BENCHMARK_SECONDS / max(first, 1e-9)), 3), _MAX_REPETITIONS)
    if count * first > _LONG_SECONDS:
        show(f"tg-run: {count} runs of about {first:.2g} s each\n", sys.stderr)
    calls: list[Callable[[], object]] = [lambda: executor.run(inputs)]
    if peer is not None:
        calls.append(peer.run)
    seconds, *others = _times(calls, count)
    rows = {
        "repetitions": str(count),
        "median": show_seconds(statistics.median(seconds)),
        "min": show_seconds(min(seconds)),
        "max": show_seconds(max(seconds)),
    }
    if peer is not None:
        median = statistics.median(others[0])
        rows[f"{peer.name}, median"] = show_seconds(median)
        rows[f"{peer.name} / tgdialect"] = f"{median / statistics.median(seconds):.2f}"
    width = max(12, *map(len, rows))
    return "\n".join(f"{name:<{width}} {value}" for name, value in rows.items())


def _times(calls: Sequence[Callable[[], object]], count: int) -> list[list[float]]:
    """The seconds of so many runs of each of some calls, which take turns of several runs."""
    found: list[list[float]] = [[] for _ in calls]
    turns = min(_TURNS, count) if len(calls) > 1 else 1
    for turn in range(turns):
        for call, seconds in zip(calls, found, strict=True):
            if turns > 1:
                time.sleep(_PAUSE)
                call()
            for _ in range(count * (turn + 1) // turns - count * turn // turns):
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
    return found


def find_peer(
    parameters: Sequence[ProgramInput], inputs: Sequence[Array], options: argparse.Namespace
) -> Peer | None:
    """Another program that executes the file, as it is and on the CPU, on the same inputs; None if
    there is none. One that refuses them is said on stderr."""
    if options.target not in (None, "cpu") or options.entry not in (None, "main"):
        return None
    frontend = registry.frontend_of(options.file, options.frontend)
    if not isinstance(frontend, ComparedFrontend):
        return None
    named = {
        p.name: array
        for p, array in zip(parameters, inputs, strict=True)
        if p.source is None and p.name is not None
    }
    try:
        return frontend.peer(options.file, named, thread_count())
    except ValueError as error:
        show(f"tg-run: {printable(str(error))}\n", sys.stderr)
        return None


def run_session(options: argparse.Namespace) -> None:
    """Execute the command line. Raises `CompilationError` for mistakes of the user."""
    source = None
    if options.run_reproducer:
        source = registry.read_program(options.file, options.frontend)
        take_reproducer(source, options)
    if options.target not in (INTERPRETER, MPI):
        try:
            with tool_errors(DeviceError):
                compiler.device_for(options.target)
        except ValueError as error:
            raise UsageError(str(error)) from error
    if options.scalar and options.target != INTERPRETER:
        raise UsageError("--scalar is a way to run --target=interpreter: give both")
    if options.opt not in (None, "none", DEFAULT_OPT) and options.target == INTERPRETER:
        raise UsageError("--opt schedules compiled kernels: the interpreter takes none")
    source = source or registry.read_program(options.file, options.frontend)
    try:
        how = {"data_folder": options.data_folder}
        module = compiler.parse_verified(source.name, source.text, options.frontend, **how)
        run_module(module, options)
    except UsageError:
        raise
    except CompilationError as error:
        raise error.with_source(source) from error
    except DiagnosticException as error:
        raise CompilationError(diagnose(error, source.name)).with_source(source) from error


def take_reproducer(source: SourceFile, options: argparse.Namespace) -> None:
    """Take what a reproducer states for options that are not given. It is text of anybody's: it
    allows no code, and its inputs are values, and no files. Raises `CompilationError`."""
    if (stated := external_resources(source).get(OURS)) is None:
        raise ToolError(f"{source.name} states nothing to run: it is no reproducer of tg-run")
    texts = {name: value for name, value in stated.items() if isinstance(value, str)}
    for name in ("entry", "target", "opt"):
        if getattr(options, name) is None:
            setattr(options, name, texts.get(name))
    if not (options.input or options.arg):
        numbered = map("input_{}".format, count())
        options.input = [texts[name] for name in takewhile(texts.__contains__, numbered)]
        for text in options.input:
            if is_file_name(text):
                raise ToolError(f"{source.name}: the input {text!r} is no value")


def run_module(module: ModuleOp, options: argparse.Namespace) -> None:
    """Execute the entry on the inputs of the command line, and show its results."""
    # The parameters and results of the entry, which have to fit the command line.
    entry = find_entry(module, options.entry)
    parameters, results = find_parameters(entry), find_results(entry)
    if options.print_signature:
        names = result_names(entry)
        show(f"{signature(entry.sym_name.data, parameters, results, names)}\n")
        return
    written = [parameter for parameter in parameters if parameter.is_written]
    if options.output and len(options.output) not in (len(results), len(results) + len(written)):
        also = f" and {len(written)} written inputs" if written else ""
        raise ToolError(f"{len(options.output)} --output files for {len(results)} results{also}")
    if options.custom and not options.allow_custom:
        raise UsageError("--custom registers functions for code that needs --allow-custom")
    check_code(module, CustomCode(options.allow_custom))
    # Read the inputs, and compile the entry.
    make = _interpreter if options.target == INTERPRETER else _compiled
    if options.print_memory:
        sizes = bind_sizes(parameters, options.input, options.arg)
        table = memory(make(module, entry.sym_name.data, options).executable, sizes)
        show(f"{table}\n")
        return
    is_timed = options.benchmark is not None or options.profile is not None
    has_defaults = is_timed or options.run_reproducer
    inputs = bind_inputs(parameters, options.input, options.arg, has_defaults=has_defaults)
    executor = make(module, entry.sym_name.data, options)
    if options.profile is not None and executor.executable is None:
        of = f"target {options.target!r}"
        raise ToolError(f"--profile times compiled kernels, and {of} has none")
    if options.profile:
        with tool_errors(ImportError, context=f"--profile={options.profile}: "):
            require_matplotlib()
    # Run it, as often as times are asked for, and show times or results.
    outputs = executor.run(inputs)
    tables: list[str] = []
    if options.benchmark is not None:
        peer = find_peer(parameters, inputs, options)
        tables.append(benchmark(executor, inputs, options.benchmark, peer))
    profile = None
    if options.profile is not None and executor.executable is not None:
        tables.append(str(profile := executor.executable.profile(*inputs)))
    if launched_size() > 1 and mpi_communicator().rank:
        return  # Each process has the results, and one shows them.
    if options.output:
        changed = [inputs[parameter.position] for parameter in written]
        write_outputs(options.output, [*outputs, *changed][: len(options.output)])
    if profile is not None and options.profile:
        try:
            profile.plot(options.profile)
        except (OSError, ValueError) as error:
            raise ToolError(f"cannot write {options.profile}: {error}") from error
    if tables:
        show("\n\n".join(tables) + "\n")
    elif not options.output:
        dtypes = [tg.DTYPES[type.element_type] for type in results]
        shown = list(zip(dtypes, outputs, [""] * len(results), strict=True))
        shown += [(p.dtype, inputs[p.position], printable(f"{p.symbol} = ")) for p in written]
        for dtype, array, name in shown:
            text = literal(array, dtype, digits=options.digits, full=options.print_full)
            show(f"{name}{text}\n")


def memory(executable: Executable | None, sizes: Mapping[int, int]) -> str:
    """A table of the memory of a call; `sizes` are the scalars that are given, by position."""
    if executable is None:
        of = f"target {INTERPRETER!r}"
        raise ToolError(f"--print-memory is for compiled programs, and {of} has none")
    named = {executable.inputs[position].name: size for position, size in sizes.items()}
    with tool_errors(ValueError):
        return str(executable.memory(**named))


def signature(
    name: str,
    parameters: Sequence[ProgramInput],
    results: Sequence[TensorType[Any]],
    names: Sequence[str | None],
) -> str:
    """The inputs and outputs of the entry, one per line."""
    lines = [printable(f"@{name}")]
    for each in parameters:
        note = " (written)" if each.is_written else ""
        if each.source is not None:
            note = printable(f" (axis {each.source[1]} of {parameters[each.source[0]].label})")
        lines.append(f"  input  {each.position}  {_show_parameter(each)}{note}")
    for position, (type, called) in enumerate(zip(results, names, strict=True)):
        lines.append(f"  output {position}  {_show_named(called, type)}")
    return "\n".join(lines)


def written_inputs(entry: FuncOp) -> set[SSAValue]:
    """The arguments and PARAMs of an entry at any level that it writes, and that are no results."""
    said: set[SSAValue] = {entry.args[position] for position in arguments_said_to_be_written(entry)}
    results = {argument for _, argument in overwritten_arguments(entry)}
    inputs: list[SSAValue] = [*entry.args, *(p.result for p in parameters(entry.body.block))]
    return {*said, *filter(_is_written, inputs)} - results


def _is_written(memory: SSAValue) -> bool:
    """Whether some op writes memory, through views of it, or as what a function is passed."""
    if not tg.is_memory(memory):
        return False
    stack, seen = [memory], {memory}
    while stack:
        value = stack.pop()
        for use in value.uses:
            op = use.operation
            if any(access.writes and access.location is value for access in accesses([op])):
                return True
            new = set(_same_memory(op, use.index)) - seen
            seen |= new
            stack += new
    return False


def _same_memory(op: Operation, index: int) -> Iterable[SSAValue]:
    """The values that show the memory of an operand: a view, or the argument of a function. (A
    FUNCTION writes no memory but its own.)"""
    if isinstance(op, tg.MovementOp | tg.AfterOp) and index == 0:
        return op.results
    callee = SymbolTable.lookup_symbol(op, op.callee) if isinstance(op, func.CallOp) else None
    if isinstance(callee, FuncOp) and not callee.is_declaration:
        return [callee.args[index]]
    return ()
