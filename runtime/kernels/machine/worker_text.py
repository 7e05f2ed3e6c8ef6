"""What lays calls out for worker threads, in LLVM's language; beside `call_text`, in its module.

A block's words are those of `worker_loops`: the kernel's address at TASK, a result and an error,
and from WORDS on what the kernel is called with.
"""

TASK, RESULT, ERROR, WORDS = 8, 64, 72, 128
"""Places in a block, in bytes."""
ROWS, RANGE, NUMBERED = 0, 1, 2
"""How a call is split: the first arrays by rows, a range of numbers, the same with the part."""

TEXT = """\
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; The rest of a call's words.
define internal void @seal(ptr %about, ptr %block) {
  %words = getelementptr i8, ptr %block, i64 128
  %result = getelementptr i8, ptr %block, i64 64
  %result_number = ptrtoint ptr %result to i64
  store i64 %result_number, ptr %words
  %error = getelementptr i8, ptr %block, i64 72
  %error_number = ptrtoint ptr %error to i64
  %second = getelementptr i8, ptr %words, i64 8
  store i64 %error_number, ptr %second
  %kernel = load i64, ptr %about
  %task = getelementptr i8, ptr %block, i64 8
  store i64 %kernel, ptr %task
  ret void
}

; lay(block, *arguments): whether these are a kernel's.
define ptr @torchgen_lay(ptr %self, ptr %args, i64 %given) {
  %item = call ptr @PyList_GetItem(ptr %self, i64 1)
  %about = call ptr @PyBytes_AsString(ptr %item)
  %block_object = load ptr, ptr %args
  %block_number = call i64 @PyLong_AsLongLong(ptr %block_object)
  %block = inttoptr i64 %block_number to ptr
  %own_args = getelementptr i8, ptr %args, i64 8
  %own_given = sub i64 %given, 1
  %words = getelementptr i8, ptr %block, i64 144
  %found = call i32 @fill(ptr %about, ptr %own_args, i64 %own_given, ptr %words)
  %bad = icmp slt i32 %found, 0
  br i1 %bad, label %failed, label %good
good:
  call void @seal(ptr %about, ptr %block)
  %wide = sext i32 %found to i64
  %answer = call ptr @PyBool_FromLong(i64 %wide)
  ret ptr %answer
failed:
  ret ptr null
}

; Where a part of a range begins: at a multiple of unit.
define internal i64 @edge(i64 %count, i64 %part, i64 %parts, i64 %unit) {
  %product = mul i64 %count, %part
  %share = sdiv i64 %product, %parts
  %below = sub i64 %unit, 1
  %up = add i64 %share, %below
  %units = sdiv i64 %up, %unit
  %rounded = mul i64 %units, %unit
  %less = icmp slt i64 %rounded, %count
  %answer = select i1 %less, i64 %rounded, i64 %count
  ret i64 %answer
}

; The words of an array: of items start to stop of a count. One row alone is for all items.
define internal void @share(ptr %word, i64 %ndim, i64 %count, i64 %start, i64 %stop) {
  %length_place = getelementptr i8, ptr %word, i64 40
  %length = load i64, ptr %length_place
  %stride_place = getelementptr i64, ptr %length_place, i64 %ndim
  %stride = load i64, ptr %stride_place
  %numel_place = getelementptr i8, ptr %word, i64 16
  %numel = load i64, ptr %numel_place
  %data_place = getelementptr i8, ptr %word, i64 32
  %data = load i64, ptr %data_place
  %for_all = icmp eq i64 %length, 1
  %each = sdiv i64 %length, %count
  %own_first = mul i64 %start, %each
  %first = select i1 %for_all, i64 0, i64 %own_first
  %items = sub i64 %stop, %start
  %own_rows = mul i64 %items, %each
  %rows = select i1 %for_all, i64 1, i64 %own_rows
  %bytes = mul i64 %first, %stride
  %begin = add i64 %data, %bytes
  store i64 %begin, ptr %data_place
  %empty = icmp eq i64 %length, 0
  %there = select i1 %empty, i64 1, i64 %length
  %row = sdiv i64 %numel, %there
  %left = mul i64 %row, %rows
  store i64 %left, ptr %numel_place
  store i64 %rows, ptr %length_place
  ret void
}

define internal void @put(ptr %words, i64 %number, i64 %value) {
  %place = getelementptr i64, ptr %words, i64 %number
  store i64 %value, ptr %place
  ret void
}

define internal i64 @argument(ptr %args, i64 %number) {
  %place = getelementptr ptr, ptr %args, i64 %number
  %object = load ptr, ptr %place
  %value = call i64 @PyLong_AsLongLong(ptr %object)
  ret i64 %value
}

; split(how, parts, count, unit, arrays, blocks, go, answers, wakes, *arguments): what is said of
; the parts of a call when `go`, a kernel, has had them done; -1 if the arguments are not the
; kernel's.
define ptr @torchgen_split(ptr %self, ptr %args, i64 %given) {
start:
  %item = call ptr @PyList_GetItem(ptr %self, i64 1)
  %about = call ptr @PyBytes_AsString(ptr %item)
  %how = call i64 @argument(ptr %args, i64 0)
  %parts = call i64 @argument(ptr %args, i64 1)
  %count = call i64 @argument(ptr %args, i64 2)
  %unit = call i64 @argument(ptr %args, i64 3)
  %arrays = call i64 @argument(ptr %args, i64 4)
  %blocks_number = call i64 @argument(ptr %args, i64 5)
  %blocks = inttoptr i64 %blocks_number to ptr
  %go_number = call i64 @argument(ptr %args, i64 6)
  %answers = call i64 @argument(ptr %args, i64 7)
  %wakes = call i64 @argument(ptr %args, i64 8)
  %own_args = getelementptr i8, ptr %args, i64 72
  %own_given = sub i64 %given, 9
  %block_0 = load ptr, ptr %blocks
  %words_0 = getelementptr i8, ptr %block_0, i64 144
  %found = call i32 @fill(ptr %about, ptr %own_args, i64 %own_given, ptr %words_0)
  switch i32 %found, label %failed [
    i32 1, label %filled
    i32 0, label %misfit
  ]
failed:
  ret ptr null
misfit:
  %no = call ptr @PyLong_FromLongLong(i64 -1)
  ret ptr %no
filled:
  %word_count = call i64 @word(ptr %about, i64 24)
  %bytes = shl i64 %word_count, 3
  %descriptions = getelementptr i8, ptr %about, i64 64
  br label %next
next:
  %left = phi i64 [ %parts, %filled ], [ %part, %sealed ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %one
one:
  %part = sub i64 %left, 1
  %from = call i64 @edge(i64 %count, i64 %part, i64 %parts, i64 %unit)
  %to = call i64 @edge(i64 %count, i64 %left, i64 %parts, i64 %unit)
  %block_place = getelementptr ptr, ptr %blocks, i64 %part
  %block = load ptr, ptr %block_place
  %words = getelementptr i8, ptr %block, i64 144
  %is_first = icmp eq i64 %part, 0
  br i1 %is_first, label %copied, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %words, ptr %words_0, i64 %bytes, i1 false)
  br label %copied
copied:
  %second = getelementptr i8, ptr %words, i64 8
  %third = getelementptr i8, ptr %words, i64 16
  switch i64 %how, label %rows [
    i64 1, label %range
    i64 2, label %numbered
  ]
range:
  store i64 %from, ptr %words
  store i64 %to, ptr %second
  br label %sealed
numbered:
  store i64 %part, ptr %words
  store i64 %from, ptr %second
  store i64 %to, ptr %third
  br label %sealed
rows:
  %i = phi i64 [ 0, %copied ], [ %after, %array ]
  %word = phi ptr [ %words, %copied ], [ %word_after, %array ]
  %more = icmp slt i64 %i, %arrays
  br i1 %more, label %array, label %sealed
array:
  %own_bytes = shl i64 %i, 5
  %own = getelementptr i8, ptr %descriptions, i64 %own_bytes
  %ndim = call i64 @word(ptr %own, i64 8)
  call void @share(ptr %word, i64 %ndim, i64 %count, i64 %from, i64 %to)
  %twice = shl i64 %ndim, 1
  %taken = add i64 %twice, 5
  %word_after = getelementptr i64, ptr %word, i64 %taken
  %after = add i64 %i, 1
  br label %rows
sealed:
  call void @seal(ptr %about, ptr %block)
  br label %next
end:
  %go = inttoptr i64 %go_number to ptr
  %own_words = alloca [12 x i64], align 16
  %result = alloca i64
  %error = alloca i64
  %result_number = ptrtoint ptr %result to i64
  %error_number = ptrtoint ptr %error to i64
  call void @put(ptr %own_words, i64 0, i64 %result_number)
  call void @put(ptr %own_words, i64 1, i64 %error_number)
  call void @put(ptr %own_words, i64 2, i64 0)
  call void @put(ptr %own_words, i64 3, i64 0)
  call void @put(ptr %own_words, i64 4, i64 %parts)
  call void @put(ptr %own_words, i64 5, i64 8)
  call void @put(ptr %own_words, i64 6, i64 %blocks_number)
  call void @put(ptr %own_words, i64 7, i64 %parts)
  call void @put(ptr %own_words, i64 8, i64 8)
  call void @put(ptr %own_words, i64 9, i64 %parts)
  call void @put(ptr %own_words, i64 10, i64 %answers)
  call void @put(ptr %own_words, i64 11, i64 %wakes)
  %state = call ptr @PyEval_SaveThread()
  %status = call i32 %go(ptr %own_words)
  call void @PyEval_RestoreThread(ptr %state)
  %said = load i64, ptr %result
  %object = call ptr @PyLong_FromLongLong(i64 %said)
  ret ptr %object
}
"""
