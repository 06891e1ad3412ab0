"""The analyses of a function that several passes of `tg-rangeify` ask."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.structure import Structures
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import facts
from tgdialect.lowering.rangeify.closed_form import ClosedForms
from tgdialect.lowering.rangeify.planning.online import OnlineSums

ANALYSES = "analyses"
"""The kind of facts that are the analyses of functions. They stay true while `tg-rangeify` rewrites
a function: the passes keep what each value is."""


class Analyses:
    """Analyses of the values of a function."""

    def __init__(self) -> None:
        self.structures = Structures()
        self.intervals = MinMax()
        self.validity = Validity()
        self.is_closed = ClosedForms(self.structures, self.intervals)
        self.online: dict[Operation, OnlineSums] = {}
        """The sums over the exponentials of maxima that are planned, by these."""


def analyses_of(block: Block) -> Analyses:
    """The analyses of the body of a function: those of the pass before, in a scope of
    `kept_facts(ANALYSES)`, else new ones."""
    known = facts(ANALYSES)
    if block not in known:
        known[block] = Analyses()
    return known[block]
