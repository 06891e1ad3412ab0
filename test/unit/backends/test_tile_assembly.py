"""The assembly of tile registers, on a model of them, and the products of bf16 that programs
compute."""

import re

import ml_dtypes
import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect.targets import tile_assembly as tiles_of

BF16 = ml_dtypes.bfloat16


class Tiles:
    """Tile registers, and memory by address, as Intel's manual describes the instructions."""

    def __init__(self, memory):
        self.memory, self.tiles = memory, {}

    def execute(self, lines, operands):
        for line in lines:
            name, _, rest = line.partition(" ")
            registers = [int(number) for number in re.findall(r"%tmm(\d)", rest)]
            if name == "tilezero":
                self.tiles[registers[0]] = np.zeros((16, 64), np.uint8)
                continue
            if name == "tdpbf16ps":
                b, a, c = (self.tiles[number] for number in registers)
                # Each row of A has pairs of steps; each row of B a pair for each column.
                pairs = a.view(BF16).reshape(16, 16, 2).astype(np.float32)
                others = b.view(BF16).reshape(16, 16, 2).astype(np.float32)
                product = np.einsum("mkp,knp->mn", pairs, others)
                self.tiles[registers[2]] = (c.view(np.float32) + product).view(np.uint8)
                continue
            at, base, step = re.search(r"(\d*)\(\$(\d),\$(\d)\)", rest).groups()
            start, stride = int(at or 0) + operands[int(base)], operands[int(step)]
            cells = start + stride * np.arange(16)[:, None] + np.arange(64)
            if name in ("tileloadd", "tileloaddt1"):
                self.tiles[registers[0]] = self.memory[cells]
            else:
                assert name == "tilestored"
                self.memory[cells] = self.tiles[registers[0]]


