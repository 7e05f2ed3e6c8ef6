"""What calls kernels from Python, in LLVM's language: compiled once for a system.

A kernel's image is called with one argument: the address of words of 8 bytes, of which the first is
where its result goes, the second where its error goes, and the others are its arguments taken apart
(an array: two zeros, its elements, its item size, its address, its sizes, its strides in bytes).
All that differs between kernels is thus data, a *description*:

    word 0      the address of the kernel
    word 1      a Python function that raises the error whose address it is given
    word 2, 3   how many arguments, and how many words they take
    word 4, 5   how many results, and their codes, one byte each
    word 6      where in NumPy's dtypes the item size is
    word 8 ...  for each argument four words: its code, its count of dims or items, item size or
                code of items, and what to check

`torchgen_call` is the function behind each kernel's Python function, whose `self` is a list: what
to call for arguments that no description fits, and descriptions. Python's and NumPy's objects are
read where their headers put them, as every extension module does. What a kernel returns becomes an
object by `result_text`.
"""

HEADER_WORDS, ARGUMENT_WORDS = 8, 4

CODES = {
    "bool": 5,
    "int8": 9,
    "int16": 10,
    "int32": 11,
    "int64": 1,
    "uint8": 12,
    "uint16": 13,
    "uint32": 14,
    "uint64": 2,
    "float32": 4,
    "float64": 3,
    "complex64": 7,
    "complex128": 6,
}
"""Of numbers, as arguments and as results."""
ARRAY, TUPLE = 20, 21
MOST_WORDS = 240

_DECLARED = """\
declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyErr_Occurred()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyNumber_Long(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLongMask(ptr)
declare double @PyFloat_AsDouble(ptr)
declare { double, double } @PyComplex_AsCComplex(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyComplex_FromDoubles(double, double)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
@PyLong_Type = external global i8
@PyTuple_Type = external global i8
@_Py_NoneStruct = external global i8
@torchgen_ndarray = external global i8

"""

