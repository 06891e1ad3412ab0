// A name is no text of the linker's script: this one would export whatever it says.

// RUN: not tg-opt %s -t so --allow-external -o %t.so 2>&1 | filecheck %s
// CHECK: error: target so: the linker exports no function that is called 'a; *'

llvm.func @"a; *"(%p: !llvm.ptr) attributes {tg.signature = {}} {
  llvm.return
}
