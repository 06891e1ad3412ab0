"""The device that tests of grids run on; there need not be one.

It is the first of OpenCL, which is PoCL in CI, or the one that TG_TEST_DEVICE names.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

from tgdialect.runtime.devices.device import DEVICES

DEVICE = os.environ.get("TG_TEST_DEVICE", "CL:0")

KIND = DEVICE.partition(":")[0]
"""The part of its name that says what drives it: "CL" or "CUDA"."""


def target() -> str:
    """The name of the target that programs for it are compiled for."""
    return DEVICES[DEVICE].target


HAS_LINKER = KIND != "CL" or shutil.which("ld") is not None
"""PoCL links kernels by `ld`."""


def opencl() -> Any:
    """The module pyopencl, for a test that is skipped unless it can run kernels."""
    cl = pytest.importorskip("pyopencl", reason="there is no pyopencl")
    if not cl.get_platforms() or not HAS_LINKER:
        pytest.skip(
            "there is no OpenCL device (extra `opencl` has PoCL), or no ld, which PoCL needs"
        )
    return cl


needs_opencl = pytest.mark.skipif(
    not HAS_LINKER or not any(device.name == DEVICE for device in DEVICES),
    reason=f"there is no device {DEVICE} (extra `opencl` has PoCL), or no ld, which PoCL needs",
)
takes_opencl_c = pytest.mark.skipif(KIND != "CL", reason=f"{DEVICE} takes no OpenCL C")
"""For tests of OpenCL C itself."""