_ARGUMENTS = """\
; Whether converting a number failed: only where it gave -1.
define internal i32 @failed() {
  %error = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %error, null
  %answer = select i1 %none, i32 1, i32 -1
  ret i32 %answer
}

; A Python int of any number, or null.
define internal ptr @whole(ptr %object) {
  %type = call ptr @pointer(ptr %object, i64 8)
  %is = icmp eq ptr %type, @PyLong_Type
  br i1 %is, label %int, label %other
int:
  call void @Py_IncRef(ptr %object)
  ret ptr %object
other:
  %made = call ptr @PyNumber_Long(ptr %object)
  ret ptr %made
}

; One number into words: 1, 0 if it is of another type than checked, -1 with an error set.
define internal i32 @number(i64 %code, i64 %check, ptr %object, ptr %word) {
start:
  %type = call ptr @pointer(ptr %object, i64 8)
  %type_number = ptrtoint ptr %type to i64
  %unchecked = icmp eq i64 %check, 0
  %same = icmp eq i64 %type_number, %check
  %fits = or i1 %unchecked, %same
  br i1 %fits, label %convert, label %misfit
misfit:
  ret i32 0
convert:
  switch i64 %code, label %signed [
    i64 2, label %unsigned
    i64 12, label %unsigned
    i64 13, label %unsigned
    i64 14, label %unsigned
    i64 3, label %real
    i64 4, label %real
    i64 5, label %truth
    i64 6, label %complex
    i64 7, label %complex
  ]
signed:
  %is_int = icmp eq ptr %type, @PyLong_Type
  br i1 %is_int, label %int, label %other
int:
  %value = call i64 @PyLong_AsLongLong(ptr %object)
  store i64 %value, ptr %word
  %doubtful = icmp eq i64 %value, -1
  br i1 %doubtful, label %doubt, label %good
other:
  %made = call ptr @whole(ptr %object)
  %none = icmp eq ptr %made, null
  br i1 %none, label %error, label %taken
taken:
  %other_value = call i64 @PyLong_AsLongLong(ptr %made)
  store i64 %other_value, ptr %word
  call void @Py_DecRef(ptr %made)
  %other_doubtful = icmp eq i64 %other_value, -1
  br i1 %other_doubtful, label %doubt, label %good
unsigned:
  %whole = call ptr @whole(ptr %object)
  %no_whole = icmp eq ptr %whole, null
  br i1 %no_whole, label %error, label %masked
masked:
  %bits = call i64 @PyLong_AsUnsignedLongLongMask(ptr %whole)
  store i64 %bits, ptr %word
  call void @Py_DecRef(ptr %whole)
  %bits_doubtful = icmp eq i64 %bits, -1
  br i1 %bits_doubtful, label %doubt, label %good
real:
  %double = call double @PyFloat_AsDouble(ptr %object)
  %narrow = icmp eq i64 %code, 4
  br i1 %narrow, label %single, label %wide
single:
  %float = fptrunc double %double to float
  store float %float, ptr %word
  br label %real_end
wide:
  store double %double, ptr %word
  br label %real_end
real_end:
  %real_doubtful = fcmp oeq double %double, -1.0
  br i1 %real_doubtful, label %doubt, label %good
truth:
  %answer = call i32 @PyObject_IsTrue(ptr %object)
  %answer_wide = sext i32 %answer to i64
  store i64 %answer_wide, ptr %word
  %truth_doubtful = icmp slt i32 %answer, 0
  br i1 %truth_doubtful, label %error, label %good
complex:
  %pair = call { double, double } @PyComplex_AsCComplex(ptr %object)
  %re = extractvalue { double, double } %pair, 0
  %im = extractvalue { double, double } %pair, 1
  %second = getelementptr i8, ptr %word, i64 8
  %is_narrow = icmp eq i64 %code, 7
  br i1 %is_narrow, label %singles, label %doubles
singles:
  %re_single = fptrunc double %re to float
  %im_single = fptrunc double %im to float
  store float %re_single, ptr %word
  store float %im_single, ptr %second
  br label %complex_end
doubles:
  store double %re, ptr %word
  store double %im, ptr %second
  br label %complex_end
complex_end:
  %complex_doubtful = fcmp oeq double %re, -1.0
  br i1 %complex_doubtful, label %doubt, label %good
doubt:
  %found = call i32 @failed()
  ret i32 %found
good:
  ret i32 1
error:
  ret i32 -1
}

; An array into words: 1, or 0 if it is none or another one.
define internal i32 @array(i64 %sizes, ptr %about, ptr %object, ptr %word) {
start:
  %ndim = call i64 @word(ptr %about, i64 8)
  %item = call i64 @word(ptr %about, i64 16)
  %check = call i64 @word(ptr %about, i64 24)
  %type = call ptr @pointer(ptr %object, i64 8)
  %exact = icmp eq ptr %type, @torchgen_ndarray
  br i1 %exact, label %is_array, label %subtype
subtype:
  %below = call i32 @PyType_IsSubtype(ptr %type, ptr @torchgen_ndarray)
  %is_below = icmp ne i32 %below, 0
  br i1 %is_below, label %is_array, label %misfit
is_array:
  %own_ndim_32 = call i32 @half(ptr %object, i64 24)
  %own_ndim = sext i32 %own_ndim_32 to i64
  %same_ndim = icmp eq i64 %own_ndim, %ndim
  %dtype = call ptr @pointer(ptr %object, i64 56)
  %own_item_place = getelementptr i8, ptr %dtype, i64 %sizes
  %own_item_32 = load i32, ptr %own_item_place
  %own_item = sext i32 %own_item_32 to i64
  %same_item = icmp eq i64 %own_item, %item
  %alike = and i1 %same_ndim, %same_item
  br i1 %alike, label %look, label %misfit
look:
  %unchecked = icmp eq i64 %check, 0
  br i1 %unchecked, label %write, label %checked
checked:
  %kind = call i8 @byte(ptr %dtype, i64 24)
  %order = call i8 @byte(ptr %dtype, i64 26)
  %wanted_kind = trunc i64 %check to i8
  %same_kind = icmp eq i8 %kind, %wanted_kind
  %native = icmp eq i8 %order, 61
  %orderless = icmp eq i8 %order, 124
  %any_order = or i1 %native, %orderless
  %flags = call i32 @half(ptr %object, i64 64)
  %aligned_bit = and i32 %flags, 256
  %aligned = icmp ne i32 %aligned_bit, 0
  %dense_bit = and i32 %flags, 1
  %dense = icmp ne i32 %dense_bit, 0
  %lies_dense = select i1 %dense, i64 1, i64 2
  %lies = select i1 %aligned, i64 %lies_dense, i64 3
  %wanted_lie = lshr i64 %check, 8
  %same_lie = icmp eq i64 %lies, %wanted_lie
  %fits_kind = and i1 %same_kind, %any_order
  %fits = and i1 %fits_kind, %same_lie
  br i1 %fits, label %write, label %misfit
write:
  store i64 0, ptr %word
  %word_1 = getelementptr i8, ptr %word, i64 8
  store i64 0, ptr %word_1
  %word_2 = getelementptr i8, ptr %word, i64 16
  %word_3 = getelementptr i8, ptr %word, i64 24
  store i64 %item, ptr %word_3
  %data = call i64 @word(ptr %object, i64 16)
  %word_4 = getelementptr i8, ptr %word, i64 32
  store i64 %data, ptr %word_4
  %lengths = call ptr @pointer(ptr %object, i64 32)
  %strides = call ptr @pointer(ptr %object, i64 40)
  %first = getelementptr i8, ptr %word, i64 40
  br label %next
next:
  %dim = phi i64 [ 0, %write ], [ %dim_after, %copy ]
  %numel = phi i64 [ 1, %write ], [ %numel_after, %copy ]
  %more = icmp slt i64 %dim, %ndim
  br i1 %more, label %copy, label %end
copy:
  %length_place = getelementptr i64, ptr %lengths, i64 %dim
  %length = load i64, ptr %length_place
  %length_word = getelementptr i64, ptr %first, i64 %dim
  store i64 %length, ptr %length_word
  %stride_place = getelementptr i64, ptr %strides, i64 %dim
  %stride = load i64, ptr %stride_place
  %stride_number = add i64 %dim, %ndim
  %stride_word = getelementptr i64, ptr %first, i64 %stride_number
  store i64 %stride, ptr %stride_word
  %numel_after = mul i64 %numel, %length
  %dim_after = add i64 %dim, 1
  br label %next
end:
  store i64 %numel, ptr %word_2
  ret i32 1
misfit:
  ret i32 0
}

; A tuple of numbers into words: 1, 0, or -1 with an error set.
define internal i32 @tuple(ptr %about, ptr %object, ptr %word) {
start:
  %count = call i64 @word(ptr %about, i64 8)
  %code = call i64 @word(ptr %about, i64 16)
  %check = call i64 @word(ptr %about, i64 24)
  %type = call ptr @pointer(ptr %object, i64 8)
  %is = icmp eq ptr %type, @PyTuple_Type
  br i1 %is, label %sized, label %misfit
sized:
  %own = call i64 @PyTuple_Size(ptr %object)
  %same = icmp eq i64 %own, %count
  br i1 %same, label %next, label %misfit
next:
  %i = phi i64 [ 0, %sized ], [ %after, %copied ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %copy, label %end
copy:
  %item = call ptr @PyTuple_GetItem(ptr %object, i64 %i)
  %place = getelementptr i64, ptr %word, i64 %i
  %found = call i32 @number(i64 %code, i64 %check, ptr %item, ptr %place)
  %good = icmp eq i32 %found, 1
  br i1 %good, label %copied, label %failed
copied:
  %after = add i64 %i, 1
  br label %next
failed:
  ret i32 %found
end:
  ret i32 1
misfit:
  ret i32 0
}

; All arguments into words: 1, 0 if they are others, or -1 with an error set.
define internal i32 @fill(ptr %about, ptr %args, i64 %given, ptr %words) {
start:
  %count = call i64 @word(ptr %about, i64 16)
  %sizes = call i64 @word(ptr %about, i64 48)
  %first = getelementptr i8, ptr %about, i64 64
  %right = icmp eq i64 %given, %count
  br i1 %right, label %next, label %misfit
misfit:
  ret i32 0
next:
  %i = phi i64 [ 0, %start ], [ %i_after, %filled ]
  %word = phi ptr [ %words, %start ], [ %word_after, %filled ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %end
one:
  %bytes = shl i64 %i, 5
  %own = getelementptr i8, ptr %first, i64 %bytes
  %code = load i64, ptr %own
  %object_place = getelementptr ptr, ptr %args, i64 %i
  %object = load ptr, ptr %object_place
  switch i64 %code, label %number [
    i64 20, label %array
    i64 21, label %tuple
  ]
array:
  %from_array = call i32 @array(i64 %sizes, ptr %own, ptr %object, ptr %word)
  br label %judged
tuple:
  %from_tuple = call i32 @tuple(ptr %own, ptr %object, ptr %word)
  br label %judged
number:
  %check = call i64 @word(ptr %own, i64 24)
  %from_number = call i32 @number(i64 %code, i64 %check, ptr %object, ptr %word)
  br label %judged
judged:
  %found = phi i32 [ %from_array, %array ], [ %from_tuple, %tuple ], [ %from_number, %number ]
  %good = icmp eq i32 %found, 1
  br i1 %good, label %filled, label %failed
failed:
  ret i32 %found
filled:
  %own_count = call i64 @word(ptr %own, i64 8)
  %twice = shl i64 %own_count, 1
  %of_array = add i64 %twice, 5
  %is_array = icmp eq i64 %code, 20
  %taken = select i1 %is_array, i64 %of_array, i64 %own_count
  %word_after = getelementptr i64, ptr %word, i64 %taken
  %i_after = add i64 %i, 1
  br label %next
end:
  ret i32 1
}

"""


