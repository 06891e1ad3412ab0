// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  %a = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %b = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // CHECK: %g = tg.group %a, %b
  // GENERIC: %g = "tg.group"(%a, %b) : (!tg.void, !tg.void) -> !tg.void
  %g = tg.group %a, %b
  // CHECK: %h = tg.group %g {tag = 1 : i64}
  // GENERIC: %h = "tg.group"(%g) {tag = 1 : i64} : (!tg.void) -> !tg.void
  %h = tg.group %g {tag = 1 : i64}
  func.return
}
