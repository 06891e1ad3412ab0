"""Run tinygrad's own tests on `tg.Tensor`, and write docs/conformance.md.

    python test/interop/tinygrad_suite.py --tinygrad-repo PATH             # all files, and the page
    python test/interop/tinygrad_suite.py --tinygrad-repo PATH test_assign -k view

With `--outcomes FOLDER` the outcomes of each file are kept there, and the page is made of those of
all files, whichever are run now.

PATH is a checkout or a git directory of https://github.com/tinygrad/tinygrad. Its tests are copied
to a temporary folder and run unmodified; `import tinygrad` there is the package `tinygrad_shim`,
which maps names. They need PyTorch (`pip install -e '.[parity]'`).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deviations import DIFFERENT, KINDS, REFUSED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
COMMIT = "a9069c177a"
"""The commit of tinygrad whose tests these are: that of its release 0.14."""
MODELS = Path(__file__).with_name("tinygrad_models.py")
"""Tests of ours on models of tinygrad's repository."""
HEAD = """\
# tinygrad's own tests

Made by `python test/interop/tinygrad_suite.py --tinygrad-repo PATH`: do not edit this page.

All tests of tinygrad's commit {commit}, which is its release 0.14, run unmodified on `tg.Tensor`:
`import tinygrad` gives a package that maps names ([tinygrad_shim](../test/interop/tinygrad_shim)),
and nothing is computed by tinygrad. A test that looks at tinygrad's internals (UOps, schedules,
renderers, counts of kernels, buffers) is not counted: it is one that uses a name that the shim does
not map, and which is not among those that a user may write
([internals.py](../test/interop/tinygrad_shim/internals.py)). What results are rounded to, to be
compared, is computed by NumPy and ml_dtypes. The number of kernels that TinyJit has
captured, or that were run (`assert_jit_cache_len`, `assert_kernel_count`), is not checked; the rest
of such a test is. Tests that fail by design ([deviations.py](../test/interop/deviations.py)) are
counted as failed. Some of them expect an error for a program that tinygrad refuses and PyTorch
computes, as we do: the last column leaves these out.

The last file has tests of ours ([tinygrad_models.py](../test/interop/tinygrad_models.py)) of models
in tinygrad's repository, which are imported unmodified as well: llama and gpt2 generate the tokens
that NumPy gives, with and without a KV cache, and beautiful_mnist trains.
"""


OUTCOMES = ("passed", "failed", "by design", "refused", "skipped", "internals")
TITLES = {
    "failed": "Tests that fail",
    "by design": "Tests that fail by design",
    "refused": "Tests that fail since we compute what tinygrad refuses",
}
"""The sections of the page that name tests."""
_NAMES = 6
"""The number of names that the page has for the internals of a file, the most frequent first."""


@dataclass(frozen=True)
class Outcome:
    """What became of a test, with the reason if it did not pass."""

    test: str
    outcome: str
    reason: str


