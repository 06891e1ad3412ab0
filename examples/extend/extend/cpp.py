"""C++17 as an output: C's spellings, but for what differs."""

from dataclasses import replace

from tgdialect.lowering.render.names import SOURCE, Naming
from tgdialect.lowering.render.source.language import Style
from tgdialect.lowering.render.source.languages import C

CPP = replace(
    C,
    name="cpp",
    preamble="""\
// Floats are IEEE 754's and integers wrap: build with -ffp-contract=off -fwrapv.
#include <cmath>
#include <cstdint>
#include <cstring>
""",
    kernel='extern "C" void {name}({parameters}) noexcept',
    names=Naming(SOURCE.words | {"std"}, SOURCE.family),
    style=Style(loops=("row", "column"), loop="index"),
    has_tiles=False,
)
