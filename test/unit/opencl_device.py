"""The device that tests of grids run on; there need not be one.

It is the first of OpenCL, which is PoCL in CI, or the one that TG_TEST_DEVICE names.
"""

from __future__ import annotations

import os

import pytest

from tgdialect.runtime.devices.device import DEVICES

DEVICE = os.environ.get("TG_TEST_DEVICE", "CL:0")

KIND = DEVICE.partition(":")[0]
"""The part of its name that says what drives it: "CL" or "CUDA"."""


def target() -> str:
    """The name of the target that programs for it are compiled for."""
    return DEVICES[DEVICE].target


needs_opencl = pytest.mark.skipif(
    not any(device.name == DEVICE for device in DEVICES),
    reason=f"there is no device {DEVICE} (extra `opencl` has PoCL)",
)
takes_opencl_c = pytest.mark.skipif(KIND != "CL", reason=f"{DEVICE} takes no OpenCL C")
"""For tests of OpenCL C itself."""
