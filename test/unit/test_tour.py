"""Each command on these pages of `docs` prints the block that follows it.

    python -m pytest test/unit/test_tour.py --update-tour

writes the blocks anew. The commands of a page run in order in one folder with the files of the
example, as they do where a reader copies them. A block of Python is an excerpt of those files.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "tour.md": "tour.mlir",
    "schedules.md": "tour.mlir",
    "embedding.md": "embed",
    "tutorial-upcast.md": "upcast",
    "sources.md": "gemm.mlir",
}
"""The pages, and the file or folder of `examples` that each is about."""
LONGEST = 60
"""How many lines a block may have."""

# A block of commands, directly followed by the block that shows what they print.
SHOWN = re.compile(
    r"```sh\n(?P<command>.*?)```\n\n```(?P<kind>\w+)\n(?P<output>.*?)```\n", re.DOTALL
)


def printed(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{command}{result.stderr}"
    return result.stdout.rstrip("\n") + "\n"


EXCERPT = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def copy_example(name: str, folder: Path) -> None:
    source = ROOT / "examples" / PAGES[name]
    if source.is_dir():
        shutil.copytree(source, folder, dirs_exist_ok=True)
    else:
        shutil.copy(source, folder)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_what_its_commands_print(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    page = ROOT / "docs" / name
    copy_example(name, tmp_path)

    def rewritten(match: re.Match[str]) -> str:
        output = printed(match["command"], tmp_path)
        assert output.count("\n") <= LONGEST, f"too long to read: {match['command']}"
        return f"```sh\n{match['command']}```\n\n```{match['kind']}\n{output}```\n"

    old = page.read_text(encoding="utf-8")
    new, count = SHOWN.subn(rewritten, old)
    assert count == old.count("```sh\n"), "a command has no block that shows what it prints"
    if request.config.getoption("--update-tour"):
        page.write_text(new, encoding="utf-8")
        return
    lines = (text.splitlines(keepends=True) for text in (old, new))
    difference = "".join(difflib.unified_diff(*lines, f"docs/{name}", "as printed now"))
    assert not difference, f"{difference}\nif that is meant: pytest --update-tour"


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_code_that_is_there(name: str, tmp_path: Path):
    copy_example(name, tmp_path)
    files = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.py")]
    for excerpt in EXCERPT.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        assert any(excerpt in text for text in files), excerpt
