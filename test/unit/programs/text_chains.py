"""Chains as text, each link of which uses the result of the one before twice: memory in its
versions, index arithmetic, sharded values, and the older vocabularies."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MEMORY = 'tensor<4xf32, #tg.place<"CPU", global>>'
_HALF = 'tensor<2xf32, #tg.place<"CPU", global>>'
_CELL = 'tensor<f32, #tg.place<"CPU", global>>'
_VALUE = 'tensor<4xf32, #tg.place<"CPU">>'
_NUMBER = 'tensor<f32, #tg.place<"CPU">>'
_I, _T, _L = "tensor<index>", "tensor<4xi32>", "tensor<i32>"
_PLACE = '#tg.place<["A", "B"], axis = 0>'
_S, _ROW = f"tensor<4x4xf32, {_PLACE}>", 'tensor<1x4xf32, #tg.place<["A", "B"]>>'
_TURNED = _S.replace("axis = 0", "axis = 1")
_ONE = 'tensor<4x4xf32, #tg.place<"A">>'
_G = "tensor<?xi32, #tg.place<global>>"


@dataclass(frozen=True)
class TextChain:
    """The text before, of and after the links. `%v` is the result of the link before, `%n` that of
    this one; `#` after a name and NUMBER stand for its number."""

    before: str
    link: str
    after: str
    passes: str = "tg-to-llvm"

    def text(self, depth: int) -> str:
        links = (
            re.sub(r"(%\w+)#", rf"\1_{i}", self.link)
            .replace("%v", f"%r{i}")
            .replace("%n", f"%r{i + 1}")
            .replace("NUMBER", str(i))
            for i in range(depth)
        )
        return "\n".join((self.before, *links, self.after.replace("%v", f"%r{depth}")))


def _memory(link: str) -> TextChain:
    before = f"func.func @main(%r0: {_MEMORY}) -> {_VALUE} {{\n"
    before += f"%c0 = tg.const 0 : {_I}\n%c1 = tg.const 1 : {_I}"
    return TextChain(
        before, link, f"%l = tg.load %v : {_MEMORY} -> {_VALUE}\nreturn %l : {_VALUE}\n}}"
    )


def _size(link: str) -> TextChain:
    before = f"func.func @main(%r0: {_I} {{tg.min = 1 : index, tg.max = 8 : index}}, "
    before += f"%x: tensor<8xf32>) -> tensor<1xf32> {{\n%c1 = tg.const 1 : {_I}\n"
    before += f"%c3 = tg.const 3 : {_I}\n%c8 = tg.const 8 : {_I}"
    after = f"%m = tg.mod %v, %c8 : {_I}\n"
    after += "%y = tg.shrink %x at [0] to [%m] : tensor<8xf32> -> tensor<?xf32>\n"
    after += "%z = tg.reduce add %y [0] : tensor<?xf32> -> tensor<1xf32>\n"
    return TextChain(before, link, f"{after}return %z : tensor<1xf32>\n}}")


def _shards(link: str) -> TextChain:
    return TextChain(
        f"func.func @main(%r0: {_S}) -> {_S} {{",
        link,
        f"return %v : {_S}\n}}",
        "tg-shard,tg-lower-shards,tg-raise-collectives,tg-split-collectives",
    )


def _old(link: str) -> TextChain:
    before, after = f"func.func @main(%r0: {_T}) -> {_T} {{", f"return %v : {_T}\n}}"
    return TextChain(before, link, after, "tg-upgrade-legacy,tg-to-llvm")


def _old_kernel(link: str, type: str = _L) -> TextChain:
    before = f"""tg.program @k {{ %0 = tg.linear {{
      %out = tg_legacy.define_global 0 "data0" mutable : {_G}
      %a = tg_legacy.define_global 1 "data1" : {_G}
      %c0 = tg.const 0 : {_L}
      %c2 = tg.const 2 : {_L}
      %c4 = tg.const 4 : {_L}
      %r0 = tg_legacy.load %a at %c0 : {_G} at {_L} -> {type}"""
    after = f"%st = tg_legacy.store %out at %c0 value %v : {_G} at {_L} value {type}\n}} }}"
    stages = "tg-select,tg-linearize,tg-plan"
    if type == _L:
        stages = f"tg-optimize,tg-expand,{stages}"
    return TextChain(before, link, after, f"tg-upgrade-legacy,{stages}")


_STORED = f"%n = tg.after %v, %s# : ({_MEMORY}, !tg.void) -> {_MEMORY}"
TEXT_CHAINS = {
    "after-both-halves": _memory(f"""
      %a# = tg.shrink %v at [0] to [2] : {_MEMORY} -> {_HALF}
      %b# = tg.shrink %v at [2] to [2] : {_MEMORY} -> {_HALF}
      %s# = tg.store %a#, %b# : {_HALF}, {_HALF}
      %t# = tg.store %b#, %a# : {_HALF}, {_HALF}
      %n = tg.after %v, %s#, %t# : ({_MEMORY}, !tg.void, !tg.void) -> {_MEMORY}"""),
    "after-index": _memory(f"""
      %a# = tg.index %v[%c0] : ({_MEMORY}, {_I}) -> {_CELL}
      %b# = tg.index %v[%c1] : ({_MEMORY}, {_I}) -> {_CELL}
      %x# = tg.add %a#, %b# : ({_CELL}, {_CELL}) -> {_NUMBER}
      %s# = tg.store %a#, %x# : {_CELL}, {_NUMBER}
      {_STORED}"""),
    "after-computed-index": _memory(f"""
      %i# = tg.cast %v to index : {_MEMORY} -> tensor<4xindex, #tg.place<"CPU">>
      %a# = tg.index %v[%i#] : ({_MEMORY}, tensor<4xindex, #tg.place<"CPU">>) -> {_MEMORY}
      %x# = tg.add %a#, %v : ({_MEMORY}, {_MEMORY}) -> {_VALUE}
      %s# = tg.store %v, %x# : {_MEMORY}, {_VALUE}
      {_STORED}"""),
    "size-doubled": _size(f"%n = tg.add %v, %v : {_I}"),
    "size-squared": _size(f"%n = tg.mul %v, %v : {_I}"),
    "size-quotient": _size(f"%q# = tg.idiv %v, %c3 : {_I}\n%n = tg.add %q#, %v : {_I}"),
    "size-maximum": _size(f"%q# = tg.sub %c8, %v : {_I}\n%n = tg.max %q#, %v : {_I}"),
    "size-polynomial": _size(f"%q# = tg.mul %v, %r0 : {_I}\n%n = tg.add %q#, %v : {_I}"),
    "size-remainder": _size(
        f"%q# = tg.add %v, %c1 : {_I}\n%p# = tg.mod %v, %q# : {_I}\n%n = tg.add %p#, %v : {_I}"
    ),
    "shards-add": _shards(f"%n = tg.add %v, %v : {_S}"),
    "shards-other-axis": _shards(f"""
      %p# = tg.permute %v [1, 0] : {_S} -> {_TURNED}
      %q# = tg.copy %p# to ["A", "B"] : {_TURNED} -> {_S}
      %n = tg.add %q#, %v : {_S}"""),
    "shards-reduce": _shards(f"""
      %p# = tg.reduce add %v [0] : {_S} -> {_ROW}
      %n = tg.add %v, %p# : ({_S}, {_ROW}) -> {_S}"""),
    "shards-one-device": _shards(f"""
      %p# = tg.copy %v to "A" : {_S} -> {_ONE}
      %q# = tg.copy %p# to ["A", "B"] : {_ONE} -> {_S}
      %n = tg.add %q#, %v : {_S}"""),
    "old-gep": _old(f"""
      %g# = tg_legacy.gep %v [2, 0, 1, 3] : {_T} -> {_T}
      %n = tg.add %g#, %v : {_T}"""),
    "old-vectorize": _old(f"""
      %g# = tg_legacy.gep %v [2] : {_T} -> {_L}
      %h# = tg_legacy.gep %v [1] : {_T} -> {_L}
      %n = tg_legacy.vectorize %g#, %h#, %h#, %g# : ({_L}, {_L}, {_L}, {_L}) -> {_T}"""),
    "old-cat": _old(f"""
      %g# = tg_legacy.cat %v, %v : ({_T}, {_T}) -> tensor<8xi32>
      %n = tg_legacy.gep %g# [2, 4, 1, 7] : tensor<8xi32> -> {_T}"""),
    "old-view": _old(f"""
      %g# = tg_legacy.view %v [#tg_legacy.view<[4], strides = [-1], offset = 3>] : {_T} -> {_T}
      %n = tg.add %g#, %v : {_T}"""),
    "old-reduce_axis": _old(f"""
      %g# = tg_legacy.reduce_axis add %v [0] : {_T} -> tensor<1xi32>
      %n = tg.add %g#, %v : (tensor<1xi32>, {_T}) -> {_T}"""),
    "old-kernel-alu": _old_kernel(f'%n = tg_legacy.alu "BinaryOps.ADD" %v, %v : {_L}'),
    "old-kernel-load": _old_kernel(f"""
      %m# = tg.and %v, %c2 : {_L}
      %l# = tg_legacy.load %a at %m# : {_G} at {_L} -> {_L}
      %n = tg.add %l#, %v : {_L}"""),
    "old-kernel-accumulators": _old_kernel(f"""
      %acc# = tg_legacy.define_acc NUMBER from %v : {_L}
      %j# = tg_legacy.range NUMBER from %c0 to %c4 : {_L}
      %x# = tg.mul %v, %j# : {_L}
      %s# = tg.add %acc#, %x# : {_L}
      %n = tg_legacy.assign %acc#, %s# : {_L}
      %e# = tg_legacy.endrange %j# : {_L}"""),
    "old-kernel-gep": _old_kernel(
        f"""
      %g# = tg_legacy.gep %v [2, 0, 1, 3] : {_T} -> {_T}
      %n = tg.add %g#, %v : {_T}""",
        _T,
    ),
    "old-kernel-wmma": _old_kernel(
        '%n = tg_legacy.wmma %v, %v, %v config <"WMMA_2_2_2_int_int", [2, 2, 2], i32, i32, "CPU", '
        f"1, [[[0, 4]], [[0, 4]], [[0, 2], [1, 2]]], []> : {_T}",
        _T,
    ),
}
