// Code and bytes that a program brings along are executed only if that is asked for.

// RUN: not tg-run %s --target=interpreter 2>&1 | filecheck %s
// RUN: not tg-run %s --target=cpu 2>&1 | filecheck %s
// CHECK:      error: tg.binary is executed with allow_custom only (tg-run --allow-custom)
// CHECK-NEXT:   %0 = tg.binary "7f45" : tensor<2xui8>
// CHECK-NEXT:        ^

// RUN: tg-run %s --target=interpreter --allow-custom | filecheck %s --check-prefix=ALLOWED
// RUN: tg-run %s --target=cpu --allow-custom | filecheck %s --check-prefix=ALLOWED
// ALLOWED: dense<[127, 69]> : tensor<2xui8>

func.func @main() -> tensor<2xui8> {
  %0 = tg.binary "7f45" : tensor<2xui8>
  return %0 : tensor<2xui8>
}
