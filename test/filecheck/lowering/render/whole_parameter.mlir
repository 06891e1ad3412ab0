// A LOAD of a PARAM as a whole has as many elements as the PARAM, as on the interpreter.
// RUN: tg-opt %s -p tg-render | filecheck %s
// CHECK: llvm.load %{{.*}} -> vector<2xf32>
// CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr
  tg.program @main_1 {
    %0 = tg.linear {
      %out0 = tg.param 0 : tensor<2xf32, #tg.place<global>>
      %1 = tg.param 1 : tensor<2xf32, #tg.place<global>>
      %2 = tg.load %1 : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
      %3 = tg.store %out0, %2 : tensor<2xf32, #tg.place<global>>, tensor<2xf32>
      %4 = tg.sink %3 opts [] : !tg.void
    }
  }
  func.func @main(%0: tensor<2xf32, #tg.place<"CPU", global>>, %1: tensor<2xf32, #tg.place<"CPU", global>>) {
    %2 = tg.linear {
      %3 = tg.call @main_1(%0, %1) : (tensor<2xf32, #tg.place<"CPU", global>>, tensor<2xf32, #tg.place<"CPU", global>>) -> !tg.void
    }
    func.return
  }
