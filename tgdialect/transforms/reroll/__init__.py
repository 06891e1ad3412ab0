"""`tg-reroll`: steps that a program has one by one become a SCAN. In reading order:

* `graph.py`: nodes that are equal, and nodes of one kind;
* `periods.py`: repetitions in a sequence, such as the ops on a longest path;
* `steps.py`: what one op of a step is in all steps;
* `scan.py`: a SCAN in their place;
* `merge.py`: one SCAN instead of several with the same steps;
* `stage.py`: the pass.
"""

from tgdialect.transforms.reroll.stage import RerollPass, reroll, reroll_block

__all__ = ["RerollPass", "reroll", "reroll_block"]
