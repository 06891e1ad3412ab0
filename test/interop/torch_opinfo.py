"""PyTorch's table of ops, `op_db`, under `torch.compile(backend="tgdialect")`.

    python test/interop/torch_opinfo.py                       # all ops
    python test/interop/torch_opinfo.py --only 'sum|pool'     # those whose name matches
    python test/interop/torch_opinfo.py --shard 2/4           # the second of four parts
    python test/interop/torch_opinfo.py --trace               # what falls back; compiles nothing

Each op is called with the first samples of its arguments for four dtypes, compiled and in eager
mode. A line of the output is an op and its outcome:

* passes: all results have PyTorch's dtypes, shapes and numbers, and PyTorch runs no op;
* falls back: so do they, but PyTorch runs some ops, which are named with the reason;
* not traced: so do they, but of some sample Dynamo makes no graph, for any backend: a number or a
  size depends on the elements of a tensor;
* wrong: a result differs;
* error: the compiled function raises, and eager mode does not.

Numbers differ by PyTorch's own tolerances for the dtype, `torch.testing.assert_close`, times
LOOSER. Random ops get the same seed. Samples that PyTorch itself refuses are passed over.
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import logging
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from tgdialect.interop.torch import backend as backends
from tgdialect.interop.torch import report

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
SAMPLES = 6
"""The number of samples of each op and dtype."""
LOOSER = 16
"""How many times PyTorch's tolerances a difference may be. Sums and products of ten numbers in
another order differ by several roundings; 1 refuses those, 1000 would hide an f32 in an f64."""

IN_F64 = {"matrix_exp"}
"""Ops that eager mode computes in f64, also for f32: its kernels for f32 err by more than the
tolerance."""

UNSPECIFIED = re.compile(r"(new_)?empty(_like|_strided|_permuted)?$")
"""Ops whose elements are whatever the memory has."""

# Ops that may draw random numbers are wrapped in a function that sets the seed, at which Dynamo
# gives up before it sees the op. Here all calls set the seed.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)

Kind = Literal["passes", "falls back", "not traced", "wrong", "error"]


class Outcome(NamedTuple):
    """The outcome of an op.

    Attributes:
        kind: the worst one of its samples.
        samples: the number of samples that ran.
        fallbacks: the ATen ops that PyTorch ran, with the reason.
        problem: the sample that is wrong or raises, and how.
    """

    name: str
    kind: Kind
    samples: int
    fallbacks: Sequence[tuple[str, str]]
    problem: str


class Sample(NamedTuple):
    """A sample of an op: its arguments, and what eager mode returns."""

    dtype: torch.dtype
    arguments: Any
    expected: Any


def title(op: Any) -> str:
    return f"{op.name} ({op.variant_test_name})" if op.variant_test_name else op.name


def samples_of(op: Any, dtype: torch.dtype, count: int = SAMPLES) -> Iterator[Sample]:
    """The first samples of a dtype, without those that eager mode refuses."""
    if dtype not in op.dtypes:
        return
    torch.manual_seed(0)
    try:
        given = list(islice(op.sample_inputs("cpu", dtype), count))
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return
    for each in given:
        arguments = _detached((each.input, tuple(each.args), each.kwargs))
        torch.manual_seed(1)
        try:
            expected = _expected(op, _copied(arguments))
        except Exception:
            continue
        yield Sample(dtype, arguments, expected)


def _expected(op: Any, arguments: Any) -> Any:
    if op.name not in IN_F64:
        return _called(op.op, *arguments)
    like = arguments[0].dtype
    wide = pytree.tree_map_only(torch.Tensor, lambda t: t.to(torch.float64), arguments)
    return pytree.tree_map_only(torch.Tensor, lambda t: t.to(like), _called(op.op, *wide))


def _called(function: Any, x: Any, args: Any, kwargs: Any) -> Any:
    return function(x, *args, **kwargs)


def _detached(value: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach(), value)


def _copied(value: Any) -> Any:
    """Arguments that a call may write to, with the layouts of the given ones."""
    return copy.deepcopy(value)


NOT_TRACED = "graph", "Dynamo makes no graph of the call"

POSITIONS = {"argsort", "kthvalue", "median", "mode", "nanmedian", "sort", "topk"}
"""Ops whose last result is a position of each value, any of equals."""


def _with_cells(op: Any, sample: Sample, results: Any) -> Any:
    """The results of an op in `POSITIONS` with the cells at the positions in their place."""
    x, args, kwargs = sample.arguments
    if not x.ndim or kwargs.get("stable"):
        return results
    if op.name == "argsort":
        results = None, results
    if not isinstance(results, tuple) or len(results) != 2:
        return results
    values, places = results
    dim = kwargs.get("dim", -1)
    args = args[1:] if op.name in ("topk", "kthvalue") else args  # Without k.
    for place in args if "dim" not in kwargs else ():
        dim = place if isinstance(place, int) and not isinstance(place, bool) else dim
    is_reduced = places.ndim < x.ndim
    index = places.unsqueeze(dim) if is_reduced else places
    return values, x.gather(dim, index), places.dtype, places.shape


def difference(op: Any, sample: Sample, found: Any) -> str | None:
    """How results differ from eager mode's; None if they do not."""
    expected = sample.expected
    if op.name in POSITIONS:
        found, expected = _with_cells(op, sample, found), _with_cells(op, sample, expected)
    a, b = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    if len(a) != len(b):
        return f"{len(a)} results, in eager mode {len(b)}"
    for x, y in zip(a, b, strict=True):
        if not isinstance(y, torch.Tensor):
            if x != y and not (x != x and y != y):
                return f"{x}, in eager mode {y}"
            continue
        if not isinstance(x, torch.Tensor):
            return f"{type(x).__name__}, in eager mode a tensor"
        if x.layout is not torch.strided or y.layout is not torch.strided:
            x, y = x.to_dense(), y.to_dense()
        if UNSPECIFIED.match(op.name):
            y = x.clone().to(y.dtype).expand(y.shape) if x.shape == y.shape else y
        rtol, atol = torch.testing._comparison.default_tolerances(x.dtype)
        try:
            torch.testing.assert_close(
                x, y, rtol=LOOSER * rtol, atol=LOOSER * atol, equal_nan=True, check_stride=False
            )
        except AssertionError as error:
            return " ".join(str(error).split())[:160]
    return None


