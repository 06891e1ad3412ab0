"""`#tg.target`: a target in IR, as a module says it in `tg.target`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.targets import Target, target_named
from tgdialect.targets.cpu import BROUGHT

MODULE_ATTRIBUTE = "tg.target"

Field = int | bool | Sequence[str]


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A target: its name, then the fields of `Target` that differ from what those bring.

    `#tg.target<"cpu", features = ["avx2", "fma"], threads = 2, l2 = 1048576>`. As `tg.target` of a
    module it is the target of the passes whose options do not say otherwise: nothing of this
    machine matters then.
    """

    name = "tg.target"

    target: StringAttr
    fields: DictionaryAttr

    @property
    def values(self) -> Mapping[str, Field]:
        """The fields that are said."""
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
        said: dict[str, Attribute] = {}
        with parser.in_angle_brackets():
            target = StringAttr(parser.parse_str_literal(" for the name of a target"))
            while parser.parse_optional_punctuation(",") is not None:
                start = parser.pos
                name = parser.parse_identifier()
                if name in said:
                    parser.raise_error(f"{name} is said twice", start, parser.pos)
                parser.parse_punctuation("=")
                said[name] = _parse_value(parser)
        parameters = target, DictionaryAttr(said)
        try:
            cls.new(parameters)
        except VerifyException as error:
            parser.raise_error(str(error), at_position=position, end_position=parser.pos)
        return parameters


_LIST, _FLAG, _NUMBER = "a list of strings", "true or false", "a number"
_CPU = target_named("cpu")
_WANTED = {
    field.name: _LIST
    if isinstance(default := getattr(_CPU, field.name), frozenset)
    else _FLAG
    if isinstance(default, bool)
    else _NUMBER
    for field in fields(Target)
    if field.name != "name"
}
"""The fields that may be said, each with what it is."""


def _parse_value(parser: AttrParser) -> Attribute:
    if (flag := parser.parse_optional_boolean()) is not None:
        return StringAttr("true" if flag else "false")
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return IntAttr(number)
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


def _target(name: str, said: Mapping[str, Field]) -> Target:
    """A target with these fields. Raises ValueError for an unknown name, feature or value."""
    values = {field: _as_field(value) for field, value in said.items()}
    features = values.pop("features", frozenset[str]())
    assert isinstance(features, frozenset)
    return replace(target_named(name, sorted(features)), **values)


def _as_field(value: Field) -> int | frozenset[str]:
    return value if isinstance(value, int) else frozenset(value)


def stated_target(
    module: ModuleOp, features: Sequence[str] = (), **given: int | None
) -> Target | None:
    """The target that a module says in `tg.target`, None if it says none. Features, and fields by
    their names where they are not None, are taken instead of those of the module; features with all
    that they bring.

    Raises PassFailedException for a value that a field cannot have.
    """
    attribute = module.attributes.get(MODULE_ATTRIBUTE)
    if attribute is None:
        return None
    if not isinstance(attribute, TargetAttr):
        raise PassFailedException(f"{MODULE_ATTRIBUTE} is not a #tg.target, got {attribute}")
    said = dict(attribute.values)
    if features:
        said = {name: value for name, value in said.items() if name not in BROUGHT}
        said["features"] = features
    said |= {name: value for name, value in given.items() if value is not None}
    try:
        return _target(attribute.target.data, said)
    except ValueError as error:
        raise PassFailedException(str(error)) from None
