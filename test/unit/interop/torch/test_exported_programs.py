"""`.pt2` files of `torch.export` as programs, and files that are refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import tgdialect as tg  # noqa: E402
from tgdialect.diagnostics import CompilationError  # noqa: E402
from tgdialect.interop.torch import archive, export  # noqa: E402

pytestmark = pytest.mark.parity


class _Model(nn.Module):
    """Parameters, buffers, constants, a write to a value, sizes that are computed, and results in
    a structure."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x: torch.Tensor, times: int = 3) -> Any:
        y = self.norm(self.linear(x)) + self.shift + torch.tensor([1.0, 2.0, 3.0])
        y[:, 0] = times
        a, b = torch.split(y, [1, 2], 1)
        return {"y": y.view(-1, 3), "parts": (x.new_zeros(x.shape[0] * 2), b, a), "none": None}


def saved(model: nn.Module, path: Path, *inputs: Any, **options: Any) -> str:
    """The file of an exported model."""
    file = path / "model.pt2"
    torch.export.save(torch.export.export(model.eval(), inputs, **options), file)
    return str(file)


def test_an_exported_model(tmp_path: Path) -> None:
    model = _Model()
    batch = torch.export.Dim("batch", min=2, max=64)
    file = saved(model, tmp_path, torch.randn(2, 4), dynamic_shapes=({0: batch},))
    program: Any = tg.compile(file)
    names = [p.name for p in program.inputs]
    assert names[0] == "x"
    for rows in (2, 5, 64):
        x = np.random.randn(rows, 4).astype(np.float32)
        sizes = [rows, 2 * rows][: len(names) - 1]
        found = program(x, *sizes)
        wanted = model(torch.from_numpy(x))
        for got, want in zip(found, [wanted["y"], *wanted["parts"]], strict=True):
            np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_weights_that_are_views(tmp_path: Path) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            base = torch.randn(6, 8)
            self.register_buffer("part", base[1:4, ::2])
            self.register_buffer("turned", base.t())
            self.register_buffer("narrow", torch.randn(3).bfloat16())

        def forward(self, x: torch.Tensor) -> Any:
            return x @ self.part, x * self.turned[0, 0], self.narrow * 2

    model = Model()
    file = saved(model, tmp_path, torch.randn(2, 3))
    x = np.random.randn(2, 3).astype(np.float32)
    program: Any = tg.compile(file)
    for got, want in zip(program(x), model(torch.from_numpy(x)), strict=True):
        np.testing.assert_allclose(got.astype("f"), want.float().numpy(), rtol=1e-5, atol=1e-6)


