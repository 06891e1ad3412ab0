"""The table of ATen ops, a file for each family.

| file | ops |
|---|---|
| `bessel.py` | Bessel and Airy functions |
| `complex_numbers.py` | of complex values: Fourier transforms, arithmetic, movement, sums |
| `control.py` | whose operands are graphs: conditionals, loops |
| `creation.py` | that make tensors: constants, ranges |
| `elementwise.py` | of each element: arithmetic, functions, comparisons, casts |
| `gamma.py` | derivatives of the gamma function, zeta, incomplete gamma functions |
| `gradients.py` | the helper of ops that are gradients of others |
| `histograms.py` | histograms |
| `indexing.py` | at positions that are computed: gather, scatter, embeddings, sorts |
| `linalg.py` | of matrices: factorisations, equations, the exponential |
| `movement.py` | that move elements: reshape, slice, pad, concatenate |
| `neural.py` | of networks: normalisation, softmax, attention, activations with parameters |
| `products.py` | of sums of products: matrices, convolutions; pools, which use windows as well |
| `reduction.py` | along axes: sums, extrema, running sums |
| `special.py` | quantiles of the normal distribution, divisors, orthogonal polynomials |
"""
