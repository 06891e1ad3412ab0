"""
Code in place of xDSL's, for speed alone: the same results in less time. `README.md` says what each
part is for and how much it saves.

* `unchecked.py`: attributes that are known to be valid, made without xDSL's checks.
* `formats.py`: a compiler of assembly formats, which runs when a format is first used.
* `accessors.py`: operands and results by names and numbers; `creation.py`: new ops;
  `operations.py`: the base class of ops that are made so.
* `definitions.py`: how ops are defined and parsed.
* `walk.py`: the ops of a block and of regions.
* `parser.py`: tokens and tensor types; `func_ops.py`: `func.func` and `func.return`;
  `context.py`: the dialects of a parser; `llvm_formats.py`: formats of
  xDSL's `llvm`, compiled when they are used.

This is the lowest layer: it imports xDSL and Python's library only, and knows no op of ours. Tests
(`test/unit/fast_xdsl`) compare each part with xDSL's, and `bench/fast_xdsl.py` measures both.
"""
