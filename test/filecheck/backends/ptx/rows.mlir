// RUN: tg-opt %s -p 'tg-to-gpu{mode=heuristic target=nvidia:sm_90}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-to-gpu{mode=heuristic target=nvidia:sm_90}' -t ptx | filecheck %s --check-prefix=NONE

// Rows are loaded once, as vectors, and stay in registers between their passes. Work items of a warp exchange parts by shuffles. No
// memory of a work item is on the stack.

// NONE-NOT: .local

// A workgroup for each row of a softmax. Each of the two reductions has one BARRIER, for the parts of its 8 warps.

// CHECK-LABEL: .entry softmax_0(
// CHECK-COUNT-4: ld.global{{.*}}.v4
// CHECK-NOT:     ld.global
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK:         bar.sync
// CHECK-COUNT-2: ld.shared.v4
// CHECK-NOT:     ld.global
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK:         bar.sync
// CHECK-NOT:     bar.sync
// CHECK-COUNT-4: st.global.v4
// CHECK-NOT:     bar.sync
// CHECK-NOT:     st.global
// CHECK:         ret;
func.func @softmax(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %m = tg.reduce max %x [1] : tensor<4096x4096xf32> -> tensor<4096x1xf32>
  %s = tg.sub %x, %m : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf32>
  %e = tg.exp2 %s : tensor<4096x4096xf32>
  %t = tg.reduce add %e [1] : tensor<4096x4096xf32> -> tensor<4096x1xf32>
  %d = tg.div %e, %t : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf32>
  return %d : tensor<4096x4096xf32>
}

// A warp for each row of a layer norm: neither LOCAL memory nor a BARRIER.

// CHECK-LABEL: .entry norm_0(
// CHECK-NOT:     .shared
// CHECK-NOT:     bar.sync
// CHECK-COUNT-8: ld.global{{.*}}.v4
// CHECK-NOT:     ld.global
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT:     ld.global
// CHECK-COUNT-8: st.global.v4
// CHECK:         ret;
func.func @norm(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %n = tg.const 1024.0 : tensor<f32>
  %one = tg.const 1.0e-5 : tensor<f32>
  %t = tg.reduce add %x [1] : tensor<4096x1024xf32> -> tensor<4096x1xf32>
  %mean = tg.div %t, %n : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
  %c = tg.sub %x, %mean : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  %q = tg.mul %c, %c : tensor<4096x1024xf32>
  %u = tg.reduce add %q [1] : tensor<4096x1024xf32> -> tensor<4096x1xf32>
  %v = tg.div %u, %n : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
  %w = tg.add %v, %one : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
  %r = tg.sqrt %w : tensor<4096x1xf32>
  %d = tg.div %c, %r : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  return %d : tensor<4096x1024xf32>
}

// A part of a warp for each short row: 16 work items, and 4 steps.

// CHECK-LABEL: .entry short_0(
// CHECK-NOT:     .shared
// CHECK-NOT:     bar.sync
// CHECK:         ld.global{{.*}}.v4
// CHECK-NOT:     ld.global
// CHECK-COUNT-8: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK:         st.global.v4
// CHECK:         ret;
func.func @short(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %m = tg.reduce max %x [1] : tensor<4096x64xf32> -> tensor<4096x1xf32>
  %s = tg.sub %x, %m : (tensor<4096x64xf32>, tensor<4096x1xf32>) -> tensor<4096x64xf32>
  %e = tg.exp2 %s : tensor<4096x64xf32>
  %t = tg.reduce add %e [1] : tensor<4096x64xf32> -> tensor<4096x1xf32>
  %d = tg.div %e, %t : (tensor<4096x64xf32>, tensor<4096x1xf32>) -> tensor<4096x64xf32>
  return %d : tensor<4096x64xf32>
}

// The sum of everything, in two kernels. One warp adds up the parts, without a BARRIER.

// CHECK-LABEL: .entry sum_
// CHECK:         ld.global{{.*}}.v4
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK:         bar.sync
// CHECK-NOT:     bar.sync
// CHECK-LABEL: .entry sum_
// CHECK:         ld.global{{.*}}.v4
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT:     bar.sync
// CHECK:         ret;
func.func @sum(%x: tensor<33554432xf32>) -> tensor<1xf32> {
  %t = tg.reduce add %x [0] : tensor<33554432xf32> -> tensor<1xf32>
  return %t : tensor<1xf32>
}
