"""Runs hostile texts through every tool and output language, each text in a process of its own, and
says what is wrong: a crash, a traceback, an error without a place, more than `SECONDS` of one
command or `MEMORY` in all, a program that was started, a file that was written elsewhere.

    python test/unit/tools/hostile_runs.py --count 10000 [--first 0] [--jobs 2] [--log FILE]

A seed in the log is not run again, so that a run that is cut goes on.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile_names import CANARY
from hostile_texts import Hostile, hostile_text

SECONDS = 10.0
"""The most processor time of a command, with that of the compilers that it starts."""
MEMORY = 2 << 30
"""The most resident memory of the process, in bytes."""
_ADDRESSES = 16 << 30
"""A limit of the address space that protects the machine."""
_CACHE = "cache"
"""The folder that PoCL and pyopencl may leave files in."""
_WALL_SECONDS = 60.0
"""After so long without a command that ends, the process is killed."""

_GPU = "tg-to-gpu{target=nvidia:sm_90 mode=heuristic}"
OPT_COMMANDS: dict[str, tuple[str, ...]] = {
    "mlir": (),
    "generic": ("--mlir-print-op-generic", "--mlir-print-debuginfo"),
    "canonical": ("-p", "canonicalize,cse,tg-annotate-properties"),
    "gradient-free stages": ("-p", "tg-callify,tg-rangeify,tg-optimize,tg-expand"),
    "llvm": ("-p", "tg-to-llvm", "-t", "llvm"),
    "asm": ("-p", "tg-to-llvm", "-t", "asm"),
    "ptx": ("-p", _GPU, "-t", "ptx"),
    "amdgcn": ("-p", "tg-to-gpu{target=amd:gfx942 mode=heuristic}", "-t", "amdgcn"),
    "c": ("-p", "tg-to-source{target=c mode=none}", "-t", "c"),
    "opencl": ("-p", "tg-to-source{target=opencl mode=heuristic}", "-t", "opencl"),
    "cuda": ("-p", "tg-to-source{target=nvidia:sm_90 mode=heuristic}", "-t", "cuda"),
    "metal": ("-p", "tg-to-source{target=metal mode=heuristic}", "-t", "metal"),
    "uops": ("-t", "uops"),
}
"""Arguments of tg-opt, by the output that they ask for."""
RUN_TARGETS = ("cpu", "c", "opencl", "interpreter")
"""Targets of tg-run, for texts without a number of more than five digits."""
COMPILERS = frozenset({"cc", "gcc", "clang", "c99", "ld", "ld.lld", "as"})
"""Programs that may be started."""

_LOCATED = re.compile(r"^hostile\.(mlir|uops):\d+:\d+: error: ", re.MULTILINE)
_COMMAND_LINE = re.compile(
    r"^(tg-opt|tg-run|hostile\.(mlir|uops))(:\d+:\d+)?: error: "
    r"(?!internal error)"
)


@dataclass
class Outcome:
    """The complaints about a text, how long its slowest command took, and its greatest memory."""

    complaints: list[str]
    seconds: float = 0.0
    slowest: str = ""
    memory: int = 0
    accepted: int = 0
    commands: dict[str, float] = field(default_factory=dict[str, float])
    """The processor time of each command."""


def _is_allowed(program: Any) -> bool:
    return os.path.basename(os.fsdecode(program)) in COMPILERS


class _Watch:
    """An audit hook that notes programs that are started and files that are changed outside of a
    folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = str(folder), list[str]()
        sys.addaudithook(self.see)

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            if not _is_allowed(args[0]):
                self.seen.append(f"started {args[0]!r} {args[1]!r}")
        elif event in ("os.system", "os.exec", "os.posix_spawn"):
            if event == "os.system" or not _is_allowed(args[0]):
                self.seen.append(f"{event} {args!r}")
        elif event == "open":
            path, mode, flags = args
            writes = (
                any(c in mode for c in "wax+")
                if isinstance(mode, str)
                else (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            )
            if writes:
                self.changed(path, event)
        elif event in (
            "os.remove",
            "os.rmdir",
            "os.mkdir",
            "os.rename",
            "os.chmod",
            "os.truncate",
            "shutil.rmtree",
            "os.symlink",
            "os.link",
        ):
            self.changed(args[0], event)

    def changed(self, path: Any, event: str) -> None:
        if isinstance(path, int) or path is None:
            return
        path = os.path.abspath(os.fsdecode(path))
        if not path.startswith((self.folder, "/dev/")):
            self.seen.append(f"{event} {path}")


def _inputs(text: str, form: str) -> list[str] | None:
    """Arguments of tg-run for the entry of a text; None if it should not be run."""
    if re.search(r"\d{6}", text):
        return None
    from xdsl.dialects.builtin import IndexType, TensorType

    from tgdialect.analysis.symbols import own_functions
    from tgdialect.runtime.compiler import parse_verified

    try:
        functions = [*own_functions(parse_verified(f"hostile.{form}", text))]
    except Exception:
        return []
    chosen = [f for f in functions if f.sym_name.data == "main"] or functions[:1]
    if not chosen:
        return []
    arguments = [f"--entry={chosen[0].sym_name.data}"]
    for type in chosen[0].function_type.inputs:
        if not isinstance(type, TensorType):
            return []
        shape, dtype = type.get_shape(), type.element_type
        cells = 1
        for extent in shape:
            cells *= max(extent, 0)
        if cells > 1_000_000:
            return None
        name = "index" if isinstance(dtype, IndexType) else str(dtype)
        arguments.append(f"--input={'x'.join([*map(str, shape), name])}=1")
    return arguments


def _commands(text: str, form: str) -> Iterator[tuple[str, str, list[str]]]:
    """The commands that a text is given to: a name, the tool, its arguments."""
    for name, args in OPT_COMMANDS.items():
        yield f"tg-opt {name}", "tg-opt", [f"hostile.{form}", *args]
    inputs = _inputs(text, form)
    if inputs is not None:
        for target in RUN_TARGETS:
            yield f"tg-run {target}", "tg-run", [f"hostile.{form}", f"--target={target}", *inputs]


def _processor_seconds() -> float:
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _child(hostile: Hostile, folder: Path, out: int) -> None:
    """The forked process: runs the commands, and writes a line of JSON for each."""
    os.chdir(folder)
    os.environ.update(TMPDIR=str(folder), HOME=str(folder), XDG_CACHE_HOME=str(folder / _CACHE))
    tempfile.tempdir = str(folder)
    name = f"hostile.{hostile.format}"
    Path(name).write_text(hostile.text, encoding="utf-8", errors="surrogatepass")
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    from tgdialect.tools import tg_opt, tg_run

    watch = _Watch(folder)
    mains = {"tg-opt": tg_opt.main, "tg-run": tg_run.main}

    def tell(**values: Any) -> None:
        os.write(out, (json.dumps(values) + "\n").encode())

    for command, tool, args in _commands(hostile.text, hostile.format):
        tell(begins=command)
        stdout, stderr = io.StringIO(), io.StringIO()
        start, complaints = _processor_seconds(), list[str]()
        with redirect_stdout(stdout), redirect_stderr(stderr):
            try:
                code = mains[tool](args)
            except BaseException as error:
                code = -1
                complaints.append(f"raised {type(error).__name__}: {error}"[:400])
        seconds = _processor_seconds() - start
        errors = stderr.getvalue()
        if "Traceback" in errors or "internal error" in errors:
            complaints.append(f"internal error: {errors[-600:]}")
        elif code == 1 and tool == "tg-opt" and not _LOCATED.search(errors):
            complaints.append(f"error without a place: {errors[:600]}")
        elif code == 1 and tool == "tg-run" and not _COMMAND_LINE.search(errors):
            complaints.append(f"unclear error: {errors[:600]}")
        elif code not in (0, 1, -1):
            complaints.append(f"exit code {code}: {errors[:300]}")
        if code == 1 and stdout.getvalue():
            complaints.append(f"failed, and printed {stdout.getvalue()[:100]!r}")
        if seconds > SECONDS:
            complaints.append(f"took {seconds:.1f} s")
        complaints += watch.seen
        watch.seen.clear()
        tell(ends=command, seconds=round(seconds, 3), complaints=complaints, accepted=code == 0)
        if code == 1 and command == "tg-opt mlir":
            # The other commands fail in the same way: one of each tool is enough.
            break
    left = {path.name for path in folder.iterdir()} - {name, _CACHE}
    if left:
        tell(ends="all", seconds=0, complaints=[f"left files: {sorted(left)[:9]}"], accepted=False)


def run_hostile(hostile: Hostile) -> Outcome:
    """Run a text through all tools, in a child of this process."""
    outcome = Outcome([])
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.close(reading)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            _child(hostile, folder, writing)
            os._exit(0)
        except BaseException as error:
            os.write(
                writing,
                (
                    json.dumps(
                        {
                            "ends": "harness",
                            "seconds": 0,
                            "accepted": False,
                            "complaints": [repr(error)],
                        }
                    )
                    + "\n"
                ).encode(),
            )
        os._exit(3)
    os.close(writing)
    running, buffer, killed = "", b"", False
    while True:
        ready, _, _ = select.select([reading], [], [], _WALL_SECONDS)
        if not ready:
            os.killpg(pid, signal.SIGKILL)
            outcome.complaints.append(f"{running}: no end after {_WALL_SECONDS:.0f} s")
            killed = True
            break
        read = os.read(reading, 1 << 16)
        if not read:
            break
        *lines, buffer = (buffer + read).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "begins" in told:
                running = told["begins"]
                continue
            outcome.accepted += told["accepted"]
            outcome.commands[told["ends"]] = told["seconds"]
            outcome.complaints += [f"{told['ends']}: {each}" for each in told["complaints"]]
            if told["seconds"] > outcome.seconds:
                outcome.seconds, outcome.slowest = told["seconds"], told["ends"]
    os.close(reading)
    _, status, usage = os.wait4(pid, 0)
    if status and not killed:
        outcome.complaints.append(f"{running}: the process ended with status {status}")
    outcome.memory = usage.ru_maxrss * 1024
    if outcome.memory > MEMORY:
        outcome.complaints.append(f"{outcome.memory / 2**30:.1f} GiB")
    for path in (Path.cwd() / CANARY, folder / CANARY):
        if path.exists():
            outcome.complaints.append(f"{path} exists: code was executed")
            path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


def warm_up() -> None:
    """Import what children would, and use it once."""
    os.environ["TG_CACHE_DIR"] = ""
    os.environ["POCL_KERNEL_CACHE"] = "0"
    import tgdialect.runtime.devices.opencl
    import tgdialect.tools.tg_opt
    import tgdialect.tools.tg_run_session

    t = "tensor<4xf32>"
    text = f"func.func @main(%x: {t}) -> {t} {{\n  %0 = tg.neg %x : {t}\n  return %0 : {t}\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "warm.mlir"
        file.write_text(text)
        for _, args in OPT_COMMANDS.items():
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                tgdialect.tools.tg_opt.main([str(file), *args])


def _rows(log: Path) -> list[dict[str, Any]]:
    """The outcomes that a log has."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines]


def _slice(seeds: Sequence[int], kinds: Sequence[str], log: Path) -> None:
    warm_up()
    gc.freeze()  # Children copy no page because of a collection.
    with log.open("a", encoding="utf-8") as file:
        for seed in seeds:
            hostile = hostile_text(seed)
            if kinds and hostile.kind not in kinds:
                continue
            outcome = run_hostile(hostile)
            row = {"seed": seed, "kind": hostile.kind, **vars(outcome)}
            file.write(json.dumps(row) + "\n")
            file.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run many, in several processes; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=[], help="only texts of these kinds")
    parser.add_argument("--log", type=Path, default=Path("hostile.jsonl"))
    options = parser.parse_args(arguments)
    log: Path = options.log
    done = {row["seed"] for row in _rows(log)}
    seeds = [s for s in range(options.first, options.first + options.count) if s not in done]
    workers: list[int] = []
    for n in range(options.jobs):
        pid = os.fork()
        if pid == 0:
            _slice(seeds[n :: options.jobs], options.kinds, log)
            os._exit(0)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)
    rows = _rows(log)
    wrong = [row for row in rows if row["complaints"]]
    for row in wrong:
        print(row["seed"], row["kind"], *row["complaints"], sep="\n    ")
    print(Counter(row["kind"] for row in rows))
    times: Counter[str] = Counter()
    for row in rows:
        times.update(row["commands"])
    print({name: round(seconds, 1) for name, seconds in times.most_common()})
    longest = max(rows, key=lambda row: row["seconds"])
    largest = max(row["memory"] for row in rows)
    print(
        f"{len(rows)} texts, {len(wrong)} wrong; accepted by "
        f"{sum(row['accepted'] for row in rows)} commands; longest {longest['seconds']} s "
        f"({longest['slowest']}, seed {longest['seed']}), most memory {largest / 2**20:.0f} MiB"
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
