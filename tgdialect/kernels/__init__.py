"""Kernels that are written by hand in the dialect, for what tensor ops cannot say in loops.

* `writer.py`: writes kernels, of loops and of loads and stores in an order, and FUNCTIONs that call
  them, and adds them to a module;
* `radix_sort.py`, `merge_sort.py`: sort keys with their positions, on a CPU and on a GPU;
* `sorting_network.py`: sorts keys alone, many rows at once in the lanes of vectors;
* `smallest.py`: the least keys, for `topk`.
"""
