"""The plug-in: `.pt2` files of `torch.export` as an input format."""

from tgdialect.plugin import Plugin, factories

PLUGIN = Plugin(all_frontends=factories({"pt2": "tgdialect.interop.torch.frontend:Pt2Frontend"}))
