// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<16xf32, #tg.place<"DISK", global>>, %n: tensor<?xui8, #tg.place<"DISK", global>>) {
  // CHECK: %0 = tg_legacy.buffer_view %m size 4 offset 8 : tensor<16xf32, #tg.place<"DISK", global>> -> tensor<4xf32, #tg.place<"DISK", global>>
  // GENERIC: %0 = "tg_legacy.buffer_view"(%m) <{size = #tg.number<4>, offset = #tg.number<8>}> : (tensor<16xf32, #tg.place<"DISK", global>>) -> tensor<4xf32, #tg.place<"DISK", global>>
  %0 = tg_legacy.buffer_view %m size 4 offset 8 : tensor<16xf32, #tg.place<"DISK", global>> -> tensor<4xf32, #tg.place<"DISK", global>>
  // CHECK: %1 = tg_legacy.buffer_view %m size 16 offset 0 : tensor<16xf32, #tg.place<"DISK", global>>
  // GENERIC: %1 = "tg_legacy.buffer_view"(%m) <{size = #tg.number<16>, offset = #tg.number<0>}> : (tensor<16xf32, #tg.place<"DISK", global>>) -> tensor<16xf32, #tg.place<"DISK", global>>
  %1 = tg_legacy.buffer_view %m size 16 offset 0 : tensor<16xf32, #tg.place<"DISK", global>>
  // CHECK: %2 = tg_legacy.buffer_view %n size 64 offset 128 : tensor<?xui8, #tg.place<"DISK", global>> -> tensor<64xui8, #tg.place<"DISK", global>>
  // GENERIC: %2 = "tg_legacy.buffer_view"(%n) <{size = #tg.number<64>, offset = #tg.number<128>}> : (tensor<?xui8, #tg.place<"DISK", global>>) -> tensor<64xui8, #tg.place<"DISK", global>>
  %2 = tg_legacy.buffer_view %n size 64 offset 128 : tensor<?xui8, #tg.place<"DISK", global>> -> tensor<64xui8, #tg.place<"DISK", global>>
  func.return
}
