"""`#tg.target`: a target in IR, which a module states as its attribute `tg.target`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
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

Field = int | bool | Sequence[str]


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A target: its name, its features, and the fields of `Target` that these two do not imply.

    `#tg.target<"cpu", features = ["avx2", "fma"], threads = 2, l2 = 1048576>`. Passes compile for
    the `tg.target` of the module unless their options give a target. The features of a CPU are
    those of this machine unless they are named: `features = []` is a CPU without any. Nothing else
    is detected. A pass with options writes the target that it compiled for to the module, and so
    does one that has asked for the features of this machine: later passes need no options.
    """

    name = "tg.target"

    target: StringAttr
    fields: DictionaryAttr

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, target: Target) -> TargetAttr:
        """The attribute that states a target."""
        brought = target_named(target.name, target.features)
        stated: dict[str, Attribute] = {}
        if target.name == DEFAULT_TARGET:
            stated["features"] = _attribute(without_implied(target.features))
        for name in _WANTED:
            if (value := getattr(target, name)) != getattr(brought, name):
                stated[name] = _attribute(value)
        name = unchecked.text(target.name)
        return unchecked.made(cls, target=name, fields=DictionaryAttr(stated))

    @property
    def values(self) -> Mapping[str, Field]:
        """The fields that are stated, as Python values."""
        return {name: _value(attribute) for name, attribute in self.fields.data.items()}

    def verify(self) -> None:
        for name, attribute in self.fields.data.items():
            if (wanted := _WANTED.get(name)) is None:
                raise VerifyException(
                    f"{name!r} is no field of a target; there are: {', '.join(_WANTED)}"
                )
            if _kind(attribute) != wanted:
                raise VerifyException(f"{name} of a target is {wanted}, got {_kind(attribute)}")
        try:
            _target(self.target.data, self.values)
        except ValueError as error:
            raise VerifyException(str(error)) from None

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.target)
            for name, attribute in self.fields.data.items():
                printer.print_string(f", {name} = ")
                match attribute:
                    case IntAttr(data=number):
                        printer.print_string(str(number))
                    case StringAttr(data=flag):
                        printer.print_string(flag)
                    case _:
                        printer.print_attribute(attribute)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        position = parser.pos
        stated: dict[str, Attribute] = {}
        with parser.in_angle_brackets():
            target = StringAttr(parser.parse_str_literal(" for the name of a target"))
            while parser.parse_optional_punctuation(",") is not None:
                start = parser.pos
                name = parser.parse_identifier()
                if name in stated:
                    parser.raise_error(f"{name} is given twice", start, parser.pos)
                parser.parse_punctuation("=")
                stated[name] = _parse_value(parser)
        parameters = target, DictionaryAttr(stated)
        try:
            cls.new(parameters)
        except VerifyException as error:
            parser.raise_error(str(error), at_position=position, end_position=parser.pos)
        return parameters


_LIST, _FLAG, _NUMBER = "a list of strings", "true or false", "a number"
_KINDS = {frozenset: _LIST, bool: _FLAG, int: _NUMBER}
_DEFAULT = target_named(DEFAULT_TARGET)
_WANTED = {
    field.name: _KINDS[type(getattr(_DEFAULT, field.name))]
    for field in fields(Target)
    if field.name not in ("name", "execution")
}
"""The fields that may be stated, each with the kind of its value. The target's name decides the
others."""


def _attribute(value: Field | Collection[str]) -> Attribute:
    if isinstance(value, bool):
        return unchecked.text("true" if value else "false")
    if isinstance(value, int):
        return unchecked.number(value)
    return unchecked.array([unchecked.text(item) for item in sorted(value)])


def _parse_value(parser: AttrParser) -> Attribute:
    if (flag := parser.parse_optional_boolean()) is not None:
        return _attribute(flag)
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return _attribute(number)
    items = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
    return ArrayAttr(StringAttr(item) for item in items)


def _kind(attribute: Attribute) -> str:
    match attribute:
        case IntAttr():
            return _NUMBER
        case StringAttr(data="true" | "false"):
            return _FLAG
        case ArrayAttr(data=items) if all(isinstance(item, StringAttr) for item in items):
            return _LIST
        case _:
            return str(attribute)


def _value(attribute: Attribute) -> Field:
    match attribute:
        case IntAttr(data=number):
            return number
        case StringAttr(data=flag):
            return flag == "true"
        case _:
            items = cast("ArrayAttr[StringAttr]", attribute)
            return [item.data for item in items]


def _target(name: str, stated: Mapping[str, Field]) -> Target:
    """A target with these fields. Raises ValueError for an unknown name, feature or value."""
    # The features first, because they imply fields. They keep their order: `-x` removes a feature
    # that a name before it adds.
    target = target_named(name, cast("Sequence[str]", stated.get("features", ())))
    values = {field: _as_field(value) for field, value in stated.items() if field != "features"}
    # Then the other fields, whose values must be among those that the target can have.
    for field, value in values.items():
        most = getattr(MOST[name], field)
        if isinstance(value, frozenset) and (unknown := sorted(value - most)):
            there_are = ", ".join(sorted(most))
            raise ValueError(f"{field} of a {name} has no {unknown[0]!r}; there are: {there_are}")
    return replace(target, **values)


def _as_field(value: Field) -> int | frozenset[str]:
    return value if isinstance(value, int) else frozenset(value)


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
        if name not in (None, stated.target.data):
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
    return _target(attribute.target.data, stated | dict(options))


def settle_target(
    module: ModuleOp,
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


def fit_to_host(module: ModuleOp, *, is_selected: bool) -> None:
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
    return attribute.target.data == DEFAULT_TARGET and "features" not in attribute.fields.data


def state_target(module: ModuleOp, target: Target) -> None:
    """Write a target to a module, as `tg.target`."""
    module.attributes[MODULE_ATTRIBUTE] = TargetAttr.of(target)


def state_in_builtin(module: ModuleOp) -> None:
    """Make the `tg.target` of a module that leaves the dialect a dictionary of builtin attributes,
    which upstream's tools can parse."""
    if isinstance(stated := module.attributes.get(MODULE_ATTRIBUTE), TargetAttr):
        fields = {name: _builtin(value) for name, value in stated.values.items()}
        module.attributes[MODULE_ATTRIBUTE] = DictionaryAttr({"name": stated.target, **fields})


def _builtin(value: Field) -> Attribute:
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, 64)
    return ArrayAttr(StringAttr(item) for item in value)
