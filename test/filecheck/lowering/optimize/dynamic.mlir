// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=8},tg-split{axis=0 factor=8 target=upcast overlap=true},tg-verify{level=kernels}' | filecheck %s --check-prefix=OVERLAP
// RUN: tg-opt %s -p 'tg-merge{first=0 second=1},tg-verify{level=kernels}' | filecheck %s --check-prefix=MERGE
// RUN: tg-opt %s -p 'tg-split{axis=0 factor=4 target=thread top=true},tg-verify{level=kernels}' | filecheck %s --check-prefix=THREAD
// RUN: tg-opt %s -p 'tg-padto{axis=1 multiple=8},tg-split{axis=1 factor=8 target=upcast},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=PEEL

// The last part of a dynamic extent begins in the one before; one that is shorter than a part has masks.

// OVERLAP: %[[I:.*]] = tg.range 0 global to
// OVERLAP: %[[J:.*]] = tg.range 2 upcast to
// OVERLAP: %[[START:.*]] = tg.mul %[[I]], %{{.*}}
// OVERLAP: %[[REST:.*]] = tg.sub %h, %{{.*}}
// OVERLAP: %[[LAST:.*]] = tg.max %[[REST]], %{{.*}}
// OVERLAP: %[[LESS:.*]] = tg.cmplt %[[START]], %[[LAST]]
// OVERLAP: %[[BEGIN:.*]] = tg.where %[[LESS]], %[[START]], %[[LAST]]
// OVERLAP: %[[INDEX:.*]] = tg.add %[[BEGIN]], %[[J]]
// OVERLAP: tg.cmplt %[[INDEX]], %h

// Rows and columns are cells of one axis.

// MERGE: %[[CELLS:.*]] = tg.mul %h, %w
// MERGE: %[[CELL:.*]] = tg.range 0 global to %[[CELLS]]
// MERGE: tg.reshape %x [%[[CELLS]]]

// Threads take chunks that differ by one iteration at most.

// THREAD: %[[T:.*]] = tg.range 2 thread to
// THREAD: %[[NEXT:.*]] = tg.add %[[T]], %{{.*}}
// THREAD: %[[A:.*]] = tg.mul %h, %[[T]]
// THREAD: %[[FROM:.*]] = tg.idiv %[[A]], %{{.*}}
// THREAD: %[[B:.*]] = tg.mul %h, %[[NEXT]]
// THREAD: %[[TO:.*]] = tg.idiv %[[B]], %{{.*}}
// THREAD: %[[LENGTH:.*]] = tg.sub %[[TO]], %[[FROM]]
// THREAD: %[[C:.*]] = tg.range 0 global to %[[LENGTH]]
// THREAD: tg.add %[[FROM]], %[[C]]

// The whole vectors of a row have no masks; a loop of one iteration at most has the others.

// PEEL:     tg.range 0 global to %h
// PEEL:     %[[FULL:.*]] = tg.max
// PEEL:     %[[LEFT:.*]] = tg.sub %{{.*}}, %[[FULL]]
// PEEL:     tg.range 1 global to %[[FULL]]
// PEEL:     tg.load
// PEEL-NOT: gate
// PEEL:     tg.end
// PEEL:     tg.range 2 global to %[[LEFT]]
// PEEL:     tg.store {{.*}} gate
// PEEL:     tg.end

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"cpu", features = ["avx2"]>} {
tg.kernel @square {
  %h = tg.param 0 min 1 : tensor<index>
  %w = tg.param 1 min 1 : tensor<index>
  %o = tg.param 2(%h, %w) : tensor<?x?xf32, #g>
  %x = tg.param 3(%h, %w) : tensor<?x?xf32, #g>
  %i = tg.range 0 global to %h : tensor<index>
  %j = tg.range 1 global to %w : tensor<index>
  %xl = tg.index %x[%i, %j] : (tensor<?x?xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %v = tg.load %xl : tensor<f32, #g> -> tensor<f32>
  %m = tg.mul %v, %v : tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<?x?xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %m : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}
}
