// Enough of CUDA C++ for a C++ compiler to judge names: what the compilers of NVIDIA predefine.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(items)
#define __align__(bytes) alignas(bytes)

struct uint3 { unsigned x, y, z; };
struct float4 { float x, y, z, w; };
struct int4 { int x, y, z, w; };
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
const int warpSize = 32;
extern "C" float rsqrtf(float);
extern "C" long long clock64(void);
int4 make_int4(int x, int y, int z, int w);
int max(int a, int b);
int min(int a, int b);
