"""What this package adds to every xDSL tool: the entry point in `pyproject.toml` names it."""

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _img() -> Dialect:
    from imgc.dialect import IMG

    return IMG


def _img_to_tg() -> type[ModulePass]:
    from imgc.to_tg import ImgToTgPass

    return ImgToTgPass


IMG_UNIVERSE = Universe(all_dialects={"img": _img}, all_passes={"img-to-tg": _img_to_tg})


def register_dialects(context: Context) -> None:
    """Register the dialects, unless they are already: where this package is installed."""
    for name, factory in IMG_UNIVERSE.all_dialects.items():
        if name not in context.registered_dialect_names:
            context.register_dialect(name, factory)
