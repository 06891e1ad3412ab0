"""The Python front end: lazy tensors, traced functions, gradients. In reading order:

The lazy graph:

* `dtypes.py`: names of dtypes, and promotion; `symbolic.py`: sizes that are known when called;
* `graph.py`: nodes, each an op on other nodes; `realization.py`: from nodes to arrays;
* `gradient.py`: gradients of nodes;
* `state.py`, `setitem.py`: assignment to tensors, and to cells of them; `in_place.py`: operators
  in place; `views.py`: writes through views.

Methods of `Tensor`, one mixin per family, which extends the families whose methods it calls:

* `base.py`: the class that every family extends; `keywords.py`: other names of arguments;
* `casts.py`, `creation.py`, `random.py`: conversions, and tensors without operands;
* `arrays.py`: numbers of Python and of other libraries as arrays;
* `precision.py`: in which dtype a method computes;
* `elementwise.py`, `powers.py`: arithmetic; `functions.py`, `special.py`: functions of floats;
* `movement.py`, `windows.py`: reshaping, padding, joins, windows;
* `indexing.py`, `scattering.py`: slicing, gather and scatter;
* `einops.py`: formulas of `rearrange`;
* `reduction.py`, `linear_algebra.py`, `sorting.py`, `statistics.py`: sums, products, sorts, counts;
* `convolutions.py`: convolutions and pooling;
* `decompositions.py`: QR, singular values, norms; `spectral.py`: Fourier transforms;
* `resizing.py`, `neural.py`, `attention.py`: images, networks;
* `sharding.py`: tensors on several devices;
* `tensor.py`: `Tensor`, which has all of them.

Compiled functions:

* `ownership.py`: which values a call may overwrite;
* `spec.py`: shape and dtype of an argument without an array;
* `structures.py`: tensors in nested arguments and results;
* `arguments.py`: names, positions and arrays of arguments;
* `tracing.py`: calls a function on tensors without values, and captures what else it reads and
  writes;
* `loops.py`: `tg.scan` and `tg.while_loop`;
* `function.py`: `@tg.function`; `traced.py`: one trace of a function, and how it is run;
  `lowered.py`: functions that are compiled before they are called.
"""

from tgdialect.frontend.tensor import Tensor

__all__ = ["Tensor"]
