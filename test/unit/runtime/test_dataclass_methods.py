"""Methods that are compiled in their first call do what those compiled at once do."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest
from unit.random_seeds import batches

from tgdialect.runtime.dataclass_methods import compiled_later

pytestmark = pytest.mark.skipif(
    not hasattr(dataclasses, "_create_fn"), reason="this Python compiles methods at once"
)


def _made(rng: random.Random) -> Any:
    """A dataclass of random fields and options, by chance with a base class that is one."""
    is_frozen = rng.random() < 0.5
    made: type = object
    for depth in range(rng.randint(1, 2)):
        body: dict[str, Any] = {"__module__": "tgdialect.made", "__annotations__": {}}
        for number in range(rng.randint(0, 3)):
            name = f"f{depth}_{number}"
            body["__annotations__"][name] = int
            if (kind := rng.randrange(3)) == 1:
                body[name] = field(default_factory=lambda: 7, kw_only=True)
            elif kind == 2:
                body[name] = field(default=3, compare=rng.random() < 0.5, kw_only=True)
        options: Any = {
            "order": rng.random() < 0.5,
            "slots": rng.random() < 0.3,
            "repr": rng.random() < 0.8,
            "unsafe_hash": rng.random() < 0.3,
        }
        bases = (made,) if made is not object else ()
        made = dataclass(frozen=is_frozen, **options)(type("Made", bases, body))
    return made


ACTIONS: Sequence[Callable[[Any, Any, str], Any]] = (
    lambda a, b, _: a == b,
    lambda a, b, _: a < b,
    lambda a, b, _: a >= b,
    lambda a, b, _: hash(a) == hash(copy.copy(a)),
    lambda a, b, _: repr(a) if "__repr__" in type(a).__dict__ else None,
    lambda a, b, _: dataclasses.astuple(dataclasses.replace(a)),
    lambda a, _, name: setattr(a, name, 5),
    lambda a, _, name: delattr(copy.copy(a), name),
    lambda a, b, _: dataclasses.astuple(type(a)()),
    lambda a, b, _: type(a)(*range(9)),
)
"""Calls of methods that a dataclass has, of two instances and the name of a field."""


def _outcome(action: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return action(*arguments)
    except (TypeError, AttributeError) as error:
        return type(error)


def _behaviour(made: Any, rng: random.Random) -> list[Any]:
    """The results of calls of the methods, in random order."""
    names = [f.name for f in dataclasses.fields(made)]
    instances = [made(**{name: rng.randrange(2) for name in names}) for _ in range(3)]
    found: list[Any] = [names, made.__match_args__, made.__doc__ is None]
    for _ in range(8):
        a, b = rng.choice(instances), rng.choice(instances)
        found.append(_outcome(rng.choice(ACTIONS), a, b, rng.choice((*names, "other"))))
    return [*found, *map(dataclasses.astuple, instances)]


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DATACLASSES", 100), ids=str)
def test_methods_do_the_same(seeds: Sequence[int]) -> None:
    for seed in seeds:
        expected = _behaviour(_made(random.Random(seed)), random.Random(seed))
        with compiled_later():
            made = _made(random.Random(seed))
        assert _behaviour(made, random.Random(seed)) == expected, seed


def test_a_method_takes_its_place_when_it_is_called() -> None:
    with compiled_later():
        body: dict[str, Any] = {"__module__": "tgdialect.made", "__annotations__": {"a": int}}
        made: Any = dataclass(frozen=True)(type("Made", (), body))
        derived: Any = type("Derived", (made,), {})
    before: Any = made.__dict__["__init__"]
    assert derived(1).a == 1
    after: Any = made.__dict__["__init__"]
    assert after is not before
    assert after.__qualname__ == "Made.__init__"
    assert after.__code__.co_varnames == ("self", "a")
    other = made(1)
    with pytest.raises(FrozenInstanceError):
        other.a = 2
    before(other, 3)  # Who has kept it may call it.
    assert other.a == 3


def test_classes_of_other_packages_are_made_at_once() -> None:
    with compiled_later():

        @dataclass
        class Other:
            x: int

    assert vars(Other)["__init__"].__code__.co_varnames == ("self", "x")
    assert Other.__doc__ is not None
    assert Other.__doc__.endswith("Other(x: 'int')")
