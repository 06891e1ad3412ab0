"""The target file: the rates of this machine, as `python -m tgdialect.calibrate` has measured them.

The file is JSON: the CPU that it is of, and fields of `Target`. It is data of a user's folder, and
checked like any input.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from tgdialect.environment import CACHE_DIR, TARGET_FILE, SettingError
from tgdialect.targets.cpu import CPU

MEASURED = (
    *("vector_ports", "datapath_bits", "vector_loads", "mulacc_latency"),
    *("l2_bytes", "llc_bytes", "bytes_per_cycle"),
)
"""The fields that are measured. Each is a number of at least 1."""

_MOST_BYTES = 1 << 16
"""The size of the longest file that is read."""


def target_file() -> str | None:
    """The path of the file: `TG_TARGET_FILE`, or `target.json` in the folder of the cache. None if
    there is no cache."""
    if (given := TARGET_FILE.get()) is not None:
        return given or None
    if (folder := CACHE_DIR.get()) is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = os.path.join(home, "tgdialect")
    return os.path.join(folder, "target.json") if folder else None


def calibrated(cpu: str) -> Mapping[str, int]:
    """The fields that were measured on a CPU, by `host_cpu`; none if nothing was. A file that
    `TG_TARGET_FILE` names is used whichever CPU it is of.

    Raises SettingError if that file cannot be read, or is none.
    """
    path, is_named = target_file(), TARGET_FILE.get() is not None
    if path is None:
        return {}
    try:
        stamp = os.stat(path)
        of, fields = _read(path, stamp.st_mtime_ns, stamp.st_size)
    except (OSError, ValueError) as error:
        if is_named:
            reason = error.strerror if isinstance(error, OSError) else error
            raise SettingError(f"{TARGET_FILE.name}: {path}: {reason}") from None
        return {}
    return fields if is_named or of == cpu else {}


@lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> tuple[str, Mapping[str, int]]:
    """The CPU and the fields of a file. Raises ValueError if it is none of ours."""
    if size > _MOST_BYTES:
        raise ValueError(f"it has {size} bytes, and {_MOST_BYTES} are the most")
    with open(path, encoding="utf-8") as file:
        try:
            found: Any = json.load(file)
        except (ValueError, RecursionError):
            raise ValueError("it is no JSON") from None
    if not isinstance(found, dict) or not {"cpu", "fields"} <= found.keys():
        raise ValueError("it is no target file, which has a `cpu` and `fields`")
    table = cast("dict[str, Any]", found)
    cpu, fields = table["cpu"], table["fields"]
    if not isinstance(cpu, str) or not isinstance(fields, dict):
        raise ValueError("`cpu` is a text, and `fields` a table of numbers")
    for name, value in cast("dict[str, Any]", fields).items():
        if name not in MEASURED:
            raise ValueError(f"{name!r} is no field that is measured: {', '.join(MEASURED)}")
        if type(value) is not int:
            raise ValueError(f"{name} is {value!r}, not a whole number")
        replace(CPU, **{name: value})
    return cpu, cast("dict[str, int]", fields)


def calibrated_text(cpu: str, fields: Mapping[str, int]) -> str:
    """The text of a file."""
    return json.dumps({"cpu": cpu, "fields": dict(fields)}, indent=2)
