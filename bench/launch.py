"""What a call of a program on a device costs on the host, beyond the driver's own calls.

    python -m bench.launch [--profile]

The driver is the tests' stand-in for NVIDIA's, and kernels do nothing: what remains is our Python.
Programs of one launch (`cuLaunchKernel`) and of several, which are a graph (`cuGraphLaunch`), each
with memory for the result and without; and functions of tensors: one of its arguments alone, one
that captures a tensor, and one that assigns to it. No GPU is needed; a driver's own time comes on
top, and is the same for whoever calls it. The least mean of several turns counts.
"""

from __future__ import annotations

import argparse
import cProfile
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import tgdialect as tg
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.device import DEVICES, KINDS, Device

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit" / "runtime"))

CALLS, TURNS = 2000, 7

ONE = """
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = tg.add %x, %x : tensor<32xf32>
  func.return %y : tensor<32xf32>
}
"""
SEVERAL = """
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = tg.add %x, %x : tensor<32xf32>
  %c = tg.contiguous %y : tensor<32xf32>
  %z = tg.mul %c, %c : tensor<32xf32>
  %d = tg.contiguous %z : tensor<32xf32>
  %r = tg.sub %d, %x : tensor<32xf32>
  func.return %r : tensor<32xf32>
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.launch", description=__doc__)
    parser.add_argument("--profile", action="store_true", help="print what takes the time")
    options = parser.parse_args()
    from fake_cuda import FakeCuda  # The stand-in of the tests.

    class Quick(FakeCuda):
        """Kernels that do nothing, and functions that nobody counts."""

        __getattribute__ = object.__getattribute__
        context = 0

        def cuCtxPushCurrent(self, context: int) -> object:
            return _OK

        def cuCtxPopCurrent(self) -> object:
            return _OK

        def cuModuleUnload(self, module: int) -> object:
            return _OK

        def cuLaunchKernel(self, *given: object) -> object:
            return _OK

        def cuGraphLaunch(self, *given: object) -> object:
            return _OK

    _OK = (FakeCuda.CUresult.CUDA_SUCCESS,)
    api = Quick({}, memory=1 << 24)
    kind = KINDS["CUDA"]._replace(open=lambda name, number: CudaDriver(name, number, api, api))
    device = DEVICES._known["CUDA:0"] = Device("CUDA:0", kind)
    x = device.array(np.zeros(32, np.float32))
    launches = (api.cuLaunchKernel, range(11)), (api.cuGraphLaunch, range(2))
    programs = ("one kernel", ONE, _one), ("three kernels", SEVERAL, _several)
    for (name, text, function), (launch, given) in zip(programs, launches, strict=True):
        own = _mean(partial(launch, *given))
        for how, call in {**_executables(text, x), **_functions(function, x)}.items():
            taken = _mean(call)
            print(f"{name:14} {how:16} {1e6 * taken:6.2f} us, {1e6 * (taken - own):6.2f} us ours")
            if options.profile:
                with cProfile.Profile() as profile:
                    for _ in range(CALLS):
                        call()
                profile.print_stats("tottime")


def _executables(text: str, x: DeviceArray) -> dict[str, Callable[[], object]]:
    """Calls of a program with an array of the device."""
    exe = tg.compile(text, target="CUDA:0")
    return {"out=": partial(exe, x, out=exe(x)), "new result": partial(exe, x)}


def _functions(
    function: Callable[[tg.Tensor], tg.Tensor], x: DeviceArray
) -> dict[str, Callable[[], object]]:
    """Calls of functions of a tensor on the device."""
    argument, weight, total = (tg.Tensor(x).contiguous().realize() for _ in range(3))

    def captures(argument: tg.Tensor) -> tg.Tensor:
        return function(argument + weight)

    def assigns(argument: tg.Tensor) -> None:
        total.assign(function(argument + total))

    return {
        "function": partial(tg.function(function), argument),
        "capturing": partial(tg.function(captures), argument),
        "assigning": partial(tg.function(assigns), argument),
    }


def _one(x: tg.Tensor) -> tg.Tensor:
    return x + x


def _several(x: tg.Tensor) -> tg.Tensor:
    y = (x + x).contiguous()
    return (y * y).contiguous() - x


def _mean(call: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(TURNS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        least = min(least, (time.perf_counter() - start) / CALLS)
    return least


if __name__ == "__main__":
    main()
