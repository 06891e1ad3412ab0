"""The figures of one kernel in a profile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelTime:
    """The time that a kernel takes in one run of its program.

    `calls` is the number of calls in a run and `seconds` their total time, as the median over the
    runs. A kernel that packs constant arguments is called in the first run only (`is_once`); it has
    the time of that run, and no share. `share` is the fraction of the time in kernels. `flops` and
    `bytes` are those of all calls.
    """

    name: str
    calls: int
    seconds: float
    share: float
    is_once: bool
    flops: int
    bytes: int
    opts: tuple[str, ...]

    @property
    def gflops(self) -> float:
        """Billions of floating-point operations per second."""
        return self.flops / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gbytes(self) -> float:
        """Billions of bytes per second to and from memory."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0
