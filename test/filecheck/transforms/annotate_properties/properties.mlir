// RUN: tg-opt %s -p tg-annotate-properties | filecheck %s

// The rows of the specification's table for dtype, shape, device, addrspace and axis.

// CHECK-LABEL: @source
func.func @source() {
  // CHECK: tg.buffer 0 {tg.dtype = f32, tg.shape = "4x8", tg.device = "CPU", tg.addrspace = "global", tg.min_max = "[-inf, inf] or nan"}
  %b = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // CHECK: tg.buffer 1 {tg.dtype = ui8, tg.shape = "4", tg.device = ["A", "B"], tg.addrspace = "global", tg.axis = 0 : index, tg.min_max = "[0, 255]"}
  %s = tg.buffer 1 : tensor<4xui8, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: tg.buffer 2 {tg.dtype = i16, tg.shape = "()", tg.addrspace = "reg", tg.min_max = "[-32768, 32767]"}
  %r = tg.buffer 2 : tensor<i16, #tg.place<reg>>
  // CHECK: tg.const 1.500000e+00 : tensor<f16> {tg.dtype = f16, tg.shape = "()", tg.min_max = "[1.5, 1.5]"}
  %c = tg.const 1.5 : tensor<f16>
  // CHECK: tg.param 0 {tg.dtype = f32, tg.shape = "4", tg.addrspace = "global", tg.min_max = "[-inf, inf] or nan"}
  %p = tg.param 0 : tensor<4xf32, #tg.place<global>>
  // CHECK: tg.binary "7f45" {tg.dtype = ui8, tg.shape = "2", tg.min_max = "[0, 255]"}
  %d = tg.binary "7f45" : tensor<2xui8>
  return
}

// CHECK-LABEL: @movement
func.func @movement(%n: tensor<index> {tg.min = 1 : index, tg.max = 9 : index}, %d: tensor<?x8xf32> {tg.dims = array<i64: 0>}, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %s: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: tg.permute %m [1, 0] {tg.dtype = f32, tg.shape = "8x4", tg.device = "CPU", tg.addrspace = "global", tg.min_max
  %0 = tg.permute %m [1, 0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<8x4xf32, #tg.place<"CPU", global>>
  // CHECK: tg.permute %s [1, 0] {tg.dtype = f32, tg.shape = "8x4", tg.device = ["A", "B"], tg.axis = 1 : index
  %1 = tg.permute %s [1, 0] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<8x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: tg.reshape %s [1, 4, 8] {tg.dtype = f32, tg.shape = "1x4x8", tg.device = ["A", "B"], tg.axis = 1 : index
  %2 = tg.reshape %s [1, 4, 8] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4x8xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: tg.reshape %d [8, %n] {tg.dtype = f32, tg.shape = "8x%n"
  %3 = tg.reshape %d [8, %n] : tensor<?x8xf32> -> tensor<8x?xf32>
  // CHECK: tg.index %m[%n] {tg.dtype = f32, tg.shape = "8", tg.device = "CPU", tg.addrspace = "global"
  %4 = tg.index %m[%n] : (tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<8xf32, #tg.place<"CPU", global>>
  // CHECK: tg.bitcast %m to ui8 {tg.dtype = ui8, tg.shape = "4x32", tg.device = "CPU", tg.addrspace = "global", tg.min_max = "[0, 255]"}
  %5 = tg.bitcast %m to ui8 : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x32xui8, #tg.place<"CPU", global>>
  return
}

// CHECK-LABEL: @others
func.func @others(%m: tensor<4x8xf32, #tg.place<"CPU", global>>, %s: tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<8xf32>) {
  // Reading memory gives an anonymous value on its device.
  // CHECK: tg.reduce add %m [0] {tg.dtype = f32, tg.shape = "1x8", tg.device = "CPU", tg.min_max
  %0 = tg.reduce add %m [0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU">>
  // CHECK: tg.reduce add %s [0] {tg.dtype = f32, tg.shape = "1x8", tg.device = ["A", "B"], tg.min_max
  %1 = tg.reduce add %s [0] : tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x8xf32, #tg.place<["A", "B"]>>
  // CHECK: tg.replicated %s axis 0 {tg.dtype = f32, tg.shape = "8", tg.device = ["A", "B"], tg.min_max
  %2 = tg.replicated %s axis 0 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<8xf32, #tg.place<["A", "B"]>>
  // CHECK: tg.cast %m to f16 {tg.dtype = f16, tg.shape = "4x8", tg.device = "CPU", tg.min_max
  %3 = tg.cast %m to f16 : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf16, #tg.place<"CPU">>
  // CHECK: tg.copy %s to "C" {tg.dtype = f32, tg.shape = "2x8", tg.device = "C", tg.min_max
  %4 = tg.copy %s to "C" : tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x8xf32, #tg.place<"C">>
  // CHECK: tg.copy %v to ["A", "B"] {tg.dtype = f32, tg.shape = "8", tg.device = ["A", "B"], tg.axis = 0 : index
  %5 = tg.copy %v to ["A", "B"] : tensor<8xf32> -> tensor<8xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: tg.add %m, %v {tg.dtype = f32, tg.shape = "4x8", tg.device = "CPU", tg.min_max
  %6 = tg.add %m, %v : (tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<8xf32>) -> tensor<4x8xf32, #tg.place<"CPU">>
  // CHECK: tg.add %s, %v {tg.dtype = f32, tg.shape = "2x8", tg.device = ["A", "B"], tg.axis = 0 : index
  %7 = tg.add %s, %v : (tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>>, tensor<8xf32>) -> tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: tg.cmplt %v, %v {tg.dtype = i1, tg.shape = "8", tg.min_max = "[0, 1]"}
  %8 = tg.cmplt %v, %v : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // A STORE is void: nothing is said of it.
  // CHECK: tg.store %m, %{{.*}} :
  %9 = tg.store %m, %6 : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  // CHECK: tg.after %m, %{{.*}} {tg.dtype = f32, tg.shape = "4x8", tg.device = "CPU", tg.addrspace = "global"
  %10 = tg.after %m, %9 : (tensor<4x8xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4x8xf32, #tg.place<"CPU", global>>
  // A FUNCTION's results have the range of their dtype.
  // CHECK: tg.gettuple %{{.*}} 0 {tg.dtype = i8, tg.shape = "8", tg.min_max = "[-128, 127]"}
  %i = tg.cast %v to i8 : tensor<8xf32> -> tensor<8xi8>
  %11 = tg.function(%i) {
    %p = tg.param 0 : tensor<8xi8>
    %t = tg.tuple %p : tensor<8xi8> -> !tg.tuple<tensor<8xi8>>
  } : tensor<8xi8> -> !tg.tuple<tensor<8xi8>>
  %12 = tg.gettuple %11 0 : !tg.tuple<tensor<8xi8>> -> tensor<8xi8>
  return
}
