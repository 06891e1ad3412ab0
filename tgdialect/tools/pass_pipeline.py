"""From the text of a pipeline to passes, with errors that suggest a correction.

```
pipeline ::= (`builtin.module` | `any`) `(` passes `)`      MLIR's spelling
           | passes                                         xDSL's spelling
passes   ::= (pass (`,` pass)*)?
pass     ::= name (`{` option* `}`)?
           | (operation | `any`) `(` passes `)`             on each such operation by itself
           | `mlir-opt` (`-` version)? `[` any text `]`     xDSL's: a pipeline for mlir-opt
option   ::= name (`=` value (`,` value)*)?                 also `=[...]` or `={...}`: a list
value    ::= number | `true` | `false` | text | string in double quotes
```

White space separates options and is optional elsewhere; `-` and `_` are the same in option names.
xDSL's own parser is not used because it knows neither anchors nor optional white space, and its
errors have no position.
"""

import dataclasses
import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar, get_type_hints

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, ParameterType
from xdsl.utils.hints import isa, type_repr

from tgdialect.diagnostics import Diagnostic, SourceFile
from tgdialect.tools.console import UsageError

ANCHORS = ("builtin.module", "any")
"""The operations that a pipeline may be anchored on: passes run on the top-level module."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_VALUE = re.compile(r"[^\s,{}()\[\]\"=]+")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MOST_NESTED = 64
"""The most pipelines within one another: more than operations of any module are, and fewer than
Python's stack holds."""
_MLIR_OPT = re.compile(r"mlir-opt(-[0-9.]+)?")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Option:
    """One option as it was written, at `offset` in the text of the pipeline."""

    name: str
    values: tuple[str, ...]
    quoted: tuple[bool, ...]
    offset: int


@dataclass(frozen=True)
class PassSpec:
    """A pass (or target) name with its options, as it was written in `text`.

    With `nested` the name is that of an operation, and these passes run on each such operation.
    """

    name: str
    options: tuple[Option, ...]
    offset: int
    text: str
    nested: tuple["PassSpec", ...] | None = None


def spec_error(text: str, offset: int, message: str) -> UsageError:
    """An error in the text of a pipeline or target, shown with a caret."""
    source = SourceFile("", text)
    line, column = source.position(offset)
    return UsageError(Diagnostic(message, column=column, source_line=source.line(line)))


