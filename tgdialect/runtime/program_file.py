"""Files of programs that are compiled ahead of time, and `load`, which makes executables of them.

A file `.tgx` has a mark, a checksum, and what the object cache keeps of a program (`Program`,
`DeviceProgram`) for each of its functions; further the machine code that stands between Python and
programs. Nothing here imports the compiler, xDSL or LLVM.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.devices.executable import DeviceExecutable
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.images import NativeCode, provide
from tgdialect.runtime.program import Program, fields_of, packed, unpacked
from tgdialect.runtime.program_check import check_code, check_program
from tgdialect.targets.listed_features import listed_here

AnyProgram = Program | DeviceProgram

SUFFIX = ".tgx"
_MARK = b"tgdialect program 2\n"
_START = len(_MARK) + sha256().digest_size
_MALFORMED = ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError
"""The exceptions of decoding bytes that `ProgramFile.to_bytes` does not write."""


def this_system() -> str:
    """The operating system and the architecture that machine code is for."""
    return f"{sys.platform} {platform.machine().lower()}"


@dataclass(frozen=True)
class ProgramFile:
    """Functions that are compiled ahead of time.

    `programs` has them by name. `target` is the name of their target. `system` is what machine code
    of a CPU is for (`this_system`), and `features` are those that it needs, in LLVM's spelling.
    """

    programs: Mapping[str, AnyProgram]
    target: str
    system: str = ""
    features: tuple[str, ...] = ()
    native: tuple[NativeCode, ...] = field(default=(), repr=False)

    def to_bytes(self) -> bytes:
        """The contents of a file."""
        programs = [(name, program.to_bytes()) for name, program in self.programs.items()]
        payload = packed({**fields_of(self), "programs": programs})
        return _MARK + sha256(payload).digest() + payload

    @classmethod
    def from_bytes(cls, data: bytes) -> ProgramFile:
        """The inverse of `to_bytes`. Raises ValueError for other bytes."""
        if not data.startswith(_MARK):
            raise ValueError("it is not a file that tg-compile -o FILE.tgx of this version writes")
        payload = data[_START:]
        if sha256(payload).digest() != data[len(_MARK) : _START]:
            raise ValueError("it is damaged: its checksum is another one")
        try:
            entries = unpacked(payload)
            native = tuple(NativeCode(*each) for each in entries["native"])
            names = [name for name, _ in entries["programs"]]
            texts = entries["target"], entries["system"], *entries["features"], *names
            if not all(isinstance(each, str) for each in chain(texts, *(n[:2] for n in native))):
                raise TypeError("a name is no text")
            kind = Program if entries["system"] else DeviceProgram
            programs: dict[str, AnyProgram] = {
                name: kind.from_bytes(code) for name, code in entries["programs"]
            }
            if len(programs) < len(names):
                raise ValueError("two functions have one name")
            for program in programs.values():
                check_program(program)
            for each in native:
                check_code(each.code)
            read: dict[str, Any] = {"programs": programs, "native": native}
            return cls(**{**entries, **read})
        except _MALFORMED as error:
            raise ValueError(f"it has no program: {error}") from error

    def check_machine(self) -> None:
        """Raise ValueError if this machine cannot execute the code, with what it needs."""
        if not self.system:
            return
        if self.system != (here := this_system()):
            raise ValueError(f"its code is for {self.system}, and this is {here}")
        if lacking := sorted(set(self.features).difference(listed_here(self.features))):
            raise ValueError(
                f"its code needs {', '.join(lacking)}, which this CPU lacks: compile it by "
                f"tg-compile --features without these"
            )

    def executable(self, entry: str, device: str | None = None) -> Executable:
        """The executable of a function. Raises OSError for code that cannot be loaded, and
        DeviceError for a device that there is not, or that refuses a kernel."""
        program = self.programs[entry]
        source = f"@{entry}", ""
        if isinstance(program, Program):
            provide(self.native)
            return HostExecutable(program, _no_source, source=source)
        where = DEVICES[device] if device else DEVICES.for_target(self.target)
        return DeviceExecutable(program, where, _no_source, source=source)


def _no_source() -> NoReturn:
    raise RuntimeError(
        "a program from a file has no source to inspect or profile: compile it by tg.compile"
    )


def load(
    path: str | os.PathLike[str], *, entry: str | None = None, device: str | None = None
) -> Executable:
    """Load a function from a file that `tg-compile -o FILE.tgx` has written: nothing is compiled.

    Loading a file executes its machine code, as loading a shared library does: load files that you
    trust. The checksum finds damage, and not malice.

    Args:
        path: the file.
        entry: the name of the function; by default `main`, or the only one.
        device: the device of a program for one, as "CL:0"; by default the first that can run it.

    Returns:
        A callable on NumPy arrays, as `tgdialect.compile` returns it.

    Raises:
        OSError: the file cannot be read, is damaged, or is for another machine; the message says
            which system or which features of the CPU it needs.
        ValueError: it has no function of that name.
        DeviceError: there is no such device, or it refuses a kernel.
    """
    name = os.fspath(path)
    try:
        file = ProgramFile.from_bytes(Path(path).read_bytes())
        file.check_machine()
    except ValueError as error:
        raise OSError(f"cannot load {name}: {error}") from None
    there_are = [*file.programs]
    wanted = entry or (there_are[0] if len(there_are) == 1 else "main")
    if wanted not in file.programs:
        raise ValueError(f"{name} has no function @{wanted}; it has: {', '.join(there_are)}")
    return file.executable(wanted, device)
