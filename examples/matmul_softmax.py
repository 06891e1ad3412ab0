"""Run examples/matmul_softmax.mlir on arrays in files, as tg-run does, and check it with NumPy.

python examples/matmul_softmax.py
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from tgdialect.tools.tg_run import main as tg_run

PROGRAM = Path(__file__).with_suffix(".mlir")


def softmax_of_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """softmax(a @ b) over rows, in float64."""
    scores = a.astype(np.float64) @ b.astype(np.float64)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main() -> int:
    rng = np.random.default_rng(0)
    # Scores of unit variance: greater ones lose digits in f32 before the softmax sees them.
    a = rng.standard_normal((256, 512)).astype(np.float32)
    b = (rng.standard_normal((512, 128)) / np.sqrt(512)).astype(np.float32)
    with tempfile.TemporaryDirectory() as directory:
        files = {name: str(Path(directory, f"{name}.npy")) for name in ("a", "b", "result")}
        np.save(files["a"], a)
        np.save(files["b"], b)
        inputs = ["--input", files["a"], "--input", files["b"]]
        command = [
            str(PROGRAM),
            *inputs,
            "--output",
            files["result"],
            "--target=cpu",
            "--benchmark",
        ]
        print("tg-run", *command)
        if status := tg_run(command):
            return status
        result = np.load(files["result"])
    expected = softmax_of_product(a, b)
    error = np.abs(result - expected).max() / expected.max()
    print(f"greatest error against NumPy in float64: {error:.1e} of the greatest value")
    if error > 1e-5:
        print("too much: the result is wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
