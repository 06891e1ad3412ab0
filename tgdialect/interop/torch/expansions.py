"""Ops that are divided into others before a graph is: those that raise errors, and those whose
results depend on strides.

A program raises no errors. An op that does is one that computes, whose `info` is a result, and a
check of it, `aten._linalg_check_errors`, which PyTorch runs. This comes after AOTAutograd, which
would drop a check that nothing uses.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch._decomp import core_aten_decompositions
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from tgdialect.interop.torch.rules import Refusal
from tgdialect.interop.torch.translation import check_tensor, has_complex

aten = torch.ops.aten


class _AsItIs(Exception):
    """An op that is not expanded, for its arguments."""


def _check(info: Tensor, name: str) -> None:
    aten._linalg_check_errors(info, name, is_matrix=info.ndim == 0)


# -- factors that depend on strides ----------------------------------------------------------------


def _factors(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """LU and pivots of the matrix as it lies in memory by columns, which gradients rely on, the
    diagonal of U, and the sign of the permutation."""
    lu, pivots, _ = aten.linalg_lu_factor_ex(a.mT if a.is_contiguous() else a)
    places = torch.arange(1, pivots.shape[-1] + 1)
    sign = 1 - 2 * ((pivots != places).sum(-1) % 2)
    return lu, pivots, lu.diagonal(0, -2, -1), sign.to(a.dtype)


def _det(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    lu, pivots, diagonal, sign = _factors(a)
    return diagonal.prod(-1) * sign, lu, pivots


def _slogdet(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    lu, pivots, diagonal, sign = _factors(a)
    return diagonal.sign().prod(-1) * sign, diagonal.abs().log().sum(-1), lu, pivots


# -- errors ----------------------------------------------------------------------------------------


def _cholesky(a: Tensor, upper: bool = False) -> Tensor:
    factor, info = aten.linalg_cholesky_ex(a, upper=upper)
    _check(info, "cholesky")
    return factor


def _cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    if factor.shape[-1] == 0:
        raise _AsItIs
    is_zero = factor.diagonal(0, -2, -1) == 0
    first = is_zero.int().argmax(-1) + 1
    _check((is_zero.any(-1) * first).int(), "cholesky_inverse")
    return aten.cholesky_inverse(factor, upper)


def _svd(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> Any:
    if compute_uv:
        raise _AsItIs
    _check_nan(a, -4, "linalg.svd")
    return aten._linalg_svd(a, full_matrices, compute_uv, driver=driver)


def _eigh(a: Tensor, UPLO: str = "L", compute_v: bool = True) -> Any:
    if compute_v:
        raise _AsItIs
    _check_nan(a.tril() if UPLO == "L" else a.triu(), 1, "linalg.eigh")
    return aten._linalg_eigh(a, UPLO, compute_v)


def _pinv(a: Tensor, *, hermitian: bool = False, **tolerances: Any) -> Tensor:
    if hermitian:
        _check_nan(a.tril(), 1, "linalg.eigh")
    else:
        _check_nan(a, -4, "linalg.svd")
    return aten.linalg_pinv.atol_rtol_tensor(a, hermitian=hermitian, **tolerances)


def _check_nan(a: Tensor, info: int, name: str) -> None:
    """Fail with an `info` of LAPACK's, as its iterations do for numbers that are NaN."""
    _check((a.isnan().any(-1).any(-1) * info).int(), name)


def _checked(op: Any, name: str) -> Callable[..., Any]:
    """An op with the argument `check_errors`; its last result is the info."""

    def expand(*tensors: Tensor, check_errors: bool = False, **options: Any) -> Any:
        if not check_errors:
            raise _AsItIs
        found = op(*tensors, **options)
        _check(found[-1], name)
        return found

    return expand


EXPANSIONS: Mapping[Any, Callable[..., Any]] = {
    aten._linalg_det.default: _det,
    aten._linalg_slogdet.default: _slogdet,
    aten.cholesky.default: _cholesky,
    aten.cholesky_inverse.default: _cholesky_inverse,
    aten._linalg_svd.default: _svd,
    aten._linalg_eigh.default: _eigh,
    aten.linalg_pinv.atol_rtol_tensor: _pinv,
    **{
        op: _checked(op, name)
        for op, name in (
            (aten.linalg_cholesky_ex.default, "linalg.cholesky_ex"),
            (aten.linalg_inv_ex.default, "linalg.inv_ex"),
            (aten.linalg_lu_factor_ex.default, "torch.linalg.lu_factor_ex"),
            (aten.linalg_ldl_factor_ex.default, "torch.linalg.ldl_factor_ex"),
            (aten._linalg_solve_ex.default, "torch.linalg.solve_ex"),
        )
    },
}
"""Functions of PyTorch's tensors by the ops that they stand for. Names are those in its errors."""


_VALUES: Mapping[Any, tuple[str, int]] = {
    aten._linalg_svd.default: ("compute_uv", 1),
    aten._linalg_eigh.default: ("compute_v", 0),
}
"""Ops that return vectors if an argument says so, and which of their results are values."""


def _without_vectors(node: Node) -> None:
    """Let an op compute values alone if these are used alone: PyTorch asks for vectors wherever it
    traces, since there may be a gradient."""
    flag, values = _VALUES[node.target]
    if all(user.args[1] == values for user in node.users):
        node.args, node.kwargs = node.args[:2], {**node.kwargs, flag: False}


def expand(graph: GraphModule) -> None:
    """Expand the ops of a graph whose tensors are real and on the CPU, in place."""
    for node in list(graph.graph.nodes):
        if node.target in _VALUES:
            _without_vectors(node)
        if (expansion := EXPANSIONS.get(node.target)) is not None:
            try:
                values = [operand.meta["val"] for operand in node.all_input_nodes]
                for value in values:
                    check_tensor(value)
                if not has_complex(values):
                    _expand(node, expansion)
            except (_AsItIs, Refusal):
                continue
    graph.recompile()


def _expand(node: Node, expansion: Callable[..., Any]) -> None:
    """Replace a node by those of a function. Raises _AsItIs."""
    operands = node.all_input_nodes

    def function(*values: Any) -> Any:
        of = dict(zip(operands, values, strict=True))
        given: tuple[Any, Any] = node.args, node.kwargs
        args, kwargs = (map_arg(each, of.__getitem__) for each in given)
        return expansion(*cast("Sequence[Any]", args), **cast("Mapping[str, Any]", kwargs))

    given = [operand.meta["val"] for operand in operands]
    mode = detect_fake_mode(given)
    assert mode is not None
    with mode, torch.no_grad():
        body = make_fx(function, cast("Any", core_aten_decompositions()))(*given).graph
    copies: dict[Node, Any] = dict(zip(body.find_nodes(op="placeholder"), operands, strict=True))
    with node.graph.inserting_before(node):
        for each in body.nodes:
            if each.op == "call_function":
                copies[each] = node.graph.node_copy(each, copies.__getitem__)
                copies[each].meta["stack_trace"] = node.meta.get("stack_trace")
    (output,) = body.find_nodes(op="output")
    results: list[Any] = []
    if isinstance(output.args[0], Node):
        node.replace_all_uses_with(copies[output.args[0]])
    else:
        results += pytree.tree_map_only(Node, copies.__getitem__, output.args[0])
    for user in list(node.users):
        assert user.target is operator.getitem
        user.replace_all_uses_with(results[cast(int, user.args[1])])
        node.graph.erase_node(user)
    node.graph.erase_node(node)
