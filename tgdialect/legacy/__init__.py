"""The vocabularies before the specification: the UOp Summary's, and that of numbered listings.

* `plugin.py`: what the rest of the package knows of it;
* `dialect.py`: the `tg_legacy` dialect; `ops/`: its ops; `base.py`, `attributes.py`, `table.py`,
  `alu.py`, `rules.py`;
* `upgrade/`: `tg-upgrade-legacy`, which makes ops of the specification of them;
* `listing/`: `.uops` files, the numbered text in which tinygrad prints kernels.
"""
