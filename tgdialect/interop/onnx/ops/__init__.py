"""The rules of operators, by families. `RULES` of each file has, for an operator and the opset
since which a rule holds, the function that makes its results.

* `elementwise.py`: arithmetic, comparisons, activations, casts;
* `creation.py`: constants, ranges, random numbers;
* `movement.py`: shapes, transpositions, slices, joins, pads;
* `indexing.py`: gathers, scatters, one-hot, NonZero, Unique, TopK;
* `reduction.py`: reductions, running sums, argmax;
* `normalization.py`: softmax, batch and layer normalization, losses;
* `products.py`: products of matrices, Einsum, attention;
* `convolution.py`: convolutions and pools;
* `resizing.py`: Resize, GridSample, RoiAlign, NonMaxSuppression;
* `signal.py`: Fourier transforms, windows, Det;
* `quantization.py`: quantised operators;
* `recurrent.py`: LSTM, GRU, RNN;
* `control.py`: If, Loop, Scan;
* `sequences.py`: sequences and optionals, as lists of Python;
* `contrib.py`: the domain `com.microsoft`; `contrib_attention.py`, `contrib_normalization.py`,
  `contrib_quantization.py`: its larger families.
"""
