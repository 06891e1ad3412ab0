"""The pool of blocks, and addresses of arrays."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

import tgdialect as tg
from tgdialect.runtime import memory
from tgdialect.runtime.memory import ALIGNMENT, POOLED_BYTES, Ahead, ArrayPool, Block, address

LARGE = (POOLED_BYTES // 4, 2)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 4)),
        np.zeros(()),
        np.zeros((0, 4)),
        np.zeros(4, ml_dtypes.bfloat16),
        np.frombuffer(b"read-only", np.uint8),
    ],
    ids=["plain", "0-d", "empty", "bfloat16", "read-only"],
)
def test_address(array: np.ndarray):
    assert address(array) == array.ctypes.data


def test_a_block_goes_back_when_no_array_is_on_it():
    pool = ArrayPool()
    first = pool.empty(LARGE, np.dtype(np.float32))
    assert first.shape == LARGE
    assert first.dtype == np.float32
    assert first.flags.carray
    where = address(first)
    assert where % ALIGNMENT == 0
    part = first[5:, 1]
    del first
    assert address(pool.empty(LARGE, np.dtype(np.float32))) != where
    part[...] = 1
    del part
    gc.collect()
    assert address(pool.empty(LARGE, np.dtype(ml_dtypes.bfloat16))[:1]) != 0
    assert where in {address(a) for a in [pool.empty(LARGE, np.dtype(np.int32)) for _ in range(2)]}


def test_a_pool_keeps_no_more_than_its_limit():
    pool = ArrayPool(limit=1000)
    blocks = [pool.take(400) for _ in range(4)]
    for block in blocks:
        pool.give(block)
    again = {pool.take(400).address for _ in range(4)}
    assert len(again & {b.address for b in blocks[:2]}) == 2


def test_results_stay_what_they_are_while_someone_has_them():
    exe = tg.compile(
        """
        func.func @main(%a: tensor<300x200xf32>) -> tensor<300x200xf32> {
          %0 = tg.neg %a : tensor<300x200xf32>
          func.return %0 : tensor<300x200xf32>
        }
        """
    )
    inputs = [np.full((300, 200), i, np.float32) for i in range(8)]
    kept = [exe(x)[::2] if i % 2 else exe(x) for i, x in enumerate(inputs)]
    for _ in range(3):
        exe(inputs[0])
    for i, result in enumerate(kept):
        assert (result == -i).all()


def test_free_blocks_are_given_up_for_want_of_memory(monkeypatch: pytest.MonkeyPatch):
    pool, new, failures = ArrayPool(), Block.new, [1, 2]
    pool.give(pool.take(400))

    def sparse(nbytes: int) -> Block:
        if failures:
            failures.pop()
            raise MemoryError
        return new(nbytes)

    monkeypatch.setattr(Block, "new", sparse)
    with pytest.raises(MemoryError):
        pool.empty(LARGE, np.dtype(np.float32))
    pool.give(new(400))
    failures.append(1)
    assert pool.empty(LARGE, np.dtype(np.float32)).shape == LARGE
    assert not pool._free.get(400)


@pytest.mark.parametrize("nbytes", [1, 4096, 4097, 3 << 20])
def test_memory_is_used_ahead(nbytes: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "PIECE", 1 << 20)
    with Ahead(nbytes) as ahead:
        block = ahead.block
        assert block is not None
        assert block.address % ALIGNMENT == 0
        assert block.nbytes == nbytes
        ahead._thread.join()
    # The thread is over, so that nothing else writes to the block.
    cells = block.memory[block.address - address(block.memory) :][:nbytes]
    cells[...] = 7
    assert (cells == 7).all()


def test_memory_is_not_used_ahead_of_the_end(monkeypatch: pytest.MonkeyPatch):
    with Ahead(0) as ahead:
        assert ahead.block is None
    ahead = Ahead(1 << 20)
    ahead._is_over.set()
    assert ahead.block is not None
    ahead.block.memory[...] = 1
    with ahead:
        pass
    assert ahead.block.memory.all()

    def refuse(nbytes: int) -> Block:
        raise MemoryError

    monkeypatch.setattr(Block, "new", refuse)
    with Ahead(1 << 20) as ahead:
        assert ahead.block is None
