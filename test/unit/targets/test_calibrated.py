"""The target file: measured rates, written and read; what is none of ours is one error."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tgdialect import calibrate
from tgdialect.environment import SettingError
from tgdialect.targets import target_named
from tgdialect.targets.calibrated import MEASURED, calibrated, calibrated_text
from tgdialect.targets.host import host_cpu, host_features, host_target
from tgdialect.targets.processors import PROCESSORS


def test_a_measurement_is_used_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """By targets for this machine's features, and for no other processor."""
    path = tmp_path / "folder" / "target.json"
    monkeypatch.delenv("TG_TARGET_FILE", raising=False)
    monkeypatch.setenv("TG_CACHE_DIR", str(path.parent))
    assert calibrate.main([]) == 0
    assert "schedules for this machine use it" in capsys.readouterr().out
    found = json.loads(path.read_text())
    assert {*found["fields"]} == {*MEASURED}
    assert all(value >= 1 for value in found["fields"].values())
    marked = {**found["fields"], "llc_bytes": 12345}
    path.write_text(calibrated_text(host_cpu(), marked))
    assert host_target(host_features(), threads=1).llc_bytes == 12345
    assert host_target(["avx2"], threads=1).llc_bytes != 12345
    assert host_target(["znver2"], threads=1).llc_bytes != 12345
    path.write_text(calibrated_text("another CPU", marked))
    assert host_target(host_features(), threads=1).llc_bytes != 12345


def test_nothing_is_written_by_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TG_TARGET_FILE", str(tmp_path / "target.json"))
    (tmp_path / "target.json").write_text('{"cpu": "", "fields": {}}')
    assert calibrate.main(["--print"]) == 0
    assert "mulacc_latency" in capsys.readouterr().out
    assert json.loads((tmp_path / "target.json").read_text())["fields"] == {}


def test_names_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """One of this folder is written there; one that cannot be leaves nothing."""
    monkeypatch.chdir(tmp_path)
    assert calibrate.main(["-o", "target.json"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["target.json"]
    capsys.readouterr()
    assert calibrate.main(["-o", "target.json/other"]) == 1
    assert "error: cannot write target.json/other: " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["target.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is no JSON"),
        ("[" * 100_000, "it has 100000 bytes"),
        ("[" * 60_000, "it is no JSON"),
        ("[]", "it is no target file"),
        ('{"cpu": 1, "fields": {}}', "`cpu` is a text"),
        ('{"cpu": "", "fields": {"name": "cpu"}}', "'name' is no field that is measured"),
        ('{"cpu": "", "fields": {"l2_bytes": "4"}}', "l2_bytes is '4', not a whole number"),
        ('{"cpu": "", "fields": {"l2_bytes": true}}', "l2_bytes is True, not a whole number"),
        ('{"cpu": "", "fields": {"l2_bytes": 0}}', "l2_bytes is 0, not a positive number"),
        ('{"cpu": "", "fields": {"l2_bytes": 1e400}}', "l2_bytes is inf"),
        ('{"cpu": "", "fields": {"vector_ports": 999999999999999999}}', "vector_ports is 99"),
    ],
)
def test_a_file_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
):
    """One that is named is an error, one in the cache counts for nothing."""
    path = tmp_path / "target.json"
    path.write_text(text)
    monkeypatch.setenv("TG_TARGET_FILE", str(path))
    with pytest.raises(SettingError, match="TG_TARGET_FILE: ") as raised:
        calibrated("")
    assert message in str(raised.value)
    monkeypatch.delenv("TG_TARGET_FILE")
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    assert calibrated("") == {}


@pytest.mark.parametrize("name", PROCESSORS)
def test_processors_are_targets(name: str):
    """A name stands for the features, the caches and the rates of a processor."""
    target, known = target_named("cpu", [name]), PROCESSORS[name]
    assert target.features >= {*known.features}
    assert replace(target, **known.fields) == target
