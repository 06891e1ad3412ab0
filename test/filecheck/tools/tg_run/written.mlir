// What a program writes to its inputs is shown after the results, at every level and on every target.

// RUN: tg-run %s --input 1,2,3 --input 10 | filecheck %s
// RUN: tg-run %s --input 1,2,3 --input 10 --target=interpreter | filecheck %s
// RUN: tg-opt %s -p tg-callify | tg-run - --input 1,2,3 --input 10 | filecheck %s
// RUN: tg-opt %s -p tg-callify,tg-rangeify | tg-run - --input 1,2,3 --input 10 | filecheck %s
// RUN: tg-opt %s -p tg-callify,tg-rangeify,tg-optimize,tg-expand,tg-select,tg-linearize,tg-plan | tg-run - --input 1,2,3 --input 10 --allow-custom | filecheck %s
// RUN: tg-opt %s -p tg-to-llvm | tg-run - --input 1,2,3 --input 10 --allow-custom | filecheck %s
// CHECK:      dense<[-1, -2, -3]> : tensor<3xi32>
// CHECK-NEXT: %x = dense<[11, 12, 13]> : tensor<3xi32>
// CHECK-NOT:  %y

// RUN: tg-run %s --print-signature | filecheck %s --check-prefix=SIGNATURE
// SIGNATURE:      input  0  %x: 3xi32 (written)
// SIGNATURE-NEXT: input  1  %y: 3xi32{{$}}

// RUN: tg-run %s --input 1,2,3 --input 10 --output %t.0.npy --output %t.1.npy
// RUN: tg-run %s --input %t.1.npy --input %t.0.npy | filecheck %s --check-prefix=FILES
// FILES: %x = dense<[10, 10, 10]> : tensor<3xi32>

// RUN: not tg-run %s --input 0 --input 0 --output a.npy --output b.npy --output c.npy 2>&1 | filecheck %s --check-prefix=COUNT
// COUNT: tg-run: error: 3 --output files for 1 results and 1 written inputs

// A function that is called, and one in the text of another, write what they are passed.
// RUN: tg-run %s --entry calls --input 1,2,3 --input 10 | filecheck %s --check-prefix=CALLS
// RUN: tg-run %s --entry calls --input 1,2,3 --input 10 --target=interpreter | filecheck %s --check-prefix=CALLS
// CALLS:      dense<[-1, -2, -3]> : tensor<3xi32>
// CALLS-NEXT: %a = dense<[11, 12, 13]> : tensor<3xi32>
// CALLS-NOT:  %b

!m = tensor<3xi32, #tg.place<"CPU", global>>
!v = tensor<3xi32, #tg.place<"CPU">>
func.func @main(%x: !m, %y: !m) -> !v {
  %0 = tg.add %x, %y : (!m, !m) -> !v
  %1 = tg.store %x, %0 : !m, !v
  %2 = tg.neg %x : !m -> !v
  func.return %2 : !v
}

func.func @calls(%a: !m, %b: !m) -> !v {
  %0 = func.call @main(%a, %b) : (!m, !m) -> !v
  func.return %0 : !v
}