def extract(repository: Path, folder: Path) -> None:
    """Copy the tests, and what they import beside tinygrad itself; add ours of its models."""
    command = ["git", "-C", str(repository), "archive", COMMIT, "test", "extra", "examples"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    shutil.copy(MODELS, folder / "test")


def files_of(folder: Path) -> list[str]:
    """All files of tests, without `test/` and suffix; last those of ours."""
    found = sorted((folder / "test").rglob("test_*.py"))
    names = [str(path.relative_to(folder / "test").with_suffix("")) for path in found]
    return [*names, MODELS.stem]


def run(folder: Path, file: str, options: Sequence[str], record: Path) -> list[Outcome]:
    """The outcomes of the tests of a file, which are also written to `record`."""
    record.unlink(missing_ok=True)
    paths = [str(folder), str(ROOT), str(Path(__file__).parent)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "TG_OUTCOMES": str(record),
        "RUN_SLOW": "1",
    }
    arguments = ["-q", "--tb=short", "-p", "tinygrad_plugin", "-p", "no:cacheprovider", *options]
    command = [sys.executable, "-m", "pytest", *arguments, "-c", os.devnull, f"test/{file}.py"]
    done = subprocess.run(
        [*command, "--rootdir", str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    if options:
        print(done.stdout[-20000:], done.stderr[-4000:], sep="\n")
    if done.returncode not in (0, 1, 2, 5):
        lost = Outcome(file, "failed", f"pytest ended with {done.returncode}")
        with record.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(lost)) + "\n")
    return read(record)


def read(record: Path) -> list[Outcome]:
    """The outcomes in a file."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    found: dict[str, Outcome] = {}
    for outcome in (Outcome(**json.loads(line)) for line in lines):
        # A test with subtests has an outcome for each: one that did not pass counts.
        if outcome.test not in found or found[outcome.test].outcome == "passed":
            found[outcome.test] = outcome
    return [_with_reason(o) if o.outcome == "failed" else o for o in found.values()]


def _with_reason(failed: Outcome) -> Outcome:
    """A failed test; one that is listed as a deviation fails by design, with the reason there."""
    name = failed.test.partition("::")[2]
    if (refused := REFUSED.get(name)) is not None:
        return Outcome(failed.test, "refused", f"tinygrad refuses {refused}")
    if (reason := DIFFERENT.get(name)) is not None:
        return Outcome(failed.test, "by design", reason)
    file = failed.test.partition("::")[0].removeprefix("test/")
    for files, reasons, outcome, text in KINDS:
        if re.search(files, file) and (found := re.search(reasons, failed.reason)):
            return Outcome(failed.test, outcome, text.format(*found.groups()))
    return failed


def carried(text: str, file: str) -> list[Outcome]:
    """The outcomes of a file as a page has them: the tests that fail are named there, others
    counted."""
    found: list[Outcome] = []
    kinds = {title: kind for kind, title in TITLES.items()}
    kind: str | None = None
    for line in text.splitlines():
        if line.startswith("## "):
            kind = kinds.get(line.removeprefix("## "))
        name, *cells = line.strip("| ").split(" | ")
        if name == file and len(cells) >= len(OUTCOMES):
            counts = dict(zip(OUTCOMES, cells, strict=False))
            for each in ("passed", "skipped", "internals"):
                found += [Outcome(f"{file}::{i}", each, "") for i in range(int(counts[each]))]
        elif kind is not None and name.startswith(f"{file} ") and cells:
            found.append(
                Outcome(f"test/{file}.py::{name.removeprefix(f'{file} ')}", kind, cells[0])
            )
    return found


def row(name: str, found: Sequence[Outcome]) -> str:
    """The row of a file in the table."""
    counts = Counter(outcome.outcome for outcome in found)
    failed = counts["failed"] + counts["by design"]
    shares = [
        f"{100 * counts['passed'] / ran:.1f} %" if (ran := counts["passed"] + more) else ""
        for more in (failed + counts["refused"], failed)
    ]
    kinds = " | ".join(str(counts[kind]) for kind in OUTCOMES)
    return f"| {name} | {kinds} | {' | '.join(shares)} |"


def page(results: dict[str, list[Outcome]], kept: Sequence[str] = ()) -> str:
    """The page: counts for each file, the tests that fail, and those that are not counted. `kept`
    are the files whose outcomes are those of the page before."""
    lines = [HEAD.format(commit=COMMIT)]
    if kept:
        lines += [f"Not run anew, but as on the page before: {', '.join(kept)}.", ""]
    kinds = "passed | failed | failed by design | computed, not refused | skipped | internals"
    lines += [f"| file | {kinds} | passed of those counted | without the computed ones |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    is_counted = {
        name: any(o.outcome not in ("skipped", "internals") for o in found)
        for name, found in results.items()
    }
    lines += [row(name, found) for name, found in results.items() if is_counted[name]]
    others = [found for name, found in results.items() if found and not is_counted[name]]
    lines += [
        row(f"{len(others)} files without counted ones", [o for found in others for o in found])
    ]
    lines += [row("all", [outcome for found in results.values() for outcome in found])]
    for kind, title in TITLES.items():
        lines += ["", f"## {title}", "", "| test | reason |", "|---|---|"]
        for found in results.values():
            for outcome in found:
                if outcome.outcome == kind:
                    lines.append(f"| {_short(outcome.test)} | {_reason(outcome.reason)} |")
    lines += ["", "## Tests of internals, which are not counted", ""]
    lines += ["| file | tests | names |", "|---|---|---|"]
    for name, found in results.items():
        names = Counter(_reason(o.reason) for o in found if o.outcome == "internals" and o.reason)
        if names:
            most = [name for name, _ in names.most_common(_NAMES)]
            more = [] if len(names) <= _NAMES else [f"{len(names) - _NAMES} more"]
            lines.append(f"| {name} | {names.total()} | {', '.join([*most, *more])} |")
    return "\n".join(lines) + "\n"


def _short(test: str) -> str:
    return test.removeprefix("test/").replace(".py::", " ").replace("::", ".")


def _reason(text: str) -> str:
    words = " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
    return words if len(words) <= 160 else words[:160] + " ..."


def main() -> None:
    """Read the command line, and run the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files, as test_assign; all by default")
    parser.add_argument("--tinygrad-repo", type=Path, required=True)
    parser.add_argument("-k", help="run the tests that match, and print what they print")
    parser.add_argument("--outcomes", type=Path, help="a folder in which outcomes are kept")
    arguments = parser.parse_args()
    options = ["-k", arguments.k] if arguments.k else []
    with tempfile.TemporaryDirectory() as folder:
        kept: Path = arguments.outcomes.resolve() if arguments.outcomes else Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        extract(arguments.tinygrad_repo.resolve(), Path(folder))
        files = files_of(Path(folder))
        records = {file: kept / f"{file.replace('/', '_')}.jsonl" for file in files}
        wanted = [
            file
            for file in files
            if not arguments.files or {file, file.split("/")[-1]} & {*arguments.files}
        ]
        for file in wanted:
            found = run(Path(folder), file, options, records[file])
            print(row(file, found), flush=True)
            for outcome in found if arguments.files else ():
                if outcome.outcome == "failed":
                    print("  ", _short(outcome.test), _reason(outcome.reason))
        results = {file: read(record) for file, record in records.items()}
        kept = [file for file, record in records.items() if not record.exists()]
    if not options and (arguments.outcomes or not kept):
        before = PAGE.read_text(encoding="utf-8")
        results |= {file: carried(before, file) for file in kept}
        PAGE.write_text(page(results, kept), encoding="utf-8")


if __name__ == "__main__":
    main()
