"""Run tinygrad's own tests on `tg.Tensor`, and write docs/conformance.md.

    python test/interop/tinygrad_suite.py --tinygrad-repo PATH             # all files, and the page
    python test/interop/tinygrad_suite.py --tinygrad-repo PATH test_assign -k view

The page is made by a run of all files alone, which takes half an hour. With `--outcomes FOLDER` the
outcome of each test is kept there, one file for each of theirs.

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

from deviations import DIFFERENT, KINDS, OF_TINYGRAD, REFUSED

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
([internals.py](../test/interop/tinygrad_shim/internals.py)), or one in which nothing of ours is
executed, whether it passes or not. No row is kept from an earlier page. tinygrad's devices for
tests, NULL and PYTHON, are the host. What results are rounded to, to be compared, is computed by
NumPy and ml_dtypes. The number of kernels that TinyJit has captured, that were run, or that a
schedule has (`assert_jit_cache_len`, `assert_kernel_count`, `check_schedule`), is not checked: what
would be scheduled is computed, and the rest of such a test is checked. Files of the network are not
fetched: tests that need one are skipped. Tests that fail by design
([deviations.py](../test/interop/deviations.py)) are counted as failed. Some of them expect an error
for a program that tinygrad refuses and PyTorch computes, as we do: the last column leaves these
out.

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
    return [_judged(outcome) for outcome in found.values()]


def _judged(found: Outcome) -> Outcome:
    """An outcome with its kind: one of a test in which nothing of ours is executed is internal."""
    if found.outcome in ("passed", "failed"):
        test = found.test.removeprefix("test/").replace(".py::", "::")
        for tests, what in OF_TINYGRAD.items():
            if re.search(tests, test):
                return Outcome(found.test, "internals", what)
    return _with_reason(found) if found.outcome == "failed" else found


def _with_reason(failed: Outcome) -> Outcome:
    """A failed test; one that is listed as a deviation fails by design, with the reason there."""
    name = failed.test.partition("::")[2]
    if (refused := REFUSED.get(name)) is not None:
        return Outcome(failed.test, "refused", f"tinygrad refuses {refused}")
    if (reason := DIFFERENT.get(name)) is not None:
        return Outcome(failed.test, "by design", reason)
    for tests, reasons, outcome, text in KINDS:
        test = failed.test.removeprefix("test/")
        if re.search(tests, test) and (found := re.search(reasons, failed.reason)):
            return Outcome(failed.test, outcome, text.format(*found.groups()))
    return failed


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


def page(results: dict[str, list[Outcome]]) -> str:
    """The page: counts for each file, the tests that fail, and those that are not counted."""
    lines = [HEAD.format(commit=COMMIT)]
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
    results: dict[str, list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept: Path = arguments.outcomes.resolve() if arguments.outcomes else Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        extract(arguments.tinygrad_repo.resolve(), Path(folder))
        for file in files_of(Path(folder)):
            if arguments.files and not {file, file.split("/")[-1]} & {*arguments.files}:
                continue
            record = kept / f"{file.replace('/', '_')}.jsonl"
            results[file] = run(Path(folder), file, options, record)
            print(row(file, results[file]), flush=True)
            for outcome in results[file] if arguments.files else ():
                if outcome.outcome == "failed":
                    print("  ", _short(outcome.test), _reason(outcome.reason))
    if not options and not arguments.files:
        PAGE.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
