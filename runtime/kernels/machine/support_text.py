"""What compiled kernels call of Numba's runtime, in LLVM's language: memory, and a few functions.

Memory that Numba's code asks for has a header of 48 bytes, as it expects: a count of references,
two words that stay zero, the address of the elements, and how many bytes they take. That of texts
that are walked is the elements alone. Neither is ever handed to Python.
"""

NEW, RELEASE = "kernel_memory", "kernel_memory_release"

NAMES = (
    NEW,
    RELEASE,
    "NRT_MemInfo_alloc_aligned",
    "NRT_MemInfo_alloc",
    "NRT_MemInfo_call_dtor",
    "NRT_Allocate",
    "NRT_Free",
    "numba_attempt_nocopy_reshape",
    "numba_cpow",
    "numba_cpowf",
    "__truncdfhf2",
)

TEXT = """\
declare ptr @malloc(i64)
declare void @free(ptr)
declare double @hypot(double, double)
declare double @pow(double, double)
declare double @atan2(double, double)
declare double @exp(double)
declare double @log(double)
declare double @cos(double)
declare double @sin(double)
declare double @llvm.fabs.f64(double)

; Memory from a multiple of 64 on, in the word before it where it was given; null if there is none.
define noalias ptr @kernel_memory(i64 %size) {
start:
  %all = add i64 %size, 72
  %wraps = icmp ult i64 %all, %size
  br i1 %wraps, label %none, label %ask
ask:
  %made = call ptr @malloc(i64 %all)
  %is_none = icmp eq ptr %made, null
  br i1 %is_none, label %none, label %write
write:
  %base = ptrtoint ptr %made to i64
  %behind = add i64 %base, 71
  %first = and i64 %behind, -64
  %step = sub i64 %first, %base
  %data = getelementptr i8, ptr %made, i64 %step
  %before = getelementptr i8, ptr %data, i64 -8
  store ptr %made, ptr %before
  ret ptr %data
none:
  ret ptr null
}

define void @kernel_memory_release(ptr %data) {
start:
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %done, label %give
give:
  %before = getelementptr i8, ptr %data, i64 -8
  %made = load ptr, ptr %before
  call void @free(ptr %made)
  br label %done
done:
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %made = call ptr @malloc(i64 %size)
  ret ptr %made
}

define void @NRT_Free(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %made = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %made
}

; Memory whose elements begin at a multiple of a power of two; null if there is none.
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
start:
  %align = zext i32 %alignment to i64
  %some = add i64 %size, 48
  %all = add i64 %some, %align
  %wraps = icmp ult i64 %all, %size
  br i1 %wraps, label %none, label %ask
ask:
  %made = call ptr @malloc(i64 %all)
  %is_none = icmp eq ptr %made, null
  br i1 %is_none, label %none, label %write
write:
  store i64 1, ptr %made
  %destructor = getelementptr i8, ptr %made, i64 8
  store ptr null, ptr %destructor
  %its_argument = getelementptr i8, ptr %made, i64 16
  store ptr null, ptr %its_argument
  %base = ptrtoint ptr %made to i64
  %behind = add i64 %base, 47
  %high = add i64 %behind, %align
  %negative = sub i64 0, %align
  %first = and i64 %high, %negative
  %data = getelementptr i8, ptr %made, i64 24
  store i64 %first, ptr %data
  %length = getelementptr i8, ptr %made, i64 32
  store i64 %size, ptr %length
  %allocator = getelementptr i8, ptr %made, i64 40
  store ptr null, ptr %allocator
  ret ptr %made
none:
  ret ptr null
}

define void @NRT_MemInfo_call_dtor(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}

; The strides of a dense array in other sizes; 0 if the array is not dense, or order is Fortran's.
define i32 @numba_attempt_nocopy_reshape(i64 %ndim, ptr %sizes, ptr %strides, i64 %new_ndim,
    ptr %new_sizes, ptr %new_strides, i64 %item, i32 %fortran) {
start:
  %other_order = icmp ne i32 %fortran, 0
  br i1 %other_order, label %refuse, label %look
look:
  %left = phi i64 [ %ndim, %start ], [ %dim, %fine ]
  %wanted = phi i64 [ %item, %start ], [ %wanted_after, %fine ]
  %seen = icmp eq i64 %left, 0
  br i1 %seen, label %put, label %one
one:
  %dim = sub i64 %left, 1
  %size_place = getelementptr i64, ptr %sizes, i64 %dim
  %size = load i64, ptr %size_place
  %stride_place = getelementptr i64, ptr %strides, i64 %dim
  %stride = load i64, ptr %stride_place
  %same = icmp eq i64 %stride, %wanted
  %single = icmp ule i64 %size, 1
  %dense = or i1 %same, %single
  br i1 %dense, label %fine, label %refuse
fine:
  %wanted_after = mul i64 %wanted, %size
  br label %look
put:
  %new_left = phi i64 [ %new_ndim, %look ], [ %new_dim, %write ]
  %step = phi i64 [ %item, %look ], [ %step_after, %write ]
  %all = icmp eq i64 %new_left, 0
  br i1 %all, label %good, label %write
write:
  %new_dim = sub i64 %new_left, 1
  %place = getelementptr i64, ptr %new_strides, i64 %new_dim
  store i64 %step, ptr %place
  %new_size_place = getelementptr i64, ptr %new_sizes, i64 %new_dim
  %new_size = load i64, ptr %new_size_place
  %step_after = mul i64 %step, %new_size
  br label %put
good:
  ret i32 1
refuse:
  ret i32 0
}

; base ** exponent by the polar form: 0 ** 0 is 1, and 0 to any other power 0.
define internal { double, double } @power(double %re, double %im, double %x, double %y) {
start:
  %x_zero = fcmp oeq double %x, 0.0
  %y_zero = fcmp oeq double %y, 0.0
  %to_zero = and i1 %x_zero, %y_zero
  br i1 %to_zero, label %unit, label %base
unit:
  ret { double, double } { double 1.0, double 0.0 }
base:
  %re_zero = fcmp oeq double %re, 0.0
  %im_zero = fcmp oeq double %im, 0.0
  %of_zero = and i1 %re_zero, %im_zero
  br i1 %of_zero, label %zero, label %polar
zero:
  ret { double, double } { double 0.0, double 0.0 }
polar:
  %size = call double @hypot(double %re, double %im)
  %length = call double @pow(double %size, double %x)
  %angle = call double @atan2(double %im, double %re)
  %phase = fmul double %angle, %x
  br i1 %y_zero, label %end, label %turn
turn:
  %growth = fmul double %angle, %y
  %factor = call double @exp(double %growth)
  %own_length = fdiv double %length, %factor
  %log = call double @log(double %size)
  %more = fmul double %y, %log
  %own_phase = fadd double %phase, %more
  br label %end
end:
  %r = phi double [ %length, %polar ], [ %own_length, %turn ]
  %p = phi double [ %phase, %polar ], [ %own_phase, %turn ]
  %cos = call double @cos(double %p)
  %sin = call double @sin(double %p)
  %a = fmul double %r, %cos
  %b = fmul double %r, %sin
  %half = insertvalue { double, double } undef, double %a, 0
  %both = insertvalue { double, double } %half, double %b, 1
  ret { double, double } %both
}

define void @numba_cpow(ptr %base, ptr %exponent, ptr %out) {
  %re = load double, ptr %base
  %im_place = getelementptr i8, ptr %base, i64 8
  %im = load double, ptr %im_place
  %x = load double, ptr %exponent
  %y_place = getelementptr i8, ptr %exponent, i64 8
  %y = load double, ptr %y_place
  %power = call { double, double } @power(double %re, double %im, double %x, double %y)
  %a = extractvalue { double, double } %power, 0
  %b = extractvalue { double, double } %power, 1
  store double %a, ptr %out
  %second = getelementptr i8, ptr %out, i64 8
  store double %b, ptr %second
  ret void
}

define void @numba_cpowf(ptr %base, ptr %exponent, ptr %out) {
  %re = load float, ptr %base
  %im_place = getelementptr i8, ptr %base, i64 4
  %im = load float, ptr %im_place
  %x = load float, ptr %exponent
  %y_place = getelementptr i8, ptr %exponent, i64 4
  %y = load float, ptr %y_place
  %re_wide = fpext float %re to double
  %im_wide = fpext float %im to double
  %x_wide = fpext float %x to double
  %y_wide = fpext float %y to double
  %power = call { double, double } @power(double %re_wide, double %im_wide, double %x_wide,
    double %y_wide)
  %a_wide = extractvalue { double, double } %power, 0
  %b_wide = extractvalue { double, double } %power, 1
  %a = fptrunc double %a_wide to float
  %b = fptrunc double %b_wide to float
  store float %a, ptr %out
  %second = getelementptr i8, ptr %out, i64 4
  store float %b, ptr %second
  ret void
}

; The nearest float16 of a float64. LLVM asks for it where it computes in float16 what was asked in
; float64, exactly: a remainder, a sign. First to float32, with the last bit odd if it
; is inexact, so that it matters once how that is rounded; then as `half.float32_to_float16`.
define half @__truncdfhf2(double %x) {
  %single = fptrunc double %x to float
  %back = fpext float %single to double
  %size = call double @llvm.fabs.f64(double %x)
  %size_back = call double @llvm.fabs.f64(double %back)
  %is_more = fcmp ogt double %size_back, %size
  %less = zext i1 %is_more to i32
  %bits = bitcast float %single to i32
  %cut = sub i32 %bits, %less
  %is_inexact = fcmp one double %back, %x
  %last = zext i1 %is_inexact to i32
  %wide = or i32 %cut, %last
  %magnitude = and i32 %wide, 2147483647
  %number = bitcast i32 %magnitude to float
  %lifted = fadd float %number, 0.5
  %lifted_bits = bitcast float %lifted to i32
  %subnormal = sub i32 %lifted_bits, 1056964608
  %shifted = lshr i32 %magnitude, 13
  %tie = and i32 %shifted, 1
  %biased = add i32 %magnitude, 3355447295
  %rebiased = add i32 %biased, %tie
  %normal = lshr i32 %rebiased, 13
  %payload = and i32 %shifted, 1023
  %nan = or i32 %payload, 32256
  %is_subnormal = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %is_subnormal, i32 %subnormal, i32 %normal
  %is_infinite = icmp uge i32 %magnitude, 1199566848
  %ordered = select i1 %is_infinite, i32 31744, i32 %finite
  %is_nan = icmp ugt i32 %magnitude, 2139095040
  %value = select i1 %is_nan, i32 %nan, i32 %ordered
  %high = lshr i32 %wide, 16
  %sign = and i32 %high, 32768
  %signed = or i32 %value, %sign
  %short = trunc i32 %signed to i16
  %half = bitcast i16 %short to half
  ret half %half
}
"""

