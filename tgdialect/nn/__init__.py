"""Layers with state.

* `layers.py`: `tg.nn.Linear` and other layers;
* `sequences.py`: `LSTM`, `GRU` and `MultiheadAttention`;
* `optim.py`: optimizers and schedules of learning rates;
* `state.py`: the tensors of an object by name, and safetensors files.
"""

from tgdialect.nn import optim, state
from tgdialect.nn.layers import (
    BatchNorm,
    BatchNorm2d,
    BatchNorm3d,
    Conv1d,
    Conv2d,
    ConvTranspose1d,
    ConvTranspose2d,
    Embedding,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LayerNorm2d,
    Linear,
    RMSNorm,
)
from tgdialect.nn.sequences import GRU, LSTM, LSTMCell, MultiheadAttention

__all__ = [
    "GRU",
    "LSTM",
    "BatchNorm",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "Embedding",
    "GroupNorm",
    "InstanceNorm",
    "LSTMCell",
    "LayerNorm",
    "LayerNorm2d",
    "Linear",
    "MultiheadAttention",
    "RMSNorm",
    "optim",
    "state",
]
