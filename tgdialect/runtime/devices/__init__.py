"""Devices: places that programs name, as "CPU", "CL:0" and "CUDA:1". In reading order:

* `device.py`: a device, and those of this machine;
* `driver.py`: the interface to a device; `deferred.py`: releases that wait for its commands;
* `opencl.py` implements it, as does `cuda.py`, with `cuda_context.py`: contexts and errors,
  `cuda_streams.py`: events and copies, and `cuda_kernels.py`: launches and graphs;
* `array.py`: arrays in the memory of a device;
* `program.py`: a compiled program as data;
* `build.py`: the stages, then `code.py`: the kernels' code, and `commands.py`: from a planned
  module to kernels and launches; `bench.py`: BEAM on a device;
* `executable.py`: calls of a program; `call.py`: the memory of one call; `binding.py`: its launches
  with their values; `repeats.py`: the same call again.
"""

from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import DEVICES as Device
from tgdialect.runtime.devices.driver import DeviceError

__all__ = ["Device", "DeviceArray", "DeviceError"]
