"""The console programs. In reading order:

* `console.py`: options, streams, written files, errors and exit codes of the programs;
* `tg_opt.py`: `tg-opt`, with how it prints IR; `arguments.py`: its flags;
* `pass_pipeline.py`: from the text of a pipeline to passes;
* `instrumentation.py`: dumps, timing and verification around passes, of which it refuses those
  that start other programs; `ir_dumps.py`: dumps in a tree of files, and differences of one pass;
* `remark_output.py`: the remarks that flags ask for, printed or as YAML;
* `verify_diagnostics.py`: `--verify-diagnostics`;
* `info.py`: `python -m tgdialect.info`, about the installation and the machine;
* `irdl.py`: `--print-irdl`;
* `tg_run.py`: `tg-run`; `tg_run_session.py`: one run; `tg_run_values.py`: its inputs and outputs;
* `examination.py`: a program, its passes and its inputs, for the tools that look for a failure:
* `tg_bisect.py`: `tg-bisect`; `tg_bisect_session.py`: one search for the action that breaks it;
* `tg_reduce.py`: `tg-reduce`; `tg_reduce_session.py`: one search for the smallest program;
* `tg_compile.py`: `tg-compile`, ahead of time; `tg_gui.py`: `tg-gui`.
"""
