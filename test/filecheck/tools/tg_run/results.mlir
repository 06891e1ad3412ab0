// RUN: tg-run %s --target=interpreter --input 2x3xf32=1,2,3,4,5,6 --input 3xi32=[-1,0,7] | filecheck %s
// RUN: tg-run %s --target=cpu --input 2x3xf32=1,2,3,4,5,6 --input 3xi32=[-1,0,7] | filecheck %s
// RUN: cat %s | tg-run - --entry main --arg n=-1,0,7 --input 'dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>' | filecheck %s

// CHECK:      dense<{{\[\[}}0.0, 2.0, 10.0], [3.0, 5.0, 13.0]]> : tensor<2x3xf32>
// CHECK-NEXT: dense<[true, false, false]> : tensor<3xi1>

// One value is every element, and random ones depend on the seed only.
// RUN: tg-run %s --input 2x3xf32=0.1 --input 0 | filecheck %s --check-prefix=SPLAT
// SPLAT:      dense<{{\[\[}}0.1, 0.1, 0.1], [0.1, 0.1, 0.1]]> : tensor<2x3xf32>
// SPLAT-NEXT: dense<[false, false, false]> : tensor<3xi1>

// RUN: tg-run %s --input 'random(1)' --input 0 > %t.1
// RUN: tg-run %s --input 'random(1)' --input 0 > %t.2
// RUN: diff %t.1 %t.2

// RUN: tg-run %s --print-signature | filecheck %s --check-prefix=SIGNATURE
// SIGNATURE:      @main
// SIGNATURE-NEXT:   input  0  %x: 2x3xf32
// SIGNATURE-NEXT:   input  1  %n: 3xi32
// SIGNATURE-NEXT:   output 0  2x3xf32
// SIGNATURE-NEXT:   output 1  3xi1

// RUN: tg-run %s --input 0 --input 0 --benchmark=3 | filecheck %s --check-prefix=TIMES
// TIMES:      repetitions  3
// TIMES-NEXT: median       {{[0-9.]+ [num]?s}}
// TIMES-NEXT: min          {{[0-9.]+ [num]?s}}
// TIMES-NEXT: max          {{[0-9.]+ [num]?s}}

// RUN: tg-run %s --input 0 --input 0 --profile | filecheck %s --check-prefix=PROFILE
// PROFILE:      kernel {{ +}}calls {{ +}}time {{ +}}share  GFLOP/s {{ +}}GB/s  opts
// PROFILE-NEXT: main_0 {{ +}}1 {{ +}}{{[0-9.]+ [num]?s}} {{ +}}{{[0-9.]+}}%
// PROFILE-NEXT: main_1 {{ +}}1 {{ +}}{{[0-9.]+ [num]?s}} {{ +}}{{[0-9.]+}}%
// PROFILE-NEXT: {{[0-9]+}} runs, median {{[0-9.]+ [num]?s}}

// RUN: not tg-run %s --target=interpreter --input 0 --input 0 --profile 2>&1 | filecheck %s --check-prefix=INTERPRETER
// INTERPRETER: --profile times compiled kernels, and target 'interpreter' has none

func.func @main(%x: tensor<2x3xf32>, %n: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi1>) {
  %float = tg.cast %n to f32 : tensor<3xi32> -> tensor<3xf32>
  %sum = tg.add %x, %float : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %zero = tg.const 0 : tensor<i32>
  %negative = tg.cmplt %n, %zero : (tensor<3xi32>, tensor<i32>) -> tensor<3xi1>
  return %sum, %negative : tensor<2x3xf32>, tensor<3xi1>
}
