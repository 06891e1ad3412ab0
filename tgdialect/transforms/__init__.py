"""Rewrites from `tg` to `tg` at one level. In reading order:

* `canonicalization/`: patterns of `canonicalize`;
* `simplify/`: `tg-simplify`, symbolic arithmetic on integers and bools;
* `explicit_broadcast.py`, `annotate_properties.py`: passes that make IR easier to read;
* `affine_views.py`: chains of movement ops for affine views;
* `gradient/`: `tg-gradient`, reverse-mode derivatives; `builder.py`: emits ops for these and for
  sorts;
* `shard/`: programs on several devices; `substitution.py`: substitutes FUNCTIONs and calls;
* `decompose.py`: `tg-decompose`, which rewrites ops into primitives by recipes:
  * `recipe.py`: the language of recipes; `tg_semantics.py`: builds the ops of a recipe;
  * `float_format.py`: fields and polynomials of f32 and f64, of `coefficients.json`;
  * `transcendental.py`, `logistic.py`, `sine.py`, `error_function.py`, `cancelling_logarithms.py`,
    `remainder.py`, `soft_float.py`, `threefry.py`: the recipes;
* `barriers.py`: inserts the BARRIERs of a grid; `tg-check-barriers` reports missing ones;
* `private_ranges.py`: a RANGE for each loop; `unique_storage.py`: one op for each slot;
* `choose_sorts.py`: `tg-choose-sorts`, for the target; `sorts.py`: the algorithms;
* `reroll/`: `tg-reroll`, SCANs of steps that a program has one by one;
* `link_kernels.py`: kernels that a caller registers for CUSTOMFUNCTIONs;
* `error_bound/`: `tg-error-bound`, how far a result may be from other evaluations;
* `dead_ops.py`: erases the ops that a SINK does not need, and those without uses.
"""
