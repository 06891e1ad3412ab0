"""Methods that are compiled in their first call do what those compiled at once do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from tgdialect.runtime.dataclass_methods import compiled_later
from unit.random_cases import cases

pytestmark = pytest.mark.skipif(
    not hasattr(dataclasses, "_create_fn"), reason="this Python makes methods in another way"
)


def _made(rng: random.Random) -> type:
    """A dataclass of random fields and options, and a subclass of it by chance."""
    frozen = rng.random() < 0.5
    cls: type = object
    for depth in range(rng.randint(1, 2)):
        options = {"frozen": frozen, "order": rng.random() < 0.5, "slots": rng.random() < 0.3}
        options |= {"repr": rng.random() < 0.8, "unsafe_hash": rng.random() < 0.3}
        names = [f"f{depth}_{i}" for i in range(rng.randint(0, 3))]
        annotations = dict.fromkeys(names, int)
        body: dict[str, Any] = {"__annotations__": annotations, "__module__": "tgdialect.made"}
        for name in names:
            kind = rng.randrange(3)
            if kind == 1:
                body[name] = field(default_factory=lambda: 7, kw_only=True)
            elif kind == 2:
                body[name] = field(default=3, compare=rng.random() < 0.5, kw_only=True)
        bases = () if cls is object else (cls,)
        cls = dataclass(**options)(type("Made", bases, body))
    return cls


def _outcome(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except (TypeError, FrozenInstanceError) as error:
        return type(error)


def _set(instance: Any, name: str) -> Any:
    setattr(instance, name, 5)
    return getattr(instance, name)


def _behaviour(cls: Any, rng: random.Random) -> list[Any]:
    """What calls of the methods give, in random order."""
    names = [f.name for f in dataclasses.fields(cls)]
    found: list[Any] = [names, [f.kw_only for f in dataclasses.fields(cls)]]
    instances = [_outcome(lambda: cls(**{n: rng.randrange(2) for n in names})) for _ in range(3)]
    for _ in range(8):
        a, b = rng.choice(instances), rng.choice(instances)
        name = rng.choice((*names, "other"))
        action = rng.choice(
            [
                lambda: a == b,
                lambda: a < b,
                lambda: hash(a) == hash(copy.copy(a)),
                lambda: repr(a),
                lambda: dataclasses.astuple(dataclasses.replace(a)),
                lambda: _set(a, name) if name in names else None,
                lambda: cls(),
                lambda: cls(1, 2, 3, 4, 5, 6, 7),
            ]
        )
        found.append(_outcome(action))
    return [str(each) if isinstance(each, cls) else each for each in found]


@pytest.mark.parametrize("seed", cases("TG_RANDOM_DATACLASSES", 60))
def test_methods_do_the_same(seed: int) -> None:
    expected = _behaviour(_made(random.Random(seed)), random.Random(seed))
    with compiled_later():
        cls = _made(random.Random(seed))
    assert _behaviour(cls, random.Random(seed)) == expected


def test_a_method_takes_its_place_when_it_is_called() -> None:
    with compiled_later():

        @dataclass(frozen=True)
        class Pair:
            first: int
            second: int = 2

        Pair.__module__ = "tgdialect.made"
        cls: Any = dataclass(frozen=True)(
            type("Two", (), {"__annotations__": {"a": int}, "__module__": "tgdialect.made"})
        )
    before = vars(cls)["__eq__"]
    assert cls(1) == cls(1)
    assert vars(cls)["__eq__"] is not before
    assert before(cls(1), cls(1))  # Who has kept it may call it.
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1) if False else True


def test_others_have_their_signatures() -> None:
    with compiled_later():

        @dataclass
        class Other:
            """Of no package that is imported for a compilation."""

            x: int

    assert vars(Other)["__init__"].__code__.co_varnames == ("self", "x")


SCRIPT = """
import sys
import tgdialect as tg
with open(sys.argv[1]) as file:
    tg.compile(file.read())
from xdsl.dialects import llvm
from xdsl.utils.test_value import create_ssa_value
from xdsl.dialects.builtin import i32
print("xdsl.irdl.declarative_assembly_format_parser" in sys.modules)
print(vars(llvm.LLVMArrayType)["__repr__"].__code__.co_filename)
print(llvm.ReturnOp(create_ssa_value(i32)))
"""
