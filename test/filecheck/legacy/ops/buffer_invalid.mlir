// RUN: tg-opt %s --split-input-file --verify-diagnostics

%d = tg_legacy.device "CPU"
// expected-error@below {{the sources of a BUFFER are a DEVICE and a UNIQUE, not tg_legacy.device and tg_legacy.device}}
%a = tg_legacy.buffer %d, %d size 16 : tensor<16xf32, #tg.place<"CPU", global>>

// -----

%u = tg_legacy.unique 0
// expected-error@below {{the sources of a BUFFER are a DEVICE and a UNIQUE, not tg_legacy.unique and tg_legacy.unique}}
%a = tg_legacy.buffer %u, %u size 16 : tensor<16xf32, #tg.place<"CPU", global>>

// -----

%d = tg_legacy.device "CPU"
%u = tg_legacy.unique 0
// expected-error@below {{the BUFFER is global memory on "CPU", not tensor<16xf32, #tg.place<"CUDA", global>>}}
%a = tg_legacy.buffer %d, %u size 16 : tensor<16xf32, #tg.place<"CUDA", global>>

// -----

%d = tg_legacy.device "CPU"
%u = tg_legacy.unique 0
// expected-error@below {{the BUFFER is global memory on "CPU", not tensor<16xf32, #tg.place<"CPU", local>>}}
%a = tg_legacy.buffer %d, %u size 16 : tensor<16xf32, #tg.place<"CPU", local>>

// -----

%d = tg_legacy.device "CPU"
%u = tg_legacy.unique 0
// expected-error@below {{the size is 16, the shape 4x4}}
%a = tg_legacy.buffer %d, %u size 16 : tensor<4x4xf32, #tg.place<"CPU", global>>

// -----

%d = tg_legacy.device "CPU"
%u = tg_legacy.unique 0
// expected-error@below {{the size is 15, the shape 16}}
%a = tg_legacy.buffer %d, %u size 15 : tensor<16xf32, #tg.place<"CPU", global>>

// -----

%d = tg_legacy.device "CPU"
%u = tg_legacy.unique 0
// expected-error@below {{the size is 15, the shape ?}}
%a = tg_legacy.buffer %d, %u size 15 : tensor<?xf32, #tg.place<"CPU", global>>
