func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tg.add %x, %y : tensor<4x8xf32>
  %1 = tg.mul %0, %y : tensor<4x8xf32>
  %2 = tg.reduce max %1 [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %3 = tg.sub %1, %2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %4 = tg.exp2 %3 : tensor<4x8xf32>
  %5 = tg.reduce add %4 [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %6 = tg.recip %5 : tensor<4x1xf32>
  %7 = tg.mul %4, %6 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %7 : tensor<4x8xf32>
}
