"""`pyproject.toml` and `MANIFEST.in`: what is installed where, and what a distribution has."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tgdialect

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WITHOUT_WHEELS = {
    ("linux", "x86_64"): set[str](),
    ("linux", "aarch64"): {"pyopencl[pocl]"},
    ("darwin", "arm64"): {"pyopencl[pocl]", "nvidia-cuda-nvcc", "nvidia-cuda-cccl"},
    ("win32", "AMD64"): {"pyopencl[pocl]", "mpich"},
}
"""The requirements that have no wheels for a platform: its `sys_platform` and
`platform_machine`."""


def required(extra: str, platform: tuple[str, str]) -> Iterator[str]:
    """The names, with extras, of the packages that an extra needs on a platform."""
    for text in PROJECT["optional-dependencies"][extra]:
        requirement = Requirement(text)
        system, machine = platform
        place = {"sys_platform": system, "platform_machine": machine}
        if requirement.marker is not None and not requirement.marker.evaluate(place):
            continue
        if requirement.name == PROJECT["name"]:
            for inner in requirement.extras:
                yield from required(inner, platform)
        else:
            extras = ",".join(sorted(requirement.extras))
            yield f"{requirement.name}[{extras}]" if extras else requirement.name


@pytest.mark.parametrize("platform", WITHOUT_WHEELS)
def test_the_tests_install(platform: tuple[str, str]):
    found = set(required("test", platform))
    assert {"pytest", "pyopencl"} <= found
    assert not found & WITHOUT_WHEELS[platform]


def test_bounds():
    """Versions that were tried, and whether the tools and tests worked with them."""
    bounds = {r.name: r.specifier for r in map(Requirement, PROJECT["dependencies"])}
    works = {"typing-extensions": ("4.14.0", "4.16.0"), "llvmlite": ("0.49.0", "0.50.0")}
    fails = {"typing-extensions": ("4.12.2", "4.13.2"), "xdsl": ("0.73.0",)}
    assert all(v in bounds[name] for name, versions in works.items() for v in versions)
    assert not any(v in bounds[name] for name, versions in fails.items() for v in versions)


def test_version():
    """It is the same in the package, in its metadata and in the newest release of the CHANGELOG,
    and needs no installed package."""
    released = re.search(r"^## (\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released is not None
    assert tgdialect.__version__ == PROJECT["version"]
    assert tgdialect.__version__.startswith(f"{released[1]}.")
    code = "import tgdialect, sys; assert tgdialect.__version__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in done.stdout.split()


def test_the_source_distribution_has_what_the_readme_names():
    grafted = set(re.findall(r"^graft (\S+)", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE))
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / "README.md").read_text())
    folders = {link.partition("/")[0] for link in links if (ROOT / link.partition("/")[0]).is_dir()}
    assert folders | {"test", "tools", "typings"} <= grafted | {"tgdialect"}


def test_a_wheel_has_all_data_files():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = pyproject["tool"]["setuptools"]["package-data"]["tgdialect"]
    package = ROOT / "tgdialect"
    installed = {path for pattern in patterns for path in package.glob(pattern)}
    data = {p for p in package.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    assert data == installed


def test_tg_opt_as_a_file_is_that_of_its_clone(tmp_path: Path):
    """Also where another version is installed, or none."""
    tool = tmp_path / "tools" / "tg-opt.py"
    tool.parent.mkdir()
    tool.write_text((ROOT / "tools" / "tg-opt.py").read_text())
    package = tmp_path / "tgdialect" / "tools"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    (package / "tg_opt.py").write_text("def main():\n    print('of the clone')\n")
    done = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True)
    assert done.stdout == "of the clone\n"
