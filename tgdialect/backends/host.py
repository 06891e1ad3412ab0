"""Which CPU this is, without LLVM: importing that takes long."""

from functools import cache

_LINUX_MODEL = "/sys/devices/system/cpu/modalias"


@cache
def host_cpu() -> str:
    """Vendor, model and features of the CPU of this process, to tell it from others. The text
    means nothing beyond that."""
    try:
        with open(_LINUX_MODEL) as file:
            return file.read()
    except OSError:
        from tgdialect.backends.llvm_cpu import CpuTarget

        return repr(CpuTarget.host())
