"""A GPU that is a stand-in, for tests of the CUDA driver."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial

import pytest
from fake_cuda import FakeCuda, doubled

from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.device import DEVICES, KINDS, Device


@pytest.fixture
def api() -> FakeCuda:
    return FakeCuda({"double_it": (2, doubled)})


@pytest.fixture
def device(api: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """CUDA:0. Afterwards contexts are as before, and no stream is being recorded."""
    open_it = partial(CudaDriver, api=api, compiler=api)
    found = Device("CUDA:0", KINDS["CUDA"]._replace(open=open_it))
    monkeypatch.setitem(DEVICES._known, "CUDA:0", found)
    api.stack.append("another library's")
    yield found
    gc.collect()
    assert api.stack == ["another library's"]
    assert all(stream.capture is None for stream in api.streams.values())
