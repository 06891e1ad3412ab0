"""What a call of a compiled program costs beyond the kernel's own time, next to NumPy's.

    python bench/call_overhead.py

`native` is the compiled function called by ctypes with addresses that are at hand. The overhead is
what `exe(...)` takes beyond it, which finds addresses and makes results, but does without ctypes;
`function(x, y)` is a function of tensors.
"""

import ctypes
import timeit

import numpy as np

import tgdialect as tg
from tgdialect.runtime.memory import address

NUMBER, REPEAT = 5_000, 15
ADD = """
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tg.add %a, %b : tensor<64x64xf32>
  func.return %0 : tensor<64x64xf32>
}
"""


def microseconds(statement: str, names: dict[str, object]) -> float:
    """The least time of one of the repetitions: what the machine does when nobody disturbs it."""
    return min(timeit.repeat(statement, globals=names, number=NUMBER, repeat=REPEAT)) / NUMBER * 1e6


def main() -> None:
    a, b = np.random.default_rng(0).random((2, 64, 64), np.float32)
    c = np.empty_like(a)
    exe = tg.compile(ADD)
    np.testing.assert_array_equal(exe(a, b, out=c), a + b)
    frame = (ctypes.c_int64 * 3)(address(a), address(b), address(c))
    tensors = {"function": tg.function(lambda x, y: x + y), "x": tg.Tensor(a), "y": tg.Tensor(b)}
    names = {"np": np, "exe": exe, "native": exe._function, "frame": frame, "a": a, "b": b, "c": c}
    names |= tensors
    native = microseconds("native(frame)", names)
    print(f"{'a + b, 64x64 f32':<20}{'time':>10}{'overhead':>12}")
    print(f"{'native':<20}{native:>8.2f}us")
    for call in ("exe(a, b, out=c)", "exe(a, b)", "function(x, y)"):
        time = microseconds(call, names)
        print(f"{call:<20}{time:>8.2f}us{time - native:>10.2f}us")
    print(f"{'np.add(a, b, out=c)':<20}{microseconds('np.add(a, b, out=c)', names):>8.2f}us")


if __name__ == "__main__":
    main()