class _Filter(nn.Module):
    """A filter of frequencies, as a complex buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("response", torch.randn(5, dtype=torch.complex64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * self.response, n=8)


def test_complex_values_and_weights(tmp_path: Path) -> None:
    model, x = _Filter(), torch.randn(3, 8)
    program = tg.compile(saved(model, tmp_path, x))
    np.testing.assert_allclose(program(x), model(x).numpy(), atol=1e-6)


def test_complex_results_are_refused(tmp_path: Path) -> None:
    class Spectrum(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.rfft(x)

    with pytest.raises(CompilationError, match="view_as_real"):
        tg.compile(saved(Spectrum(), tmp_path, torch.randn(3, 8)))


def test_all_refusals_are_listed(tmp_path: Path) -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return torch.fft.fft(x).sin().real, torch.linalg.eigvals(x).real

    file = saved(Model(), tmp_path, torch.randn(3, 3))
    with pytest.raises(CompilationError) as error:
        tg.compile(file)
    text = str(error.value)
    assert "sin.default has no translation of complex numbers" in text
    assert "linalg_eig" in text
    assert text.count("model.pt2: error:") >= 2
    assert "torch.linalg.eigvals(x)" in text


def test_a_model_with_state(tmp_path: Path) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x + self.count

    file = saved(Model(), tmp_path, torch.randn(3))
    with pytest.raises(CompilationError, match=r"assigns to count, and a function has no state"):
        tg.compile(file)


def rewritten(file: str, change: Callable[[str, bytes], bytes | None]) -> str:
    """The archive with other entries; those for which the change is None are left out."""
    other = file.replace("model.pt2", "other.pt2")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return other


def program_with(file: str, change: Callable[[Any], object]) -> str:
    """The archive with another program."""

    def changed(name: str, data: bytes) -> bytes:
        if not name.endswith("models/model.json"):
            return data
        program = json.loads(data)
        change(program)
        return json.dumps(program).encode()

    return rewritten(file, changed)


@pytest.fixture
def linear(tmp_path: Path) -> str:
    """The file of a linear layer of a symbolic batch."""
    batch = torch.export.Dim("batch", min=2, max=64)
    return saved(nn.Linear(4, 3), tmp_path, torch.randn(2, 4), dynamic_shapes=({0: batch},))


def test_malformed_archives(linear: str, tmp_path: Path) -> None:
    data = Path(linear).read_bytes()
    other = tmp_path / "other.pt2"
    for cut in (0, 1, 100, len(data) // 2, len(data) - 10):
        other.write_bytes(data[:cut])
        with pytest.raises(CompilationError, match=r"other.pt2: error: .*torch.export"):
            tg.compile(str(other))
    for kept in ("weight_0", "model.json", "weights_config"):
        file = rewritten(linear, lambda name, data, kept=kept: None if kept in name else data)
        with pytest.raises(CompilationError, match=r"other.pt2: error: (the|an) archive"):
            tg.compile(file)
    file = rewritten(linear, lambda name, data: data[:10] if "weight_" in name else data)
    with pytest.raises(CompilationError, match=r"is larger than its memory"):
        tg.compile(file)


def _node(program: Any) -> Any:
    return program["graph_module"]["graph"]["nodes"][-1]


def _size(program: Any) -> Any:
    return program["graph_module"]["graph"]["tensor_values"]["input"]["sizes"][0]["as_expr"]


def _weight_of(program: Any) -> Any:
    return program["graph_module"]["graph"]["tensor_values"]["p_weight"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: _node(p).update(target="os.system"), "os.system is no op of ATen"),
        (lambda p: _node(p).update(target="torch.ops.aten.no.op"), "has no torch.ops.aten.no.op"),
        (
            lambda p: _node(p).update(target="torch.ops.aten.from_file.default", inputs=[]),
            "aten.from_file.default has no translation",
        ),
        (lambda p: _size(p).update(expr_str="__import__('os').getcwd()"), "no size is __import__"),
        (lambda p: _size(p).update(expr_str="(" * 9999), "no size is"),
        (lambda p: _size(p).update(expr_str="Pow(10, Pow(10, 10))"), "no size is a power"),
        (lambda p: _size(p).update(expr_str="Mod(10, 0)"), "no such size or stride"),
        (lambda p: _size(p).update(expr_str="-" * 200000 + "5"), "no size is"),
        (lambda p: p["schema_version"].update(major=99), "has version 99"),
        (lambda p: p.pop("graph_module"), "the program is malformed: KeyError: 'graph_module'"),
        (lambda p: _node(p).update(inputs=[3]), "the program is malformed"),
        (lambda p: _node(p).update(target="torch.ops.aten.add.overloads"), "is no op of ATen"),
        (lambda p: _node(p).update(target="torch.ops.aten.name.upper"), "is no op of ATen"),
        (
            lambda p: _weight_of(p).update(dtype=8),
            "weight is f32 (3, 4) in the archive, and the program takes f64 (3, 4)",
        ),
        (
            lambda p: _weight_of(p)["sizes"][0].update(as_int=1),
            "weight is f32 (3, 4) in the archive, and the program takes f32 (1, 4)",
        ),
        (
            lambda p: _node(p)["inputs"][0].update(name="x=1)\nraise SystemExit\n("),
            "has no argument x=1)",
        ),
    ],
)
def test_malformed_programs(linear: str, change: Any, message: str) -> None:
    with pytest.raises(CompilationError) as error:
        tg.compile(program_with(linear, change))
    assert message in str(error.value)
    assert "other.pt2: error:" in str(error.value)


def test_names_are_no_code(linear: str, tmp_path: Path) -> None:
    """Names of tensors are data: PyTorch would write them into the source of a GraphModule."""
    made = tmp_path / "made"
    name = f"x=open({str(made)!r}, 'w')"

    def renamed(file: str, data: bytes) -> bytes:
        if not file.endswith("model.json"):
            return data
        program = json.loads(data.replace(b'"input"', json.dumps(name).encode()))
        _node(program)["inputs"][0]["name"] = "input"  # The argument of aten.linear.
        return json.dumps(program).encode()

    tg.compile(rewritten(linear, renamed))
    assert not made.exists()


def test_pickled_weights_are_refused(linear: str) -> None:
    def changed(name: str, data: bytes) -> bytes:
        if not name.endswith("weights_config.json"):
            return data
        return data.replace(b'"use_pickle": false', b'"use_pickle": true')

    with pytest.raises(CompilationError, match=r"is pickled, and unpickling executes"):
        tg.compile(rewritten(linear, changed))


def test_a_program_raises_no_errors_of_singular_matrices(tmp_path: Path) -> None:
    class Model(nn.Module):
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__()
            self.function = function

        def forward(self, x: torch.Tensor) -> Any:
            return self.function(x)

    x = torch.randn(4, 4)
    file = saved(Model(lambda x: (torch.linalg.det(x), *torch.linalg.inv_ex(x))), tmp_path, x)
    program: Any = tg.compile(file)
    det, inverse, info = program(x.numpy())
    np.testing.assert_allclose(det, np.linalg.det(x.numpy()), rtol=1e-4)
    np.testing.assert_allclose(inverse, np.linalg.inv(x.numpy()), rtol=1e-3, atol=1e-4)
    assert info == 0
    file = saved(Model(torch.linalg.inv), tmp_path, x)
    with pytest.raises(CompilationError, match="programs raise no errors"):
        tg.compile(file)


@pytest.mark.parametrize("op", ["unbind", "split", "chunk"])
def test_an_op_of_too_many_results(op: str, tmp_path: Path) -> None:
    """A tensor of a traced program has no elements, so that its extents cost nothing."""

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            parts = {
                "unbind": lambda: torch.unbind(x, 0),
                "split": lambda: torch.split(x, 1, 0),
                "chunk": lambda: torch.chunk(x, 3, 0),
            }[op]()
            return parts[0] + parts[1] * parts[2]

    def enlarged(program: Any) -> None:
        graph = program["graph_module"]["graph"]
        for tensor in graph["tensor_values"].values():
            for size in tensor["sizes"]:
                if size.get("as_int") == 3:
                    size["as_int"] = 10**9
        for given in graph["nodes"][0]["inputs"]:
            if given["name"] == "chunks":
                given["arg"] = {"as_int": 10**9}

    file = saved(Model(), tmp_path, torch.randn(3, 2))
    tg.compile(file)
    with pytest.raises(CompilationError, match="has 1000000000 results: a program has at most"):
        tg.compile(program_with(file, enlarged))


def test_a_decomposition_of_too_many_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`diff` is as many differences as its argument says."""

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.diff(x, 2)

    def repeated(program: Any) -> None:
        (count,) = (given for given in _node(program)["inputs"] if given["name"] == "n")
        count["arg"] = {"as_int": 10**9}

    monkeypatch.setattr(export, "MOST_VALUES", 1000)
    file = saved(Model(), tmp_path, torch.randn(2, 10**6))
    tg.compile(file)
    with pytest.raises(CompilationError, match="a program has at most 1000 values"):
        tg.compile(program_with(file, repeated))


