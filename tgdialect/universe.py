"""What tgdialect adds to every xDSL tool: discovered through the `xdsl.universe` entry point.

Everything is behind a factory, so that a tool that does not use the dialect does not import it.
"""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.universe import Universe


def _tg() -> Dialect:
    from tgdialect.dialect import TG

    return TG


TG_UNIVERSE = Universe(all_dialects={"tg": _tg})