def _field(name: str, form: str) -> str:
    """A function that reads what an object or a description holds at some bytes of it."""
    return f"""\
define internal {form} @{name}(ptr %base, i64 %offset) alwaysinline {{
  %place = getelementptr i8, ptr %base, i64 %offset
  %value = load {form}, ptr %place
  ret {form} %value
}}

"""


_FORMS = {"word": "i64", "pointer": "ptr", "half": "i32", "byte": "i8"}
_FIELDS = "".join(_field(*each) for each in _FORMS.items())

_CALLING = """\
; The function behind each kernel's Python function.
define ptr @torchgen_call(ptr %self, ptr %args, i64 %given) {
start:
  %words = alloca [256 x i64], align 16
  %result = alloca [8 x i64], align 16
  %error = alloca i64, align 8
  %size = call i64 @PyList_Size(ptr %self)
  %arguments = getelementptr i8, ptr %words, i64 16
  br label %next
next:
  %i = phi i64 [ 1, %start ], [ %after, %another ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %look, label %other
look:
  %item = call ptr @PyList_GetItem(ptr %self, i64 %i)
  %about = call ptr @PyBytes_AsString(ptr %item)
  %found = call i32 @fill(ptr %about, ptr %args, i64 %given, ptr %arguments)
  switch i32 %found, label %failed [
    i32 1, label %run
    i32 0, label %another
  ]
another:
  %after = add i64 %i, 1
  br label %next
other:
  %fallback = call ptr @PyList_GetItem(ptr %self, i64 0)
  %answer = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %args, i64 %given, ptr null)
  ret ptr %answer
run:
  %result_number = ptrtoint ptr %result to i64
  store i64 %result_number, ptr %words
  %error_number = ptrtoint ptr %error to i64
  %second = getelementptr i8, ptr %words, i64 8
  store i64 %error_number, ptr %second
  store i64 0, ptr %error
  %kernel = load ptr, ptr %about
  %state = call ptr @PyEval_SaveThread()
  %status = call i32 %kernel(ptr %words)
  call void @PyEval_RestoreThread(ptr %state)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %back, label %raise
back:
  %object = call ptr @returned(ptr %about, ptr %result)
  ret ptr %object
raise:
  %raiser = call ptr @pointer(ptr %about, i64 8)
  %what = load i64, ptr %error
  %number = call ptr @PyLong_FromLongLong(i64 %what)
  %nothing = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %raiser, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  ret ptr null
failed:
  ret ptr null
}
"""

TEXT = _DECLARED + _FIELDS + _ARGUMENTS + _CALLING
