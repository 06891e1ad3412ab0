"""`#tg.target`: a target in IR, which a module states as its attribute `tg.target`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import NamedTuple, cast

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.diagnostics import locate
from tgdialect.environment import SettingError
from tgdialect.fast_xdsl import unchecked
from tgdialect.targets import DEFAULT_TARGET, MOST, Target, target_named
from tgdialect.targets.cpu import FROM_FEATURES, without_implied
from tgdialect.targets.host import host_features, host_target

MODULE_ATTRIBUTE = "tg.target"

Field = int | bool | tuple[str, ...]


class Stated(NamedTuple):
    """The name of a target, and fields of `Target` with their values."""

    name: str
    fields: tuple[tuple[str, Field], ...]


@irdl_attr_definition
class TargetAttr(Data[Stated]):
    """A target: its name, its features, and the fields of `Target` that these two do not imply.

    `#tg.target<"cpu", features = ["avx2", "fma"], threads = 2, l2 = 1048576>`. Passes compile for
    the `tg.target` of the module unless their options give a target. The features of a CPU are
    those of this machine unless they are named: `features = []` is a CPU without any. Nothing else
    is detected. A pass with options writes the target that it compiled for to the module, and so
    does one that has asked for the features of this machine: later passes need no options.
    """

    name = "tg.target"

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, target: Target) -> TargetAttr:
        """The attribute that states a target."""
        brought = target_named(target.name, target.features)
        stated: dict[str, Field] = {}
        if target.name == DEFAULT_TARGET:
            stated["features"] = tuple(without_implied(target.features))
        for name in _WANTED:
            value: Field | frozenset[str] = getattr(target, name)
            if value != getattr(brought, name):
                stated[name] = tuple(sorted(value)) if isinstance(value, frozenset) else value
        return unchecked.made(cls, data=Stated(target.name, tuple(stated.items())))

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.data.name

    @property
    def values(self) -> Mapping[str, Field]:
        """The fields that are stated."""
        return dict(self.data.fields)

    def verify(self) -> None:
        for name, value in self.data.fields:
            if (wanted := _WANTED.get(name)) is None:
                raise VerifyException(
                    f"{name!r} is no field of a target; there are: {', '.join(_WANTED)}"
                )
            if (kind := _KINDS[type(value)]) != wanted:
                raise VerifyException(f"{name} of a target is {wanted}, got {kind}")
        try:
            _target(self.target, self.values)
        except ValueError as error:
            raise VerifyException(str(error)) from None

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.target)
            for name, value in self.data.fields:
                printer.print_string(f", {name} = ")
                if isinstance(value, tuple):
                    with printer.in_square_brackets():
                        printer.print_list(value, printer.print_string_literal)
                else:
                    printer.print_string(str(value).lower())

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Stated:
        position = parser.pos
        stated: dict[str, Field] = {}
        with parser.in_angle_brackets():
            target = parser.parse_str_literal(" for the name of a target")
            while parser.parse_optional_punctuation(",") is not None:
                start = parser.pos
                name = parser.parse_identifier()
                if name in stated:
                    parser.raise_error(f"{name} is given twice", start, parser.pos)
                parser.parse_punctuation("=")
                stated[name] = _parse_value(parser)
        data = Stated(target, tuple(stated.items()))
        try:
            cls(data)
        except VerifyException as error:
            parser.raise_error(str(error), at_position=position, end_position=parser.pos)
        return data


_LIST = "a list of strings"
_KINDS = {frozenset: _LIST, tuple: _LIST, bool: "true or false", int: "a number"}
_DEFAULT = target_named(DEFAULT_TARGET)
_WANTED = {
    field.name: _KINDS[type(getattr(_DEFAULT, field.name))]
    for field in fields(Target)
    if field.name not in ("name", "execution")
}
"""The fields that may be stated, each with the kind of its value. The target's name decides the
others."""


def _parse_value(parser: AttrParser) -> Field:
    if (flag := parser.parse_optional_boolean()) is not None:
        return flag
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return number
    delimiter = parser.Delimiter.SQUARE
    return tuple(parser.parse_comma_separated_list(delimiter, parser.parse_str_literal))


def _target(name: str, stated: Mapping[str, Field]) -> Target:
    """A target with these fields. Raises ValueError for an unknown name, feature or value."""
    # The features first, because they imply fields. They keep their order: `-x` removes a feature
    # that a name before it adds.
    target = target_named(name, cast("Sequence[str]", stated.get("features", ())))
    values = {
        field: frozenset(value) if isinstance(value, tuple) else value
        for field, value in stated.items()
        if field != "features"
    }
    # Then the other fields, whose values must be among those that the target can have.
    for field, value in values.items():
        most = getattr(MOST[name], field)
        if isinstance(value, frozenset) and (unknown := sorted(value - most)):
            there_are = ", ".join(sorted(most))
            raise ValueError(f"{field} of a {name} has no {unknown[0]!r}; there are: {there_are}")
    return replace(target, **values)


def target_of(
    module: Operation | None,
    name: str | None = None,
    features: Sequence[str] = (),
    **given: int | None,
) -> Target:
    """The target that a module is compiled for.

    Options (a name, features, and fields that are not None) take precedence over the module's
    `tg.target`. If the module has none, caches and threads are those of this machine, and there are
    no features; if it has one that names no features, the features are those of this machine.
    Features imply other features and fields.

    Raises PassFailedException for an unknown target or feature, and for a value that a field cannot
    have.
    """
    options = {field: value for field, value in given.items() if value is not None}
    stated = module.attributes.get(MODULE_ATTRIBUTE) if module is not None else None
    try:
        if stated is None:
            return host_target(features, name or DEFAULT_TARGET, **options)
        if not isinstance(stated, TargetAttr):
            assert module is not None
            message = f"{MODULE_ATTRIBUTE} is not a #tg.target, got {stated}"
            raise locate(PassFailedException(message), module)
        if name not in (None, stated.target):
            return replace(target_named(name, features), **options)
        return _stated(stated, tuple(features), tuple(options.items()))
    except SettingError:
        raise
    except ValueError as error:
        raise PassFailedException(str(error)) from None


@lru_cache(maxsize=64)
def _stated(
    attribute: TargetAttr, features: tuple[str, ...], options: tuple[tuple[str, int], ...]
) -> Target:
    """The target that an attribute states, with options in place of its fields."""
    stated = dict(attribute.values)
    if features:
        stated = {name: value for name, value in stated.items() if name not in FROM_FEATURES}
        stated["features"] = features
    elif _takes_features_of_host(attribute):
        stated["features"] = host_features()
    return _target(attribute.target, stated | dict(options))


def settle_target(
    module: builtin.ModuleOp,
    name: str | None = None,
    features: Sequence[str] = (),
    **given: int | None,
) -> Target:
    """`target_of` a module. If there are options, or the features are those of this machine, the
    target is also written to the module: a later pass may run on another machine."""
    target = target_of(module, name, features, **given)
    stated = module.attributes.get(MODULE_ATTRIBUTE)
    has_options = name or features or any(value is not None for value in given.values())
    if has_options or (isinstance(stated, TargetAttr) and _takes_features_of_host(stated)):
        state_target(module, target)
    return target


def fit_to_host(module: builtin.ModuleOp, *, is_selected: bool) -> None:
    """Make the target of a module, which states a CPU, one whose code this CPU executes.

    The module may have been made for another CPU. As long as its instructions are not selected, it
    is compiled for the features of this one. Afterwards those that this one lacks are taken away:
    passes refuse the ops that need them.
    """
    attribute = module.attributes[MODULE_ATTRIBUTE]
    assert isinstance(attribute, TargetAttr)
    stated, host = _stated(attribute, (), ()), _host()
    if not lacking_here(stated):
        return
    if is_selected:
        features, matrix = stated.features & host.features, stated.matrix & host.matrix
        state_target(module, replace(stated, features=features, matrix=matrix))
    else:
        state_target(module, _stated(attribute, tuple(sorted(host.features)), ()))


def lacking_here(target: Target) -> Collection[str]:
    """The features and matrix instructions of a CPU that this one lacks."""
    host = _host()
    features = without_implied(target.features - host.features)
    return [*features, *sorted(target.matrix - host.matrix)]


def _host() -> Target:
    return target_named(DEFAULT_TARGET, host_features())


def _takes_features_of_host(attribute: TargetAttr) -> bool:
    return attribute.target == DEFAULT_TARGET and "features" not in attribute.values


def state_target(module: builtin.ModuleOp, target: Target) -> None:
    """Write a target to a module, as `tg.target`."""
    module.attributes[MODULE_ATTRIBUTE] = TargetAttr.of(target)


def state_in_builtin(module: builtin.ModuleOp) -> None:
    """Make the `tg.target` of a module that leaves the dialect a dictionary of builtin attributes,
    which upstream's tools can parse."""
    if isinstance(stated := module.attributes.get(MODULE_ATTRIBUTE), TargetAttr):
        fields = {name: _builtin(value) for name, value in stated.values.items()}
        module.attributes[MODULE_ATTRIBUTE] = builtin.DictionaryAttr(
            {"name": builtin.StringAttr(stated.target), **fields}
        )


def _builtin(value: Field) -> Attribute:
    if isinstance(value, bool):
        return builtin.BoolAttr.from_bool(value)
    if isinstance(value, int):
        return builtin.IntegerAttr(value, 64)
    return builtin.ArrayAttr(builtin.StringAttr(item) for item in value)
