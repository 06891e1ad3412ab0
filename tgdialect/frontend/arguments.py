"""The arguments of a call of a traced function: by position, and with tensors for arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, signature
from typing import Any, cast

import numpy as np

from tgdialect.frontend.arrays import is_array
from tgdialect.frontend.structures import mapped
from tgdialect.frontend.tensor import Tensor

Names = str | int | Collection[str | int]
"""Names or positions of arguments."""


class CallArguments:
    """The arguments that a function takes; those in `static` are constants."""

    def __init__(self, function: Callable[..., Any], static: Names) -> None:
        self._function = function
        self.static = names_of(function, static=static)
        try:
            parameters = signature(function).parameters.values()
        except (TypeError, ValueError):  # A builtin.
            parameters = ()
        by_name = Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD
        # The last of them may be the name of all further arguments.
        self._positional = [p.name for p in parameters if p.kind not in by_name] or ["argument"]

    def by_position(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments with those given by name at their positions, so that equal calls have one
        signature. Those of `**kwargs` keep their order, which the function can see."""
        try:
            # A wrapper may ask for names that the wrapped function has.
            given = signature(self._function, follow_wrapped=False).bind(*args, **kwargs)
        except (TypeError, ValueError):  # The call says what is wrong, in Python's words.
            return args, kwargs
        return given.args, given.kwargs

    def with_tensors(self, args: Any, kwargs: Any, made: list[Tensor]) -> tuple[Any, Any]:
        """Arguments with tensors for their arrays; these tensors are added to `made`.

        Scalars of NumPy stay what they are in operators on tensors: numbers. Raises TypeError for
        an array that is not of numbers, and for a static tensor.
        """
        names = self._positional
        return (
            tuple(
                self._with_tensors(names[min(i, len(names) - 1)], value, made)
                for i, value in enumerate(args)
            ),
            {name: self._with_tensors(name, value, made) for name, value in kwargs.items()},
        )

    def _with_tensors(self, name: str, value: Any, made: list[Tensor]) -> Any:
        def tensor(value: Any) -> Any:
            if not is_array(value) or isinstance(value, (Tensor, np.generic)):
                return cast(object, value)
            try:
                made.append(Tensor(value))
            except (BufferError, RuntimeError, TypeError, ValueError) as error:
                raise TypeError(
                    f"the array {name} is no tensor: {error}; if it is a constant, name it in "
                    "tg.function(static=...)"
                ) from None
            return made[-1]

        return self.leaves(name, value, tensor)

    def leaves(self, name: str, value: Any, function: Callable[[Any], Any]) -> Any:
        """An argument with a function applied to all values in its lists, tuples and dicts, unless
        it is static. Raises TypeError for a static tensor."""

        def constant(value: Any) -> Any:
            if isinstance(value, Tensor):
                raise TypeError(f"{name} is static, and is given a tensor")
            return value

        return mapped(value, constant if name in self.static else function)


def names_of(function: Callable[..., Any], **option: Names) -> frozenset[str]:
    """The arguments of a function, which an option gives by names or positions, by their names.
    Raises ValueError for one that it does not have."""
    ((name, arguments),) = option.items()
    if isinstance(arguments, str | int):
        arguments = [arguments]
    names = list(signature(function).parameters) if arguments else []
    found: set[str] = set()
    for argument in arguments:
        try:
            found.add(names[names.index(argument) if isinstance(argument, str) else argument])
        except (ValueError, IndexError):
            there_are = ", ".join(names) or "none"
            raise ValueError(f"{name}={argument!r}: the arguments are {there_are}") from None
    return frozenset(found)
