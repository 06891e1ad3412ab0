"""Operators that move elements, index, resize and transform signals, on random shapes of symbolic
sizes, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto
from single_node import compare, model_of

import tgdialect as tg

SIZES = 3
"""The sizes that each program is run on."""

F, I = TensorProto.FLOAT, TensorProto.INT64  # noqa: E741


def _floats(rng: np.random.Generator, *shape: Any) -> np.ndarray:
    return rng.standard_normal([int(d) for d in shape]).astype(np.float32)


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def _shape(rng: np.random.Generator, rank: int, low: int = 2, high: int = 6) -> list[int]:
    return [int(d) for d in rng.integers(low, high, rank)]


def _feeds(rng: np.random.Generator, shape: list[int], axes: list[int]) -> list[dict[str, Any]]:
    """Inputs of a shape, whose axes in `axes` have other extents in each but the first."""
    found = [{"x0": _floats(rng, *shape)}]
    for _ in range(SIZES - 1):
        other = [d + int(rng.integers(0, 4)) if i in axes else d for i, d in enumerate(shape)]
        found.append({"x0": _floats(rng, *other)})
    return found


def _some_axes(rng: np.random.Generator, rank: int) -> list[int]:
    return sorted(int(a) for a in rng.permutation(rank)[: rng.integers(1, rank + 1)])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pads(mode: str, seed: int):
    rng = np.random.default_rng([seed, 1])
    rank = int(rng.integers(1, 4))
    shape = _shape(rng, rank, 4, 7)
    axes = _some_axes(rng, rank)
    low = -1 if mode == "constant" else 0
    pads = _ints(*rng.integers(low, 4, 2 * len(axes)))
    value = np.float32(rng.standard_normal()) if mode == "constant" else None
    if rng.random() < 0.5:
        axes = [a - rank for a in axes]
    feeds = _feeds(rng, shape, list(range(rank)))
    inputs = [feeds[0]["x0"], pads, None if value is None else np.array(value), _ints(*axes)]
    model = model_of("Pad", inputs, [(F, rank)], constant=(1, 2, 3), mode=mode)
    compare(model, feeds)


@pytest.mark.parametrize("mode", ["edge", "wrap"])
@pytest.mark.parametrize("pads", [(-4, 4), (3, -4), (-2, 3), (-5, 1)])
def test_pads_of_an_axis_that_is_cut_at_its_other_end(mode: str, pads: tuple[int, int]):
    x = _floats(np.random.default_rng(0), 6)
    model = model_of(
        "Pad", [x, _ints(*pads)], [(F, 1)], symbolic={0: "_"}, constant=(1,), mode=mode
    )
    compare(model, [{"x0": x}], programs=None)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(80))
def test_slices(seed: int):
    rng = np.random.default_rng([seed, 2])
    rank = int(rng.integers(1, 4))
    shape = _shape(rng, rank, 4, 7)
    axes = _some_axes(rng, rank)
    count = len(axes)
    reach = 4 if rng.random() < 0.5 else 9
    starts, ends = rng.integers(-reach, reach + 1, (2, count))
    ends = np.where(rng.random(count) < 0.2, np.iinfo(np.int64).max, ends)
    steps = rng.choice([1, 1, 2, 3, -1, -2], count)
    # ONNX Runtime reads the greatest integer as the end below 0 if it steps down; the
    # specification and NumPy do not.
    ends = np.where(steps < 0, np.minimum(ends, 9), ends)
    feeds = _feeds(rng, shape, list(range(rank)))
    arrays = [_ints(*v) for v in (starts, ends, axes, steps)]
    model = model_of("Slice", [feeds[0]["x0"], *arrays], [(F, rank)], constant=(1, 2, 3, 4))
    # Bounds that some sizes reach and others do not are cut by programs for one size.
    compare(model, feeds, programs=None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_splits(seed: int):
    rng = np.random.default_rng([seed, 3])
    rank = int(rng.integers(1, 4))
    axis = int(rng.integers(-rank, rank))
    shape, count = _shape(rng, rank), int(rng.integers(2, 4))
    others = [a for a in range(rank) if a != axis % rank]
    if rng.random() < 0.5:
        parts = rng.integers(0, 4, count)
        shape[axis] = int(parts.sum()) or 1
        parts[-1] += shape[axis] - parts.sum()
        inputs, more = [_ints(*parts)], {}
    else:
        shape[axis] = int(rng.integers(count, 9))
        inputs, more = [], {"num_outputs": count}
        if -(-shape[axis] // count) * (count - 1) > shape[axis]:
            shape[axis] = 2 * count
    feeds = _feeds(rng, shape, others)
    model = model_of(
        "Split",
        [feeds[0]["x0"], *inputs],
        [(F, rank)] * count,
        constant=(1,),
        symbolic={0: others},
        axis=axis,
        **more,
    )
    compare(model, feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_joins_and_repeats(seed: int):
    rng = np.random.default_rng([seed, 4])
    rank = int(rng.integers(1, 4))
    shape = _shape(rng, rank)
    axis = int(rng.integers(-rank, rank))
    feeds = _feeds(rng, shape, list(range(rank)))
    for feed in feeds:
        other = list(feed["x0"].shape)
        other[axis] = int(rng.integers(1, 5))
        feed["x1"] = _floats(rng, *other)
    names = {0: "abc"[:rank]}
    assert names
    model = model_of("Concat", [feeds[0]["x0"], feeds[0]["x1"]], [(F, rank)], axis=axis)
    # Both inputs have the other extents.
    for i, dim in enumerate(model.graph.input[1].type.tensor_type.shape.dim):
        if i != axis % rank:
            dim.dim_param = f"x0_{i}"
    compare(model, feeds)
    repeats = _ints(*rng.integers(1, 4, rank))
    feeds = [{"x0": feed["x0"]} for feed in feeds]
    compare(model_of("Tile", [feeds[0]["x0"], repeats], [(F, rank)], constant=(1,)), feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks(mode: str, seed: int):
    rng = np.random.default_rng([seed, 5])
    size = int(rng.integers(1, 4))
    feeds = _feeds(rng, [2, size * size * 2, 3, 4], [0, 2, 3])
    symbolic = {0: [0, 2, 3]}
    model = model_of(
        "DepthToSpace", [feeds[0]["x0"]], [(F, 4)], symbolic=symbolic, blocksize=size, mode=mode
    )
    compare(model, feeds)
    feeds = [{"x0": _floats(rng, 2, 3, size * (2 + i), size * (3 + i))} for i in range(1)]
    model = model_of("SpaceToDepth", [feeds[0]["x0"]], [(F, 4)], blocksize=size)
    compare(model, feeds, programs=None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_sequences_in_reverse(seed: int):
    rng = np.random.default_rng([seed, 6])
    time = int(rng.integers(0, 2))
    feeds = _feeds(rng, [4, 4, 3], [0, 1, 2])
    for feed in feeds:
        shape = feed["x0"].shape
        feed["x1"] = rng.integers(1, shape[time] + 1, shape[1 - time])
    model = model_of(
        "ReverseSequence",
        [feeds[0]["x0"], feeds[0]["x1"]],
        [(F, 3)],
        time_axis=time,
        batch_axis=1 - time,
    )
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = f"x0_{1 - time}"
    compare(model, feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_triangles(seed: int):
    rng = np.random.default_rng([seed, 7])
    rank = int(rng.integers(2, 4))
    feeds = _feeds(rng, _shape(rng, rank), list(range(rank)))
    k = np.array(rng.integers(-7, 8))
    for feed in feeds:
        feed["x1"] = k
    upper = int(rng.integers(0, 2))
    compare(model_of("Trilu", [feeds[0]["x0"], k], [(F, rank)], upper=upper), feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_columns_to_images(seed: int):
    rng = np.random.default_rng([seed, 8])
    block = _ints(*rng.integers(1, 4, 2))
    image = _ints(*rng.integers(7, 12, 2))
    strides, dilations = (rng.integers(1, 3, 2) for _ in range(2))
    pads = rng.integers(0, 3, 4)
    spans = image + pads[:2] + pads[2:] - dilations * (block - 1) - 1
    count = int(np.prod(spans // strides + 1))
    x = _floats(rng, 2, 3 * np.prod(block), count)
    model = model_of(
        "Col2Im",
        [x, image, block],
        [(F, 4)],
        constant=(1, 2),
        symbolic={0: ()},
        strides=strides.tolist(),
        dilations=dilations.tolist(),
        pads=pads.tolist(),
    )
    compare(model, [{"x0": x}])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_gathers(seed: int):
    rng = np.random.default_rng([seed, 9])
    rank = int(rng.integers(1, 4))
    shape = _shape(rng, rank)
    axis = int(rng.integers(-rank, rank))
    feeds = _feeds(rng, shape, list(range(rank)))
    index = rng.integers(-2, 2, _shape(rng, int(rng.integers(0, 3))))
    for feed in feeds:
        feed["x1"] = np.array(index)
    result = rank - 1 + np.ndim(index)
    inputs = [feeds[0]["x0"], np.array(index)]
    compare(model_of("Gather", inputs, [(F, result)], axis=axis), feeds)
    feeds = [{"x0": feed["x0"]} for feed in feeds]
    compare(model_of("Gather", inputs, [(F, result)], constant=(1,), axis=axis), feeds)
    for feed in feeds:
        there = list(feed["x0"].shape)
        there[axis] = 3
        feed["x1"] = rng.integers(-2, 2, there)
    inputs = [feeds[0]["x0"], feeds[0]["x1"]]
    compare(model_of("GatherElements", inputs, [(F, rank)], axis=axis), feeds)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_gathers_of_tuples(seed: int):
    rng = np.random.default_rng([seed, 10])
    rank = int(rng.integers(2, 5))
    batch = int(rng.integers(0, rank - 1))
    k = int(rng.integers(1, rank - batch + 1))
    feeds = _feeds(rng, _shape(rng, rank), list(range(rank)))
    more = int(rng.integers(0 if batch else 1, 3))
    for feed in feeds:
        shape = (*feed["x0"].shape[:batch], *(3,) * more, k)
        feed["x1"] = rng.integers(-2, 2, shape)
    model = model_of(
        "GatherND",
        [feeds[0]["x0"], feeds[0]["x1"]],
        [(F, batch + more + rank - batch - k)],
        symbolic={0: range(rank), 1: range(batch)},
        batch_dims=batch,
    )
    for i in range(batch):
        model.graph.input[1].type.tensor_type.shape.dim[i].dim_param = f"x0_{i}"
    compare(model, feeds)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters(reduction: str, seed: int):
    rng = np.random.default_rng([seed, 11])
    rank = int(rng.integers(1, 4))
    shape = _shape(rng, rank, 4, 7)
    axis = int(rng.integers(-rank, rank))
    feeds = _feeds(rng, shape, list(range(rank)))
    for feed in feeds:
        there = [int(rng.integers(1, 4)) for _ in shape]
        if reduction == "none":
            index = np.argsort(rng.random((*there[:-1], 4)), -1)
            axis, there[-1] = rank - 1, 3
            feed["x1"] = index[..., :3] - 4 * int(rng.integers(0, 2))
        else:
            feed["x1"] = rng.integers(-4, 4, there)
        feed["x2"] = _floats(rng, *there)
    inputs = list(feeds[0].values())
    model = model_of(
        "ScatterElements",
        inputs,
        [(F, rank)],
        axis=axis,
        reduction=reduction,
        symbolic={0: range(rank)},
    )
    for i in (1, 2):
        for a, dim in enumerate(model.graph.input[i].type.tensor_type.shape.dim):
            dim.dim_param = f"i{a}"
    compare(model, feeds, rtol=1e-4, programs=None)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters_of_tuples(reduction: str, seed: int):
    rng = np.random.default_rng([seed, 12])
    rank = int(rng.integers(1, 4))
    k = int(rng.integers(1, rank + 1))
    feeds = _feeds(rng, _shape(rng, rank, 3, 6), list(range(rank)))
    for feed in feeds:
        count = int(rng.integers(1, 4))
        places = rng.integers(-3, 3, (count, k))
        if reduction == "none":  # The order of several updates of a cell is not defined.
            places[:, 0] = rng.permutation(3)[:count]
        feed["x1"] = places
        feed["x2"] = _floats(rng, count, *feed["x0"].shape[k:])
    inputs = list(feeds[0].values())
    model = model_of(
        "ScatterND",
        inputs,
        [(F, rank)],
        reduction=reduction,
        symbolic={0: range(rank), 1: [0], 2: range(rank - k + 1)},
    )
    names = [f"x0_{i}" for i in range(k, rank)]
    for dim, name in zip(
        model.graph.input[2].type.tensor_type.shape.dim, ["x1_0", *names], strict=True
    ):
        dim.dim_param = name
    compare(model, feeds, rtol=1e-4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_one_hot_and_top_k(seed: int):
    rng = np.random.default_rng([seed, 13])
    rank = int(rng.integers(1, 3))
    feeds = []
    for _ in range(SIZES):
        feeds.append({"x0": rng.integers(-5, 5, _shape(rng, rank))})
    values = _floats(rng, 2)
    axis = int(rng.integers(-rank - 1, rank + 1))
    inputs = [feeds[0]["x0"], np.array(4), values]
    compare(model_of("OneHot", inputs, [(F, rank + 1)], constant=(1, 2), axis=axis), feeds)
    axis = int(rng.integers(-rank, rank))
    feeds = _feeds(rng, _shape(rng, rank, 3), list(range(rank)))
    model = model_of(
        "TopK",
        [feeds[0]["x0"], _ints(3)],
        [(F, rank), (I, rank)],
        constant=(1,),
        axis=axis,
        largest=int(rng.integers(0, 2)),
    )
    # A sort takes the time of the greatest size, so that programs are for one.
    compare(model, feeds, programs=None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_numbers_of_results(seed: int):
    """Two programs: one counts, one is for all counts."""
    rng = np.random.default_rng([seed, 14])
    rank = int(rng.integers(1, 3))
    feeds = []
    for _ in range(SIZES):
        x = rng.integers(0, 3, _shape(rng, rank))
        x.flat[0] = 1
        feeds.append({"x0": x})
    compare(model_of("NonZero", [feeds[0]["x0"]], [(I, 2)]), feeds, programs=2)
    results = [(I, 1)] * 4
    model = model_of("Unique", [feeds[0]["x0"]], results, sorted=int(rng.integers(0, 2)))
    compare(model, feeds, programs=None)
    axis = int(rng.integers(-rank, rank))
    for feed in feeds:
        mask = rng.random(feed["x0"].shape[axis]) < 0.5
        mask[0] = True
        feed["x1"] = mask
    model = model_of("Compress", [feeds[0]["x0"], feeds[0]["x1"]], [(I, rank)], axis=axis)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = f"x0_{axis % rank}"
    compare(model, feeds, programs=2)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_non_max_suppression(seed: int):
    rng = np.random.default_rng([seed, 15])
    center = int(rng.integers(0, 2))
    feeds = []
    for count in (6, 9, 11):
        boxes = rng.random((2, count, 4)).astype(np.float32)
        scores = rng.random((2, 3, count)).astype(np.float32)
        feeds.append({"x0": boxes, "x1": scores})
    inputs = [
        *feeds[0].values(),
        _ints(4),
        np.array([0.3], np.float32),
        np.array([0.2], np.float32),
    ]
    model = model_of(
        "NonMaxSuppression",
        inputs,
        [(I, 2)],
        constant=(2, 3, 4),
        symbolic={0: [1], 1: [2]},
        center_point_box=center,
    )
    model.graph.input[1].type.tensor_type.shape.dim[2].dim_param = "x0_1"
    compare(model, feeds, programs=None)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_one_cell_of_pytorch_half_pixel_is_the_first_one(mode: str):
    x = _floats(np.random.default_rng(0), 1, 1, 5, 5)
    attributes: dict[str, Any] = {"coordinate_transformation_mode": "pytorch_half_pixel"}
    inputs = [x, None, None, _ints(1, 1, 1, 1)]
    model = model_of(
        "Resize", inputs, [(F, 4)], symbolic={0: "_ _ _ _"}, constant=(3,), mode=mode, **attributes
    )
    compare(model, [{"x0": x}], programs=None)


_TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", _TRANSFORMS)
def test_resizing(transform: str, mode: str, seed: int):
    rng = np.random.default_rng([seed, 16])
    scales = rng.choice([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], 2).astype(np.float32)
    feeds = _feeds(rng, [1, 2, *_shape(rng, 2, 4, 8)], [2, 3])
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": transform}
    if mode == "nearest":
        attributes["nearest_mode"] = str(
            rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
        )
        # Elsewhere, ONNX Runtime's coordinates in f32 are on the other side of a tie.
        attributes["coordinate_transformation_mode"] = "asymmetric"
        scales = rng.choice([0.5, 1.0, 2.0, 4.0], 2).astype(np.float32)
    elif mode == "cubic":
        attributes["exclude_outside"] = int(rng.integers(0, 2))
    if transform == "align_corners":
        # Of a length that is no integer, ONNX Runtime rounds the coordinates' as well.
        scales = rng.choice([1.0, 2.0, 3.0], 2).astype(np.float32)
    is_shrunk = mode != "nearest" and transform != "align_corners" and bool((scales <= 1).all())
    if is_shrunk and rng.random() < 0.5:
        attributes["antialias"] = 1
    model = model_of(
        "Resize",
        [feeds[0]["x0"], None, np.array([1, 1, *scales], np.float32)],
        [(F, 4)],
        constant=(2,),
        symbolic={0: [2, 3]},
        **attributes,
    )
    compare(model, feeds, rtol=1e-4, atol=1e-4)
    sizes = _ints(1, 2, *_shape(rng, 2, 3, 12))
    if mode == "nearest":
        return
    attributes.pop("antialias", None)
    model = model_of(
        "Resize",
        [feeds[0]["x0"], None, None, sizes],
        [(F, 4)],
        constant=(3,),
        symbolic={0: [2, 3]},
        **attributes,
    )
    compare(model, feeds, rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_samples_of_grids(mode: str, padding: str, seed: int):
    rng = np.random.default_rng([seed, 17])
    rank = 2 if mode == "cubic" else int(rng.integers(2, 4))
    feeds = []
    for i in range(SIZES):
        x = _floats(rng, 2, 2, *_shape(rng, rank, 3, 6))
        grid = rng.uniform(-1.6, 1.6, (2, *(3 + i for _ in range(rank)), rank))
        feeds.append({"x0": x, "x1": grid.astype(np.float32)})
    model = model_of(
        "GridSample",
        [feeds[0]["x0"], feeds[0]["x1"]],
        [(F, rank + 2)],
        symbolic={0: range(2, rank + 2), 1: range(1, rank + 1)},
        mode=mode,
        padding_mode=padding,
        align_corners=int(rng.integers(0, 2)),
    )
    compare(model, feeds, rtol=1e-3, atol=1e-3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sampling", [0, 2])
@pytest.mark.parametrize("transform", ["half_pixel", "output_half_pixel"])
def test_regions(transform: str, sampling: int, seed: int):
    rng = np.random.default_rng([seed, 18])
    feeds = []
    for i in range(SIZES):
        x = _floats(rng, 2, 3, 7 + i, 8 + i)
        corners = rng.uniform(0, 8, (4 + i, 2, 2)).astype(np.float32)
        rois = np.concatenate([corners.min(1), corners.max(1)], 1)
        feeds.append({"x0": x, "x1": rois, "x2": rng.integers(0, 2, 4 + i)})
    model = model_of(
        "RoiAlign",
        list(feeds[0].values()),
        [(F, 4)],
        symbolic={0: [2, 3], 1: [0], 2: [0]},
        output_height=3,
        output_width=2,
        sampling_ratio=sampling,
        spatial_scale=0.8,
        coordinate_transformation_mode=transform,
    )
    model.graph.input[2].type.tensor_type.shape.dim[0].dim_param = "x1_0"
    compare(model, feeds, rtol=1e-4, atol=1e-4, programs=1 if sampling else None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_fourier_transforms(seed: int):
    rng = np.random.default_rng([seed, 19])
    is_inverse = bool(rng.integers(0, 2))
    n = int(rng.integers(2, 13))
    parts = 2 if is_inverse or rng.random() < 0.5 else 1
    onesided = int(parts == 1 and rng.random() < 0.5)
    feeds = _feeds(rng, [2, n, parts], [0])
    length = np.array(int(rng.integers(2, 13)))
    model = model_of(
        "DFT",
        [feeds[0]["x0"], length, np.array(1)],
        [(F, 3)],
        opset=20,
        constant=(1, 2),
        symbolic={0: [0]},
        inverse=int(is_inverse),
        onesided=onesided,
    )

    def wanted(feed: Any) -> Any:
        x = feed["x0"].astype(np.float64)
        signal = x[..., 0] + 1j * x[..., 1] if parts == 2 else x[..., 0]
        found = (np.fft.ifft if is_inverse else np.fft.fft)(signal, int(length), axis=1)
        found = found[:, : int(length) // 2 + 1] if onesided else found
        return [np.stack([found.real, found.imag], -1).astype(np.float32)]

    compare(model, feeds, wanted=wanted, atol=1e-5)


def test_a_file_with_a_fourier_transform(tmp_path: Path):
    """The tables of the transform are part of the program."""
    x = _floats(np.random.default_rng(0), 2, 8, 1)
    file = tmp_path / "model.onnx"
    node = [x, np.array(8), np.array(1)]
    file.write_bytes(
        model_of(
            "DFT", node, [(F, 3)], opset=20, constant=(1, 2), symbolic={0: [0]}
        ).SerializeToString()
    )
    found, expected = tg.compile(str(file))(x), np.fft.fft(x[..., 0])
    np.testing.assert_allclose(found, np.stack([expected.real, expected.imag], -1), atol=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_spectra_of_frames(seed: int):
    rng = np.random.default_rng([seed, 20])
    n, step = int(rng.integers(2, 10)), int(rng.integers(1, 5))
    feeds = [{"x0": _floats(rng, 2, int(rng.integers(12, 30)), 1)} for _ in range(SIZES)]
    window = _floats(rng, n)
    model = model_of(
        "STFT",
        [feeds[0]["x0"], np.array(step), window, np.array(n)],
        [(F, 4)],
        opset=17,
        constant=(1, 2, 3),
        symbolic={0: [1]},
        onesided=int(rng.integers(0, 2)),
    )
    compare(model, feeds, rtol=1e-4, atol=1e-4)