@pytest.mark.parametrize("is_cleared", [False, True])
def test_assembly(is_cleared):
    """The instructions compute the product of two blocks in the order of their layouts."""
    random = np.random.default_rng(0)
    a = random.integers(-4, 5, (32, 32)).astype(BF16)
    b = random.integers(-4, 5, (32, 32)).astype(BF16)
    sums = random.integers(-4, 5, (32, 32)).astype(np.float32)
    packed = b.reshape(16, 2, 32).transpose(0, 2, 1).copy()
    parts = [np.ascontiguousarray(x).view(np.uint8).ravel() for x in (a, packed, sums)]
    tiles = Tiles(np.concatenate(parts))
    starts = [0, *np.cumsum([part.size for part in parts])]
    if is_cleared:
        tiles.execute(tiles_of.clear_sums(), [])
        sums[:] = 0
    else:
        tiles.execute(tiles_of.load_sums(), [starts[2], tiles_of.SUMS_STRIDE])
    tiles.execute(
        tiles_of.multiply_add(),
        [*starts[:2], tiles_of.A_STRIDE, tiles_of.B_STRIDE],
    )
    tiles.execute(tiles_of.store_sums(), [starts[2], tiles_of.SUMS_STRIDE])
    found = tiles.memory[starts[2] :].view(np.float32).reshape(32, 32)
    np.testing.assert_array_equal(found, sums + a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_BLOCKS", 20), ids=str)
def test_random_products(seeds):
    """Products of bf16 in any order of the axes of both factors, with padding, epilogues and
    weights that are constant or not. Where the CPU has instructions for them, on tiles or vectors,
    they compute those that are large enough."""
    for seed in seeds:
        check_product(np.random.default_rng(seed))


def check_product(random):
    m, k, n = random.choice([1, 9, 16, 31, 32, 33, 64, 65, 100, 200, 300], 3)
    batch = [int(random.integers(2, 4))] if random.random() < 0.25 else []
    x = random.standard_normal((*batch, m, k)).astype(BF16)
    w = random.standard_normal((k, n)).astype(BF16)
    is_turned, is_linear, is_constant, has_bias = random.random(4) < 0.5
    given = x.swapaxes(-1, -2).copy() if is_turned else x
    weight = tg.Tensor(w.T.copy() if is_linear else w)
    bias = random.standard_normal(n).astype(np.float32) if has_bias else np.zeros(n, np.float32)

    def program(x, w):
        x = x.transpose(-1, -2) if is_turned else x
        w = weight if is_constant else w
        y = x @ (w.transpose(0, 1) if is_linear else w)
        return (y.float() + tg.Tensor(bias)).relu() if has_bias else y.float()

    found = tg.function(program, freeze=bool(is_constant))(tg.Tensor(given), weight).numpy()
    wide, factor = x.astype(np.float64), w.astype(np.float64)
    wanted, size = wide @ factor, np.abs(wide) @ np.abs(factor)
    # The product is rounded to bf16, of 8 bits, after sums in f32.
    bound = np.abs(wanted) * 2**-8 + size * 2**-18 + 1e-6
    wanted = np.maximum(wanted + bias, 0) if has_bias else wanted
    assert (np.abs(found - wanted) <= bound).all()


def test_padding_is_not_multiplied():
    """An infinity is in the results of its row and column alone, though blocks are padded."""
    x, w = np.ones((40, 50), BF16), np.ones((50, 40), BF16)
    x[39, 49], w[49, 39] = np.inf, np.inf
    found = tg.function(lambda x, w: (x @ w).float())(tg.Tensor(x), tg.Tensor(w)).numpy()
    wanted = x.astype(np.float32) @ w.astype(np.float32)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("is_constant", [False, True])
def test_special_values(is_constant):
    """NaN, infinities, overflow and -0 are those of f32; what is subnormal may count as 0."""
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(size).astype(BF16) for size in ((37, 51), (51, 40)))
    x[3, 7], x[5, 9], w[50, 11] = np.nan, np.inf, -np.inf
    x[8], x[8, 0], w[0, 13] = 0, 3e38, 2  # Overflows.
    x[9], w[:, 14] = -0.0, 0.0
    x[10, :50], x[11], w[:, 15] = 2.0**-130, 2.0**-100, 2.0**-40  # Subnormal factors and products.
    weight = tg.Tensor(w)
    function = tg.function(
        lambda x, w: (x @ (weight if is_constant else w)).float(), freeze=is_constant
    )
    found = function(tg.Tensor(x), weight).numpy()
    wide, factor = x.astype(np.float64), w.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        wanted = wide @ factor
        wanted = wanted.astype(np.float32).astype(BF16).astype(np.float64)
        bound = np.abs(wanted) * 2**-7 + np.abs(wide) @ np.abs(factor) * 2**-18
    # Each subnormal factor may be 0, and each partial sum that is subnormal.
    bound += 2.0**-126 * (51 + np.abs(factor).sum(0) + np.abs(wide).sum(1)[:, None])
    is_finite = np.isfinite(wanted)
    np.testing.assert_array_equal(found[~is_finite], wanted[~is_finite])
    assert (np.abs(found[is_finite] - wanted[is_finite]) <= bound[is_finite]).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("equation", "a", "b"),
    [
        ("mabc,cban->mn", (512, 16, 16, 16), (16, 16, 16, 64)),
        ("mab,abn->mn", (70, 16, 128), (16, 128, 96)),
        ("bij,jk->bki", (3, 50, 60), (60, 70)),
        ("mk,nk->mn", (40, 20000), (33, 20000)),
    ],
)
@pytest.mark.parametrize("is_constant", [False, True])
def test_contractions(equation, a, b, is_constant):
    """Steps of several axes, and so many that their blocks do not fit into LOCAL memory."""
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(shape).astype(BF16) for shape in (a, b))
    weight = tg.Tensor(y)

    def program(x, y):
        return tg.Tensor.einsum(equation, x, weight if is_constant else y).float()

    found = tg.function(program, freeze=is_constant)(tg.Tensor(x), weight).numpy()
    wide, other = x.astype(np.float64), y.astype(np.float64)
    wanted = np.einsum(equation, wide, other, optimize=True)
    size = np.einsum(equation, np.abs(wide), np.abs(other), optimize=True)
    assert (np.abs(found - wanted) <= np.abs(wanted) * 2**-8 + size * 2**-18 + 1e-6).all()
