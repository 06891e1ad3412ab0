"""The plug-in: `.onnx` files as an input format."""

from tgdialect.plugin import Plugin, factories

PLUGIN = Plugin(all_frontends=factories({"onnx": "tgdialect.interop.onnx.frontend:OnnxFrontend"}))
