"""The part of safetensors' NumPy interface that tgdialect uses, annotated in full."""

from typing import Any

import numpy as np

_Array = np.ndarray[Any, np.dtype[Any]]

def save_file(
    tensor_dict: dict[str, _Array], filename: str, metadata: dict[str, str] | None = None
) -> None: ...
def load_file(filename: str) -> dict[str, _Array]: ...
