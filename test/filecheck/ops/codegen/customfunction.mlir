// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xui8>) {
  // CHECK: %a = tg.customfunction @decode(%x, %x) : tensor<4xui8>, tensor<4xui8>
  // GENERIC: %a = "tg.customfunction"(%x, %x) <{sym_name = "decode"}> : (tensor<4xui8>, tensor<4xui8>) -> !tg.void
  %a = tg.customfunction @decode(%x, %x) : tensor<4xui8>, tensor<4xui8>
  // CHECK: %b = tg.customfunction @plain()
  // GENERIC: %b = "tg.customfunction"() <{sym_name = "plain"}> : () -> !tg.void
  %b = tg.customfunction @plain()
  // CHECK: %c = tg.customfunction @copy() reads [0] writes [1, 2]
  // GENERIC: %c = "tg.customfunction"() <{sym_name = "copy", reads = array<i64: 0>, writes = array<i64: 1, 2>}> : () -> !tg.void
  %c = tg.customfunction @copy() reads [0] writes [1, 2]
  // CHECK: %d = tg.customfunction @fill() writes [0]
  // GENERIC: %d = "tg.customfunction"() <{sym_name = "fill", writes = array<i64: 0>}> : () -> !tg.void
  %d = tg.customfunction @fill() writes [0]
  func.return
}
