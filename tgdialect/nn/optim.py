"""Optimizers, clipping of gradients, and schedules of learning rates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor


class Optimizer(ABC):
    """Updates parameters by their gradients. `lr` is a tensor of shape (1,), as in tinygrad, to
    which a schedule assigns.

    With `shard_state`, of parameters with a copy on each of several devices each device updates a
    part, and has the state of that part alone: ZeRO's first stage (Rajbhandari et al., 2020).
    """

    def __init__(self, params: Sequence[Tensor], lr: float, shard_state: bool = False) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        self.params = list(dict.fromkeys(p for p in params if p.requires_grad))
        if not self.params:
            raise ValueError("optimizer must have at least one param")
        self.lr = Tensor([lr])
        self.shard_state = shard_state

    def state_of(self, param: Tensor) -> Tensor:
        """Zeros for the state of a parameter, where the device is that updates it."""
        zeros, devices = param.zeros_like(), param.device
        if not self.shard_state or not isinstance(devices, tuple) or param.axis is not None:
            return zeros
        axes = [i for i, extent in enumerate(param.shape) if extent % len(devices) == 0]
        return zeros.shard(devices, axes[0]) if axes else zeros

    def zero_grad(self) -> None:
        """Delete the gradients."""
        for param in self.params:
            param.grad = None

    def step(self) -> None:
        """Update every parameter by its gradient, all in one program."""
        changed = self.schedule_step()
        changed[0].realize(*changed[1:])

    def schedule_step(self) -> list[Tensor]:
        """Update the parameters lazily; returns the tensors that were assigned to."""
        if not Tensor.training:
            raise RuntimeError("an optimizer steps in training: `with Tensor.train():`")
        gradients: list[Tensor] = []
        for param in self.params:
            if param.grad is None:
                raise RuntimeError(f"a parameter of shape {param.shape} has no gradient")
            gradients.append(param.grad.detach())
        return [*self.params, *self.update(gradients)]

    @property
    def rate(self) -> Tensor:
        """`lr` as a scalar, which broadcasts to a parameter of any shape."""
        return self.lr.reshape(())

    @abstractmethod
    def update(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """Assign to the parameters and to the optimizer's state, and return the state."""


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2019)."""

    decoupled = True

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        shard_state: bool = False,
    ) -> None:
        super().__init__(params, lr, shard_state)
        _check_not_negative(eps=eps, weight_decay=weight_decay)
        self.b1, self.b2, self.eps, self.wd = b1, b2, eps, weight_decay
        self.b1_t, self.b2_t = Tensor(1.0), Tensor(1.0)
        self.m = [self.state_of(p) for p in self.params]
        self.v = [self.state_of(p) for p in self.params]

    def update(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        self.b1_t.assign(self.b1_t * self.b1)
        self.b2_t.assign(self.b2_t * self.b2)
        for param, gradient, m, v in zip(self.params, gradients, self.m, self.v, strict=True):
            value, g = param.detach().shard_like(m), gradient.shard_like(m)
            g = g if self.decoupled or not self.wd else g + self.wd * value
            m.assign(self.b1 * m + (1 - self.b1) * g)
            v.assign(self.b2 * v + (1 - self.b2) * (g * g))
            up = (m / (1 - self.b1_t)) / ((v / (1 - self.b2_t)).sqrt() + self.eps)
            if self.decoupled and self.wd:
                up = up + self.wd * value
            step = self.rate * self.trust(value, up)
            param.assign((value - step * up).cast(param.dtype))
        return [self.b1_t, self.b2_t, *self.m, *self.v]

    def trust(self, param: Tensor, update: Tensor) -> Tensor | float:
        """The factor of an update beside the learning rate."""
        return 1.0


class Adam(AdamW):
    """Adam (Kingma & Ba, 2015); weight decay is part of the gradient."""

    decoupled = False

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        shard_state: bool = False,
    ) -> None:
        super().__init__(params, lr, b1, b2, eps, weight_decay, shard_state)


class LAMB(AdamW):
    """Adam whose updates are as long as the parameters: layer-wise adaptive moments for large
    batches (You et al., 2020). With `adam` the length is that of AdamW."""

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        adam: bool = False,
        shard_state: bool = False,
    ) -> None:
        super().__init__(params, lr, b1, b2, eps, weight_decay, shard_state)
        self.adam = adam

    def trust(self, param: Tensor, update: Tensor) -> Tensor | float:
        return 1.0 if self.adam else _trust(param, update)


class LARS(Optimizer):
    """Stochastic gradient descent whose steps are a part of the length of the parameters:
    layer-wise adaptive rate scaling (You et al., 2017).

    Args:
        ns_steps, ns_coefficients: steps and coefficients of `Tensor.newton_schulz`, which makes the
            update of each matrix orthogonal; none without coefficients. Axes after the first are
            one, so that a vector is a column and a scalar a matrix of one element.
        nesterov: whether the update is that after the next step of the momentum.
        classic: whether the momentum accumulates updates, with the learning rate of their steps,
            rather than gradients.
        pre_wd: whether the decay of weights is added to the gradient, rather than to the update.
        tcoef: the length of an update by that of the parameter, for a learning rate of 1; 0 for
            updates of the gradient's length.
    """

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        ns_steps: int = 0,
        ns_coefficients: Sequence[float] | None = None,
        nesterov: bool = False,
        classic: bool = True,
        pre_wd: bool = True,
        tcoef: float = 0.001,
        shard_state: bool = False,
    ) -> None:
        super().__init__(params, lr, shard_state)
        _check_not_negative(momentum=momentum)
        self.momentum, self.wd, self.tcoef = momentum, weight_decay, tcoef
        self.ns_steps, self.ns_coefficients = ns_steps, ns_coefficients
        self.nesterov, self.classic, self.pre_wd = nesterov, classic, pre_wd
        self.b = [self.state_of(p) for p in self.params] if momentum else []

    def update(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        for i, (param, gradient) in enumerate(zip(self.params, gradients, strict=True)):
            value, g = param.detach(), gradient
            trust = _trust(value, g, self.wd, self.tcoef) if self.tcoef else None
            if self.pre_wd and self.wd:
                g = g + self.wd * value
            if self.classic:
                g = self._scaled(g, trust)
            if self.momentum:
                g = g.shard_like(self.b[i])
                self.b[i].assign(self.momentum * self.b[i] + g)
                g = g + self.momentum * self.b[i] if self.nesterov else self.b[i]
            if self.ns_coefficients:
                rows = g.reshape((math.prod(g.shape[:1]), math.prod(g.shape[1:])))
                g = rows.newton_schulz(self.ns_steps, self.ns_coefficients).reshape(g.shape)
            if not self.classic:
                g = self._scaled(g, trust)
            if not self.pre_wd and self.wd:
                g = g + self.wd * self.rate * value
            param.assign((value - g).cast(param.dtype))
        return self.b

    def _scaled(self, update: Tensor, trust: Tensor | None) -> Tensor:
        """An update times the trust in it and the learning rate."""
        return (update if trust is None else update * trust) * self.rate


class SGD(LARS):
    """Stochastic gradient descent, with PyTorch's momentum."""

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        shard_state: bool = False,
    ) -> None:
        super().__init__(
            params, lr, momentum, weight_decay, nesterov=nesterov, shard_state=shard_state
        )
        self.classic, self.tcoef = False, 0.0
        _check_not_negative(weight_decay=weight_decay)


