"""Below the dialects: text, object code, assembly. In reading order:

* `llvm_ir/`: from the `llvm` dialect to LLVM IR;
* `llvm_machine.py`: from LLVM IR to object code and assembly; `llvm_cpu.py`: of a CPU;
* `masked_accesses.py`: rewrites of LLVM IR that avoid miscompilations, and a crash of code
  generation for NVPTX;
* `half_conversions.ll`: conversions of f16 and bf16 for CPUs that lack them;
* `headroom.py`: the check that LLVM will have memory;
* `guarded.py`: LLVM in a child, where it may end the process; `foreign_code.py`: modules of the
  `llvm` dialect for other CPUs;
* `asm.py`: `tg-opt -t asm`;
* `ptx.py`: the kernels of a module as PTX, for a driver; `commands.py`: commands that make files of
  others, as machine code of that, and link it;
* `sources.py`: `tg-opt -t c`, `opencl`, `cuda` and `metal`; `c_compiler.py`: the system's compiler
  of C.
"""
