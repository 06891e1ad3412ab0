"""Runs programs on emulated processors, and compares their results with those of NumPy and of the
interpreter on this one.

    python test/unit/programs/emulated_battery.py --cache ../emulated

A processor that is emulated compiles the programs and runs them, one after the other in one
process. One that ends the process takes no other along.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
PROCESSORS = ("neoverse-n1", "cortex-a72", "Nehalem", "Haswell")
PER_PROGRAM = 120
"""After so many seconds for each program that is left, a process hangs."""

TOLERANCES = {"float64": 1e-14, "float16": 1e-3, "bfloat16": 8e-3}
"""Dtypes of products, and the greatest errors as parts of the greatest magnitude."""

Array = np.ndarray[Any, Any]


class Case(NamedTuple):
    """A program, its inputs, results of the right dtypes and shapes, and what is wrong with
    others."""

    name: str
    text: str
    inputs: Sequence[Array]
    expected: Sequence[Array]
    wrong: Callable[[Sequence[Array]], str]


# -- in the emulated process ----------------------------------------------------------------------


def run(folder: Path) -> None:
    """Compile and run each program of a folder that has no results yet."""
    import tgdialect as tg

    for file in sorted(folder.glob("*.mlir")):
        if (results := file.with_suffix(".results.npz")).exists():
            continue
        start = time.process_time()
        executable = tg.compile(file)
        given = np.load(file.with_suffix(".npz"))
        inputs = [
            np.frombuffer(given[f"arr_{i}"], p.dtype).reshape(p.shape).copy()
            for i, p in enumerate(executable.inputs)
        ]
        found = executable(*inputs)
        save(results, found if isinstance(found, tuple | list) else [found])
        print(f"{file.stem}: {time.process_time() - start:.1f} s", flush=True)


def save(file: Path, arrays: Sequence[Array]) -> None:
    """Arrays as bytes: files of NumPy have no bf16."""
    np.savez(file, *(np.frombuffer(array.tobytes(), np.uint8) for array in arrays))


# -- on this machine ------------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """The examples, compositions, products of each dtype, and random programs and kernels."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    yield from against_numpy()
    yield from against_interpreter()


def against_numpy() -> Iterator[Case]:
    import compositions as c
    import test_examples as examples
    import test_programs as programs

    def made(name: str, program: Any, text: str | None = None) -> Case:
        exact, tolerance = program.expected, 0 if program.exact else programs.TOLERANCE
        typed = exact if program.exact else exact.astype(np.float32)
        text = text or str(program.module)
        return Case(name, text, program.inputs, [typed], near(exact, tolerance))

    for name, make in examples.PROGRAMS.items():
        text = (examples.EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")
        yield made(f"example-{name}", make(), text)
    for make, arguments in programs.CASES.items():
        if make.__name__ != "attention":  # The large one takes as long as five others.
            yield made(f"large-{make.__name__}", make(*arguments[-1]))
    for number, (make, *arguments) in enumerate(
        (
            (c.conv2d, 4, (8, 16), (20, 20), (3, 3), (1, 1), (1, 1), (1, 1)),
            (c.conv2d, 2, (4, 8), (5, 6), (3, 2), (2, 1), (1, 1), (0, 1), 4),
            (c.pool2d, "max", (2, 3, 10, 11), (3, 2), (2, 3), (1, 1)),
            (c.pool2d, "average", (5, 12, 12), (3, 3), (2, 2), (1, 1)),
            (c.cumsum, (3, 50, 7), 1),
            (c.einsum, "ij,jk->ik", (9, 11), (11, 21)),
            (c.sort, (3, 6), 1),
            (c.matmul, (3, 33, 40), (40, 21)),
        )
    ):
        yield made(f"composition-{make.__name__}-{number}", make(*arguments))
    for dtype, tolerance in TOLERANCES.items():
        yield product_by_transpose(dtype, tolerance)


def product_by_transpose(dtype: str, tolerance: float) -> Case:
    """A product of matrices of a dtype, written with tensors."""
    import ml_dtypes

    import tgdialect as tg

    numpy_dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    specs = [tg.spec((rows, 100), dtype) for rows in (30, 50)]
    text = tg.function(lambda a, b: a @ b.T).lower(*specs).as_text()
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s.shape).astype(numpy_dtype) for s in specs)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    name = f"product-{dtype}"
    return Case(name, text, [a, b], [exact.astype(numpy_dtype)], near(exact, tolerance))


