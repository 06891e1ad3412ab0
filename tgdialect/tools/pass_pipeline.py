"""From the text of a pipeline to passes, with errors that suggest a correction."""

import dataclasses
import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_type_hints

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, ParameterType
from xdsl.utils.hints import isa, type_repr

from tgdialect.tools.pipeline_parser import Option, PassSpec, spec_error

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")

_Convertible = TypeVar("_Convertible", bound=ArgSpecConvertible)


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """Up to three known names that resemble `name`; our own, which start with `tg-`, first."""
    ours = [each for each in known if each.startswith("tg-")]
    nearest = (
        difflib.get_close_matches(name, ours)
        + difflib.get_close_matches(f"tg-{name}", ours, cutoff=0.7)
        + difflib.get_close_matches(name, known)
    )
    return list(dict.fromkeys(nearest))[:3]


def _value(text: str, quoted: bool) -> ParameterType:
    if quoted:
        return text
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _accepts(values: tuple[ParameterType, ...], expected: Any) -> bool:
    """Whether xDSL's `from_spec` takes the values for an option of this type."""
    if not values:
        return isa(None, expected)
    return (len(values) == 1 and isa(values[0], expected)) or isa(values, expected)


def _convert(option: Option, expected: Any) -> tuple[ParameterType, ...] | None:
    """
    The values of an option converted to its type; None if that is impossible. As in MLIR, an option
    without a value switches a flag on, a flag may be 0 or 1, and any text is a string.
    """
    plain = tuple(_value(*each) for each in zip(option.values, option.quoted, strict=True))
    readings: list[tuple[ParameterType, ...]] = [plain, option.values]
    if all(isinstance(value, int) for value in plain):
        readings.append(tuple(float(value) for value in plain))
    if not plain:
        readings.append((True,))
    if plain in ((0,), (1,)):
        readings.append((plain == (1,),))
    return next((reading for reading in readings if _accepts(reading, expected)), None)


def _options_text(cls: type[ArgSpecConvertible], types: Mapping[str, Any]) -> str:
    options = ", ".join(
        f"{field.name.replace('_', '-')}: {type_repr(types[field.name])}"
        for field in dataclasses.fields(cls)
    )
    return f"its options are {options}" if options else "it has no options"


def instantiate(
    kind: str, spec: PassSpec, available: Mapping[str, Callable[[], type[_Convertible]]]
) -> _Convertible:
    """
    A pass or target (`kind` is either word, for messages) with its options.

    Raises `UsageError`.
    """
    if spec.name not in available:
        nearest = nearest_names(spec.name, available)
        hint = "tg-opt --list-passes lists all"
        if kind != "pass":
            hint = f"choose from {', '.join(sorted(available))}"
        if nearest:
            hint = f"did you mean {' or '.join(nearest)}?"
        raise spec_error(spec.text, spec.offset, f"unknown {kind} '{spec.name}'; {hint}")
    try:
        cls = available[spec.name]()
    except ImportError as error:
        message = f"{kind} '{spec.name}' is not available: {error}"
        raise spec_error(spec.text, spec.offset, message) from error
    types = get_type_hints(cls)
    fields = {field.name for field in dataclasses.fields(cls) if field.init}
    parameters: dict[str, tuple[ParameterType, ...]] = {}
    for option in spec.options:
        where = f"{kind} '{spec.name}'"
        shown = option.name.replace("_", "-")
        if option.name not in fields:
            message = f"{where} has no option '{shown}'; {_options_text(cls, types)}"
            raise spec_error(spec.text, option.offset, message)
        expected = types[option.name]
        if (values := _convert(option, expected)) is None:
            given = f"'{','.join(option.values)}'" if option.values else "no value"
            message = f"option '{shown}' of {where} is {type_repr(expected)}, not {given}"
            raise spec_error(spec.text, option.offset, message)
        parameters[option.name] = values
    if missing := sorted(cls.required_fields() - parameters.keys()):
        names = ", ".join(f"{name.replace('_', '-')}: {type_repr(types[name])}" for name in missing)
        raise spec_error(spec.text, spec.offset, f"{kind} '{spec.name}' requires {names}")
    try:
        return cls.from_spec(ArgSpec(spec.name, parameters))
    except Exception as error:
        # The class may check its options in `__post_init__`.
        message = f"{kind} '{spec.name}': {error or type(error).__name__}"
        raise spec_error(spec.text, spec.offset, message) from error


@dataclasses.dataclass(frozen=True)
class NestedPasses:
    """Passes that run on each operation of a name, or on `any` one, by itself: as the ones of
    `func.func(cse)` in a pipeline of MLIR."""

    anchor: str
    steps: Sequence["Step"]

    def operations(self, around: Operation) -> Iterator[Operation]:
        """The operations directly in the regions of one that the passes run on."""
        for region in around.regions:
            for block in region.blocks:
                for op in tuple(block.ops):
                    if op.name == self.anchor or (self.anchor == "any" and _is_isolated(op)):
                        yield op

    def __str__(self) -> str:
        return f"{self.anchor}({pipeline_text(self.steps)})"


Step = ModulePass | NestedPasses


def _is_isolated(op: Operation | type[Operation]) -> bool:
    """Whether an operation uses no value from outside, as each has to that passes run on."""
    return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)


def pipeline_text(steps: Iterable[Step]) -> str:
    """The steps as `--pass-pipeline` takes them, without options that have their default."""
    return ",".join(map(str, steps))


def build_pipeline(
    specs: Collection[PassSpec],
    available: Mapping[str, Callable[[], type[ModulePass]]],
    context: Context,
    refused: Collection[str] = (),
) -> list[Step]:
    """
    The passes that the specs name. `refused` are the names of passes that start other programs;
    `context` has the operations that passes can be nested on. Raises `UsageError` at the first
    invalid spec.
    """
    steps: list[Step] = []
    for spec in specs:
        if spec.nested is not None:
            _check_anchor(spec, context)
            steps.append(
                NestedPasses(spec.name, build_pipeline(spec.nested, available, context, refused))
            )
            continue
        if spec.name in refused:
            message = f"pass '{spec.name}' starts another program: it needs --allow-external"
            raise spec_error(spec.text, spec.offset, message)
        steps.append(instantiate("pass", spec, available))
    return steps


def _check_anchor(spec: PassSpec, context: Context) -> None:
    """Raise `UsageError` unless passes can run on operations of this name by themselves."""
    if spec.name == "any":
        return
    op_type = context.get_optional_op(spec.name)
    if op_type is None:
        known = [op.name for op in context.loaded_ops]
        nearest = " or ".join(difflib.get_close_matches(spec.name, known))
        hint = f"; did you mean {nearest}?" if nearest else ""
        message = f"there is no operation '{spec.name}' for passes to run on{hint}"
        raise spec_error(spec.text, spec.offset, message)
    if not _is_isolated(op_type):
        message = (
            f"passes cannot run on each '{spec.name}' by itself: it uses values from outside "
            "(it is not IsolatedFromAbove)"
        )
        raise spec_error(spec.text, spec.offset, message)
