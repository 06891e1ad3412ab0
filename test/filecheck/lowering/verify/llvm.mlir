// RUN: tg-opt %s -p 'tg-verify{level=llvm}' --verify-diagnostics

llvm.func @k(!llvm.ptr)

func.func @main() { // expected-error {{func.func is not part of level llvm}}
  func.return
}
