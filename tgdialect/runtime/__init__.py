"""From a module to code in memory, and calls of it. In reading order:

Compiling:

* `compiler.py`: `compile`, from text, path, module or builder, for the CPU or a device;
* `staged.py`: a module and its stages; `build.py`: then LLVM; `c_build.py`: then the C compiler;
* `processes.py`: children of `fork` that share the kernels;
* `codegen.py`: the thread that LLVM runs on; `warm_up.py`: its first code, while the compiler is
  imported; `speed.py`: interpreter settings meanwhile;
  `progress.py`: the line that says how far it is;
* `optimize.py`: what times kernels for `tg-optimize`, BEAM, on this CPU and on devices; `beam.py`:
  the search on a machine;
* `reproducer.py`: the files that failures of the compiler leave; `aborts.py`: what is done before
  LLVM ends this process;
* `find_windows.py`: finds the SHRINKs and PADs whose bounds a call has to check.

Programs as data:

* `program.py`: parameters and object code; `windows.py`: bounds that a call checks;
* `cache.py`: the object cache.

Ahead of time:

* `ahead.py`: from a module to a file; `program_file.py`: such files, and `load`;
* `program_check.py`: whether the tables of such a file make sense;
* `shared_library.py`: a program as a library for C;
* `assemble.py`: `tg-assemble`; `machine_code.py`: `tg-opt -t obj`, `so`, `cubin` and `hsaco`.

Loading:

* `images.py`: object code in memory, by `elf.py` (our loader) or `jit.py` (LLVM's);
* `loader.py`: the same for programs, with `threads.py`, the parallel runtime;
* `once.py`: values that a process makes once.

Calling:

* `executable.py`: `Executable`; `host_executable.py`: one for this CPU;
* `devices/`: OpenCL devices and GPUs, and executables for them;
* `distributed/`: programs on several devices, by threads or by MPI;
* `dlpack.py`: shares arrays with other libraries;
* `memory.py`: addresses, pools of blocks, who else sees an array, and what is left of one that
  nothing needs any more;
* `launcher.py`: builtins that call compiled code;
* `native/`: LLVM IR of launchers and threads.

Looking:

* `inspection.py`: source, assembly and work of each kernel; `profile.py`: its time, and
  `profile_plot.py` a plot of it; `peaks.py`: what this CPU can do at most;
* `footprint.py`: the memory of a call; `text.py`: numbers with units, and tables.
"""