EMPTY = """\
declare ptr @PyByteArray_FromStringAndSize(ptr, i64)
declare ptr @PyByteArray_AsString(ptr)

; empty(count) for a list of a dtype and of numbers: its item size, and two functions of NumPy's. A
; vector whose elements begin at a cache line, in the memory of a bytearray.
define ptr @torchgen_empty(ptr %self, ptr %args, i64 %given) {
start:
  %dtype = call ptr @PyList_GetItem(ptr %self, i64 0)
  %item = call ptr @PyList_GetItem(ptr %self, i64 1)
  %about = call ptr @PyBytes_AsString(ptr %item)
  %item_size = load i64, ptr %about
  %make_place = getelementptr i8, ptr %about, i64 8
  %make = load ptr, ptr %make_place
  %own_place = getelementptr i8, ptr %about, i64 16
  %own = load ptr, ptr %own_place
  %sizes = alloca i64
  %count_object = load ptr, ptr %args
  %count = call i64 @PyLong_AsLongLong(ptr %count_object)
  store i64 %count, ptr %sizes
  %bytes = mul i64 %count, %item_size
  %all = add i64 %bytes, 64
  %memory = call ptr @PyByteArray_FromStringAndSize(ptr null, i64 %all)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %failed, label %align
align:
  %begin = call ptr @PyByteArray_AsString(ptr %memory)
  %number = ptrtoint ptr %begin to i64
  %high = add i64 %number, 63
  %first = and i64 %high, -64
  %data = inttoptr i64 %first to ptr
  call void @Py_IncRef(ptr %dtype)
  %array = call ptr %make(ptr @torchgen_ndarray, ptr %dtype, i32 1, ptr %sizes, ptr null, ptr %data,
    i32 1281, ptr null)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %drop, label %hold
drop:
  call void @Py_DecRef(ptr %memory)
  ret ptr null
hold:
  %status = call i32 %own(ptr %array, ptr %memory)
  ret ptr %array
failed:
  ret ptr null
}
"""
"""Beside `call_text`, in its module. 1281: dense, aligned and writable."""
