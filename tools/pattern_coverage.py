"""Print which patterns the lit tests fire, and which ones no test fires.

    python tools/pattern_coverage.py                            # all of test/filecheck
    python tools/pattern_coverage.py test/filecheck/transforms  # some of it
    python tools/pattern_coverage.py --folder DIR               # keeps the counts there
    python tools/pattern_coverage.py --folder DIR --read        # prints what is there

A row has the pass, the pattern, the number of tests that fire it, and the test that fires the
fewest other patterns. Known are the patterns of the tables of rules, handlers, canonicalisations,
recipes and OptOps, and the names that the package gives to actions. The exit code is 1 if no test
fires one of them.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.ir import Operation

from tgdialect.actions.coverage import Fired, counts_in
from tgdialect.actions.listening import pattern_name
from tgdialect.legacy.upgrade.graphs import GraphUpgrade
from tgdialect.legacy.upgrade.ordered import OrderedKernel
from tgdialect.lowering.expand.rules import Rules
from tgdialect.lowering.rangeify.cells import RULES as CELLS
from tgdialect.lowering.render.walker import _HANDLERS as RENDERERS
from tgdialect.lowering.select.stage import _RULES as SELECTIONS
from tgdialect.ops import tg
from tgdialect.transforms.canonicalization import CANONICALIZATIONS
from tgdialect.transforms.canonicalization.elementwise import ApplyIdentities, ConstantOnTheRight
from tgdialect.transforms.decompose import RECIPES
from tgdialect.transforms.gradient.rules import RULES as GRADIENTS
from tgdialect.transforms.shard.raise_collectives import _RULES as COLLECTIVES
from tgdialect.transforms.simplify import HANDLERS, SimplifyPass
from tgdialect.transforms.simplify.arithmetic import ARITHMETIC
from tgdialect.transforms.simplify.identities import IDENTITIES

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "test" / "filecheck"
ENDING = ".tmp.patterns"
"""The text that `test/filecheck/lit.cfg.py` adds to the name of a test."""

ANY = ""
"""The pass or op of a known pattern for which any one counts."""
_OPTOP = re.compile(f"({'|'.join(kind.value for kind in tg.OptOp)})(?: .*)?")
_NAMING = frozenset({"acted", "_acted", "begins", "noted"})
"""The functions whose first argument names an action."""


# -- what there is -------------------------------------------------------------------------------


def known_patterns() -> Iterator[Fired]:
    """The patterns that there are, with the pass and the op where they are about one."""
    for name, patterns in CANONICALIZATIONS.items():
        for pattern in patterns:
            if not isinstance(pattern, ApplyIdentities):
                is_general = isinstance(pattern, ConstantOnTheRight)
                yield Fired("canonicalize", pattern_name(pattern), ANY if is_general else name)
    # tg-simplify, which applies them, too, knows some of their results from intervals.
    for rule in IDENTITIES:
        yield Fired("canonicalize", rule.name, ANY)
    simplify = SimplifyPass.name
    for rule in ARITHMETIC:
        yield Fired(simplify, rule.name, ANY)
    for name, handler in HANDLERS.items():
        yield Fired(simplify, handler.__name__, name)
    for name in ("fold", "only value", "equal op"):
        yield Fired(simplify, name, ANY)
    for name in RECIPES:
        yield Fired("tg-decompose", "recipe", f"tg.{name}")
    yield from _of_kinds("tg-gradient", dict.fromkeys(GRADIENTS, "gradient"))
    for _, rule in CELLS:
        yield Fired("tg-build-kernels", rule.__name__, ANY)
    for kind in (kind for kind, _ in Rules.RULES if not kind.__subclasses__()):
        yield Fired("tg-expand", "expand", kind.name)
    for rule in COLLECTIVES.values():
        yield Fired("tg-raise-collectives", rule.__name__, ANY)
    yield from _of_kinds("tg-select", {kind: r.__name__ for kind, r in SELECTIONS.items()})
    yield from _of_kinds(ANY, dict.fromkeys(RENDERERS, "render"))
    for upgrade in (OrderedKernel, GraphUpgrade):
        for name, method in vars(upgrade).items():
            if name.startswith("on_"):
                yield Fired("tg-upgrade-legacy", method.__name__, ANY)
    for kind in tg.OptOp:
        yield Fired(f"tg-{kind.value}", kind.value, ANY)
        yield Fired("tg-optimize", kind.value, ANY)
    for name in sorted({name for file in _files() for name in _names_in(file)}):
        yield Fired(ANY, name, ANY)


def _of_kinds(stage: str, rules: Mapping[type[Operation], str]) -> Iterator[Fired]:
    return (Fired(stage, rule, kind.name) for kind, rule in rules.items())


def _files() -> Iterable[Path]:
    return sorted((ROOT / "tgdialect").rglob("*.py"))


def _names_in(file: Path) -> Iterator[str]:
    """The names that a file gives to actions as literals."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), _]):
                if ast.unparse(function).rpartition(".")[2] in _NAMING:
                    yield name
            case _:
                pass