class Muon(LARS):
    """Momentum whose updates of matrices are made orthogonal by Newton and Schulz's iteration, with
    decoupled weight decay (Jordan et al., 2024; Liu et al., 2025)."""

    def __init__(
        self,
        params: Sequence[Tensor],
        lr: float = 0.001,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
        ns_steps: int = 5,
        ns_coefficients: Sequence[float] = (3.4445, -4.775, 2.0315),
        nesterov: bool = True,
        shard_state: bool = False,
    ) -> None:
        given = momentum, weight_decay, ns_steps, ns_coefficients, nesterov
        super().__init__(params, lr, *given, shard_state=shard_state)
        self.classic, self.pre_wd, self.tcoef = False, False, 0.0


class OptimizerGroup(Optimizer):
    """Several optimizers that step together, each for parameters of its own."""

    def __init__(self, *optimizers: Optimizer) -> None:
        if not optimizers:
            raise ValueError("a group has an optimizer at least")
        self.optimizers = optimizers
        self.params = [param for optimizer in optimizers for param in optimizer.params]

    def __getitem__(self, i: int) -> Optimizer:
        return self.optimizers[i]

    def schedule_step(self) -> list[Tensor]:
        return [tensor for optimizer in self.optimizers for tensor in optimizer.schedule_step()]

    def update(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        state: list[Tensor] = []
        for optimizer in self.optimizers:
            state += optimizer.update(gradients[: len(optimizer.params)])
            gradients = gradients[len(optimizer.params) :]
        return state


def _check_not_negative(**values: float) -> None:
    """Raise ValueError for an argument of an optimizer that is negative."""
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{name} is negative: {value}")


def _trust(param: Tensor, update: Tensor, weight_decay: float = 0.0, factor: float = 1.0) -> Tensor:
    """The length of a parameter, times a factor, by that of its update, which is without the decay
    of weights; 1 where either is 0."""
    a, b = param.norm(), update.norm()
    is_positive = (a > 0) & (b > 0)
    return is_positive.where(factor * a / is_positive.where(b + weight_decay * a, 1.0), 1.0)


# -- gradients -----------------------------------------------------------------------------------


def clip_grad_norm_(
    parameters: Tensor | Sequence[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale the gradients of parameters so that together they have at most a norm. Parameters
    without a gradient, or without elements, are passed over. Returns the norm before, as PyTorch
    does, without computing it."""
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    given = [(param, param.grad) for param in params if param.grad is not None]
    gradients = [(param, gradient) for param, gradient in given if 0 not in gradient.shape]
    if not gradients:
        return Tensor(0.0)
    norms = [gradient.norm(norm_type).cast(dtypes.float32) for _, gradient in gradients]
    total = Tensor.stack(norms).norm(norm_type)
    scale = (max_norm / (total + 1e-6)).clamp(max_=1.0)
    for param, gradient in gradients:
        param.grad = (gradient * scale).cast(gradient.dtype)
    return total


# -- learning rates ------------------------------------------------------------------------------


class LRScheduler(ABC):
    """Sets an optimizer's learning rate at each step."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.base_lr = float(optimizer.lr.item())
        self.epoch_counter = 0

    def step(self) -> None:
        """Set the next value."""
        self.epoch_counter += 1
        self.optimizer.lr.assign([self.get_lr()]).realize()

    @abstractmethod
    def get_lr(self) -> float:
        """The value at the present step."""


class StepLR(LRScheduler):
    """Multiplies the learning rate by gamma every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        self.step_size, self.gamma = step_size, gamma

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** (self.epoch_counter // self.step_size)


class MultiStepLR(LRScheduler):
    """Multiplies the learning rate by gamma at each milestone."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        self.milestones, self.gamma = tuple(milestones), gamma

    def get_lr(self) -> float:
        passed = sum(self.epoch_counter >= m for m in self.milestones)
        return self.base_lr * self.gamma**passed


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial value to `eta_min` (Loshchilov & Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        super().__init__(optimizer)
        self.T_max, self.eta_min = T_max, eta_min

    def get_lr(self) -> float:
        half = 1 + math.cos(math.pi * self.epoch_counter / self.T_max)
        return self.eta_min + 0.5 * (self.base_lr - self.eta_min) * half


class LinearLR(LRScheduler):
    """Linear interpolation from one factor to another over a number of steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        super().__init__(optimizer)
        self.factors, self.total_iters = (start_factor, end_factor), total_iters
        optimizer.lr.assign([self.get_lr()]).realize()

    def get_lr(self) -> float:
        start, end = self.factors
        share = min(self.epoch_counter / self.total_iters, 1)
        return self.base_lr * (start + (end - start) * share)
