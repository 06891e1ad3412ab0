// RUN: not tg-opt %s -p 'tg-verify{level=kernel}' 2>&1 | filecheck %s

// CHECK: error: pass tg-verify: level 'kernel' is not one of tensor, function, kernels, tiles, target, linear, planned, llvm

func.func @main() {
  func.return
}
