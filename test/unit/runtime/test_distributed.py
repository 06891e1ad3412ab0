"""Programs on several devices: within one process, and by MPI."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import collective_cases
import numpy as np
import pytest
from launching import folder, launch, needs_mpi
from random_seeds import batches
from random_shards import RandomShards

import tgdialect as tg
from tgdialect import collectives
from tgdialect.frontend import realization
from tgdialect.interpreter import run
from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.distributed.threads import ThreadCommunicator

CASES = Path(collective_cases.__file__)
__all__ = ["folder"]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("dtype", collective_cases.DTYPES, ids=lambda d: np.dtype(d).name)
def test_collectives(count: int, dtype: object):
    names = collective_cases.devices(count, mpi=False)
    assert collective_cases.check(names, dtype) == 39


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "step"), [(2, 8), *(pytest.param(n, 1, marks=pytest.mark.slow) for n in (2, 4))]
)
@pytest.mark.usefixtures("folder")
def test_collectives_by_mpi(ranks: int, step: int):
    """Of each `step`-th dtype."""
    done = launch(ranks, CASES, "--step", step)
    assert done.returncode == 0, done.stderr
    assert f"{39 * len(collective_cases.DTYPES[::step])} cases" in done.stdout


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SHARDS", 200), ids=str)
def test_random_programs(seeds: range):
    for seed in seeds:
        program = RandomShards(seed)
        wanted = run(program.module(), "main", program.inputs())
        for a, b in zip(collective_cases.run_program(seed, "cpu"), wanted, strict=True):
            np.testing.assert_array_equal(a, b, f"seed {seed}")


@needs_mpi
@pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("folder")
def test_random_programs_by_mpi(count: int, tmp_path: Path):
    results = tmp_path / "results.npz"
    done = launch(2, CASES, "--programs", count, "--results", results)
    assert done.returncode == 0, done.stderr
    found = np.load(results)
    for seed in range(count):
        program = RandomShards(seed)
        for i, wanted in enumerate(run(program.module(), "main", program.inputs())):
            np.testing.assert_array_equal(found[f"{seed}_{i}"], wanted, f"seed {seed}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SHARD_GRADIENTS", 500), ids=str)
def test_random_gradients(seeds: range):
    for seed in seeds:
        found = collective_cases.run_gradient(seed, "cpu", 2 + seed % 3)
        wanted = collective_cases.wanted_gradient(seed, 2 + seed % 3)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=f"seed {seed}")


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "count"), [(2, 10), *(pytest.param(n, 50, marks=pytest.mark.slow) for n in (2, 3, 4))]
)
@pytest.mark.usefixtures("folder")
def test_random_gradients_by_mpi(ranks: int, count: int, tmp_path: Path):
    results = tmp_path / "results.npz"
    done = launch(ranks, CASES, "--gradients", "--programs", count, "--results", results)
    assert done.returncode == 0, done.stderr
    found = np.load(results)
    for seed in range(count):
        for i, wanted in enumerate(collective_cases.wanted_gradient(seed, ranks)):
            np.testing.assert_allclose(found[f"{seed}_{i}"], wanted, rtol=1e-12)


def test_devices_of_one_program_differ():
    with pytest.raises(tg.DeviceError, match="one or more distinct devices, not CPU, CPU"):
        tg.Tensor([1, 2]).shard(("CPU", "CPU:0"))


def test_axis_that_does_not_split():
    with pytest.raises(ValueError, match="axis 0 of shape 3 does not split into 2 equal shards"):
        tg.Tensor([1, 2, 3]).shard(("CPU:0", "CPU:1"), 0)


# -- failures --------------------------------------------------------------------------------------


def test_failure_of_a_device_of_this_process():
    # An index argument that is out of its bounds, on one device alone.
    text = """
      func.func @main(%x: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"]>> {
        %0 = tg.reshape %x [1, 4] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
        %1 = tg.expand %0 [2, 4] : tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
        %2 = tg.copy %1 to ["A", "B"] : tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
        %3 = tg.replicated %2 axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
        func.return %3 : tensor<4xf32, #tg.place<["A", "B"]>>
      }
    """  # noqa: E501
    executable = tg.compile(text, target="cpu")
    assert isinstance(executable, ShardedExecutable)
    start = ThreadCommunicator.start

    def failing(self: ThreadCommunicator, exchange: Exchange, value: object) -> object:
        if self.rank == 1:
            raise ValueError("no memory")
        return start(self, exchange, value)  # pyright: ignore

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ThreadCommunicator, "start", failing)
        with pytest.raises(ValueError, match="no memory"):
            executable(np.ones(4, np.float32))
    np.testing.assert_array_equal(executable(np.ones(4, np.float32)), np.ones(4, np.float32))


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_bytes_are_those_of_the_textbook(count: int):
    names = collective_cases.devices(count, mpi=False)
    size = 32 * count  # The bytes of one part.

    def bytes_of(function: Callable[[tg.Tensor], tg.Tensor], device: object) -> tuple[int, int]:
        """The bytes that the ops send, and those that threads have read of others."""
        x = tg.Tensor(np.ones((count * count, 8), np.float32))
        x = x.shard(names, 0) if device is None else x[:count].to(names[-1])
        x.realize()
        realization._executables.clear()
        function(x).realize()
        executable = list(realization._executables.values())[-1]
        assert isinstance(executable, ShardedExecutable)
        sent = executable.bytes_sent
        function(x).realize()
        return sum(e.bytes_sent for e in executable.exchanges), executable.bytes_sent - sent

    n = count
    assert bytes_of(lambda x: collectives.broadcast(x, names), 0) == ((n - 1) * size,) * 2
    assert bytes_of(lambda x: collectives.scatter(x, names), 0) == ((n - 1) * size // n,) * 2
    assert bytes_of(collectives.gather, None) == ((n - 1) * size,) * 2
    assert bytes_of(collectives.reduce, None) == ((n - 1) * size,) * 2
    assert bytes_of(collectives.allgather, None) == (n * (n - 1) * size,) * 2
    assert bytes_of(collectives.reduce_scatter, None) == ((n - 1) * size,) * 2
    assert bytes_of(collectives.allreduce, None) == (2 * (n - 1) * size,) * 2


# -- training --------------------------------------------------------------------------------------

TRAINING = Path(__file__).with_name("training_cases.py")


def trained(folder: Path, model: str, *splits: str, ranks: int = 0) -> dict[str, np.ndarray]:
    """The losses of a few steps of the example by split: by MPI, or on 2 devices of a process."""
    folder.mkdir()
    command = (TRAINING, folder, model, *splits)
    if ranks:
        done = launch(ranks, *command)
    else:
        full = [sys.executable, *map(str, command)]
        done = subprocess.run(full, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return {split: np.load(folder / f"{split}.npy") for split in splits}


@needs_mpi
@pytest.mark.sampled(12)
@pytest.mark.parametrize("split", ["data", "tensor", "zero"])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("model", ["mlp", "gpt"])
@pytest.mark.usefixtures("folder")
def test_training_gives_the_same_losses(model: str, ranks: int, split: str, tmp_path: Path):
    on_threads = trained(tmp_path / "threads", model, "none", split)
    by_mpi = trained(tmp_path / "mpi", model, split, ranks=ranks)
    for found in (on_threads, by_mpi):
        np.testing.assert_allclose(found[split], on_threads["none"], rtol=1e-4)


@needs_mpi
@pytest.mark.usefixtures("folder")
def test_the_model_of_scaling_is_checked():
    """The losses of all splits are those of one process."""
    program = Path(__file__).parents[3] / "bench" / "scaling.py"
    options = ("--check", "--models", "mlp", "--rounds", "1", "--ranks", "2")
    done = subprocess.run(
        [sys.executable, str(program), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| mlp |") == 4


# -- dynamic extents -------------------------------------------------------------------------------

DYNAMIC = """
func.func @main() -> (tensor<?x1xf32>, tensor<?x8xf32>, tensor<8x?xf32>, tensor<?x8xf32>) {{
  %n = tg.param 0 min 1 max 9 : tensor<index>
  %x = tg.param 1 (%n) {{tg.sharding = #tg.place<[{devices}], axis = 1>}} : tensor<?x8xf32>
  %e = tg.exp2 %x : tensor<?x8xf32>
  %sum = tg.reduce add %e [1] : tensor<?x8xf32> -> tensor<?x1xf32>
  %after = tg.exp2 %sum : tensor<?x1xf32>
  %scaled = tg.mul %x, %after : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %turned = tg.permute %scaled [1, 0] : tensor<?x8xf32> -> tensor<8x?xf32>
  %whole = tg.exp2 %x {{tg.sharding = #tg.place<[{devices}]>}} : tensor<?x8xf32>
  func.return %after, %scaled, %turned, %whole
    : tensor<?x1xf32>, tensor<?x8xf32>, tensor<8x?xf32>, tensor<?x8xf32>
}}
"""


@pytest.mark.parametrize("count", [2, 4])
def test_an_axis_that_is_not_split_may_be_dynamic(count: int):
    """One compilation is right for every size, also where values are exchanged."""
    devices = ", ".join(f'"{name}"' for name in collective_cases.devices(count, mpi=False))
    executable = tg.compile(DYNAMIC.format(devices=devices))
    assert isinstance(executable, ShardedExecutable)
    kinds = {exchange.kind.value for exchange in executable.exchanges}
    assert kinds == {"all_reduce", "all_to_all"}
    for n in (1, 5, 9):
        x = np.random.default_rng(n).random((n, 8), np.float32)
        after = np.exp2(np.exp2(x).sum(1, keepdims=True))
        wanted = after, x * after, (x * after).T, np.exp2(x)
        for a, b in zip(executable(n, x), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_an_extent_that_is_no_argument_is_refused():
    text = """
    func.func @main(%x: tensor<?x4xf32> {tg.sharding = #tg.place<["CPU:0", "CPU:1"], axis = 1>})
        -> tensor<?x1xf32> {
      %0 = tg.reduce add %x [1] : tensor<?x4xf32> -> tensor<?x1xf32>
      func.return %0 : tensor<?x1xf32>
    }"""
    with pytest.raises(tg.CompilationError, match="dynamic dimensions of arguments"):
        tg.compile(text)


# -- FUNCTIONs with memory -------------------------------------------------------------------------

KERNEL = """
#g = #tg.place<global>
#one = #tg.place<"CPU:0">
#memory = #tg.place<"CPU:0", global>
tg.kernel @double {
  %o = tg.param 0 : tensor<4xf32, #g>
  %x = tg.param 1 : tensor<4xf32, #g>
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %x[%i] : (tensor<4xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %v = tg.load %p : tensor<f32, #g> -> tensor<f32>
  %d = tg.add %v, %v : tensor<f32>
  %q = tg.index %o[%i] : (tensor<4xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %q, %d : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}
func.func @main(%x: tensor<4xf32, #one>) -> (tensor<4xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>>, tensor<4xf32, #one>) {
  %f = tg.function(%x) {
    %p = tg.param 0 : tensor<4xf32, #one>
    %a = tg.buffer 0 : tensor<4xf32, #memory>
    %b = tg.buffer 1 : tensor<4xf32, #memory>
    %s = tg.store %a, %p : tensor<4xf32, #memory>, tensor<4xf32, #one>
    %a1 = tg.after %a, %s : (tensor<4xf32, #memory>, !tg.void) -> tensor<4xf32, #memory>
    %c = tg.call @double(%b, %a1) : (tensor<4xf32, #memory>, tensor<4xf32, #memory>) -> !tg.void
    %b1 = tg.after %b, %c : (tensor<4xf32, #memory>, !tg.void) -> tensor<4xf32, #memory>
    %u = tg.load %b1 : tensor<4xf32, #memory> -> tensor<4xf32, #one>
    %v = tg.neg %u : tensor<4xf32, #one>
    %t = tg.tuple %u, %v : (tensor<4xf32, #one>, tensor<4xf32, #one>) -> !tg.tuple<tensor<4xf32, #one>, tensor<4xf32, #one>>
  } : tensor<4xf32, #one> -> !tg.tuple<tensor<4xf32, #one>, tensor<4xf32, #one>>
  %0 = tg.gettuple %f 0 : !tg.tuple<tensor<4xf32, #one>, tensor<4xf32, #one>> -> tensor<4xf32, #one>
  %1 = tg.gettuple %f 1 : !tg.tuple<tensor<4xf32, #one>, tensor<4xf32, #one>> -> tensor<4xf32, #one>
  %2 = tg.copy %0 to ["CPU:0", "CPU:1"] : tensor<4xf32, #one> -> tensor<4xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>>
  %3 = tg.exp2 %1 : tensor<4xf32, #one>
  func.return %2, %3 : tensor<4xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>>, tensor<4xf32, #one>
}
"""  # noqa: E501


def test_a_function_with_memory_stays_one():
    """Its BUFFERs are no state of the program, and its results are used in several parts."""
    x = np.arange(4, dtype=np.float32)
    executable = tg.compile(KERNEL)
    for _ in range(2):
        doubled, after = executable(x)
        np.testing.assert_array_equal(doubled, 2 * x)
        np.testing.assert_allclose(after, np.exp2(-2 * x))
    assert isinstance(executable, ShardedExecutable)
    assert not executable.program.buffers


def test_functions_that_are_not_called_may_be_sharded():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tg.neg %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @other(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) {
      return
    }"""
    for target in ("cpu", "c", None):
        x = np.arange(4, dtype=np.float32)
        assert np.array_equal(tg.compile(text, target=target)(x), -x)


@pytest.mark.parametrize("there", ["CPU", "CPU:1"])
def test_an_entry_on_single_devices_of_a_sharded_module(there: str):
    copied = f'%0 = tg.copy %x to "{there}" : tensor<4xf32, #a> -> tensor<4xf32, #there>'
    text = f"""
    #a = #tg.place<"CPU">
    #there = #tg.place<"{there}">
    func.func @main(%x: tensor<4xf32, #a>) -> tensor<4xf32, #there> {{
      {copied if there != "CPU" else ""}
      %1 = tg.neg {"%0" if there != "CPU" else "%x"} : tensor<4xf32, #there>
      return %1 : tensor<4xf32, #there>
    }}
    func.func @other(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) {{
      return
    }}"""
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(tg.compile(text)(x), -x)


COUNTED = """
#memory = #tg.place<"CPU", global>
#one = #tg.place<"CPU">
#both = #tg.place<["CPU", "CPU:1"], axis = 0>
func.func @main(%n: tensor<index> {tg.min = 1 : i64, tg.max = 9 : i64}, %x: tensor<8xf32, #both>) -> (tensor<?xf32, #one>, tensor<8xf32, #both>) {
  %e = tg.buffer 4(%n) : tensor<?xf32, #memory>
  %unused = tg.buffer 5(%n) : tensor<?x4xf32, #memory>
  %old = tg.load %e : tensor<?xf32, #memory> -> tensor<?xf32, #one>
  %1 = tg.const 1.0 : tensor<f32>
  %new = tg.add %old, %1 : (tensor<?xf32, #one>, tensor<f32>) -> tensor<?xf32, #one>
  %s = tg.store %e, %new : tensor<?xf32, #memory>, tensor<?xf32, #one>
  %after = tg.after %e, %s : (tensor<?xf32, #memory>, !tg.void) -> tensor<?xf32, #memory>
  %r = tg.load %after : tensor<?xf32, #memory> -> tensor<?xf32, #one>
  %y = tg.neg %x : tensor<8xf32, #both>
  func.return %r, %y : tensor<?xf32, #one>, tensor<8xf32, #both>
}
"""  # noqa: E501


def test_a_buffer_of_dynamic_shape():
    """It is the last call's if the shape is the same, and else zeros, as on one device."""
    x = np.arange(8, dtype=np.float32)
    executable = tg.compile(COUNTED)
    assert isinstance(executable, ShardedExecutable)
    for n, count in ((3, 1), (3, 2), (2, 1), (3, 1)):
        counted, negative = executable(n, x)
        assert counted.tolist() == [count] * n
        np.testing.assert_array_equal(negative, -x)
    few, many = (executable.memory(arg0=n)[0].buffers for n in (2, 5))
    assert (few, many) == (2 * 4 * (1 + 4), 5 * 4 * (1 + 4))
