// RUN: tg-opt %s -p tg-plan --verify-each=true | filecheck %s

tg.program @unary {
  tg.linear {
    %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32xf32, #tg.place<global>>
    %c32 = tg.const 32 : tensor<index>
    %i = tg.range 0 loop to %c32 : tensor<index>
    %xl = tg.index %x[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
    %ol = tg.index %o[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

tg.program @flip {
  tg.linear {
    %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32xf32, #tg.place<global>>
    %c32 = tg.const 32 : tensor<index>
    %i = tg.range 0 loop to %c32 : tensor<index>
    %c31 = tg.const 31 : tensor<index>
    %j = tg.sub %c31, %i : tensor<index>
    %xl = tg.index %x[%j] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
    %ol = tg.index %o[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

tg.program @twice {
  tg.linear {
    %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32xf32, #tg.place<global>>
    %c32 = tg.const 32 : tensor<index>
    %i = tg.range 0 loop to %c32 : tensor<index>
    %c2 = tg.const 2 : tensor<index>
    %h = tg.idiv %i, %c2 : tensor<index>
    %xl = tg.index %x[%h] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
    %ol = tg.index %o[%h] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}


// Each call reads a cell and writes it: one buffer does for all three.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME:  tg.workspace_bytes = 128
func.func @in_place(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  %b2 = tg.buffer 2 : tensor<32xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%b0, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @unary(%b1, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @unary(%b2, %b1) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %b2) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// What is read again later is not written over.
// CHECK-LABEL: func.func @still_read
// CHECK-SAME:  tg.workspace_bytes = 256
func.func @still_read(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%b0, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @unary(%b1, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %b1) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// A cell that is written may have to be read yet.
// CHECK-LABEL: func.func @other_cells
// CHECK-SAME:  tg.workspace_bytes = 256
func.func @other_cells(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%b0, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%b1, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %b1) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// A cell that is read again after it was written.
// CHECK-LABEL: func.func @twice_written
// CHECK-SAME:  tg.workspace_bytes = 256
func.func @twice_written(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%b0, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @twice(%b1, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %b1) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}
