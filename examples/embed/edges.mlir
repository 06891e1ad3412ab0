// Blur an image, blend it with its thresholded copy, and count the pixels per brightness.
//
// RUN: img-opt %s -p img-to-tg | filecheck %s --check-prefix=TG
// RUN: img-opt %s -p img-to-tg,tg-callify,tg-rangeify,tg-verify{level=kernels} | filecheck %s --check-prefix=KERNELS
// RUN: %python -c "import numpy; numpy.save('%t.npy', numpy.linspace(0, 1, 48, dtype='f4').reshape(6, 8))"
// RUN: img-run %s %t.npy | filecheck %s --check-prefix=RESULT

func.func @main(%image: tensor<6x8xf32>) -> (tensor<4x6xf32>, tensor<4xi32>) {
  %blurred = img.blur3x3 %image : tensor<6x8xf32> -> tensor<4x6xf32>
  %bright = img.threshold %blurred, 0.5 : tensor<4x6xf32>
  %mixed = img.blend %blurred, %bright, 0.25 : tensor<4x6xf32>
  %counts = img.histogram %mixed : tensor<4x6xf32> -> tensor<4xi32>
  func.return %mixed, %counts : tensor<4x6xf32>, tensor<4xi32>
}

// TG-LABEL: func.func @main
// TG-NOT:     img.
// TG:         %0 = tg.shrink %image at [0, 0] to [4, 8] : tensor<6x8xf32> -> tensor<4x8xf32>
// TG:         %bright = tg.cast %12 to f32 : tensor<4x6xi1> -> tensor<4x6xf32>
// TG:         tg.reduce add %29 [0] : tensor<24x4xi32> -> tensor<1x4xi32>

// The image is blurred, blended and stored in one kernel, and a row of its column sums is kept.
// KERNELS:      tg.kernel @main_0
// KERNELS:        tg.buffer 0 : tensor<8xf32, #tg.place<local>>
// KERNELS:        tg.store %{{.*}} : tensor<f32, #tg.place<global>>, tensor<f32>
// KERNELS-NEXT:   tg.end %{{.*}} over %{{.*}}, %{{.*}} : !tg.void
// KERNELS-NEXT:   tg.sink
// KERNELS:      func.func @main
// KERNELS:        tg.call @main_0(%out0, %image)

// RESULT:      {{\[\[}}0.144 0.16  0.176 0.191 0.207 0.223]
// RESULT-NEXT:   [0.271 0.287 0.303 0.319 0.335 0.351]
// RESULT-NEXT:   [0.649 0.665 0.681 0.697 0.713 0.729]
// RESULT-NEXT:   [0.777 0.793 0.809 0.824 0.84  0.856]]
// RESULT-NEXT: [6 6 6 6]
