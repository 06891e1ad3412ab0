// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  %a = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %b = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // CHECK: %s = tg.sink %a, %b, %m : !tg.void, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %s = "tg.sink"(%a, %b, %m) : (!tg.void, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %s = tg.sink %a, %b, %m : !tg.void, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>
  // CHECK: %o = tg.sink %a opts [#tg.opt<split 0, 4, upcast>, #tg.opt<swap 0, 1>] : !tg.void
  // GENERIC: %o = "tg.sink"(%a) <{opts = [#tg.opt<split 0, 4, upcast>, #tg.opt<swap 0, 1>]}> : (!tg.void) -> !tg.void
  %o = tg.sink %a opts [#tg.opt<split 0, 4, upcast>, #tg.opt<swap 0, 1>] : !tg.void
  // CHECK: %none = tg.sink
  // GENERIC: %none = "tg.sink"() : () -> !tg.void
  %none = tg.sink
  // CHECK: %only = tg.sink opts [#tg.opt<nolocals>]
  // GENERIC: %only = "tg.sink"() <{opts = [#tg.opt<nolocals>]}> : () -> !tg.void
  %only = tg.sink opts [#tg.opt<nolocals>]
  func.return
}
