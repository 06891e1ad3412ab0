// Code that a program brings along is executed only if that is asked for: a BINARY is code in a
// PROGRAM, and data elsewhere.

// RUN: sed '/^CUT/,$d' %s > %t.data.mlir
// RUN: tg-run %t.data.mlir --target=interpreter | filecheck %s --check-prefix=DATA
// RUN: tg-run %t.data.mlir --target=cpu | filecheck %s --check-prefix=DATA
// DATA: dense<[127, 69]> : tensor<2xui8>

func.func @main() -> tensor<2xui8> {
  %0 = tg.binary "7f45" : tensor<2xui8>
  return %0 : tensor<2xui8>
}

CUT

// RUN: sed '1,/^CUT/d' %s > %t.code.mlir
// RUN: not tg-run %t.code.mlir --target=interpreter 2>&1 | filecheck %s --check-prefix=CODE
// RUN: not tg-run %t.code.mlir --target=cpu 2>&1 | filecheck %s --check-prefix=CODE
// CODE:      error: tg.binary is executed with allow_custom only (tg-run --allow-custom)
// CODE-NEXT:   %code = tg.binary "7f454c46" : tensor<4xui8>
// CODE-NEXT:           ^

// RUN: tg-run %t.code.mlir --target=interpreter --allow-custom | filecheck %s --check-prefix=RUNS
// RUNS: dense<[127]> : tensor<1xui8>

tg.program @k {
  %0 = tg.linear {
    %out = tg.param 0 : tensor<1xui8, #tg.place<global>>
    %1 = tg.const 127 : tensor<ui8>
    %2 = tg.const 0 : tensor<index>
    %3 = tg.index %out[%2] : (tensor<1xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
    %4 = tg.store %3, %1 : tensor<ui8, #tg.place<global>>, tensor<ui8>
    %5 = tg.sink %4 : !tg.void
  }
  %code = tg.binary "7f454c46" : tensor<4xui8>
}
func.func @main(%out: tensor<1xui8, #tg.place<"CPU", global>> {tg.output}) {
  %0 = tg.linear {
    %1 = tg.call @k(%out) : tensor<1xui8, #tg.place<"CPU", global>> -> !tg.void
  }
  return
}
