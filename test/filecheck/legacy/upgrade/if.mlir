// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry evens_main --input 5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry evens_main --input 5,6,7,8 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[0, 6, 0, 8]> : tensor<4xi32>
// RESULT1-NEXT: dense<[2]> : tensor<1xi32>
// RUN: tg-run %s --entry barrier_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry barrier_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[0, 0, 2, 1]> : tensor<4xi32>
// RUN: tg-run %s --entry nested_main --input 5,-6,7,-8 --target interpreter | filecheck %s --check-prefix=RESULT3
// RUN: tg-run %s --entry nested_main --input 5,-6,7,-8 --target cpu | filecheck %s --check-prefix=RESULT3
// RESULT3: dense<[0, 0, 7, 0]> : tensor<4xi32>

// IF: the gate of each STORE in it, and of what an accumulator gets.

tg.program @evens {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @evens {
    // CHECK: %even = tg.cmpeq %bit, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %s = tg.store %{{[0-9]+}}, %x gate %even : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    // CHECK-NEXT: %sum = tg.add %{{[0-9]+}}, %c1 : tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.where %even, %sum, %{{[0-9]+}} : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %count = tg_legacy.define_global 1 : tensor<1xi32, #tg.place<global>>
    %a = tg_legacy.define_global 2 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %bit = tg.and %x, %c1 : tensor<i32>
    %even = tg.cmpeq %bit, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %if = tg_legacy.if %even : tensor<i1>
    %s = tg_legacy.store %out at %i value %x : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %sum = tg.add %acc, %c1 : tensor<i32>
    %n = tg_legacy.assign %acc, %sum : tensor<i32>
    %endif = tg_legacy.endif %if : !tg.void
    %e = tg_legacy.endrange %i : tensor<i32>
    %t = tg_legacy.store %count at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// With a BARRIER: what is in the block comes after it, by way of the memory that it synchronises.
tg.program @barrier {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @barrier {
    // CHECK: %i = tg.range 0 local to %c4 : tensor<index>
    // CHECK: %s = tg.store %{{[0-9]+}}, %x : tensor<i32, #tg.place<local>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.barrier %s : !tg.void
    // CHECK-NEXT: %{{[0-9]+}} = tg.after %temp, %{{[0-9]+}}
    // CHECK-NEXT: %c = tg.cmplt %c1, %i : (tensor<index>, tensor<index>) -> tensor<i1>
    // CHECK: %y = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<local>> -> tensor<i32>
    // CHECK: %t = tg.store %{{[0-9]+}}, %y gate %c : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    // CHECK: %{{[0-9]+}} = tg.end %{{[0-9]+}} over %i : !tg.void
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %temp = tg_legacy.define_local "temp" : tensor<4xi32, #tg.place<local>>
    %c1 = tg.const 1 : tensor<index>
    %c3 = tg.const 3 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %i = tg.special "lidx0" to %c4 : tensor<index>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<index> -> tensor<i32>
    %s = tg_legacy.store %temp at %i value %x : tensor<4xi32, #tg.place<local>> at tensor<index> value tensor<i32>
    %b = tg.barrier %s : !tg.void
    %c = tg.cmplt %c1, %i : (tensor<index>, tensor<index>) -> tensor<i1>
    %if = tg_legacy.if %c after %b : tensor<i1>
    %p = tg.sub %c3, %i : tensor<index>
    %y = tg_legacy.load %temp at %p : tensor<4xi32, #tg.place<local>> at tensor<index> -> tensor<i32>
    %t = tg_legacy.store %out at %i value %y : tensor<4xi32, #tg.place<global>> at tensor<index> value tensor<i32>
    %endif = tg_legacy.endif %if : !tg.void
  }
}

// One in another, around a loop: both conditions hold.
tg.program @nested {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @nested {
    // CHECK: %p = tg.cmplt %c0, %first : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %q = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %{{[0-9]+}} = tg.and %p, %q : tensor<i1>
    // CHECK: %s = tg.store %{{[0-9]+}}, %x gate %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %first = tg_legacy.load %a at %c0 : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %p = tg.cmplt %c0, %first : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %outer = tg_legacy.if %p : tensor<i1>
    %i = tg_legacy.range 0 from %c1 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %q = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %inner = tg_legacy.if %q : tensor<i1>
    %s = tg_legacy.store %out at %i value %x : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %endinner = tg_legacy.endif %inner : !tg.void
    %e = tg_legacy.endrange %i : tensor<i32>
    %endouter = tg_legacy.endif %outer : !tg.void
  }
}