class _PipelineParser:
    """Recursive descent over the text of a pipeline; `offset` is how far it has read, and `depth`
    how many pipelines it is in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = self.depth = 0

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise spec_error(self.text, self.offset if offset is None else offset, message)

    def skip_space(self) -> bool:
        """Skip white space; returns whether there was any."""
        start = self.offset
        if (match := _SPACE.match(self.text, start)) is not None:
            self.offset = match.end()
        return self.offset > start

    def accept(self, character: str) -> bool:
        self.skip_space()
        found = self.text.startswith(character, self.offset)
        self.offset += found
        return found

    def expect(self, character: str, context: str) -> None:
        if not self.accept(character):
            self.fail_expecting(f"'{character}' {context}")

    def fail_expecting(self, what: str) -> NoReturn:
        found = self.text[self.offset : self.offset + 1]
        self.fail(f"expected {what}, " + (f"found '{found}'" if found else "the text ends"))

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip_space()
        if (match := pattern.match(self.text, self.offset)) is None:
            return None
        self.offset = match.end()
        return match.group()

    def expect_end(self) -> None:
        self.skip_space()
        if self.offset < len(self.text):
            self.fail(f"unexpected '{self.text[self.offset]}' after the end")

    def parse_pipeline(self, anchor_required: bool) -> list[PassSpec]:
        start = self.offset
        is_anchored = (name := self.match(_NAME)) is not None and self.accept("(")
        hint = f"write 'builtin.module({self.text.strip()})'"
        if is_anchored and name not in ANCHORS:
            self.fail(f"a pipeline runs on a module: {hint}", start)
        if not is_anchored and anchor_required:
            self.fail(f"expected 'builtin.module(...)': {hint}", start)
        if not is_anchored:
            self.offset = start
        specs = self.parse_passes()
        if is_anchored:
            self.expect(")", "at the end of the pipeline")
        self.expect_end()
        return specs

    def parse_passes(self) -> list[PassSpec]:
        """Passes separated by commas; empty entries are skipped."""
        specs: list[PassSpec] = []
        while True:
            self.skip_space()
            if self.text[self.offset : self.offset + 1] not in (",", ")", ""):
                specs.append(self.parse_spec())
            if not self.accept(","):
                return specs

    def parse_spec(self) -> PassSpec:
        self.skip_space()
        start = self.offset
        if (name := self.match(_NAME)) is None:
            self.fail(f"expected a name, found '{self.text[start : start + 1]}'")
        if (tool := _MLIR_OPT.fullmatch(name)) is not None and self.accept("["):
            return PassSpec("mlir-opt", self.parse_mlir_opt_pipeline(tool[1]), start, self.text)
        if self.accept("("):
            if self.depth == MOST_NESTED:
                self.fail(f"pipelines are nested {MOST_NESTED} deep at most", start)
            self.depth += 1
            nested = tuple(self.parse_passes())
            self.expect(")", f"at the end of the pipeline on '{name}'")
            self.depth -= 1
            return PassSpec(name, (), start, self.text, nested)
        options = self.parse_options(name) if self.accept("{") else ()
        return PassSpec(name, options, start, self.text)

    def parse_mlir_opt_pipeline(self, version: str | None) -> tuple[Option, ...]:
        start, depth = self.offset, 1
        while depth:
            character = self.text[self.offset : self.offset + 1]
            if not character:
                self.fail("expected ']' at the end of the pipeline for mlir-opt, the text ends")
            depth += (character == "[") - (character == "]")
            self.offset += 1
        pipeline = f"builtin.module({self.text[start : self.offset - 1]})"
        flags = ("--mlir-print-op-generic", "--allow-unregistered-dialect", "-p", pipeline)
        arguments = Option("arguments", flags, (True,) * len(flags), start)
        if version is None:
            return (arguments,)
        return Option("executable", (f"mlir-opt{version}",), (True,), start), arguments

    def parse_options(self, owner: str) -> tuple[Option, ...]:
        options: dict[str, Option] = {}
        while not self.accept("}"):
            start = self.offset
            if (name := self.match(_NAME)) is None:
                self.fail_expecting(f"an option of '{owner}' or '}}'")
            name = name.replace("-", "_")
            if name in options:
                self.fail(f"option '{name}' of '{owner}' is given twice", start)
            texts, quoted = self.parse_values() if self.accept("=") else ((), ())
            options[name] = Option(name, texts, quoted, start)
        return tuple(options.values())

    def parse_values(self) -> tuple[tuple[str, ...], tuple[bool, ...]]:
        closing = next((end for begin, end in ("[]", "{}") if self.accept(begin)), None)
        values = [self.parse_value()]
        while self.accept(","):
            values.append(self.parse_value())
        if closing is not None:
            self.expect(closing, "at the end of the list")
        return tuple(text for text, _ in values), tuple(quoted for _, quoted in values)

    def parse_value(self) -> tuple[str, bool]:
        if (string := self.match(_STRING)) is not None:
            return re.sub(r"\\(.)", r"\1", string[1:-1]), True
        if (text := self.match(_VALUE)) is None:
            self.fail("expected a value")
        return text, False


def parse_pipeline(text: str, anchor_required: bool = False) -> list[PassSpec]:
    """
    Parse a pipeline, without looking up its passes. `anchor_required` is set for MLIR's
    `--pass-pipeline`. Raises `UsageError`.
    """
    return _PipelineParser(text).parse_pipeline(anchor_required)


def parse_spec(text: str) -> PassSpec:
    """Parse one name with options, as `-t` takes it. Raises `UsageError`."""
    parser = _PipelineParser(text)
    spec = parser.parse_spec()
    parser.expect_end()
    return spec


# -- passes ----------------------------------------------------------------------------------------

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
