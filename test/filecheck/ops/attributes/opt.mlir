// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f() {
  // CHECK: %o0 = tg.sink opts [#tg.opt<split 0, 4, upcast>]
  // GENERIC: %o0 = "tg.sink"() <{opts = [#tg.opt<split 0, 4, upcast>]}> : () -> !tg.void
  %o0 = tg.sink opts [#tg.opt<split 0, 4, upcast>]
  // CHECK: %o1 = tg.sink opts [#tg.opt<split 1, 8, unroll, top>]
  // GENERIC: %o1 = "tg.sink"() <{opts = [#tg.opt<split 1, 8, unroll, top>]}> : () -> !tg.void
  %o1 = tg.sink opts [#tg.opt<split 1, 8, unroll, top>]
  // CHECK: %o2 = tg.sink opts [#tg.opt<padto 0, 32>]
  // GENERIC: %o2 = "tg.sink"() <{opts = [#tg.opt<padto 0, 32>]}> : () -> !tg.void
  %o2 = tg.sink opts [#tg.opt<padto 0, 32>]
  // CHECK: %o3 = tg.sink opts [#tg.opt<swap 0, 1>]
  // GENERIC: %o3 = "tg.sink"() <{opts = [#tg.opt<swap 0, 1>]}> : () -> !tg.void
  %o3 = tg.sink opts [#tg.opt<swap 0, 1>]
  // CHECK: %o4 = tg.sink opts [#tg.opt<nolocals>]
  // GENERIC: %o4 = "tg.sink"() <{opts = [#tg.opt<nolocals>]}> : () -> !tg.void
  %o4 = tg.sink opts [#tg.opt<nolocals>]
  // CHECK: %o5 = tg.sink opts [#tg.opt<stage 0, 1, local>]
  // GENERIC: %o5 = "tg.sink"() <{opts = [#tg.opt<stage 0, 1, local>]}> : () -> !tg.void
  %o5 = tg.sink opts [#tg.opt<stage 0, 1, local>]
  // CHECK: %o6 = tg.sink opts [#tg.opt<order 1, 0>]
  // GENERIC: %o6 = "tg.sink"() <{opts = [#tg.opt<order 1, 0>]}> : () -> !tg.void
  %o6 = tg.sink opts [#tg.opt<order 1, 0>]
  // CHECK: %o7 = tg.sink opts [#tg.opt<merge 0, 1>]
  // GENERIC: %o7 = "tg.sink"() <{opts = [#tg.opt<merge 0, 1>]}> : () -> !tg.void
  %o7 = tg.sink opts [#tg.opt<merge 0, 1>]
  func.return
}
