"""The attributes that say for which chip a `gpu.module` is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


class ChipAttr(ParametrizedAttribute):
    """A chip: `#nvvm.target<chip = "sm_90">`. What has its default value is not printed."""

    DEFAULTS: ClassVar[Mapping[str, Attribute]]
    """The default of each parameter, in the order in which they are printed."""

    given: DictionaryAttr = param_def()
    """The parameters that differ from their defaults."""

    @classmethod
    def of(cls, chip: str, features: str = "") -> Self:
        """A chip and features in LLVM's spelling, the other parameters at their defaults."""
        given = {"chip": chip, "features": features}
        return cls(DictionaryAttr({name: StringAttr(v) for name, v in given.items() if v}))

    @property
    def triple(self) -> str:
        """The triple, in LLVM's spelling."""
        return self._text("triple")

    @property
    def chip(self) -> str:
        """The chip, in LLVM's spelling."""
        return self._text("chip")

    @property
    def features(self) -> str:
        """The features in LLVM's spelling; empty for those that LLVM assumes for the chip."""
        return self._text("features") if "features" in self.given.data else ""

    def _text(self, name: str) -> str:
        value = self.given.data.get(name, self.DEFAULTS[name])
        assert isinstance(value, StringAttr)
        return value.data

    def verify(self) -> None:
        for name, value in self.given.data.items():
            default = self.DEFAULTS.get(name)
            if default is None:
                raise VerifyException(f"{self.name} has no parameter '{name}'")
            if type(value) is not type(default):
                raise VerifyException(f"{self.name}: '{name}' cannot be {value}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        given: dict[str, Attribute] = {}

        def parse_entry() -> None:
            position = parser.pos
            name = parser.parse_identifier()
            if name in given or name not in cls.DEFAULTS:
                parser.raise_error(f"duplicate or unknown parameter '{name}'", position)
            parser.parse_punctuation("=")
            is_number = isinstance(cls.DEFAULTS[name], IntAttr)
            given[name] = IntAttr(parser.parse_integer()) if is_number else parser.parse_attribute()

        parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return (DictionaryAttr({n: v for n, v in given.items() if v != cls.DEFAULTS[n]}),)

    def print_parameters(self, printer: Printer) -> None:
        def print_entry(name: str) -> None:
            value = self.given.data[name]
            printer.print_string(f"{name} = ")
            if isa(value, IntAttr):
                printer.print_int(value.data)
            else:
                printer.print_attribute(value)

        if self.given.data:
            with printer.in_angle_brackets():
                printer.print_list([n for n in self.DEFAULTS if n in self.given.data], print_entry)


def _defaults(triple: str, chip: str, features: str, **more: Attribute) -> Mapping[str, Attribute]:
    return {
        "O": IntAttr(2),
        "triple": StringAttr(triple),
        "chip": StringAttr(chip),
        "features": StringAttr(features),
        **more,
        "flags": DictionaryAttr({}),
        "link": ArrayAttr[Attribute]([]),
    }


@irdl_attr_definition
class NVVMTargetAttr(ChipAttr):
    """A chip of NVIDIA."""

    name = "nvvm.target"
    DEFAULTS = _defaults("nvptx64-nvidia-cuda", "sm_50", "+ptx60")


@irdl_attr_definition
class ROCDLTargetAttr(ChipAttr):
    """A chip of AMD."""

    name = "rocdl.target"
    DEFAULTS = _defaults("amdgcn-amd-amdhsa", "gfx900", "", abi=StringAttr("500"))
