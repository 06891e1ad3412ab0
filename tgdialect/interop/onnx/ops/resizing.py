"""Resize, GridSample, RoiAlign, NonMaxSuppression."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from tgdialect.frontend.loops import scan
from tgdialect.frontend.symbolic import SymInt, smaller
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.indexing import true_cells
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, known, raw
from tgdialect.interop.onnx.values import Ratio, Refused, Value, as_tensor, dims
from tgdialect.ops.numpy_dtypes import Array

Real = float | Tensor
"""A number, or a scalar that depends on symbolic sizes."""


def _real(size: Any, dtype: str = "float64") -> Real:
    return SymInt.as_tensor(size).cast(dtype) if isinstance(size, SymInt) else float(size)


# -- Resize ----------------------------------------------------------------------------------------

_MOST_PARTS = 1 << 20
"""The greatest denominator of a scale of a symbolic extent: the product fits into an i64."""


@dataclass
class _Axis:
    """How one axis is resized."""

    axis: int
    size: Any
    scale: Real
    wide: Real
    """The new extent before it is rounded down."""
    roi: tuple[float, float] | None = None


def _scaled(extent: Any, scale: float | Ratio) -> Any:
    """The extent times a scale, rounded down."""
    if isinstance(scale, Ratio):
        return extent * scale.top // scale.bottom
    if not isinstance(extent, SymInt):
        return math.floor(extent * scale)
    numerator, denominator = float(scale).as_integer_ratio()
    if denominator > _MOST_PARTS:
        raise Refused(f"scales: {scale} of an axis of {extent} is no simple fraction; use sizes")
    return extent * numerator // denominator


def _scale(scale: float | Ratio) -> Real:
    return _real(scale.top) / _real(scale.bottom) if isinstance(scale, Ratio) else scale


def _axes(
    x: Tensor,
    scales: Array | None,
    sizes: Array | None,
    roi: Array | None,
    axes: Sequence[int] | None,
    policy: str,
) -> list[_Axis]:
    where = range(x.ndim) if axes is None else [axis_of(x, a) for a in axes]
    extents: list[Any] = [x.shape[a] for a in where]
    found: list[_Axis] = []
    if sizes is not None and sizes.size:
        wanted = dims(sizes)
        if policy != "stretch":
            if any(isinstance(d, SymInt) for d in (*wanted, *extents)):
                raise Refused(f"keep_aspect_ratio_policy {policy} of symbolic sizes")
            choose = {"not_larger": min, "not_smaller": max}[policy]
            scale = choose(w / e for w, e in zip(wanted, extents, strict=True))
            each = [(math.floor(scale * e + 0.5), scale, scale * e) for e in extents]
        else:
            pairs = zip(wanted, extents, strict=True)
            each = [(w, _real(w) / _real(e), _real(w)) for w, e in pairs]
    elif scales is not None and scales.size:
        pairs = zip(extents, scales.tolist(), strict=True)
        each = [(_scaled(e, s), _scale(s), _real(e) * _scale(s)) for e, s in pairs]
    else:
        raise Refused("neither scales nor sizes are given")
    for i, (axis, (size, scale, wide)) in enumerate(zip(where, each, strict=True)):
        part = None
        if roi is not None and roi.size:
            part = float(roi[i]), float(roi[len(roi) // 2 + i])
        found.append(_Axis(axis, size, scale, wide, part))
    return found


def _place(mode: str, line: Tensor, extent: Any, a: _Axis) -> Tensor:
    """The coordinates in the old axis of new cells."""
    is_one = not isinstance(a.size, SymInt) and a.wide == 1
    match mode:
        case "half_pixel":
            return (line + 0.5) / a.scale - 0.5
        case "pytorch_half_pixel":
            return line * 0 if is_one else (line + 0.5) / a.scale - 0.5
        case "tf_half_pixel_for_nn":  # Of opsets 11 and 12.
            return (line + 0.5) / a.scale
        case "asymmetric":
            return line / a.scale
        case "align_corners":
            return line * 0 if is_one else line * ((_real(extent) - 1) / (a.wide - 1))
        case "half_pixel_symmetric":
            offset = _real(extent) / 2 * (1 - _real(a.size) / a.wide)
            return (line + 0.5) / a.scale - 0.5 + offset
        case "tf_crop_and_resize":
            start, end = a.roi or (0.0, 1.0)
            last = _real(extent) - 1
            if is_one:
                return line * 0 + (start + end) * last / 2
            return line * ((end - start) * last / (a.wide - 1)) + start * last
        case _:
            raise Refused(f"coordinate_transformation_mode {mode!r} is not supported")


_NEAREST: dict[str, Any] = {
    "round_prefer_floor": lambda place: (place - 0.5).ceil(),
    "round_prefer_ceil": lambda place: (place + 0.5).floor(),
    "floor": Tensor.floor,
    "ceil": Tensor.ceil,
}


def _cubic(distance: Tensor, a: float) -> Tensor:
    """The weight of a cell by its distance (Keys, 1981)."""
    x = distance.abs()
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return (x <= 1).where(near, (x < 2).where(far, 0))


def _resize(
    x: Tensor,
    roi: Array | None = None,
    scales: Array | None = None,
    sizes: Array | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Tensor:
    transform = coordinate_transformation_mode
    is_crop = transform == "tf_crop_and_resize"
    found = x
    if mode != "nearest":
        found = x.cast("float64" if x.dtype.bits > 32 else "float32")
    outside: Tensor | None = None
    changed = [
        a
        for a in _axes(x, scales, sizes, roi if is_crop else None, axes, keep_aspect_ratio_policy)
        if a.roi is not None or a.size != x.shape[a.axis] or not _is_one(a.scale)
    ]
    # Cells along the last axis are picked one by one, whole rows along others.
    for a in reversed(changed):
        extent: Any = x.shape[a.axis]
        line = Tensor.arange(a.size).cast("float64")
        if mode == "nearest" and _is_repeat(a, extent, transform, nearest_mode):
            found = found.repeat_interleave(int(a.scale), a.axis)  # type: ignore[arg-type]
            continue
        place = _place(transform, line, extent, a)
        shape = tuple(-1 if i == a.axis else 1 for i in range(x.ndim))
        if is_crop:
            beyond = ((place < 0) | (place > _real(extent) - 1)).reshape(shape)
            outside = beyond if outside is None else outside | beyond
        if mode == "nearest":
            found = _picked(found, a.axis, _NEAREST[nearest_mode](place))
            continue
        weights = _weights(place, mode, a.scale, cubic_coeff_a, bool(antialias))
        low = place.floor()
        if exclude_outside:
            weights = {
                at: ((low + at >= 0) & (low + at < _real(extent))).where(w, 0)
                for at, w in weights.items()
            }
        if exclude_outside or antialias:
            total = reduce(operator.add, weights.values())
            weights = {at: w / total for at, w in weights.items()}
        # Cells are computed once, but may be picked where they are needed.
        before = found if found is x else found.contiguous()
        parts = (
            _picked(before, a.axis, low + at) * w.cast(found.dtype).contiguous().reshape(shape)
            for at, w in weights.items()
        )
        found = reduce(operator.add, parts)
    if outside is not None:
        found = outside.where(Tensor.full((), extrapolation_value, dtype=found.dtype), found)
    if x.dtype.is_integer and mode != "nearest":
        found = found.round().clamp(x.dtype.low, x.dtype.high)
    return found.cast(x.dtype)


def _is_one(scale: Real) -> bool:
    return not isinstance(scale, Tensor) and math.isclose(scale, 1)


def _is_repeat(a: _Axis, extent: Any, transform: str, nearest_mode: str) -> bool:
    """Whether the nearest cells of an axis are all cells, each repeated."""
    if isinstance(a.scale, Tensor) or not float(a.scale).is_integer() or a.scale < 1:
        return False
    is_floor = (transform, nearest_mode) == ("asymmetric", "floor")
    is_middle = transform in ("half_pixel", "half_pixel_symmetric")
    is_round = is_middle and nearest_mode.startswith("round_prefer")
    return (is_floor or is_round) and a.size == extent * int(a.scale)


def _picked(x: Tensor, axis: int, place: Tensor) -> Tensor:
    """The cells at positions along an axis; beyond the ends, those at the ends."""
    return x._cells(axis, place)  # pyright: ignore[reportPrivateUsage]


def _weights(place: Tensor, mode: str, scale: Real, a: float, antialias: bool) -> dict[int, Tensor]:
    """The weights of cells, by their distance from the cell at or before a place."""
    part = place - place.floor()
    shrunk = 1.0
    if antialias:
        if isinstance(scale, Tensor):
            raise Refused("antialias of symbolic sizes is not supported: use scales")
        shrunk = min(scale, 1.0)
    reach = 1 if mode == "linear" else 2
    first = math.floor(-reach / shrunk) + 1
    cells = range(first, 2 - first)
    distances = {at: (at - part) * shrunk for at in cells}
    if mode == "linear":
        return {at: (1 - d.abs()).clamp(0, 1) for at, d in distances.items()}
    if mode != "cubic":
        raise Refused(f"mode {mode!r} is not supported")
    return {at: _cubic(d, a) for at, d in distances.items()}


def _upsample(x: Tensor, scales: Array, *, mode: str) -> Tensor:
    """Upsample, and the first Resize: nearest cells before a place, and linear between cells."""
    return _resize(
        x,
        None,
        scales,
        mode="linear" if mode in ("linear", "bilinear") else mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


# -- GridSample ------------------------------------------------------------------------------------


def _grid_sample(
    x: Tensor, grid: Tensor, *, mode: str, padding_mode: str, align_corners: int = 0
) -> Tensor:
    return x.grid_sample(grid, mode, padding_mode, bool(align_corners))


# -- regions of interest ---------------------------------------------------------------------------


def _roi_align(
    call: NodeCall,
    x: Value,
    rois: Value,
    batches: Value,
    *,
    mode: str,
    output_height: int,
    output_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    coordinate_transformation_mode: str = "output_half_pixel",
) -> Tensor:
    """Means (or maxima) of samples of each bin, which are linear between four cells. Without a
    number of samples, a bin has as many as it has rows and columns."""
    image, boxes, indices = (as_tensor(v) for v in (x, rois, batches))
    is_half = coordinate_transformation_mode == "half_pixel"
    wide = "float64" if image.dtype.bits > 32 else "float32"
    corners = boxes.cast(wide) * spatial_scale - (0.5 if is_half else 0.0)
    count = corners.shape[0]
    _, channels, height, width = image.shape
    lines: list[tuple[Tensor, ...]] = []
    numbers: list[Tensor] = []
    for first, bins, extent in ((1, output_height, height), (0, output_width, width)):
        start, end = corners[:, first], corners[:, first + 2]
        size = end - start if is_half else (end - start).maximum(1)
        each = size / bins
        if sampling_ratio > 0:
            samples: Any = sampling_ratio
            number = Tensor.full((count,), float(sampling_ratio), dtype=wide)
        else:
            number = each.ceil()
            # Shapes have the greatest number of samples; those of smaller bins are masked.
            samples = call.count(
                number.max().maximum(1).cast("int32"), 2**31 - 1, "the samples of a bin"
            )
        bin_ = Tensor.arange(bins).cast(wide).reshape((1, bins, 1))
        sample = Tensor.arange(samples).cast(wide).reshape((1, 1, -1))
        start, each, number = (t.reshape((-1, 1, 1)) for t in (start, each, number))
        place = start + bin_ * each + (sample + 0.5) * each / number.maximum(1)
        limit = _real(extent, wide)
        is_sample = sample < number
        is_inside = is_sample & (place >= -1) & (place <= limit)
        place = place.maximum(0).minimum(limit - 1)
        low = place.floor()
        part = place - low
        high = (low + 1).minimum(limit - 1)
        cells = [t.cast("int64").contiguous() for t in (low, high)]
        lines.append((*cells, part.contiguous(), is_inside, is_sample))
        numbers.append(number)
    # Axes: box, bins of rows, samples of rows, bins of columns, samples of columns.
    rows = [t.unsqueeze(-1).unsqueeze(-1) for t in lines[0]]
    columns = [t.unsqueeze(1).unsqueeze(1) for t in lines[1]]
    flat = image.permute((0, 2, 3, 1)).cast(wide)
    flat = flat.reshape((-1, channels))
    batch = indices.cast("int64").reshape((-1, 1, 1, 1, 1))
    is_inside = (rows[3] & columns[3]).unsqueeze(-1)
    found: list[Tensor] = []
    for row, wy in ((rows[0], 1 - rows[2]), (rows[1], rows[2])):
        for column, wx in ((columns[0], 1 - columns[2]), (columns[1], columns[2])):
            linear = ((batch * height + row) * width + column).contiguous()
            found.append(flat[linear] * (wy * wx).unsqueeze(-1))
    if mode == "max":
        best = found[0].maximum(found[1]).maximum(found[2].maximum(found[3]))
        lowest = Tensor.full((), -math.inf, dtype=wide)
        # A sample outside of the image is 0, and one that a smaller bin has not is none.
        best = is_inside.where(best, 0)
        pooled = (rows[4] & columns[4]).unsqueeze(-1).where(best, lowest).max((2, 4))
        pooled = pooled.isinf().where(0, pooled)
    else:
        value = found[0] + found[1] + found[2] + found[3]
        total = is_inside.where(value, 0).sum((2, 4))
        pooled = total / (numbers[0] * numbers[1]).maximum(1).unsqueeze(-1)
    return pooled.permute((0, 3, 1, 2)).cast(image.dtype)


# -- NonMaxSuppression -----------------------------------------------------------------------------


def _non_max_suppression(
    call: NodeCall,
    boxes: Value,
    scores: Value,
    most: Value = None,
    iou_threshold: Value = None,
    score_threshold: Value = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """Each step selects the best box of each batch and class, and removes those that overlap."""
    (limit,) = [0] if most is None else dims(call.known(most, call.node.input[2]))
    tensor, left = as_tensor(boxes), as_tensor(scores)
    batches, classes, count = left.shape
    steps = smaller(limit, count) if limit > 0 else 0
    nothing = Tensor.zeros(0, 3, dtype="int64")
    if steps == 0 or 0 in left.shape:
        return nothing
    parts = [tensor[:, :, i].unsqueeze(1) for i in range(4)]
    if center_point_box:
        x, y, half_width, half_height = parts[0], parts[1], parts[2] / 2, parts[3] / 2
        sides = (y - half_height, y + half_height, x - half_width, x + half_width)
    else:
        sides = (
            parts[0].minimum(parts[2]),
            parts[0].maximum(parts[2]),
            parts[1].minimum(parts[3]),
            parts[1].maximum(parts[3]),
        )
    low_y, high_y, low_x, high_x = (s.contiguous() for s in sides)
    area = ((high_y - low_y) * (high_x - low_x)).contiguous()
    lowest = Tensor.full((), -math.inf, dtype=left.dtype)
    is_candidate = left.full(left.shape, True, "bool")
    if score_threshold is not None:
        is_candidate = left > as_tensor(score_threshold).reshape(())
    overlap = Tensor.zeros() if iou_threshold is None else as_tensor(iou_threshold).reshape(())

    def step(remaining: Tensor, _: Any) -> tuple[Tensor, Any]:
        best = remaining.argmax(-1, keepdim=True)
        is_some = remaining.gather(-1, best) > lowest

        def of_best(values: Tensor) -> Tensor:
            return values.expand((batches, classes, count)).gather(-1, best)

        height = high_y.minimum(of_best(high_y)) - low_y.maximum(of_best(low_y))
        width = high_x.minimum(of_best(high_x)) - low_x.maximum(of_best(low_x))
        common = height.maximum(0) * width.maximum(0)
        union = area + of_best(area) - common
        is_positive = (common > 0) & (area > 0) & (of_best(area) > 0) & (union > 0)
        is_near = is_positive & (common / union > overlap)
        is_gone = is_near | Tensor.arange(count).eq(best)
        return (is_some & is_gone).where(lowest, remaining), (best, is_some)

    _, (selected, is_there) = scan(step, is_candidate.where(left, lowest), None, steps)
    # From (steps, batches, classes, 1), in the order of the result.
    selected, is_there = (
        t.squeeze(-1).permute((1, 2, 0)).contiguous() for t in (selected, is_there)
    )
    cells = true_cells(call, is_there, "the boxes")
    if cells is None:
        return nothing
    box = selected[cells[:, 0], cells[:, 1], cells[:, 2]].cast("int64").unsqueeze(-1)
    return cells[:, :2].cat(box, dim=1)


RULES: Rules = {
    "GridSample": {16: _grid_sample},
    "NonMaxSuppression": {10: raw(_non_max_suppression)},
    "Resize": {10: known(_upsample, 1), 11: known(_resize, 1, 2, 3)},
    "RoiAlign": {10: raw(_roi_align)},
    "Upsample": {
        7: lambda x, *, scales, mode: _upsample(x, np.array(scales), mode=mode),
        9: known(_upsample, 1),
    },
}
