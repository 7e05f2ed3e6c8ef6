"""What lends memory to NumPy's arrays and takes it back, in LLVM's language; beside `call_text`.

An array that owns its data names the handler that frees it. The arrays made here name one of this
library's, so that their memory returns to a list when the last array over it has gone, and no
Python runs. All of it holds the GIL, which is the lists' lock.

A pool is a run of words, which Python reads and whose address the handler has as its context: the
numbers of `WORDS`, NumPy's description of the handler at HANDLER, and from HEADS on the first
memory of each list. Lists are by size: `STEPS` sizes between two powers of two, from LEAST_BYTES
on. In front of memory's elements lie the next of its list, its bytes, and where it was given.
"""

from __future__ import annotations

LEAST_BYTES = 1 << 20
STEPS = 16
MOST_BYTES = 1 << 47
"""More than any process can have."""

COUNTS = ("allocated", "most_allocated", "kept", "limit", "hits", "misses")
"""Of a pool: bytes in use, the most so far, bytes kept, and at most; how often these served, and
how often new ones."""
WORDS = (*COUNTS, "handler", "context", "malloc", "free")
"""What a pool begins with. After the counts: the handler's capsule; of NumPy's own handler its
context and two functions."""
HANDLER = 16
HEADS = HANDLER + 24
LISTS = STEPS * (63 - 20)
FUNCTIONS = ("malloc", "calloc", "realloc", "free")
"""Of a handler, in NumPy's order."""
NAMES = ("torchgen_lend", "torchgen_pool_drop", *(f"torchgen_pool_{each}" for each in FUNCTIONS))

_DECLARED = """\
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @PyTraceMalloc_Track(i32, i64, i64)

"""


def _place(name: str) -> str:
    """A function that says where a pool has a word."""
    return f"""\
define internal ptr @{name}_of(ptr %pool) alwaysinline {{
  %place = getelementptr i64, ptr %pool, i64 {WORDS.index(name)}
  ret ptr %place
}}

"""


_PLACES = "".join(map(_place, WORDS))

_LISTS = f"""\
define internal void @increase(ptr %place, i64 %amount) alwaysinline {{
  %before = load i64, ptr %place
  %after = add i64 %before, %amount
  store i64 %after, ptr %place
  ret void
}}

; The bytes that are set aside for some: a sixteenth of a power of two, or less, is wasted.
define internal i64 @class_of(i64 %asked) alwaysinline {{
  %bytes = call i64 @llvm.umax.i64(i64 %asked, i64 {LEAST_BYTES})
  %last = sub i64 %bytes, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %last, i1 true)
  %shift = sub i64 {64 - STEPS.bit_length()}, %zeros
  %below = lshr i64 %last, %shift
  %steps = add i64 %below, 1
  %size = shl i64 %steps, %shift
  ret i64 %size
}}

; The list of memory of so many bytes, which are a class's.
define internal ptr @list_of(ptr %pool, i64 %size) alwaysinline {{
  %last = sub i64 %size, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %last, i1 true)
  %shift = sub i64 {64 - STEPS.bit_length()}, %zeros
  %below = lshr i64 %last, %shift
  %row = sub i64 {64 - (LEAST_BYTES - 1).bit_length()}, %zeros
  %first = mul i64 %row, {STEPS}
  %own = sub i64 %below, {STEPS}
  %number = add i64 %first, %own
  %heads = getelementptr i64, ptr %pool, i64 {HEADS}
  %list = getelementptr ptr, ptr %heads, i64 %number
  ret ptr %list
}}

define internal void @give_back(ptr %pool, ptr %memory) {{
  %size = call i64 @word(ptr %memory, i64 -16)
  %whole = call ptr @pointer(ptr %memory, i64 -8)
  %all = add i64 %size, 96
  %context_place = call ptr @context_of(ptr %pool)
  %context = load ptr, ptr %context_place
  %free_place = call ptr @free_of(ptr %pool)
  %free = load ptr, ptr %free_place
  call void %free(ptr %context, ptr %whole, i64 %all)
  ret void
}}

; Gives all that is kept back to the system.
define void @torchgen_pool_drop(ptr %pool) {{
start:
  %kept = call ptr @kept_of(ptr %pool)
  store i64 0, ptr %kept
  %heads = getelementptr i64, ptr %pool, i64 {HEADS}
  br label %next
next:
  %i = phi i64 [ 0, %start ], [ %after, %empty ]
  %more = icmp ult i64 %i, {LISTS}
  br i1 %more, label %list, label %end
list:
  %head = getelementptr ptr, ptr %heads, i64 %i
  %first = load ptr, ptr %head
  store ptr null, ptr %head
  br label %look
look:
  %memory = phi ptr [ %first, %list ], [ %following, %one ]
  %none = icmp eq ptr %memory, null
  br i1 %none, label %empty, label %one
one:
  %following = call ptr @pointer(ptr %memory, i64 -24)
  call void @give_back(ptr %pool, ptr %memory)
  br label %look
empty:
  %after = add i64 %i, 1
  br label %next
end:
  ret void
}}

"""

