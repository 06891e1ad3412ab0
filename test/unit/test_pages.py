"""Every block of code in the README, CONTRIBUTING and `docs` is run, as a reader would.

    python -m pytest test/unit/test_pages.py --update-pages

writes the blocks anew that show what a command prints. Each page has a folder that is empty but for
a copy of `examples`, and of the file or folder of it that the page is about:

* blocks of commands run in order; a block that directly follows is what they print;
* a block of Python is an excerpt of the page's example, or a program that runs by itself;
* any other block of MLIR is parsed; values that it does not define are of the types that it says,
  and a line `->` stands between the IR before and after.

`NOT_RUN` has the blocks of commands that are not run, and why.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from forked_tools import serving
from parsing import tg_context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tgdialect.dialect import TG
from tgdialect.legacy.dialect import TG_LEGACY

ROOT = Path(__file__).parents[2]
EXAMPLES: Mapping[str, str] = {
    "docs/tour.md": "tour.mlir",
    "docs/schedules.md": "tour.mlir",
    "docs/embedding.md": "embed",
    "docs/extending.md": "extend",
    "docs/tutorial-upcast.md": "upcast",
    "docs/sources.md": "gemm.mlir",
    "docs/ahead-of-time.md": "mlp.mlir",
}
"""Pages on one file or folder of `examples`."""
GENERATED = ("docs/ops.md", "docs/legacy.md")
"""Pages whose blocks of text are formats, which `tools/make_docs.py` takes from the classes."""
NOT_RUN: Mapping[str, str] = {
    "python3 -m venv .venv && .venv/bin/pip": "makes a virtual environment; .ci/run runs it",
    ".venv/bin/pip install -q -e '.[parity]'": "installs PyTorch; .ci/run runs it",
    ".venv/bin/python test/interop/tinygrad_suite.py": "needs a clone of tinygrad",
    "TG_RANDOM_SCHEDULES=10000": "takes hours",
    "python test/unit/programs/emulated_battery.py": "downloads an emulator; .ci/run runs it",
    "pip install -e '.[bench]'": "installs gigabytes",
    "pip install ./examples/extend": "installs a package; test_extending.py does so",
}
"""The beginnings of blocks of commands, and the reasons."""
LONGEST = 60
"""How many lines a block of output may have."""


class Block(NamedTuple):
    """A block of code: its kind, its text, where that is on its page, and whether it is what the
    commands of the block before print."""

    kind: str
    code: str
    start: int
    is_output: bool

    @property
    def reason(self) -> str | None:
        """Why it is not run; None if it is."""
        return next((why for begin, why in NOT_RUN.items() if self.code.startswith(begin)), None)


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    end = -1  # Of a block of commands.
    for match in re.finditer(r"^```(\w+)\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE):
        kind, code = match.groups()
        is_output = kind not in ("sh", "python") and text[end : match.start()] == "\n"
        found.append(Block(kind, code, match.start(2), is_output))
        end = match.end() if kind == "sh" else -1
    return found


PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for pattern in ("README.md", "CONTRIBUTING.md", "examples/README.md", "docs/**/*.md")
    for path in sorted(ROOT.glob(pattern))
}
BLOCKS = {page: found for page, text in PAGES.items() if (found := blocks(text))}


def pages_with(kind: str) -> list[str]:
    return [page for page, found in BLOCKS.items() if any(block.kind == kind for block in found)]


@pytest.fixture
def folder(page: str, tmp_path: Path) -> Path:
    """A folder as the reader of a page has it."""
    ignored = shutil.ignore_patterns("Output", "__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignored)
    if page in EXAMPLES:
        source = ROOT / "examples" / EXAMPLES[page]
        if source.is_dir():
            shutil.copytree(source, tmp_path, dirs_exist_ok=True)
        else:
            shutil.copy(source, tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of programs."""
    folder = tmp_path_factory.mktemp("tools")
    with serving(folder):
        yield folder


def printed(folder: Path, tools: Path, *command: str) -> str:
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout.rstrip("\n") + "\n"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_print_what_the_page_shows(
    page: str, folder: Path, tools: Path, request: pytest.FixtureRequest
):
    old, new, end, output = PAGES[page], "", 0, ""
    for block in BLOCKS[page]:
        if block.kind == "sh" and block.reason is None:
            output = printed(folder, tools, "bash", "-euo", "pipefail", "-c", block.code)
        elif block.is_output:
            assert output.count("\n") <= LONGEST, f"too long to read:\n{output}"
            new += old[end : block.start] + output
            end = block.start + len(block.code)
    new += old[end:]
    if request.config.getoption("--update-pages"):
        (ROOT / page).write_text(new, encoding="utf-8")
        return
    lines = (text.splitlines(keepends=True) for text in (old, new))
    difference = "".join(difflib.unified_diff(*lines, page, "as printed now"))
    assert not difference, f"{difference}\nif that is meant: pytest --update-pages"


def test_blocks_that_are_not_run_are_there():
    commands = [block.code for found in BLOCKS.values() for block in found if block.kind == "sh"]
    stale = [begin for begin in NOT_RUN if not any(code.startswith(begin) for code in commands)]
    assert not stale


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", pages_with("python"))
def test_python_is_an_excerpt_or_runs_by_itself(page: str, folder: Path, tools: Path):
    if page == "docs/torch.md":
        torch = pytest.importorskip("torch")
        if "tgdialect" not in torch._dynamo.list_backends():
            pytest.skip("the entry point of the backend is not installed")
    files = folder.rglob("*.py") if page in EXAMPLES else ()
    excerpts = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for block in BLOCKS[page]:
        if block.kind == "python" and block.code not in excerpts:
            program = folder / "block.py"
            program.write_text(block.code, encoding="utf-8")
            printed(folder, tools, "python", str(program))


@pytest.mark.parametrize("page", pages_with("mlir"))
def test_mlir_is_parsed(page: str):
    for block in BLOCKS[page]:
        if block.kind == "mlir" and not block.is_output:
            for text in re.split(r"^->$", block.code, flags=re.MULTILINE):
                check_mlir(text)


def check_mlir(text: str) -> None:
    """Parse ops or attributes, which may be parts of a program, or each an example by itself."""
    try:
        parse(text)
    except ParseError:
        lines = text.splitlines()
        if len(lines) == 1:
            raise
        for line in lines:
            parse(line)


def parse(text: str) -> None:
    parser = Parser(tg_context((Builtin, Func, TG, TG_LEGACY)), text)
    while parser.parse_optional_operation() or parser.parse_optional_attribute():
        pass
    parser._parse_token(MLIRTokenKind.EOF, "expected an operation or an attribute")


@pytest.mark.parametrize("page", BLOCKS)
def test_every_kind_of_block_is_tested(page: str):
    tested = {"sh", "python", "mlir", *(["text"] if page in GENERATED else [])}
    assert {block.kind for block in BLOCKS[page] if not block.is_output} <= tested
