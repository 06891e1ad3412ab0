// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --input 0 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --input 0 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[4, 8]> : tensor<2xi32>

// NAME: the symbol of the kernel. A name that is taken gets a number.

// CHECK-LABEL: tg.kernel @double {
// CHECK-LABEL: tg.kernel @double_1 {
func.func @main(%x: tensor<2xi32, #tg.place<"CPU", global>>, %t: tensor<2xi32, #tg.place<"CPU", global>>, %o: tensor<2xi32, #tg.place<"CPU", global>> {tg.output}) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.call @double(%t, %x)
  // CHECK-NEXT: %t1 = tg.after %t, %0
  // CHECK-NEXT: %1 = tg.call @double_1(%o, %t1)
  %k0 = tg_legacy.kernel "E_2"(%t, %x) {
    %l = tg.linear {
      %name = tg_legacy.name "double"
      %0 = tg_legacy.define_global 0 : tensor<2xi32, #tg.place<global>>
      %1 = tg_legacy.define_global 1 : tensor<2xi32, #tg.place<global>>
      %c0 = tg.const 0 : tensor<i32>
      %c2 = tg.const 2 : tensor<i32>
      %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
      %a = tg_legacy.load %1 at %i : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
      %b = tg.add %a, %a : tensor<i32>
      %s = tg_legacy.store %0 at %i value %b : tensor<2xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
      %e = tg_legacy.endrange %i : tensor<i32>
    }
    %r = tg.sink %l : !tg.void
  } : (tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32, #tg.place<"CPU", global>>) -> !tg.void
  %t1 = tg_legacy.assign %t, %k0 : (tensor<2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2xi32, #tg.place<"CPU", global>>
  %k1 = tg_legacy.kernel "E_2"(%o, %t1) {
    %l = tg.linear {
      %name = tg_legacy.name "double"
      %0 = tg_legacy.define_global 0 : tensor<2xi32, #tg.place<global>>
      %1 = tg_legacy.define_global 1 : tensor<2xi32, #tg.place<global>>
      %c0 = tg.const 0 : tensor<i32>
      %c2 = tg.const 2 : tensor<i32>
      %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
      %a = tg_legacy.load %1 at %i : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
      %b = tg.add %a, %a : tensor<i32>
      %s = tg_legacy.store %0 at %i value %b : tensor<2xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
      %e = tg_legacy.endrange %i : tensor<i32>
    }
    %r = tg.sink %l : !tg.void
  } : (tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32, #tg.place<"CPU", global>>) -> !tg.void
  %o1 = tg_legacy.assign %o, %k1 : (tensor<2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2xi32, #tg.place<"CPU", global>>
  %sink = tg.sink %o1 : tensor<2xi32, #tg.place<"CPU", global>>
  func.return
}
