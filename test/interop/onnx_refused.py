"""Node cases of onnx.backend.test that do not pass on our backend, and why."""

from collections.abc import Mapping

REFUSED: Mapping[str, str] = {
    r"^test_bernoulli": "the results are NumPy's random numbers",
    r"^test_image_decoder": "decoding files of images is not part of a program on tensors",
    r"string|^test_str|^test_regex_full_match|label_encoder": "strings are refused",
    r"^test_ai_onnx_ml_tree_ensemble": "classical models are not supported",
}
"""Regular expressions of names, and the reasons."""
