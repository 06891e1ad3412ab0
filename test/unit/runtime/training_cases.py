"""Short trainings by `train_sharded.py` of the examples.

As a program, `training_cases.py FOLDER MODEL SPLIT ...`, this file trains a model with each split,
one after the other in the same process, and writes the losses to `FOLDER/SPLIT.npy`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))

import train_sharded


def main(folder: str, model: str, *splits: str) -> None:
    """Train the model with each split, as by the command line of the example."""
    for split in splits:
        file = Path(folder, f"{split}.npy")
        options = ("--model", model, "--split", split, "--steps", "4", "--devices", "2")
        train_sharded.main((*options, "--losses", str(file)))


if __name__ == "__main__":
    main(*sys.argv[1:])
