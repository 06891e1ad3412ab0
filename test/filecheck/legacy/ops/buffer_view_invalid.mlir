// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<16xf32>) {
  // expected-error@below {{expected memory of one axis on one device, got tensor<16xf32>}}
  %0 = tg_legacy.buffer_view %m size 4 offset 8 : tensor<16xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4x4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{expected memory of one axis on one device, got tensor<4x4xf32, #tg.place<"CPU", global>>}}
  %0 = tg_legacy.buffer_view %m size 4 offset 8 : tensor<4x4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<16xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{size 12 at offset 8 is not inside of tensor<16xf32, #tg.place<"CPU", global>>}}
  %0 = tg_legacy.buffer_view %m size 12 offset 8 : tensor<16xf32, #tg.place<"CPU", global>> -> tensor<12xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<?xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{size 4 at offset -1 is not inside of tensor<?xf32, #tg.place<"CPU", global>>}}
  %0 = tg_legacy.buffer_view %m size 4 offset -1 : tensor<?xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<16xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{size -1 at offset 0 is not inside of tensor<16xf32, #tg.place<"CPU", global>>}}
  %0 = tg_legacy.buffer_view %m size -1 offset 0 : tensor<16xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<16xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<3xf32, #tg.place<"CPU", global>>, but the op gives tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg_legacy.buffer_view %m size 4 offset 0 : tensor<16xf32, #tg.place<"CPU", global>> -> tensor<3xf32, #tg.place<"CPU", global>>
  func.return
}
