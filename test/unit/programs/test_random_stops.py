"""Programs whose passes are stopped after any action verify, and mean the same.

`TG_RANDOM_STOPS=500` in the environment makes that many programs, each of which is stopped four
times.
"""

from __future__ import annotations

import pytest
from random_seeds import batches
from stopped_programs import stoppable
from stopping import failures

STOPS = 4
"""The stops of each program: one is between two passes, where it is compiled as well."""


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_STOPS", 300), ids=str)
def test_stopped_programs_mean_the_same(seeds: range):
    wrong = [text for seed in seeds for text in failures(stoppable(seed), seed, STOPS)]
    assert not wrong, "\n\n".join(wrong)
