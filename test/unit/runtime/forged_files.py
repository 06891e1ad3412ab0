"""Loads files of programs whose tables are changed at random, with checksums that are right.

    python forged_files.py FILE.tgx FIRST COUNT

What is loaded is not called: machine code cannot tell that a shape is another one. Prints the
numbers of files that are loaded and refused; an exception that `load` does not announce ends it.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tgdialect.runtime.devices.device import DeviceError
from tgdialect.runtime.program_file import _MARK, _START, load

VALUES: Sequence[Any] = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        3,
        7,
        64,
        255,
        4096,
        2**31,
        2**32,
        2**53,
        2**63,
        2**64,
        10**30,
    ),
    *(1.5, float("inf"), "", "x", "\0", "main", "ptr", "input", "scalar", "output", "buffer"),
    *(
        "float32",
        "int64",
        ">f4",
        "object",
        "O",
        "M8[s]",
        "S3",
        "workspace",
        "persistent",
        "%0",
        "add",
    ),
    *([], {}, [[]], [None], [0], [2**40], [-1], [[0, [0]]], ["tg.idiv", [[], []]], {"a": 1}),
)


def split(data: bytes) -> tuple[Any, list[bytes]]:
    start = 8 + int.from_bytes(data[:8], "little")
    entries, pieces = json.loads(data[8:start]), []
    for size in entries["sizes"]:
        pieces.append(data[start : start + size])
        start += size
    return entries, pieces


def joined(entries: Any, pieces: Sequence[bytes]) -> bytes:
    header = json.dumps(entries).encode()
    return b"".join([len(header).to_bytes(8, "little"), header, *pieces])


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every container of a tree, with each of its keys."""
    found, stack = [], [tree]
    while stack:
        each = stack.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        for key in keys:
            found.append((each, key))
            if isinstance(each[key], dict | list):
                stack.append(each[key])
    return found


def change(rng: random.Random, tree: Any) -> None:
    """Change one place of a tree."""
    inside, key = rng.choice(places(tree))
    match rng.randrange(6):
        case 0 if isinstance(inside, list):
            inside.insert(key, inside[rng.randrange(len(inside))])
        case 1:
            del inside[key]
        case 2 if isinstance(inside[key], int):
            inside[key] += rng.choice([-1, 1, 8, -8])
        case 3:
            other, at = rng.choice(places(tree))
            inside[key] = json.loads(json.dumps(other[at]))
        case _:
            inside[key] = rng.choice(VALUES)


def forged(rng: random.Random, payload: bytes) -> bytes:
    entries, pieces = split(payload)
    functions = len(entries["programs"])
    which = rng.randrange(functions + 1)
    if which < functions:
        inner, codes = split(pieces[which])
        kind = rng.randrange(8)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            change(rng, inner)
        if kind == 0:
            rng.shuffle(codes)
        pieces[which] = joined(inner, codes)
        if kind == 1:
            pieces[which] = pieces[which][: rng.randrange(len(pieces[which]))]
        if kind != 2:
            entries["sizes"][which] = len(pieces[which])
    else:
        change(rng, entries)
    data = joined(entries, pieces)
    if rng.random() < 0.1:  # The header as text: bytes of it.
        header = bytearray(data)
        header[rng.randrange(8 + int.from_bytes(data[:8], "little"))] ^= 1 << rng.randrange(8)
        data = bytes(header)
    return data


def main(path: str, first: int, count: int) -> None:
    original = Path(path).read_bytes()[_START:]
    results = {"loaded": 0, "refused": 0}
    for seed in range(first, first + count):
        payload = forged(random.Random(seed), original)
        file = Path(f"{path}.forged")
        file.write_bytes(_MARK + sha256(payload).digest() + payload)
        print(f"seed {seed}", file=sys.stderr, flush=True)
        try:
            load(file)
            results["loaded"] += 1
        except (OSError, ValueError, DeviceError, MemoryError) as error:
            if not str(error):
                raise
            results["refused"] += 1
    print(results["loaded"], results["refused"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
