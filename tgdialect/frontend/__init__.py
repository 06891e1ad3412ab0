"""The Python front end: lazy tensors, traced functions, gradients."""

from tgdialect.frontend.tensor import Tensor

__all__ = ["Tensor"]
