define internal float @round_to_odd(double %x) {
  %nearest = fptrunc double %x to float
  %back = fpext float %nearest to double
  %inexact = fcmp one double %back, %x
  %bits = bitcast float %nearest to i32
  %last = trunc i32 %bits to i1
  %even = xor i1 %last, true
  %move = and i1 %inexact, %even
  %magnitude = call double @llvm.fabs.f64(double %x)
  %rounded_magnitude = call double @llvm.fabs.f64(double %back)
  %away = fcmp ogt double %rounded_magnitude, %magnitude
  %step = select i1 %away, i32 -1, i32 1
  %moved = add i32 %bits, %step
  %odd = select i1 %move, i32 %moved, i32 %bits
  %result = bitcast i32 %odd to float
  ret float %result
}

define weak bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %kept = lshr i32 %bits, 16
  %last = and i32 %kept, 1
  %bias = add i32 %last, 32767
  %sum = add i32 %bits, %bias
  %rounded = lshr i32 %sum, 16
  %is_nan = fcmp uno float %x, %x
  %quiet = or i32 %kept, 64
  %word = select i1 %is_nan, i32 %quiet, i32 %rounded
  %narrow = trunc i32 %word to i16
  %result = bitcast i16 %narrow to bfloat
  ret bfloat %result
}

define weak bfloat @__truncdfbf2(double %x) {
  %odd = call float @round_to_odd(double %x)
  %result = call bfloat @__truncsfbf2(float %odd)
  ret bfloat %result
}

define weak half @__truncsfhf2(float %x) {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %magnitude = and i32 %bits, 2147483647
  %normal_shifted = lshr i32 %magnitude, 13
  %last = and i32 %normal_shifted, 1
  ; (15 - 127) << 23 rebiases the exponent, 0xFFF + last rounds to nearest even.
  %rebiased = add i32 %magnitude, -939520001
  %rounded = add i32 %rebiased, %last
  %normal = lshr i32 %rounded, 13
  ; Below 2^-14, adding 0.5 leaves the subnormal's digits in the last place of the sum.
  %small = bitcast i32 %magnitude to float
  %sum = fadd float %small, 5.000000e-01
  %sum_bits = bitcast float %sum to i32
  %subnormal = sub i32 %sum_bits, 1056964608
  %payload = and i32 %normal_shifted, 511
  %nan = or i32 %payload, 32256
  %is_subnormal = icmp ult i32 %magnitude, 947912704
  %is_large = icmp uge i32 %magnitude, 1199566848
  %is_nan = icmp ugt i32 %magnitude, 2139095040
  %finite = select i1 %is_subnormal, i32 %subnormal, i32 %normal
  %number = select i1 %is_large, i32 31744, i32 %finite
  %unsigned = select i1 %is_nan, i32 %nan, i32 %number
  %word = or i32 %unsigned, %sign
  %narrow = trunc i32 %word to i16
  %result = bitcast i16 %narrow to half
  ret half %result
}

define weak half @__truncdfhf2(double %x) {
  %odd = call float @round_to_odd(double %x)
  %result = call half @__truncsfhf2(float %odd)
  ret half %result
}

define weak float @__extendhfsf2(half %x) {
  %narrow = bitcast half %x to i16
  %bits = zext i16 %narrow to i32
  %sign_bit = and i32 %bits, 32768
  %sign = shl i32 %sign_bit, 16
  %digits = and i32 %bits, 32767
  %shifted = shl i32 %digits, 13
  ; Multiplying by 2^112 rebiases the exponent, and normalizes subnormal numbers.
  %small = bitcast i32 %shifted to float
  %scaled = fmul float %small, 0x46F0000000000000
  %scaled_bits = bitcast float %scaled to i32
  %is_special = icmp uge i32 %shifted, 260046848
  %special = or i32 %shifted, 2139095040
  %magnitude = select i1 %is_special, i32 %special, i32 %scaled_bits
  %word = or i32 %magnitude, %sign
  %result = bitcast i32 %word to float
  ret float %result
}
