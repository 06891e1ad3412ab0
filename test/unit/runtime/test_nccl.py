"""Collectives between GPUs, with stand-ins for CUDA and NCCL: there need be no GPU."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from fake_cuda import FakeCuda
from fake_nccl import DataType, FakeNccl, RedOp

import tgdialect as tg
from tgdialect.analysis.communication import Collective
from tgdialect.runtime.devices import device
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.cuda import CudaDriver
from tgdialect.runtime.devices.device import DEVICES, KINDS, Device
from tgdialect.runtime.distributed import nccl
from tgdialect.runtime.distributed.exchange import (
    FROM_ROOT,
    Communicator,
    Exchange,
    Intent,
    Pending,
    RankError,
)
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.distributed.nccl import NcclCommunicator, NcclLink, nccl_links
from tgdialect.runtime.distributed.threads import Team, ThreadCommunicator

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16, np.float16, np.float32, np.float64),
)


def gpus(count: int) -> list[CudaDriver]:
    api = FakeCuda({}, devices=count)
    return [CudaDriver(f"CUDA:{i}", i, api, api) for i in range(count)]


def exchanged(
    exchange: Exchange, communicators: Sequence[Communicator], values: Sequence[Any]
) -> list[Any]:
    """The result on each device."""

    def one(communicator: Communicator, value: Any) -> Any:
        try:
            found = communicator.start(exchange, value).wait()
            communicator.end()
        except BaseException as error:
            communicator.fail(error)
            raise
        return None if found is None else np.asarray(found)

    with ThreadPoolExecutor(len(values)) as pool:
        return list(pool.map(one, communicators, values))


def random_exchange(rng: random.Random) -> Exchange:
    """A collective along any axis of a small array."""
    kind = rng.choice(list(Collective))
    n = 2 if kind is Collective.TRANSFER else rng.randint(2, 4)
    shape = [rng.randint(1, 3) for _ in range(rng.randint(1, 4))]
    axis, joined = rng.randrange(len(shape)), rng.randrange(len(shape))
    result = list(shape)
    match kind:
        case Collective.ALL_GATHER | Collective.GATHER:
            result[axis] *= n
        case Collective.SCATTER | Collective.REDUCE_SCATTER:
            shape[axis] *= n
        case Collective.ALL_TO_ALL:
            shape[axis] *= n
            result[joined] *= n
        case _:
            pass
    dtype = np.dtype(rng.choice(DTYPES))
    members = tuple(rng.sample(range(4), n))
    how = rng.choice(["add", "mul", "max"])
    root = rng.randrange(n)
    return Exchange(kind, members, tuple(shape), dtype, tuple(result), axis, joined, how, root)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(300))
def test_random_collectives_equal_those_of_threads(seed: int):
    rng = random.Random(seed)
    exchange = random_exchange(rng)
    numbers = np.random.default_rng(seed)
    values: list[Array | None] = [
        numbers.integers(0, 3, exchange.shape).astype(exchange.dtype) for _ in exchange.members
    ]
    if exchange.kind in FROM_ROOT:
        values = [v if i == exchange.root else None for i, v in enumerate(values)]
    team = Team(4).communicators()
    on_threads = [team[rank] for rank in exchange.members]
    wanted = exchanged(exchange, on_threads, values)
    drivers = gpus(4)
    api = FakeNccl(drivers[0].api)
    hosts = Team(4).communicators()
    links = [NcclLink(drivers[rank], api) for rank in exchange.members]
    pairs = zip(links, exchange.members, strict=True)
    communicators = [NcclCommunicator(link, hosts[rank]) for link, rank in pairs]
    on_devices = [
        None if value is None else DeviceArray.of(drivers[rank], value)
        for rank, value in zip(exchange.members, values, strict=True)
    ]
    for _ in range(2):  # The second time, NCCL's communicators are there.
        found = exchanged(exchange, communicators, on_devices)
        for one, other in zip(found, wanted, strict=True):
            assert (one is None) == (other is None), (one, exchange)
            if one is not None:
                assert one.dtype == exchange.dtype
                np.testing.assert_array_equal(one, other, str(exchange))
    assert len(api.cliques) == (1 if api.calls else 0)
    n = len(exchange.members)
    ids = 128 * n * (n - 1) if api.calls else 0
    sent = sum(c.bytes_sent for c in communicators) - ids
    # Parts of uneven sizes are rounded.
    assert sent == pytest.approx(2 * sum(c.bytes_sent for c in on_threads), abs=4 * n)


def test_maxima_of_floats_keep_nan():
    values = [np.array([np.nan, 1], np.float32), np.array([0, 2], np.float32)]
    exchange = Exchange(
        Collective.ALL_REDUCE, (0, 1), (2,), np.dtype(np.float32), (2,), reduction="max"
    )
    drivers = gpus(2)
    api = FakeNccl(drivers[0].api)
    hosts = Team(2).communicators()
    pairs = zip(drivers, hosts, strict=True)
    communicators = [NcclCommunicator(NcclLink(d, api), h) for d, h in pairs]
    on_devices = [DeviceArray.of(d, v) for d, v in zip(drivers, values, strict=True)]
    for found in exchanged(exchange, communicators, on_devices):
        np.testing.assert_array_equal(found, [np.nan, 2])
    assert not api.calls


def test_a_device_that_fails_ends_the_others():
    """One GPU never comes: the other one has submitted its part, and waits."""
    exchange = Exchange(Collective.BROADCAST, (0, 1), (2,), np.dtype(np.float32), (2,))
    drivers, team = gpus(2), Team(2)
    api = FakeNccl(drivers[0].api)
    links = [NcclLink(driver, api) for driver in drivers]
    values = [DeviceArray.of(drivers[0], np.ones(2, np.float32)), None]

    def communicators(team: Team) -> list[Communicator]:
        pairs = zip(links, team.communicators(), strict=True)
        return [NcclCommunicator(link, host) for link, host in pairs]

    exchanged(exchange, communicators(Team(2)), values)
    here, other = communicators(team)
    drivers[0].api.hung.add(0)
    other.fail(ValueError("no memory"))
    with pytest.raises(RankError, match="device 1 failed: ValueError: no memory"):
        here.end()
    here.fail(RankError())
    assert len(api.aborted) == 2
    # Later calls connect anew.
    drivers[0].api.hung.clear()
    for found in exchanged(exchange, communicators(Team(2)), values):
        np.testing.assert_array_equal(found, [1, 1])


def test_memory_of_collectives_returns_to_the_pool():
    exchange = Exchange(Collective.ALL_GATHER, (0, 1), (2, 3), np.dtype(np.float32), (2, 6), axis=1)
    drivers = gpus(2)
    api = FakeNccl(drivers[0].api)
    links = [NcclLink(driver, api) for driver in drivers]
    values = [DeviceArray.of(driver, np.ones((2, 3), np.float32)) for driver in drivers]
    blocks: list[int] = []
    for _ in range(5):
        pairs = zip(links, Team(2).communicators(), strict=True)
        exchanged(exchange, [NcclCommunicator(link, host) for link, host in pairs], values)
        blocks.append(len(drivers[0].api.blocks))
    assert blocks[1:] == blocks[:-1]


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> FakeNccl:
    drivers = gpus(2)
    api = FakeNccl(drivers[0].api)
    kind = KINDS["CUDA"]._replace(open=lambda name, number: drivers[number])
    for i in range(2):
        monkeypatch.setitem(DEVICES._known, f"CUDA:{i}", Device(f"CUDA:{i}", kind, i))
    monkeypatch.setattr(nccl, "nccl_bindings", lambda: api)
    return api


def test_each_process_takes_a_gpu(two_gpus: FakeNccl, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(device, "_count", lambda kind: 2)
    monkeypatch.setenv("TG_DEVICE", "cuda")
    assert [DEVICES.own(process).name for process in range(3)] == ["CUDA:0", "CUDA:1", "CUDA:0"]
    monkeypatch.setenv("TG_DEVICE", "CUDA:1")
    assert DEVICES.own(0).name == "CUDA:1"
    monkeypatch.delenv("TG_DEVICE")
    assert DEVICES.own(1).name == "CPU"


PROGRAM = """
func.func @main(%x: tensor<4x2xf32, #tg.place<["CUDA:0", "CUDA:1"], axis = 1>>)
    -> tensor<4x2xf32, #tg.place<"CUDA:0">> {
  %0 = tg.copy %x to "CUDA:0"
    : tensor<4x2xf32, #tg.place<["CUDA:0", "CUDA:1"], axis = 1>> -> tensor<4x2xf32, #tg.place<"CUDA:0">>
  func.return %0 : tensor<4x2xf32, #tg.place<"CUDA:0">>
}
"""  # noqa: E501


def test_which_devices_nccl_connects(two_gpus: FakeNccl):
    first, second, host = (DEVICES[name] for name in ("CUDA:0", "CUDA:1", "CPU"))
    assert len(nccl_links([first, second], None)) == 2
    for others in ([first], [first, first], [first, host], [host, host]):
        assert not nccl_links(others, None)


class InCalls(ThreadCommunicator):
    """Refuses exchanges outside of a call, before which devices have not said what they want."""

    is_in_call = False

    def begin(self, intent: Intent) -> None:
        self.is_in_call = True

    def end(self) -> None:
        self.is_in_call = False

    def start(self, exchange: Exchange, value: Any) -> Pending:
        assert self.is_in_call
        return super().start(exchange, value)


@pytest.mark.parametrize("is_shared", [False, True])
def test_processes_that_see_one_gpu_each(is_shared: bool):
    """Both call it CUDA:0, as by CUDA_VISIBLE_DEVICES: its UUID says whether it is one."""
    drivers = [gpus(1)[0] for _ in range(2)]
    if is_shared:
        drivers[1].api.uuids = drivers[0].api.uuids
    kind = KINDS["CUDA"]
    devices = [Device("CUDA:0", kind._replace(open=lambda *_, d=d: d)) for d in drivers]
    api = FakeNccl(drivers[0].api)
    team = Team(2)
    communicators = [InCalls(team, rank) for rank in range(2)]
    with ThreadPoolExecutor(2) as pool:
        connected = list(pool.map(lambda d, c: nccl_links([d], c, api), devices, communicators))
    assert [len(links) for links in connected] == ([0, 0] if is_shared else [1, 1])
    links = nccl_links(devices, None, api)  # In one process, by two names.
    assert len(links) == (0 if is_shared else 2)


def test_a_program_on_gpus_exchanges_their_memory(two_gpus: FakeNccl):
    executable = tg.compile(PROGRAM)
    assert isinstance(executable, ShardedExecutable)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    for _ in range(2):
        np.testing.assert_array_equal(executable(x), x)
    assert two_gpus.calls == ["gather"] * 4


def test_what_nccl_refuses(two_gpus: FakeNccl):
    two_gpus.refuses = True
    with pytest.raises(tg.DeviceError, match=r"CUDA:[01]: NCCL: unhandled cuda error"):
        tg.compile(PROGRAM)(np.ones((4, 2), np.float32))


@pytest.mark.skipif(nccl.nccl_bindings() is None, reason="needs tgdialect[nccl]")
def test_the_real_bindings_have_what_we_call():
    """Their arguments are those of the stand-in: NCCL itself refuses them without a GPU."""
    real = nccl.nccl_bindings()
    for name, function in vars(FakeNccl).items():
        if name.startswith("_") or not callable(function) or isinstance(function, type):
            continue
        count = function.__code__.co_argcount - 1
        assert len(str(real.__dict__[name].__doc__).split(",")) == count or not count, name
    for kind in (DataType, RedOp):
        names = {value.name for value in real.__dict__[kind.__name__]}
        assert {value.name for value in kind} <= names
        assert all(real.__dict__[kind.__name__][value.name] == value for value in kind)
    name = bytes(real.get_unique_id())
    assert len(name) == 128
    with pytest.raises(real.NCCLError):
        real.comm_init_rank_scalable(1, 0, 1, bytearray(name), 0)
