// REQUIRES: llvm-remarkutil
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic}' --remark-format=yaml --remarks-output-file=%t.yaml -o %t
// RUN: llvm-remarkutil count --parser=yaml --count-by=remark-name --group-by=function %t.yaml | filecheck %s
// RUN: llvm-remarkutil yaml2bitstream %t.yaml -o %t.bitstream
// RUN: llvm-remarkutil bitstream2yaml %t.bitstream | filecheck %s --check-prefix=YAML

// Upstream's tools read the remarks.

// CHECK:      main_0,2

// YAML:       --- !Passed
// YAML-NEXT:  Pass: {{ +}}tg-optimize
// YAML-NEXT:  Name: {{ +}}Schedule
// YAML-NEXT:  DebugLoc: {{ +}}{ File: '{{.*}}remarks_upstream.mlir',
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.neg %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
