"""Versioned memory of host programs: what reads see, what stores write, what is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import InterpretationError

M = 'tensor<4xf32, #tg.place<"CPU", global>>'
V = "tensor<4xf32>"
ON = 'tensor<4xf32, #tg.place<"CPU">>'


def program(*lines, results="%r", types=ON, arguments=f"%b: {M}, %x: {V}, %y: {V}"):
    returned = f"return {results} : {types}" if results else "return"
    arrow = f"-> ({types})" if results else ""
    return f"""
    func.func @main({arguments}) {arrow} {{
      {chr(10).join(lines)}
      {returned}
    }}"""


READ = f"tg.load %b : {M} -> {ON}"
STORE_X = f"%s = tg.store %b, %x : {M}, {V}"
AFTER_S = f"%c = tg.after %b, %s : ({M}, !tg.void) -> {M}"
B, X, Y = np.arange(4, dtype="f4"), np.full(4, 10, "f4"), np.full(4, 20, "f4")


def test_read_without_after_sees_the_value_before_every_store(execute):
    """Even where the block lists it after the store."""
    b = B.copy()
    (r,) = execute(program(STORE_X, f"%r = {READ}"), b, X, Y)
    assert r.tolist() == B.tolist()
    assert b.tolist() == X.tolist()


def test_read_after_write(execute):
    b = B.copy()
    (r,) = execute(program(STORE_X, AFTER_S, f"%r = tg.neg %c : {M} -> {ON}"), b, X, Y)
    assert r.tolist() == (-X).tolist()


def test_write_after_read_keeps_both_versions(execute):
    """Assign twice, each version read: the later store does not reach the earlier version."""
    b = B.copy()
    old, middle, new = execute(
        program(
            STORE_X,
            AFTER_S,
            f"%s2 = tg.store %c, %y : {M}, {V}",
            f"%d = tg.after %c, %s2 : ({M}, !tg.void) -> {M}",
            f"%new = tg.load %d : {M} -> {ON}",
            f"%middle = tg.load %c : {M} -> {ON}",
            f"%old = {READ}",
            results="%old, %middle, %new",
            types=f"{ON}, {ON}, {ON}",
        ),
        b, X, Y,
    )  # fmt: skip
    assert (old.tolist(), middle.tolist(), new.tolist()) == (B.tolist(), X.tolist(), Y.tolist())
    assert b.tolist() == Y.tolist()


def test_assign_reads_its_own_old_value(execute):
    b = B.copy()
    text = program(
        f"%v = tg.add %b, %x : ({M}, {V}) -> {ON}",
        f"%s = tg.store %b, %v : {M}, {ON}",
        "%k = tg.sink %s : !tg.void",
        results="",
        types="",
    )
    assert execute(text, b, X, Y) == []
    assert b.tolist() == (B + 10).tolist()


def test_after_sees_stores_that_its_dependencies_wait_for(execute):
    """s2 stores to another buffer a value read after s; so after s2, s is done too."""
    b, c = B.copy(), B.copy()
    (r,) = execute(
        program(
            STORE_X,
            AFTER_S,
            f"%v = tg.neg %c : {M} -> {ON}",
            f"%s2 = tg.store %o, %v : {M}, {ON}",
            f"%e = tg.after %b, %s2 : ({M}, !tg.void) -> {M}",
            f"%r = tg.load %e : {M} -> {ON}",
            arguments=f"%b: {M}, %x: {V}, %o: {M}",
        ),
        b, X, c,
    )  # fmt: skip
    assert r.tolist() == X.tolist()
    assert c.tolist() == (-X).tolist()


def test_group_merges_stores_to_different_cells(execute):
    H = 'tensor<2xf32, #tg.place<"CPU", global>>'
    b = B.copy()
    (r,) = execute(
        program(
            f"%lo = tg.shrink %b at [0] to [2] : {M} -> {H}",
            f"%hi = tg.shrink %b at [2] to [2] : {M} -> {H}",
            "%x2 = tg.shrink %x at [0] to [2] : tensor<4xf32> -> tensor<2xf32>",
            f"%s1 = tg.store %lo, %x2 : {H}, tensor<2xf32>",
            f"%hf = tg.flip %hi [true] : {H}",
            "%w = tg.shrink %y at [1] to [2] : tensor<4xf32> -> tensor<2xf32>",
            f"%s2 = tg.store %hf, %w : {H}, tensor<2xf32>",
            "%g = tg.group %s1, %s2",
            f"%a = tg.after %b, %g : ({M}, !tg.void) -> {M}",
            f"%r = tg.load %a : {M} -> {ON}",
        ),
        b, X, np.arange(4, dtype="f4"),
    )  # fmt: skip
    assert r.tolist() == [10, 10, 2, 1]


@pytest.mark.parametrize(("offset", "cell"), [(0, 0), (1, 1)])
def test_unordered_stores_to_one_cell_are_a_race(execute, offset, cell):
    H = 'tensor<2xf32, #tg.place<"CPU", global>>'
    text = program(
        f"%lo = tg.shrink %b at [0] to [2] : {M} -> {H}",
        f"%hi = tg.shrink %b at [{offset}] to [2] : {M} -> {H}",
        "%x2 = tg.shrink %x at [0] to [2] : tensor<4xf32> -> tensor<2xf32>",
        f"%s1 = tg.store %lo, %x2 : {H}, tensor<2xf32>",
        f"%s2 = tg.store %hi, %x2 : {H}, tensor<2xf32>",
        "%k = tg.sink %s1, %s2 : !tg.void, !tg.void",
        results="",
        types="",
    )
    with pytest.raises(InterpretationError, match=rf"race: .* write cell {cell} of argument 0"):
        execute(text, B.copy(), X, Y)


def test_an_op_that_reads_two_versions_at_once_is_a_cycle(execute):
    text = program(STORE_X, AFTER_S, f"%r = tg.add %b, %c : ({M}, {M}) -> {ON}")
    with pytest.raises(InterpretationError, match=r"cycle: tg\.add reads argument 0"):
        execute(text, B.copy(), X, Y)


def test_an_old_read_that_waits_for_the_store_is_a_cycle(execute):
    text = program(
        STORE_X,
        AFTER_S,
        f"%n = tg.neg %c : {M} -> {ON}",
        f"%r = tg.add %n, %b : ({ON}, {M}) -> {ON}",
    )
    with pytest.raises(InterpretationError, match="cycle"):
        execute(text, B.copy(), X, Y)


def test_a_cycle_that_nothing_needs_is_left_out(execute):
    """As compiled code leaves it out: the ops on the way to no result and no STORE."""
    text = program(
        STORE_X,
        AFTER_S,
        f"%d = tg.add %b, %c : ({M}, {M}) -> {ON}",
        f"%e = tg.neg %d : {ON}",
        f"%r = tg.neg %c : {M} -> {ON}",
    )
    (result,) = execute(text, B.copy(), X, Y)
    np.testing.assert_array_equal(result, -X)
    needed = text.replace("tg.neg %c", "tg.neg %e").replace(f"%e : {M}", f"%e : {ON}")
    with pytest.raises(InterpretationError, match=r"cycle: tg\.add reads argument 0"):
        execute(needed.replace(f"{ON} -> {ON}", ON), B.copy(), X, Y)


def test_store_skips_invalid_cells_and_gated_ones(execute):
    b = B.copy()
    execute(
        program(
            "%h = tg.shrink %x at [0] to [2] : tensor<4xf32> -> tensor<2xf32>",
            "%p = tg.pad %h at [1] to [4] : tensor<2xf32> -> tensor<4xf32>",
            f"%s = tg.store %b, %p gate %m : {M}, {V}, tensor<4xi1>",
            "%k = tg.sink %s : !tg.void",
            results="", types="", arguments=f"%b: {M}, %x: {V}, %m: tensor<4xi1>",
        ),
        b, X, np.array([True, True, False, True]),
    )  # fmt: skip
    assert b.tolist() == [0, 10, 2, 3]


def test_store_through_views(execute):
    """Permute, flip, index with repeats and out of bounds, pad: each writes the cells it shows."""
    P = 'tensor<2x3xf32, #tg.place<"CPU", global>>'
    T = 'tensor<3x2xf32, #tg.place<"CPU", global>>'
    IN = 'tensor<4x2xf32, #tg.place<"CPU", global>>'
    b = np.zeros((2, 3), "f4")
    execute(
        f"""func.func @main(%b: {P}, %i: tensor<4xindex>, %v: tensor<4x2xf32>) {{
          %t = tg.permute %b [1, 0] : {P} -> {T}
          %f = tg.flip %t [true, false] : {T}
          %l = tg.index %f[%i] : ({T}, tensor<4xindex>) -> {IN}
          %s = tg.store %l, %v : {IN}, tensor<4x2xf32>
          return
        }}""",
        b, np.array([0, 5, -1, 2]), np.arange(1, 9, dtype="f4").reshape(4, 2),
    )  # fmt: skip
    # Row 0 of the flipped transpose is column 2 of b, row 2 is column 0.
    assert b.tolist() == [[7, 0, 1], [8, 0, 2]]


def test_store_through_a_bitcast(execute):
    b = np.array([1.0, 2.0], "f4")
    M2 = 'tensor<2xf32, #tg.place<"CPU", global>>'
    U8 = 'tensor<8xui8, #tg.place<"CPU", global>>'
    W = 'tensor<1xi64, #tg.place<"CPU", global>>'
    execute(
        f"""func.func @main(%b: {M2}, %v: tensor<8xui8>) {{
          %u = tg.bitcast %b to ui8 : {M2} -> {U8}
          %f = tg.flip %u [true] : {U8}
          %s = tg.store %f, %v : {U8}, tensor<8xui8>
          return
        }}""",
        b, np.arange(8, dtype="u1"),
    )  # fmt: skip
    assert b.view("u1").tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    # Reversed bytes, then two of them joined to one i64, which is written byte by byte.
    execute(
        f"""func.func @main(%b: {M2}, %v: tensor<1xi64>) {{
          %u = tg.bitcast %b to ui8 : {M2} -> {U8}
          %f = tg.flip %u [true] : {U8}
          %w = tg.bitcast %f to i64 : {U8} -> {W}
          %s = tg.store %w, %v : {W}, tensor<1xi64>
          return
        }}""",
        b, np.array([0x0102030405060708], "i8"),
    )  # fmt: skip
    assert b.view("u1").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_atomic_add_counts_every_repeat(execute):
    b = np.zeros(4, "i4")
    MI = 'tensor<4xi32, #tg.place<"CPU", global>>'
    LI = 'tensor<6xi32, #tg.place<"CPU", global>>'
    execute(
        f"""func.func @main(%b: {MI}, %i: tensor<6xindex>, %v: tensor<6xi32>) {{
          %l = tg.index %b[%i] : ({MI}, tensor<6xindex>) -> {LI}
          %s = tg.atomicadd %l, %v : {LI}, tensor<6xi32>
          return
        }}""",
        b, np.array([1, 1, 3, 9, -1, 1]), np.arange(1, 7, dtype="i4"),
    )  # fmt: skip
    assert b.tolist() == [0, 1 + 2 + 6, 0, 3]


def test_load_makes_memory_of_its_own(execute):
    """A LOAD with an address space is a copy: storing to it leaves the source."""
    b = B.copy()
    (r,) = execute(
        program(
            f"%m = tg.load %b addrspace \"global\" : {M} -> {M}",
            f"%s = tg.store %m, %x : {M}, {V}",
            f"%a = tg.after %m, %s : ({M}, !tg.void) -> {M}",
            f"%r = tg.add %a, %b : ({M}, {M}) -> {ON}",
        ),
        b, X, Y,
    )  # fmt: skip
    assert r.tolist() == (X + B).tolist()
    assert b.tolist() == B.tolist()


def test_load_with_alt_and_gate(execute):
    (r,) = execute(
        program(
            f"%r = tg.load %b alt %x gate %m : {M}, {V}, tensor<4xi1> -> {ON}",
            arguments=f"%b: {M}, %x: {V}, %m: tensor<4xi1>",
        ),
        B.copy(), X, np.array([True, False, True, False]),
    )  # fmt: skip
    assert r.tolist() == [0, 10, 2, 10]


def test_buffers_begin_as_zeros_or_as_the_caller_says(execute):
    text = program(
        f"%b = tg.buffer 3 : {M}",
        f"%b2 = tg.buffer 3 : {M}",
        f"%s = tg.store %b, %x : {M}, {V}",
        f"%r = tg.load %b2 : {M} -> {ON}",
        arguments=f"%x: {V}",
    )
    assert execute(text, X)[0].tolist() == [0, 0, 0, 0]
    kept = {3: B.copy()}
    assert execute(text, X, buffers=kept)[0].tolist() == B.tolist()
    assert kept[3].tolist() == X.tolist()


def test_a_buffer_of_another_dtype_than_the_caller_says(execute):
    IN = 'tensor<4xi32, #tg.place<"CPU", global>>'
    text = program(
        f"%b = tg.buffer 3 : {IN}",
        f"%s = tg.store %b, %x : {IN}, tensor<4xi32>",
        results="", types="", arguments="%x: tensor<4xi32>",
    )  # fmt: skip
    with pytest.raises(InterpretationError, match="buffer 3 is int32, the contents float32"):
        execute(text, np.arange(4, dtype="i4"), buffers={3: B.copy()})


def test_read_only_buffers_are_not_written(execute):
    text = program(
        f"%b = tg.buffer 3 : {M}",
        f"%s = tg.store %b, %x : {M}, {V}",
        results="", types="", arguments=f"%x: {V}",
    )  # fmt: skip
    b = B.copy()
    b.flags.writeable = False
    with pytest.raises(InterpretationError, match=r"buffer 3 is written, but .* read-only"):
        execute(text, X, buffers={3: b})
    assert b.tolist() == B.tolist()


def test_read_only_inputs_are_not_written(execute):
    b = B.copy()
    b.flags.writeable = False
    with pytest.raises(
        InterpretationError, match="argument 0 is written, but the input is read-only"
    ):
        execute(program(STORE_X, results="", types=""), b, X, Y)


def test_function_level_returns_outputs(execute):
    text = f"""
    func.func @main(%a: {M}, %r: {M} {{tg.output}}) {{
      %0 = tg.exp2 %a : {M} -> {ON}
      %1 = tg.store %r, %0 : {M}, {ON}
      %2 = tg.sink %1 : !tg.void
      func.return
    }}"""
    (r,) = execute(text, B)
    assert r.tolist() == [1, 2, 4, 8]


def test_a_callee_stores_to_memory_passed_by_reference(execute):
    """And only to the cells it writes: the two halves may be written by two unordered calls."""
    text = f"""
    func.func @put(%b: {M}, %i: tensor<index>, %v: tensor<f32>) {{
      %l = tg.index %b[%i] : ({M}, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
      %s = tg.store %l, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
      return
    }}
    func.func @main(%b: {M}, %i: tensor<index>, %j: tensor<index>, %v: tensor<f32>) -> {ON} {{
      %c = tg.call @put(%b, %i, %v) : ({M}, tensor<index>, tensor<f32>) -> !tg.void
      %d = tg.call @put(%b, %j, %v) : ({M}, tensor<index>, tensor<f32>) -> !tg.void
      %a = tg.after %b, %c, %d : ({M}, !tg.void, !tg.void) -> {M}
      %r = tg.load %a : {M} -> {ON}
      return %r : {ON}
    }}"""
    assert execute(text, B.copy(), 1, 3, 9.0)[0].tolist() == [0, 9, 2, 9]
    with pytest.raises(InterpretationError, match="race"):
        execute(text, B.copy(), 1, 1, 9.0)


def test_two_arguments_change_places(execute):
    a, b = B.copy(), X.copy()
    execute(
        program(
            f"%x = tg.load %a : {M} -> {ON}",
            f"%s = tg.store %a, %b : {M}, {M}",
            f"%t = tg.store %b, %x : {M}, {ON}",
            results="", types="", arguments=f"%a: {M}, %b: {M}",
        ),
        a, b,
    )  # fmt: skip
    assert a.tolist() == X.tolist()
    assert b.tolist() == B.tolist()
