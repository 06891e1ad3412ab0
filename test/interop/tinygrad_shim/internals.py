"""Names of tinygrad without a counterpart here: UOps, schedules, renderers, counts of kernels."""

from __future__ import annotations

from typing import Any

PUBLIC = {
    "dtypes.fp8e4m3fnuz": "floats of 8 bits without -0 and infinities (fnuz) are no dtypes here",
    "dtypes.fp8e5m2fnuz": "floats of 8 bits without -0 and infinities (fnuz) are no dtypes here",
    "dtypes.weakint": "there are no weak dtypes: a number of Python takes the dtype of a tensor",
    "dtypes.weakfloat": "there are no weak dtypes: a number of Python takes the dtype of a tensor",
    "Tensor.invalids": "there is no element that is never computed",
    "Tensor.custom_kernel": "a kernel is written in the dialect, and not of UOps in Python",
    "Tensor.keccak": "Tensor has no hash functions",
    "Tensor.hash": "Tensor has no hash functions",
    "Tensor.from_url": "nothing is fetched from the network",
    "Tensor.image_conv2d": "no memory is an image",
    "tinygrad.dtype.Invalid": "there is no element that is never computed",
    "tinygrad.dtype.InvalidType": "there is no element that is never computed",
    "Invalid": "there is no element that is never computed",
    "tinygrad.nn.state.tar_extract": "archives are read by Python's own modules",
    "tinygrad.nn.state.TensorIO": "a tensor is no file",
    "Tensor._device_rng_counters": "a counter of random numbers is for all devices here",
}
"""Names that a user of tinygrad may write, and why they have no counterpart: tests that use them
fail by design, and are counted."""


class UsesInternals(BaseException):
    """A test looks at tinygrad's internals. It is no `Exception`, so that a test which expects some
    error does not take it for that."""


class Internal:
    """A name that may be imported and passed on. Calling or indexing it ends the test."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Internal:
        if name.startswith("__"):
            raise AttributeError(name)
        return Internal(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise UsesInternals(self._name)

    __getitem__ = __iter__ = __enter__ = __call__

    def __exit__(self, *_: object) -> None: ...

    def __instancecheck__(self, _: object) -> bool:
        return False

    def __or__(self, _: object) -> Internal:  # In annotations: `UOp | int`.
        return self

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"<tinygrad's {self._name}>"


class InternalValue(Internal):
    """One that ends the test also when it is compared."""

    __eq__ = Internal.__call__
    __hash__ = object.__hash__


class Invalid(Internal):
    """tinygrad's element that is never computed. Errors of our methods name its class."""


class Refused:
    """An attribute, of a class and of its instances, whose value is internal."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise UsesInternals(self._name)
