// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2 threads=1}' | filecheck %s --check-prefix=AVX
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512bw threads=1}' | filecheck %s --check-prefix=AVX512
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512bw,-avx512f threads=1}' | filecheck %s --check-prefixes=AVX,REMOVED
// RUN: tg-opt %s -p 'tg-to-llvm{mode="explicit:split 0, 8, upcast" features=avx}' | filecheck %s --check-prefix=AVX
// RUN: not tg-opt %s -p 'tg-to-llvm{features=axv2}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tg-opt %s -p 'tg-callify,tg-rangeify,tg-expand,tg-select{features=avx,foo}' 2>&1 | filecheck %s --check-prefix=SELECT
// RUN: not tg-opt %s -p 'tg-to-llvm{target=abacus}' 2>&1 | filecheck %s --check-prefix=TARGET

// The pipeline takes what its stages do. A feature is with all that it implies: avx512bw has the
// fused multiply-add and the registers of avx512f, avx2 has those of avx.

// REMOVED: tg.target = {name = "cpu", features = ["avx2", "f16c", "fma"]
// AVX-NOT: llvm.intr.fma
// AVX: vector<{{[0-9]+}}xf32>
// AVX512: llvm.intr.fma
// UNKNOWN: error: pass tg-optimize: 'axv2' is no feature of a CPU; did you mean avx2
// UNKNOWN-SAME: there are: 64bit, adx
// SELECT: error: pass tg-select: 'foo' is no feature of a CPU; there are: 64bit
// TARGET: error: pass tg-rangeify: 'abacus' is not one of the targets: cpu
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tg.mulacc %x, %y, %x : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
