"""Measures this machine for the cost model: `python -m tgdialect.calibrate [-o FILE]`.

Prints the rates of a core, each beside what is assumed without a measurement, and writes them to
the target file, from which schedules for this machine take them from then on. Takes some seconds;
other programs on the machine make the rates worse.

    --print      measure, and write nothing
    -o FILE      the file (default: TG_TARGET_FILE, or target.json in the folder of the cache)
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from tgdialect.runtime.peaks import measured_rates
from tgdialect.runtime.progress import progress
from tgdialect.targets.calibrated import MEASURED, calibrated_text, target_file
from tgdialect.targets.host import host_cpu, host_features, host_model, host_target
from tgdialect.tools.console import ToolError, exit_code, tool_errors, write_files

_PROGRAM = "tgdialect.calibrate"


def main(args: Sequence[str] | None = None) -> int:
    """Measure, print, and write; the exit code."""
    return exit_code(_PROGRAM, lambda: _calibrate(args))


def _calibrate(args: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PROGRAM}", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("-o", metavar="FILE", help="the file that is written")
    parser.add_argument("--print", action="store_true", help="measure, and write nothing")
    options = parser.parse_args(args)
    path: str | None = options.o or target_file()
    before = host_target(host_features(), threads=1)
    if path is None and not options.print:
        raise ToolError("there is no cache: name a file by -o or TG_TARGET_FILE")
    with progress("measuring this machine", 1) as shown:
        found = measured_rates(before)
        shown.step()
    print(f"{host_model()}: {'measured':>24}{'until now':>12}")
    for name in MEASURED:
        print(f"  {name:18}{found.get(name, '-'):>22}{getattr(before, name):>12}")
    if options.print or path is None:
        return 0
    with tool_errors(OSError, context=f"cannot write {path}: "):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    text = calibrated_text(host_cpu(), found).encode()
    write_files([path], [lambda file: file.write(text)])
    print(f"written to {path}: schedules for this machine use it from now on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
