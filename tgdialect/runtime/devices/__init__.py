"""Devices: places that programs name, as "CPU", "CL:0" and "CUDA:1". In reading order:

* `device.py`: a device, and those of this machine;
* `driver.py`: the interface to a device, and releases that wait for its commands;
* `opencl.py` implements it, as does `cuda.py`, with `cuda_context.py`: contexts, errors, events and
  copies;
* `array.py`: arrays in the memory of a device;
* `program.py`: a compiled program as data;
* `build.py`: the stages, the kernels' code, and from a planned module to kernels and launches;
* `executable.py`: calls of a program, the memory of one call, and the same call again.
"""

from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import DEVICES as Device
from tgdialect.runtime.devices.driver import DeviceError

__all__ = ["Device", "DeviceArray", "DeviceError"]
