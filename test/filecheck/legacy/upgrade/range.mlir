// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry triangle_main --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry triangle_main --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 3, 4, 5, 0]> : tensor<16xi32>
// RUN: tg-run %s --entry between_main --arg from=1 --arg to=3 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry between_main --arg from=1 --arg to=3 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[0, 10, 20, 0, 0]> : tensor<5xi32>
// RUN: tg-run %s --entry between_main --arg from=3 --arg to=1 --target interpreter | filecheck %s --check-prefix=RESULT3
// RUN: tg-run %s --entry between_main --arg from=3 --arg to=1 --target cpu | filecheck %s --check-prefix=RESULT3
// RESULT3: dense<[0, 0, 0, 0, 0]> : tensor<5xi32>

// RANGE: begins at 0; a start is added to it. Its extent may be computed.

tg.program @triangle {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @triangle {
    // CHECK: %i = tg.range 0 reduce to %{{[0-9]+}} : tensor<index>
    // CHECK: %j = tg.range 1 loop to %i : tensor<index>
    // CHECK: %s = tg.store %{{[0-9]+}}, %v : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.end %s over %j : !tg.void
    // CHECK-NEXT: %{{[0-9]+}} = tg.end %{{[0-9]+}} over %i : !tg.void
    %out = tg_legacy.define_global 0 : tensor<16xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %i : tensor<i32>
    %r = tg.mul %i, %c4 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %v = tg.add %i, %j : tensor<i32>
    %s = tg_legacy.store %out at %p value %v : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
}

// Without iterations if the end is before the start.
tg.program @between {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @between {
    // CHECK: %{{[0-9]+}} = tg.sub %to, %from : tensor<index>
    // CHECK: %{{[0-9]+}} = tg.max %{{[0-9]+}}, %{{[0-9]+}} : tensor<index>
    // CHECK-NEXT: %{{[0-9]+}} = tg.range 0 loop to %{{[0-9]+}} : tensor<index>
    // CHECK-NEXT: %i = tg.add %{{[0-9]+}}, %from : tensor<index>
    // CHECK: %{{[0-9]+}} = tg.index %{{[a-z0-9]+}}[%i]
    // CHECK-NEXT: %s = tg.store %{{[0-9]+}}, %v : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<5xi32, #tg.place<global>>
    %from = tg_legacy.define_var "from" 0 to 4 : tensor<i32>
    %to = tg_legacy.define_var "to" 0 to 4 : tensor<i32>
    %c10 = tg.const 10 : tensor<i32>
    %i = tg_legacy.range 0 from %from to %to : tensor<i32>
    %v = tg.mul %i, %c10 : tensor<i32>
    %s = tg_legacy.store %out at %i value %v : tensor<5xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}
