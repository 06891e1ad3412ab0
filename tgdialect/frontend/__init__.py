"""The Python front end: lazy tensors, traced functions, gradients. In reading order:

The lazy graph:

* `dtypes.py`: names of dtypes, and promotion; `symbolic.py`: sizes that are known when called;
* `locations.py`: which node of an imported program an op is for, and the names of its values;
* `graph.py`: nodes, each an op on other nodes; `realization.py`: from nodes to arrays,
  and which values a call may overwrite;
* `state.py`: assignment to tensors, and tensors on several devices; `in_place.py`: operators in
  place, and assignment to cells; `views.py`: writes through views.

Methods of `Tensor`, one mixin per family, which extends the families whose methods it calls:

* `base.py`: the class that every family extends; `keywords.py`: other names of arguments;
  `precision.py`: methods that compute in wider floats; `arrays.py`: values of Python and of other
  libraries as arrays;
* `creation.py`, `random.py`: tensors without operands;
* `elementwise.py`: arithmetic; `functions.py`: functions of floats;
* `movement.py`: reshaping, padding, joins, windows;
* `indexing.py`, `scattering.py`: slicing, gather and scatter;
* `einops.py`: formulas of `rearrange`;
* `reduction.py`, `sorting.py`: sums, sorts, counts;
* `linear_algebra.py`: products, QR, singular values, norms;
* `convolutions.py`: convolutions and pooling;
* `spectral.py`: Fourier transforms;
* `resizing.py`, `neural.py`: images, networks;
* `tensor.py`: `Tensor`, which has all of them, and gradients.

Compiled functions:

* `tracing.py`: calls a function on tensors without values, and captures what else it reads and
  writes; tensors in nested arguments and results;
* `loops.py`: `tg.scan`, `tg.while_loop` and `tg.cond`;
* `function.py`: `@tg.function`; `traced.py`: one trace of a function, and how it is run;
  `lowered.py`: functions that are compiled before they are called, for specs.
"""

from tgdialect.frontend.tensor import Tensor

__all__ = ["Tensor"]
