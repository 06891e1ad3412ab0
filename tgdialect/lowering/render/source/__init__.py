"""C-like languages as outputs. In reading order:

* `language.py`: the spellings of a language, as a table; `languages.py`: the tables;
* `helpers.c`: the text of helper functions;
* `builder.py`: values as text with types, names and statements of a function;
* `arithmetic.py`: elementwise ops as expressions;
* `placement.py`: which values are inlined, and where buffers are declared;
* `accesses.py`: declarations, loads and stores;
* `assembly.py`: INS, and WMMA in CUDA C++ and C, as inline assembly;
* `function.py`: vectors and control flow, the output of the walker;
* `program.py`: the programs of a module and host functions as sources.
"""

from tgdialect.lowering.render.source.language import to_source
from tgdialect.lowering.render.source.languages import LANGUAGES, language_named
from tgdialect.lowering.render.source.program import (
    joined,
    render_function,
    render_sources,
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
