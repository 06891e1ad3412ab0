"""C-like languages as outputs. In reading order:

* `language.py`: the spellings of a language, as a table; `languages.py`: the tables;
* `expressions.py`: scalars, vectors and pointers as text with types;
* `helpers.c`: the text of helper functions;
* `builder.py`: expressions, names and statements of a function;
* `arithmetic.py`: elementwise ops as expressions;
* `placement.py`: which values are inlined, and where buffers are declared;
* `accesses.py`: declarations, loads and stores;
* `assembly.py`: INS as inline assembly; `matrix.py`: WMMA in CUDA C++ and C;
* `function.py`: vectors and control flow, the output of the walker;
* `program.py`: programs and host functions as sources; `module.py`: all programs of a module.
"""

from tgdialect.lowering.render.source.language import to_source
from tgdialect.lowering.render.source.languages import LANGUAGES, language_named
from tgdialect.lowering.render.source.module import render_sources
from tgdialect.lowering.render.source.program import (
    joined,
    render_function,
    sections_of,
    source_text,
)

__all__ = [
    "LANGUAGES",
    "joined",
    "language_named",
    "render_function",
    "render_sources",
    "sections_of",
    "source_text",
    "to_source",
]
