// RUN: tg-opt %s --split-input-file -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=4 l2=1048576}' --remarks-filter=tg-.* -o %t 2>&1 | filecheck %s
// RUN: tg-opt %S/../../transforms/shard/propagate.mlir -p tg-shard --remarks-filter=tg-shard -o %t 2>&1 | filecheck %s --check-prefix=SHARD
// RUN: tg-opt %S/../../lowering/rangeify/online.mlir -p 'tg-callify,tg-rangeify{target=cpu}' --remarks-filter-passed=tg-rangeify -o %t 2>&1 | filecheck %s --check-prefix=ONLINE
// RUN: tg-opt %S/../../lowering/rangeify/copy_non_contiguous.mlir -p tg-copy-non-contiguous --remarks-filter=tg-.* -o %t 2>&1 | filecheck %s --check-prefix=COPY

// Split reductions, and results that are stored past the caches.

// CHECK:     [Passed] SplitReduction | Category:tg-rangeify | Function=long | Remark="split along axis 0 into 64 parts of 16384", Axis=0, Parts=64, Size=16384
// CHECK:     [Analysis] Arena | Category:tg-plan | Function=long | {{.*}}, Arena=tg.workspace, Bytes=256, Buffers=1, Apart=256
func.func @long(%x: tensor<1048576xf32>) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<1048576xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// CHECK:     [Passed] Stream | Category:tg-render | Function=large_0 | Remark="parameter 0 of 16777216 bytes is stored past the caches", Slot=0, Bytes=16777216, LastCache=1048576
builtin.module attributes {tg.target = #tg.target<"cpu", llc = 1048576>} {
  func.func @large(%x: tensor<4194304xf32>) -> tensor<4194304xf32> {
    %0 = tg.neg %x : tensor<4194304xf32>
    return %0 : tensor<4194304xf32>
  }
}

// SHARD:     [Analysis] Split | Category:tg-shard | Function=data | Remark="argument 1 is whole on each device"
// SHARD:     [Missed] Move | Category:tg-shard | Function=tensor | {{.*}}, Collective=all_reduce, Bytes=8192, Devices=2, Microseconds=10.82

// ONLINE:    [Passed] Fusion | Category:tg-rangeify | Function=main | Remark="online: one pass over blocks of {{[0-9]+}} rows and {{[0-9]+}} steps", Rows={{[0-9]+}}, Steps={{[0-9]+$}}

// COPY:      [Missed] Copy | Category:tg-copy-non-contiguous | Function=main | Remark="copies of 1 views that are not contiguous", Views=1, Bytes=16
