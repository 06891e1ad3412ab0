"""Programs on several devices: each runs the same program on its own part of the data.

* `array.py`: arrays whose parts are on several devices;
* `program.py`: what `tg-split-collectives` gives, as steps;
* `exchange.py`: collectives as data, and on arrays of NumPy; `communicator.py`: the interface to
  what executes them; `threads.py`: within one process, a thread for each device; `mpi.py` and
  `mpi_exchange.py`: between processes; `segment.py`: memory that those of one machine share;
  `agreement.py`: that processes do the same; `nccl.py`: between GPUs by NCCL, over either;
* `timeline.py`: how long the steps take on other machines, by a model; `footprint.py`: how much
  memory they take;
* `runner.py`: the steps on one device; `executable.py`: calls of a program; `build.py`: from a
  module to an executable.
"""

from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.distributed.exchange import RankError

__all__ = ["RankError", "ShardedArray"]
