// Bytes of a file, which need not be there before something needs them: it is neither opened nor
// printed.

// RUN: tg-opt %s --verify-roundtrip --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC
// RUN: xdsl-opt %s | filecheck %s --match-full-lines
// RUN: tg-opt %s -t uops -o %t.uops && tg-opt %t.uops | filecheck %s --match-full-lines

func.func @f() {
  // CHECK: %b = tg.binary file "absent/a b.bin", offset = 64, length = 4096 : tensor<4096xui8>
  // GENERIC: %b = "tg.binary"() <{data = #tg.data<file "absent/a b.bin", offset = 64, length = 4096>}> : () -> tensor<4096xui8>
  %b = tg.binary file "absent/a b.bin", offset = 64, length = 4096 : tensor<4096xui8>
  // CHECK: %c = tg.binary file "gr\C3\B6\C3\9Fer.bin", offset = 0, length = 0 : tensor<0xui8>
  %c = tg.binary file "größer.bin", offset = 0, length = 0 : tensor<0xui8>
  // CHECK: %d = tg.binary file "...", offset = 4611686018427387903, length = 4611686018427387904 : tensor<4611686018427387904xui8>
  %d = tg.binary file "...", offset = 4611686018427387903, length = 4611686018427387904 : tensor<4611686018427387904xui8>
  func.return
}
