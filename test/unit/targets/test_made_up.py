"""Targets that there are not: a module that states one compiles by every stage, and runs right."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import WITHOUT_CUSTOM
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.context import Context

import tgdialect as tg
from tgdialect.diagnostics import parse_module, verify_module
from tgdialect.diagnostics.diagnostic import SourceFile
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.lowering.verify import verify_level
from tgdialect.registry import make_context
from tgdialect.targets import MOST, Target, target_named
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, TargetAttr
from tgdialect.tools.tg_run_session import find_entry, find_parameters

SMALL = '"cpu", features = [], vector_bits = 64, vector_registers = 2, threads = 1, l1 = 4096'
"""A processor with 2 vector registers of 64 bits, 1 thread and 4 KiB of L1."""

ODD = {
    "no vectors": '"cpu", features = []',
    "one register": (
        '"cpu", features = [], vector_bits = 256, vector_registers = 1, masks_stores = true'
    ),
    "three registers": '"cpu", features = [], vector_bits = 128, vector_registers = 3, native = []',
    "vectors narrower than floats": '"cpu", features = [], vector_bits = 16, vector_registers = 8',
    "wide vectors": '"cpu", features = ["avx512f"], vector_bits = 4096, vector_registers = 64',
    "load-store": '"cpu", vector_bits = 128, vector_registers = 6, load_store = true',
    "short lines": '"cpu", features = ["avx2"], cache_line = 1, page = 1',
    "long lines": '"cpu", features = ["avx2"], cache_line = 4096, llc = 1, threads = 2',
    "an L1 of its ways": '"cpu", features = ["avx2", "fma"], l1 = 8, l1_ways = 8, l2 = 1, llc = 1',
    "large caches": '"cpu", features = ["avx2", "fma"], l1 = 4294967296, l2 = 1099511627776',
    "little memory": '"cpu", features = ["avx512f"], local = 65536, l2 = 1073741824',
    "many threads": '"cpu", features = ["avx2"], threads = 1000000, parallel_cycles = 1',
    "a small LLC": '"cpu", features = ["avx2"], threads = 2, llc = 1024',
    "one thread": '"cpu", features = [], threads = 1',
    "one port": '"cpu", features = ["avx2", "fma"], vector_ports = 1, mulacc_latency = 1',
}

GEMM_SOFTMAX = """
func.func @main(%a: tensor<37x24xf32>, %b: tensor<24x19xf32>) -> tensor<37x19xf32> {
  %columns = tg.reshape %a [37, 24, 1] : tensor<37x24xf32> -> tensor<37x24x1xf32>
  %rows = tg.reshape %b [1, 24, 19] : tensor<24x19xf32> -> tensor<1x24x19xf32>
  %p = tg.mul %columns, %rows : (tensor<37x24x1xf32>, tensor<1x24x19xf32>) -> tensor<37x24x19xf32>
  %dots = tg.reduce add %p [1] : tensor<37x24x19xf32> -> tensor<37x1x19xf32>
  %scores = tg.reshape %dots [37, 19] : tensor<37x1x19xf32> -> tensor<37x19xf32>
  %max = tg.reduce max %scores [1] : tensor<37x19xf32> -> tensor<37x1xf32>
  %shifted = tg.sub %scores, %max : (tensor<37x19xf32>, tensor<37x1xf32>) -> tensor<37x19xf32>
  %e = tg.exp2 %shifted : tensor<37x19xf32>
  %sum = tg.reduce add %e [1] : tensor<37x19xf32> -> tensor<37x1xf32>
  %result = tg.div %e, %sum : (tensor<37x19xf32>, tensor<37x1xf32>) -> tensor<37x19xf32>
  func.return %result : tensor<37x19xf32>
}
"""


def stated(program: str, target: str) -> str:
    return f"module attributes {{tg.target = #tg.target<{target}>}} {{\n{program}\n}}"


def parsed(text: str) -> Any:
    module = parse_module(make_context(), SourceFile("<program>", text))
    verify_module(module)
    return module


def inputs_of(module: Any) -> list[np.ndarray[Any, Any]]:
    """Those that `examples/inputs.py` makes."""
    spec = importlib.util.spec_from_file_location("inputs", WITHOUT_CUSTOM[0].parent / "inputs.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(inputs := importlib.util.module_from_spec(spec))
    parameters = list(find_parameters(find_entry(module, None)))
    extent = (*(parameters[0].type.get_shape() if parameters else ()), 10)[0]
    return [inputs.make_input(parameter, 0, extent) for parameter in parameters]


def widest_vector(text: str) -> int:
    """The elements of the widest vector of floats in a module."""
    return max(map(int, re.findall(r"vector<(\d+)xf32>", text)), default=0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("example", WITHOUT_CUSTOM, ids=lambda path: path.stem)
def test_examples_by_every_stage(example: Path) -> None:
    """The text after each stage is at its level, says the target, and goes into the next one."""
    module = parsed(example.read_text())
    attribute = parsed(stated("", SMALL)).attributes[MODULE_ATTRIBUTE]
    module.attributes[MODULE_ATTRIBUTE] = attribute
    text = str(module)
    inputs = inputs_of(module)
    expected = run(module, "main", inputs)
    for stage in stages(mode="heuristic"):
        module = parsed(text)
        stage.apply(Context(), module)
        verify_level(module, stage.level_after)
        text = str(module)
        if stage.level_after != "llvm":
            assert module.attributes[MODULE_ATTRIBUTE] == attribute
    assert widest_vector(text) <= 4, "two registers of two elements"
    compiled = tg.compile(text, allow_custom=True)(*inputs)
    np.testing.assert_allclose(compiled, expected[0], rtol=1e-4, atol=1e-5)


def test_schedules_differ_where_they_should() -> None:
    """Those of two narrow registers from those of many wide ones."""
    opts: list[str] = []
    for target in (SMALL, '"cpu", features = ["avx512f"]'):
        module = parsed(stated(GEMM_SOFTMAX, target))
        for stage in replace(stages(mode="heuristic"), kernels=(), render=None):
            stage.apply(Context(), module)
        opts.append(next(line for line in str(module).splitlines() if "tg.sink" in line))
    assert opts[0] != opts[1]
    assert "split 1, 32, upcast" not in opts[0]


def check(target: str) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(s).astype(np.float32) for s in ((37, 24), (24, 19)))
    scores = a.astype(np.float64) @ b
    e = np.exp2(scores - scores.max(1, keepdims=True))
    result = tg.compile(stated(GEMM_SOFTMAX, target))(a, b)
    np.testing.assert_allclose(result, e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ODD.values(), ids=ODD)
def test_odd_targets(target: str) -> None:
    check(target)


POWERS = st.integers(0, 14).map(lambda exponent: 1 << exponent)
SIZES = st.integers(1, 1 << 40) | st.integers(1, 1 << 16)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "features": st.sampled_from([(), ("sse2",), ("avx2", "fma"), ("avx512f",)]),
    **dict.fromkeys(("vector_bits", "cache_line", "page"), POWERS),
    "vector_registers": st.integers(1, 40),
    **dict.fromkeys(("masks_stores", "has_f64", "load_store"), st.booleans()),
    **{
        name: st.frozensets(st.sampled_from(sorted(getattr(MOST["cpu"], name))))
        for name in ("native", "converted")
    },
    **dict.fromkeys(("l1", "l2", "llc", "l2_bytes", "llc_bytes", "bytes_per_cycle"), SIZES),
    **dict.fromkeys(("datapath_bits", "vector_loads", "tlb_cycles"), st.integers(1, 1000)),
    **dict.fromkeys(("streams", "unforeseen_cycles"), st.integers(1, 1000)),
    **dict.fromkeys(("parallel_cycles", "loop_parallel_cycles"), SIZES),
    "local": st.integers(1 << 16, 1 << 22),
    **dict.fromkeys(("l1_ways", "tlb_pages", "threads"), st.integers(1, 1000)),
    **dict.fromkeys(("vector_ports", "mulacc_latency", "division_cycles"), st.integers(1, 100)),
}


GRID = (
    *("workgroup", "warp", "shuffles", "units", "view_alignment", "copies_asynchronously"),
    *("static_local", "mulaccs", "matrix_mulaccs", "group_mulaccs", "schedulers", "local_bytes"),
    *("register_file", "resident", "memory_latency", "barrier_cycles"),
)
"""Fields that only grids have."""


def test_fields_of_random_targets() -> None:
    """All but those that say which kind of machine it is."""
    kind = {"name", "execution", "axis_types", "instructions", "matrix", *GRID}
    assert FIELDS.keys() == {field.name for field in fields(Target)} - kind


@given(st.fixed_dictionaries({}, optional=FIELDS))
@settings(max_examples=20)
def test_random_targets(said: dict[str, Any]) -> None:
    """A Target that is legal compiles, and its text says it."""
    features = said.pop("features", ())
    try:
        target = replace(target_named("cpu", features), **said)
    except ValueError:
        assume(False)
        return
    attribute = TargetAttr.of(target)
    found = parsed(stated("", str(attribute).removeprefix("#tg.target<").removesuffix(">")))
    assert found.attributes[MODULE_ATTRIBUTE] == attribute
    check(str(attribute).removeprefix("#tg.target<").removesuffix(">"))
