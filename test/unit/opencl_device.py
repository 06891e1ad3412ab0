"""The OpenCL device that tests run on: PoCL in CI. There need not be one."""

from __future__ import annotations

import pytest

from tgdialect.runtime.devices.device import DEVICES

needs_opencl = pytest.mark.skipif(
    not any(device.name == "CL:0" for device in DEVICES),
    reason="there is no OpenCL device (extra `opencl` has PoCL)",
)