def run(op: Any, samples: Sequence[Sample]) -> tuple[str | None, Sequence[tuple[str, str]]]:
    """Compile a function that calls an op on samples: how its results differ, and the ops that
    PyTorch ran."""
    torch._dynamo.reset()
    report().clear()
    function = op.op

    def call(given: Any) -> Any:
        return [function(x, *args, **kwargs) for x, args, kwargs in given]

    compiled = torch.compile(call, backend=backends.backend, dynamic=False)
    given = [_copied(sample.arguments) for sample in samples]
    torch.manual_seed(1)
    with torch.no_grad():
        found = compiled(given)
    fallbacks = [(each.op, each.reason) for each in report().fallbacks]
    if not report().graphs and any(isinstance(t, torch.Tensor) for t in pytree.tree_leaves(given)):
        fallbacks.append(NOT_TRACED)
    for sample, each in zip(samples, found, strict=True):
        if (problem := difference(op, sample, each)) is not None:
            return f"{_shown(sample)}: {problem}", fallbacks
    return None, fallbacks


def is_good(op: Any, samples: Sequence[Sample]) -> bool:
    """Whether samples in one function pass."""
    try:
        return run(op, samples) == (None, [])
    except Exception:
        return False


def outcome(op: Any, thorough: bool = False, most: int = SAMPLES) -> Outcome:
    """The outcome of an op.

    The samples of a dtype are compiled as one function. If that does not pass, each is compiled
    alone, until one falls back; all of them if `thorough`.
    """
    fallbacks: dict[tuple[str, str], None] = {}
    count = 0
    for dtype in DTYPES:
        samples = list(samples_of(op, dtype, most))
        count += len(samples)
        if not samples or is_good(op, samples):
            continue
        for sample in samples:
            try:
                problem, found = run(op, [sample])
            except Exception as error:
                lines = [line for line in str(error).splitlines() if line.strip()] or [""]
                problem = f"{_shown(sample)}: {type(error).__name__}: {lines[0][:200]}"
                return Outcome(title(op), "error", count, list(fallbacks), problem)
            if problem is not None:
                return Outcome(title(op), "wrong", count, list(fallbacks), problem)
            fallbacks.update(dict.fromkeys(found))
            if found and not thorough:
                break
    kind: Kind = "falls back" if fallbacks else "passes"
    if list(fallbacks) == [NOT_TRACED]:
        kind = "not traced"
    return Outcome(title(op), kind, count, list(fallbacks), "")


def _shown(sample: Sample) -> str:
    """A sample in short: tensors by their shapes."""

    def short(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        if isinstance(value, list | tuple):
            return f"({', '.join(map(short, value))})"
        return repr(value)[:60]

    x, args, kwargs = sample.arguments
    named = (f"{key}={short(value)}" for key, value in kwargs.items())
    return f"({', '.join([*map(short, (x, *args)), *named])})"


def known_ops(only: str = "", shard: tuple[int, int] = (1, 1)) -> list[Any]:
    """The ops that have one of the dtypes, whose name matches, of one part."""
    found = [op for op in op_db if op.dtypes & set(DTYPES) and re.search(only, title(op))]
    return found[shard[0] - 1 :: shard[1]]


def without_compiling() -> None:
    """Let PyTorch run the parts: only the division of graphs is seen."""

    def part(module: Any, _: Any) -> Any:
        def call(inputs: Any) -> Any:
            found = module(*inputs)
            return list(found) if isinstance(found, list | tuple) else [found]

        return call

    backends.Part = part  # type: ignore[assignment,misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="ops whose name matches")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each op and dtype")
    parser.add_argument("--trace", action="store_true", help="see what falls back, compile nothing")
    parser.add_argument("--json", type=Path, help="append each outcome to this file")
    options = parser.parse_args()
    logging.getLogger("tgdialect").setLevel(logging.ERROR)
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if options.trace:
        without_compiling()
    i, n = map(int, options.shard.split("/"))
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[tuple[str, str]] = collections.Counter()
    for op in known_ops(options.only, (i, n)):
        start = time.perf_counter()
        found = outcome(op, options.trace, options.samples)
        seconds = time.perf_counter() - start
        counts[found.kind] += found.samples > 0
        reasons.update(found.fallbacks)
        why = found.problem or "; ".join(": ".join(each) for each in found.fallbacks)
        line = f"{found.name}: {found.kind}, {found.samples} samples, {seconds:.1f} s"
        print(line, f"  {why}" if why else "", flush=True)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found._asdict()) + "\n")
    print("\nPyTorch runs, by the number of ops:")
    for (name, reason), count in reasons.most_common():
        print(f"{count:5} {name}: {reason}")
    passed, traced = counts["passes"], counts.total() - counts["not traced"]
    of_all, of_traced = (f"{100 * passed / max(n, 1):.1f} %" for n in (counts.total(), traced))
    print(dict(counts), f"{of_all} pass, {of_traced} of those that are traced")
    sys.exit(bool(counts["wrong"]))


if __name__ == "__main__":
    main()
