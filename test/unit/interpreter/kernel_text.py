"""Pieces of the text of kernels."""

P = "#tg.place<global>"
S = f"tensor<f32, {P}>"


def mem(shape, dtype="f32", space="global"):
    return f"tensor<{shape}{dtype}, #tg.place<{space}>>"


def index(result, buffer, type, *indices):
    """A line that makes a location of a scalar."""
    places = ", ".join(["tensor<index>"] * len(indices))
    dtype = type.split(",")[0].rstrip(">").split("x")[-1].replace("tensor<", "")
    space = type.split("<")[-1].rstrip(">")
    scalar = f"tensor<{dtype}, #tg.place<{space}>>"
    return f"{result} = tg.index {buffer}[{', '.join(indices)}] : ({type}, {places}) -> {scalar}"
