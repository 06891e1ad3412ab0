// RUN: not tg-opt %s -p 'tg-gradient{entry=other}' 2>&1 | filecheck %s

// CHECK: there is no function @other
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
