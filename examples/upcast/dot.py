"""The dot product of the tutorial, from tensors: prints the result, and the program as MLIR."""

from tgdialect import Tensor, function


@function
def main(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum()


if __name__ == "__main__":
    a, b = Tensor([1, 2, 3, 4]), Tensor([5, 6, 7, 8])
    print("//", main(a, b).numpy())
    print(main.lower(a, b))