# -- what tests fire -----------------------------------------------------------------------------


def run_lit(tests: Sequence[str], folder: Path) -> None:
    """Run tests of `test/filecheck`, which leave their counts in a folder."""
    lit = Path(sys.executable).with_name("lit")
    command = [str(lit), "-q", "--param", f"pattern_coverage={folder}", *tests]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        print("some tests fail, and may not have fired what they should", file=sys.stderr)


def counts_of(folder: Path) -> Mapping[str, Counter[Fired]]:
    """The counts of each test in a folder."""
    found: dict[str, Counter[Fired]] = {}
    for file in sorted(folder.rglob(f"*{ENDING}")):
        test = file.parents[1].relative_to(folder) / file.name.removesuffix(ENDING)
        found[test.as_posix()] = counts_in(file.read_text(encoding="utf-8"))
    return found


def _plain(fired: Fired) -> Fired:
    """A kind of action without the arguments of an OptOp."""
    found = _OPTOP.fullmatch(fired.pattern)
    if found is None or fired.stage not in {"tg-optimize", f"tg-{found[1]}"}:
        return fired
    return fired._replace(pattern=found[1])


def tests_of(counts: Mapping[str, Counter[Fired]]) -> Mapping[Fired, Sequence[str]]:
    """The tests that fire each kind of action: those that fire the fewest kinds are first."""
    tests: defaultdict[Fired, dict[str, None]] = defaultdict(dict)
    for test in sorted(counts, key=lambda test: (len(counts[test]), test)):
        for fired in counts[test]:
            stage, pattern, op = _plain(fired)
            for kind in ((s, o) for s in {stage, ANY} for o in {op, ANY}):
                tests[Fired(kind[0], pattern, kind[1])][test] = None
    return {fired: list(found) for fired, found in tests.items()}


def table_of(tests: Mapping[Fired, Sequence[str]], known: Iterable[Fired]) -> str:
    """A row for each pattern that is known, or that tests fire."""
    known = list(dict.fromkeys(known))
    about_ops = {(k.stage, k.pattern) for k in known if k.op != ANY}
    fired = {f for f in tests if f.stage and not f.op and (f.stage, f.pattern) not in about_ops}
    rows = sorted({*fired, *known})
    lines = ["| pass | pattern | tests | one of them |", "|---|---|---:|---|"]
    for row in rows:
        found = tests.get(row, ())
        name = f"{row.pattern}: {row.op}" if row.op else row.pattern
        lines.append(f"| {row.stage} | {name} | {len(found)} | {found[0] if found else ''} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tests", nargs="*", default=[str(TESTS)])
    parser.add_argument("--folder", type=Path, help="a folder for the counts")
    parser.add_argument("--read", action="store_true", help="run no tests")
    args = parser.parse_args()
    if args.read and args.folder is None:
        parser.error("--read is for --folder")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) if args.folder is None else args.folder
        if not args.read:
            run_lit(args.tests, folder)
        tests = tests_of(counts_of(folder))
    known = list(dict.fromkeys(known_patterns()))
    print(table_of(tests, known))
    missing = [fired for fired in known if fired not in tests]
    print(f"\nNo test fires {len(missing)} of {len(known)} known patterns.")
    for stage, pattern, op in missing:
        print(": ".join(filter(None, (stage, pattern, op))))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