def near(exact: Array, tolerance: float) -> Callable[[Sequence[Array]], str]:
    """An error in words, for a result that differs from `exact` by more than a part of the greatest
    magnitude."""
    from test_programs import relative_error

    def wrong(results: Sequence[Array]) -> str:
        error = relative_error(results[0], exact)
        return "" if error <= tolerance else f"error {error:.1e}"

    return wrong


def against_interpreter() -> Iterator[Case]:
    from agreement import differences, identical
    from executors import interpret
    from large_programs import large_program
    from random_kernels import random_kernel
    from random_programs import random_program

    def made(name: str, module: Any, inputs: Sequence[Array], outputs: Any = None) -> Case:
        expected = interpret(module, [array.copy() for array in inputs])

        def wrong(results: Sequence[Array]) -> str:
            if outputs is not None:
                return "\n".join(differences(outputs, expected, results))
            return "" if all(map(identical, expected, results)) else f"{results}, not {expected}"

        return Case(name, str(module), inputs, expected, wrong)

    for seed in range(12):
        program = random_program(seed, 12)
        yield made(f"random-{seed}", program.module, program.inputs, program.outputs)
    for seed in range(4):
        yield made(f"integers-{seed}", *large_program(seed))
    for seed in range(4):
        kernel = random_kernel(seed)
        yield made(f"kernel-{seed}", kernel.module, kernel.inputs)


def outcomes(start: Sequence[str], made: Sequence[Case], environment: dict[str, str]) -> list[str]:
    """A line for each program that has no results, or wrong ones, after a command line that begins
    with `start` has run them."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in made:
            (folder / f"{case.name}.mlir").write_text(case.text, encoding="utf-8")
            save(folder / f"{case.name}.npz", case.inputs)
        left = {file.stem: file for file in sorted(folder.glob("*.mlir"))}
        by_name = {case.name: case for case in made}
        while left:
            status = _status([*start, __file__, "--run", name], environment, len(left))
            for stem, file in [*left.items()]:
                results = file.with_suffix(".results.npz")
                wrong = _wrong(by_name[stem], results) if results.exists() else status
                lines += [f"{stem}: {wrong}"] if wrong else []
                left.pop(stem).unlink()
                if not results.exists():
                    break  # It ended the process, which has not come to the others.
    return lines


def _wrong(case: Case, file: Path) -> str:
    """An error in words for the results in a file, which have the dtypes and shapes expected."""
    found = [*np.load(file).values()]
    if [array.size for array in found] != [array.nbytes for array in case.expected]:
        return "results of other sizes"
    pairs = zip(found, case.expected, strict=True)
    return case.wrong([np.frombuffer(f, e.dtype).reshape(e.shape) for f, e in pairs])


def _status(command: Sequence[str], environment: dict[str, str], programs: int) -> str:
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdout=sys.stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PER_PROGRAM * programs,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return f"ended with {done.returncode}: {done.stderr[-2000:]}"


def main() -> int:
    sys.path.append(str(HERE.parents[2] / "tools"))
    import emulate

    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("processors", nargs="*", help=f"by default {' '.join(PROCESSORS)}")
    emulate.add_cache(parser)
    given = parser.parse_args()
    made, failed = list(cases()), False
    for processor in given.processors or PROCESSORS:
        begin = time.perf_counter()
        try:
            start = emulate.command(processor, given.cache.resolve())
        except emulate.EmulationError as error:
            print(f"emulated_battery.py: {error}", file=sys.stderr)
            return 1
        lines = outcomes(start, made, emulate.environment())
        failed = failed or bool(lines)
        print(*lines, sep="\n", end="\n" if lines else "")
        passed, seconds = len(made) - len(lines), time.perf_counter() - begin
        print(f"{processor}: {passed} passed, {len(lines)} failed in {seconds:.0f} s", flush=True)
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(Path(sys.argv[2]))
    else:
        sys.exit(main())
