// RUN: tg-opt %s -p tg-render | filecheck %s

// CALLs that constant arguments decide are made if the first word of the persistent memory is 0.

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
tg.program @copy {
  tg.linear {
    %o = tg.param 0 : tensor<f32, #g>
    %x = tg.param 1 : tensor<f32, #g>
    %xv = tg.load %x : tensor<f32, #g> -> tensor<f32>
    %s = tg.store %o, %xv : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @main
// CHECK-SAME:  %w: !llvm.ptr, %r: !llvm.ptr, %p: !llvm.ptr
// CHECK:       [[PACKED:%.*]] = llvm.getelementptr %p
// CHECK-NEXT:  [[FLAG:%.*]] = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT:  [[NEW:%.*]] = llvm.icmp "eq" [[FLAG]]
// CHECK-NEXT:  llvm.cond_br [[NEW]], ^[[THEN:.*]], ^[[REST:.*]]
// CHECK-NEXT:  ^[[THEN]]:
// CHECK-NEXT:  llvm.call @copy([[PACKED]], %w)
// CHECK-NEXT:  llvm.store %{{.*}}, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK-NEXT:  llvm.br ^[[REST]]
// CHECK-NEXT:  ^[[REST]]:
// CHECK-NEXT:  llvm.call @copy(%r, [[PACKED]])
// CHECK-NEXT:  llvm.return
func.func @main(%w: tensor<f32, #cpu> {tg.constant}, %r: tensor<f32, #cpu> {tg.output}, %p: tensor<128xui8, #cpu> {tg.persistent}) attributes {tg.workspace_bytes = 0 : i64} {
  %0 = tg.shrink %p at [64] to [4] : tensor<128xui8, #cpu> -> tensor<4xui8, #cpu>
  %1 = tg.bitcast %0 to f32 : tensor<4xui8, #cpu> -> tensor<1xf32, #cpu>
  %2 = tg.reshape %1 [] : tensor<1xf32, #cpu> -> tensor<f32, #cpu>
  tg.linear {
    tg.call @copy(%2, %w) : (tensor<f32, #cpu>, tensor<f32, #cpu>) -> !tg.void
    tg.call @copy(%r, %2) : (tensor<f32, #cpu>, tensor<f32, #cpu>) -> !tg.void
  }
  func.return
}
