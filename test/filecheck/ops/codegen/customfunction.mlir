// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xui8>) {
  // CHECK: %a = tg.customfunction @decode(%x, %x) : tensor<4xui8>, tensor<4xui8>
  // GENERIC: %a = "tg.customfunction"(%x, %x) <{sym_name = "decode"}> : (tensor<4xui8>, tensor<4xui8>) -> !tg.void
  %a = tg.customfunction @decode(%x, %x) : tensor<4xui8>, tensor<4xui8>
  // CHECK: %b = tg.customfunction @plain()
  // GENERIC: %b = "tg.customfunction"() <{sym_name = "plain"}> : () -> !tg.void
  %b = tg.customfunction @plain()
  func.return
}
