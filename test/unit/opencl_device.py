"""The device that tests of grids run on; there need not be one.

It is the first of OpenCL, which is PoCL in CI, or the one that TG_TEST_DEVICE names.
"""

from __future__ import annotations

import os

import pytest

from tgdialect.runtime.devices.device import DEVICES

DEVICE = os.environ.get("TG_TEST_DEVICE", "CL:0")

needs_opencl = pytest.mark.skipif(
    not any(device.name == DEVICE for device in DEVICES),
    reason=f"there is no device {DEVICE} (extra `opencl` has PoCL)",
)
