"""Each command on `docs/tour.md` and `docs/schedules.md` prints the block that follows it.

    python -m pytest test/unit/test_tour.py --update-tour

writes the blocks anew. The commands of a page run in order in one folder with the program of the
tour, as they do where a reader copies them.
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
PAGES = ("tour.md", "schedules.md")
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


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_what_its_commands_print(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    page = ROOT / "docs" / name
    shutil.copy(ROOT / "examples" / "tour.mlir", tmp_path)

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