class _Shared(nn.Module):
    """Two weights of one storage that are equal, and one that is another view of it."""

    def __init__(self) -> None:
        super().__init__()
        base = torch.randn(4, 4)
        self.register_buffer("a", base)
        self.register_buffer("b", base)
        self.register_buffer("turned", base.t())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.a + x * self.b[0] + x @ self.turned


def test_memory_that_weights_share_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _Shared()
    file, x = saved(model, tmp_path, torch.randn(2, 4)), np.random.randn(2, 4).astype(np.float32)
    read: list[str] = []
    original = archive.Archive._bytes

    def counted(self: Any, name: str) -> bytes:
        read.append(name)
        return original(self, name)

    monkeypatch.setattr(archive.Archive, "_bytes", counted)
    program: Any = tg.compile(file)
    wanted = model(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(program(x), wanted, rtol=1e-5, atol=1e-5)
    weights = [name for name in read if "weight_" in name]
    assert len(weights) == len(set(weights))
    assert len(weights) >= 1
    monkeypatch.setattr(archive, "MOST_USES", 1)
    with pytest.raises(CompilationError, match="more than 1 times the elements of their memory"):
        tg.compile(file)


def test_entries_that_overlap(tmp_path: Path) -> None:
    """Many entries that share the bytes of a file would take many times its memory."""
    name, file = "m/data/weights/inner", tmp_path / "m.pt2"
    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as archived:
        archived.writestr(name, b"x" * 5000)
    raw = (tmp_path / "inner.zip").read_bytes()[: 30 + len(name) + 5000]
    with zipfile.ZipFile(file, "w") as archived:
        archived.writestr("m/models/model.json", b"{}")
        archived.writestr("m/outer", raw)
        with zipfile.ZipFile(tmp_path / "inner.zip") as other:
            inner = other.getinfo(name)
        inner.header_offset = archived.getinfo("m/outer").header_offset + 30 + len("m/outer")
        archived.filelist.append(inner)
    with file.open("rb") as opened:
        found = archive.Archive(opened)
        # Some versions of Python refuse the first one, ours the second.
        with pytest.raises(archive.MalformedArchive, match=r"[Oo]verlap"):
            list(map(found._bytes, ("outer", "data/weights/inner")))