_TAKING = f"""\
; Memory from NumPy, which asks for large pages where there are such; null if there is none.
define internal ptr @ask(ptr %pool, i64 %size) {{
start:
  %all = add i64 %size, 96
  %context_place = call ptr @context_of(ptr %pool)
  %context = load ptr, ptr %context_place
  %malloc_place = call ptr @malloc_of(ptr %pool)
  %malloc = load ptr, ptr %malloc_place
  %made = call ptr %malloc(ptr %context, i64 %all)
  %none = icmp eq ptr %made, null
  br i1 %none, label %again, label %write
again:
  call void @torchgen_pool_drop(ptr %pool)
  %made_then = call ptr %malloc(ptr %context, i64 %all)
  %none_then = icmp eq ptr %made_then, null
  br i1 %none_then, label %end, label %write
write:
  %whole = phi ptr [ %made, %start ], [ %made_then, %again ]
  %number = ptrtoint ptr %whole to i64
  %high = add i64 %number, {24 + 63}
  %begin = and i64 %high, -64
  %step = sub i64 %begin, %number
  %memory = getelementptr i8, ptr %whole, i64 %step
  %size_place = getelementptr i8, ptr %memory, i64 -16
  store i64 %size, ptr %size_place
  %whole_place = getelementptr i8, ptr %memory, i64 -8
  store ptr %whole, ptr %whole_place
  ret ptr %memory
end:
  ret ptr null
}}

; Kept memory, or new; null if there is none.
define ptr @torchgen_pool_malloc(ptr %pool, i64 %bytes) {{
start:
  %is_too_much = icmp ugt i64 %bytes, {MOST_BYTES}
  br i1 %is_too_much, label %none, label %look
look:
  %size = call i64 @class_of(i64 %bytes)
  %list = call ptr @list_of(ptr %pool, i64 %size)
  %first = load ptr, ptr %list
  %is_empty = icmp eq ptr %first, null
  br i1 %is_empty, label %miss, label %hit
hit:
  %following = call ptr @pointer(ptr %first, i64 -24)
  store ptr %following, ptr %list
  %kept = call ptr @kept_of(ptr %pool)
  %less = sub i64 0, %size
  call void @increase(ptr %kept, i64 %less)
  %hits = call ptr @hits_of(ptr %pool)
  call void @increase(ptr %hits, i64 1)
  br label %count
miss:
  %new = call ptr @ask(ptr %pool, i64 %size)
  %is_none = icmp eq ptr %new, null
  br i1 %is_none, label %none, label %made
made:
  %misses = call ptr @misses_of(ptr %pool)
  call void @increase(ptr %misses, i64 1)
  br label %count
count:
  %memory = phi ptr [ %first, %hit ], [ %new, %made ]
  %allocated_place = call ptr @allocated_of(ptr %pool)
  call void @increase(ptr %allocated_place, i64 %size)
  %allocated = load i64, ptr %allocated_place
  %most_place = call ptr @most_allocated_of(ptr %pool)
  %most = load i64, ptr %most_place
  %most_now = call i64 @llvm.umax.i64(i64 %most, i64 %allocated)
  store i64 %most_now, ptr %most_place
  ret ptr %memory
none:
  ret ptr null
}}

; Keeps what was lent, unless that is too much.
define void @torchgen_pool_free(ptr %pool, ptr %memory, i64 %bytes) {{
start:
  %nothing = icmp eq ptr %memory, null
  br i1 %nothing, label %end, label %judge
judge:
  %size = call i64 @word(ptr %memory, i64 -16)
  %allocated = call ptr @allocated_of(ptr %pool)
  %less = sub i64 0, %size
  call void @increase(ptr %allocated, i64 %less)
  %kept_place = call ptr @kept_of(ptr %pool)
  %kept = load i64, ptr %kept_place
  %wanted = add i64 %kept, %size
  %limit_place = call ptr @limit_of(ptr %pool)
  %limit = load i64, ptr %limit_place
  %fits = icmp ule i64 %wanted, %limit
  br i1 %fits, label %keep, label %drop
drop:
  call void @torchgen_pool_drop(ptr %pool)
  %fits_now = icmp ule i64 %size, %limit
  br i1 %fits_now, label %keep, label %leave
leave:
  call void @give_back(ptr %pool, ptr %memory)
  ret void
keep:
  call void @increase(ptr %kept_place, i64 %size)
  %list = call ptr @list_of(ptr %pool, i64 %size)
  %first = load ptr, ptr %list
  %following_place = getelementptr i8, ptr %memory, i64 -24
  store ptr %first, ptr %following_place
  store ptr %memory, ptr %list
  ret void
end:
  ret void
}}

define ptr @torchgen_pool_calloc(ptr %pool, i64 %count, i64 %item) {{
start:
  %product = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %count, i64 %item)
  %bytes = extractvalue {{ i64, i1 }} %product, 0
  %wraps = extractvalue {{ i64, i1 }} %product, 1
  br i1 %wraps, label %none, label %take
take:
  %memory = call ptr @torchgen_pool_malloc(ptr %pool, i64 %bytes)
  %is_none = icmp eq ptr %memory, null
  br i1 %is_none, label %none, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %memory, i8 0, i64 %bytes, i1 false)
  ret ptr %memory
none:
  ret ptr null
}}

declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

; What ndarray.resize calls: the same memory where it is large enough.
define ptr @torchgen_pool_realloc(ptr %pool, ptr %memory, i64 %bytes) {{
start:
  %nothing = icmp eq ptr %memory, null
  br i1 %nothing, label %take, label %look
look:
  %size = call i64 @word(ptr %memory, i64 -16)
  %fits = icmp ule i64 %bytes, %size
  br i1 %fits, label %same, label %take
same:
  ret ptr %memory
take:
  %held = phi i64 [ 0, %start ], [ %size, %look ]
  %new = call ptr @torchgen_pool_malloc(ptr %pool, i64 %bytes)
  %none = icmp eq ptr %new, null
  br i1 %none, label %end, label %move
move:
  %moved = call i64 @llvm.umin.i64(i64 %held, i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %memory, i64 %moved, i1 false)
  call void @torchgen_pool_free(ptr %pool, ptr %memory, i64 %held)
  ret ptr %new
end:
  ret ptr null
}}

"""

