// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f() {
  // CHECK: %b = tg.binary "7f454c46" : tensor<4xui8>
  // GENERIC: %b = "tg.binary"() <{data = #tg.data<"7f454c46">}> : () -> tensor<4xui8>
  %b = tg.binary "7f454c46" : tensor<4xui8>
  // CHECK: %none = tg.binary "" : tensor<0xui8>
  // GENERIC: %none = "tg.binary"() <{data = #tg.data<"">}> : () -> tensor<0xui8>
  %none = tg.binary "" : tensor<0xui8>
  func.return
}
