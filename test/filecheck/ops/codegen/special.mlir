// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<index>) {
  // CHECK: %g = tg.special "gidx0" to %n : tensor<index>
  // GENERIC: %g = "tg.special"(%n) <{name = "gidx0"}> : (tensor<index>) -> tensor<index>
  %g = tg.special "gidx0" to %n : tensor<index>
  // CHECK: %l = tg.special "lidx2" to %n : tensor<index>
  // GENERIC: %l = "tg.special"(%n) <{name = "lidx2"}> : (tensor<index>) -> tensor<index>
  %l = tg.special "lidx2" to %n : tensor<index>
  // CHECK: %i = tg.special "idx1" to %n : tensor<index>
  // GENERIC: %i = "tg.special"(%n) <{name = "idx1"}> : (tensor<index>) -> tensor<index>
  %i = tg.special "idx1" to %n : tensor<index>
  func.return
}
