// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=4 l2=1048576}' --remarks-filter=tg-.* -o %t 2>&1 | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=4 l2=1048576}' --remarks-filter-passed=tg-optimize -o %t 2>&1 | filecheck %s --check-prefix=PASSED
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=4 l2=1048576}' --remarks-filter=tg-plan --remarks-filter-missed=tg-range.* -o %t 2>&1 | filecheck %s --check-prefix=TWO
// RUN: tg-opt %s -p tg-callify,tg-rangeify --remarks-filter=rangeify -o %t 2>&1 | filecheck %s --check-prefix=NONE --allow-empty
// RUN: tg-opt %s -p tg-callify,tg-rangeify --remark-format=yaml --remarks-output-file=%t.yaml -o %t 2>&1 | filecheck %s --check-prefix=NONE --allow-empty
// RUN: filecheck %s --check-prefix=YAML < %t.yaml
// RUN: tg-opt %s -p tg-callify,tg-rangeify --remark-format=yaml --remarks-filter=cse --remarks-output-file=%t.yaml -o %t
// RUN: filecheck %s --check-prefix=NONE --allow-empty < %t.yaml
// RUN: not tg-opt %s --remarks-filter='(' 2>&1 | filecheck %s --check-prefix=REGEX
// RUN: not tg-opt %s --remark-format=bitstream 2>&1 | filecheck %s --check-prefix=FORMAT
// RUN: not tg-opt %s --remarks-output-file=%t 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not tg-opt %s --remark-format=yaml --remarks-output-file=%t.mlir -o %t.mlir 2>&1 | filecheck %s --check-prefix=SAME

// The pattern matches all of the name of the pass. Each remark has its reason in numbers.

// CHECK:      remarks.mlir:{{[0-9]+}}:8: remark: [Missed] Fusion | Category:tg-rangeify | Function=main | Remark="realised: stored by a kernel of its own (2 uses,
// CHECK-SAME:   Uses=2, Reads=65536, Elements=32768, Fused=never, Local=never, Realised={{[0-9.e+]+$}}
// CHECK:      remark: [Passed] Schedule | Category:tg-optimize | Function=main_0 | Remark="schedule: split
// CHECK-SAME:   OptOps="split {{.*}}", Threads=4, Cycles={{[0-9.e+]+}}, ThreadsFrom={{[0-9]+$}}
// CHECK:      remark: [Passed] Pack | Category:tg-optimize | Function=main_0 | Remark="packs parameter 2 as
// CHECK-SAME:   Slot=2, Bytes=524288
// CHECK:      remark: [Passed] Schedule | Category:tg-optimize | Function=main_1
// CHECK:      remark: [Analysis] Arena | Category:tg-plan | Function=main | Remark="arena of 131072 bytes for 1 buffers, which take 131072 bytes apart", Arena=tg.workspace, Bytes=131072, Buffers=1, Apart=131072

// PASSED-NOT: Missed
// PASSED:     [Passed] Schedule
// PASSED-NOT: tg-plan

// TWO:        [Missed] Fusion | Category:tg-rangeify
// TWO-NOT:    tg-optimize
// TWO:        [Analysis] Arena | Category:tg-plan

// NONE-NOT:   {{.}}

// YAML:       --- !Missed
// YAML-NEXT:  Pass:            'tg-rangeify'
// YAML-NEXT:  Name:            'Fusion'
// YAML-NEXT:  DebugLoc:        { File: '{{.*}}remarks.mlir', Line: {{[0-9]+}}, Column: 8 }
// YAML-NEXT:  Function:        'main'
// YAML-NEXT:  Args:
// YAML-NEXT:    - Remark:          'realised: {{.*}}'
// YAML-NEXT:    - Uses:            '2'
// YAML-NEXT:    - Reads:           '65536'
// YAML-NEXT:    - Elements:        '32768'
// YAML-NEXT:    - Fused:           'never'
// YAML-NEXT:    - Local:           'never'
// YAML-NEXT:    - Realised:        '{{.*}}'
// YAML-NEXT:  ...

// REGEX:      error: '(' is no regular expression: missing )
// FORMAT:     error: --remark-format is emitRemark or yaml, not 'bitstream'
// FILE:       error: --remarks-output-file is for --remark-format=yaml
// SAME:       is the file of remarks: name another by -o
func.func @main(%a: tensor<128x512xf32>, %b: tensor<512x256xf32> {tg.constant}) -> tensor<128x1x256xf32> {
  %x = tg.reshape %a [128, 512, 1] : tensor<128x512xf32> -> tensor<128x512x1xf32>
  %y = tg.reshape %b [1, 512, 256] : tensor<512x256xf32> -> tensor<1x512x256xf32>
  %z = tg.mul %x, %y : (tensor<128x512x1xf32>, tensor<1x512x256xf32>) -> tensor<128x512x256xf32>
  // The product has two uses.
  %c = tg.reduce add %z [1] : tensor<128x512x256xf32> -> tensor<128x1x256xf32>
  %m = tg.reduce max %c [2] : tensor<128x1x256xf32> -> tensor<128x1x1xf32>
  %d = tg.sub %c, %m : (tensor<128x1x256xf32>, tensor<128x1x1xf32>) -> tensor<128x1x256xf32>
  return %d : tensor<128x1x256xf32>
}
