// Errors at run time show the op and the line.

// RUN: not tg-run %s --target=interpreter --input 5 2>&1 | filecheck %s
// CHECK:      located.mlir:16:{{[0-9]+}}: error: race: two stores that neither waits for the other write cell 0 of buffer 0
// CHECK-NEXT:   %t = tg.store %b, %x : !buffer, tensor<2xf32>
// CHECK-NEXT:        ^

!buffer = tensor<2xf32, #tg.place<"CPU", global>>

// The callee's STORE is shown, not the CALL.
func.func private @two(%x: tensor<2xf32>) -> !buffer {
  %b = tg.buffer 0 : !buffer

  %s = tg.store %b, %x : !buffer, tensor<2xf32>

  %t = tg.store %b, %x : !buffer, tensor<2xf32>
  %c = tg.after %b, %s, %t : (!buffer, !tg.void, !tg.void) -> !buffer
  return %c : !buffer
}
func.func @main(%x: tensor<2xf32>) -> !buffer {
  %t = tg.call @two(%x) : (tensor<2xf32>) -> !tg.tuple<!buffer>
  %r = tg.gettuple %t 0 : !tg.tuple<!buffer> -> !buffer
  return %r : !buffer
}
