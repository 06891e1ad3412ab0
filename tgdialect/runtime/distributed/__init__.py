"""Programs on several devices: each runs the same program on its own part of the data.

* `array.py`: arrays whose parts are on several devices;
* `program.py`: what `tg-split-collectives` gives, as steps;
* `exchange.py`: collectives as data, on arrays of NumPy, and the interface to what executes them;
  `threads.py`: within one process, a thread for each device; `mpi.py` and `mpi_exchange.py`:
  between processes, also by memory that those of one machine share; `agreement.py`: that
  processes do the same; `nccl.py`: between GPUs by NCCL, over either;
* `runner.py`: the steps on one device; `executable.py`: from a module to an executable, its calls,
  and how much memory they take.
"""

from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.distributed.exchange import RankError

__all__ = ["RankError", "ShardedArray"]