_LENDING = """\
; lend(numel) for a list: a dtype; numbers, of which the first three are those of `torchgen_empty`,
; then the pool, from how many elements on it lends, and how many are too many; what is called if
; there is no memory. A vector whose elements begin at a cache line. 389047: NumPy's domain of
; tracemalloc, from which it takes the memory when the array goes.
define ptr @torchgen_lend(ptr %self, ptr %args, i64 %given) {
start:
  %sizes = alloca i64
  %item = call ptr @PyList_GetItem(ptr %self, i64 1)
  %about = call ptr @PyBytes_AsString(ptr %item)
  %numel_object = load ptr, ptr %args
  %numel = call i64 @PyLong_AsLongLong(ptr %numel_object)
  %least = call i64 @word(ptr %about, i64 32)
  %is_small = icmp ult i64 %numel, %least
  br i1 %is_small, label %small, label %large
small:
  %own = call ptr @torchgen_empty(ptr %self, ptr %args, i64 %given)
  ret ptr %own
large:
  %most = call i64 @word(ptr %about, i64 40)
  %is_possible = icmp ule i64 %numel, %most
  br i1 %is_possible, label %take, label %refuse
take:
  %item_size = call i64 @word(ptr %about, i64 0)
  %bytes = mul i64 %numel, %item_size
  %pool = call ptr @pointer(ptr %about, i64 24)
  %memory = call ptr @torchgen_pool_malloc(ptr %pool, i64 %bytes)
  %is_none = icmp eq ptr %memory, null
  br i1 %is_none, label %refuse, label %make
make:
  store i64 %numel, ptr %sizes
  %dtype = call ptr @PyList_GetItem(ptr %self, i64 0)
  call void @Py_IncRef(ptr %dtype)
  %new = call ptr @pointer(ptr %about, i64 8)
  %array = call ptr %new(ptr @torchgen_ndarray, ptr %dtype, i32 1, ptr %sizes, ptr null,
    ptr %memory, i32 1281, ptr null)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %lose, label %own_it
lose:
  call void @torchgen_pool_free(ptr %pool, ptr %memory, i64 %bytes)
  ret ptr null
own_it:
  %handler_place = call ptr @handler_of(ptr %pool)
  %handler = load ptr, ptr %handler_place
  call void @Py_IncRef(ptr %handler)
  %handler_field = getelementptr i8, ptr %array, i64 88
  store ptr %handler, ptr %handler_field
  %flags_field = getelementptr i8, ptr %array, i64 64
  %flags = load i32, ptr %flags_field
  %owning = or i32 %flags, 4
  store i32 %owning, ptr %flags_field
  %number = ptrtoint ptr %memory to i64
  %tracked = call i32 @PyTraceMalloc_Track(i32 389047, i64 %number, i64 %bytes)
  ret ptr %array
refuse:
  %error = call ptr @PyErr_Occurred()
  %is_clear = icmp eq ptr %error, null
  br i1 %is_clear, label %ask, label %failed
ask:
  %refusal = call ptr @PyList_GetItem(ptr %self, i64 2)
  %answer = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %refusal, ptr %numel_object,
    ptr null)
  ret ptr %answer
failed:
  ret ptr null
}
"""

TEXT = _DECLARED + _PLACES + _LISTS + _TAKING + _LENDING
