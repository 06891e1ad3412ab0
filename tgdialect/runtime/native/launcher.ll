; Builtin functions that check their arguments against a table and call compiled code.
;
; `launcher.py` makes the tables, and has the numbers of the placeholders, names in
; braces, which `string.Template` replaces. A comment must not contain the character that begins
; one.

declare ptr @PyBytes_AsString(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyIter_Next(ptr)
declare ptr @PyObject_CallObject(ptr, ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyWeakref_NewRef(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

; Element i of an array of words or pointers; the field of an object at an offset in bytes.

define internal i64 @word(ptr %words, i64 %i) alwaysinline {
  %at = getelementptr i64, ptr %words, i64 %i
  %word = load i64, ptr %at
  ret i64 %word
}

define internal ptr @pointer(ptr %pointers, i64 %i) alwaysinline {
  %at = getelementptr ptr, ptr %pointers, i64 %i
  %pointer = load ptr, ptr %at
  ret ptr %pointer
}

define internal void @put(ptr %pointers, i64 %i, ptr %pointer) alwaysinline {
  %at = getelementptr ptr, ptr %pointers, i64 %i
  store ptr %pointer, ptr %at
  ret void
}

define internal ptr @field(ptr %object, i64 %place) alwaysinline {
  %at = getelementptr i8, ptr %object, i64 %place
  %field = load ptr, ptr %at
  ret ptr %field
}

define internal void @set_field(ptr %object, i64 %place, ptr %field) alwaysinline {
  %at = getelementptr i8, ptr %object, i64 %place
  store ptr %field, ptr %at
  ret void
}

define internal ptr @table_of(ptr %self) alwaysinline {
  %bytes = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %table = call ptr @PyBytes_AsString(ptr %bytes)
  ret ptr %table
}

; Check the arguments against the table, and call the function if all of them fit. Returns whether
; it was called. For each argument:
;   next, other, address: the class is NumPy's array, or int where the table asks for an address;
;   check: the dtype object, the rank and the flags are the expected ones;
;   axis, extent: so are the extents; one that is negative is the complement of the position of
;     the scalar that it has to be, which has been placed;
;   take, overlap, compare: a result shares no memory with any argument before it, and any other
;     argument shares none with the results;
;   place: its address goes into the frame.

define internal i1 @is_launched(ptr %table, ptr %arguments, i64 %given) {
  %function = call ptr @pointer(ptr %table, i64 0)
  %count = call i64 @word(ptr %table, i64 1)
  %results = call i64 @word(ptr %table, i64 2)
  %array = call ptr @pointer(ptr %table, i64 3)
  %integer = call ptr @pointer(ptr %table, i64 4)
  %slots = getelementptr i64, ptr %table, i64 ${HEADER}
  %fits = icmp eq i64 %given, %count
  br i1 %fits, label %begin, label %answer

begin:
  %frame = alloca ptr, i64 %count
  %starts = alloca i64, i64 %count
  %stops = alloca i64, i64 %count
  br label %next

next:
  %i = phi i64 [ 0, %begin ], [ %i.next, %place ]
  %is.last = icmp eq i64 %i, %count
  br i1 %is.last, label %run, label %look

look:
  %words = mul i64 %i, ${SLOT}
  %slot = getelementptr i64, ptr %slots, i64 %words
  %position = call i64 @word(ptr %slot, i64 0)
  %rank.wanted = call i64 @word(ptr %slot, i64 2)
  %argument = call ptr @pointer(ptr %arguments, i64 %i)
  %type = call ptr @field(ptr %argument, i64 ${TYPE})
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %check, label %other

other:
  %is.integer = icmp eq ptr %type, %integer
  %is.wanted = icmp eq i64 %rank.wanted, ${ADDRESS}
  %is.address = and i1 %is.integer, %is.wanted
  br i1 %is.address, label %address, label %answer

address: ; No memory: an empty interval, which overlaps none.
  %value = call ptr @PyLong_AsVoidPtr(ptr %argument)
  %none.start = getelementptr i64, ptr %starts, i64 %i
  store i64 0, ptr %none.start
  %none.stop = getelementptr i64, ptr %stops, i64 %i
  store i64 0, ptr %none.stop
  br label %place

check:
  %dtype = call ptr @field(ptr %argument, i64 ${DTYPE})
  %dtype.wanted = call ptr @pointer(ptr %slot, i64 1)
  %has.dtype = icmp eq ptr %dtype, %dtype.wanted
  %rank.at = getelementptr i8, ptr %argument, i64 ${RANK}
  %rank.32 = load i32, ptr %rank.at
  %rank = sext i32 %rank.32 to i64
  %has.rank = icmp eq i64 %rank, %rank.wanted
  %flags.at = getelementptr i8, ptr %argument, i64 ${FLAGS}
  %flags.32 = load i32, ptr %flags.at
  %flags = sext i32 %flags.32 to i64
  %flags.wanted = call i64 @word(ptr %slot, i64 3)
  %flags.found = and i64 %flags, %flags.wanted
  %has.flags = icmp eq i64 %flags.found, %flags.wanted
  %has.both = and i1 %has.dtype, %has.rank
  %has.all = and i1 %has.both, %has.flags
  %extents = call ptr @field(ptr %argument, i64 ${EXTENTS})
  %wanted = getelementptr i64, ptr %slot, i64 5
  %nbytes.static = call i64 @word(ptr %slot, i64 4)
  br i1 %has.all, label %axis, label %answer

axis:
  %j = phi i64 [ 0, %check ], [ %j.next, %extent ]
  %nbytes = phi i64 [ %nbytes.static, %check ], [ %nbytes.next, %extent ]
  %is.checked = icmp eq i64 %j, %rank
  br i1 %is.checked, label %take, label %extent

extent:
  %j.next = add i64 %j, 1
  %is = call i64 @word(ptr %extents, i64 %j)
  %constant = call i64 @word(ptr %wanted, i64 %j)
  %is.dynamic = icmp slt i64 %constant, 0
  %complement = xor i64 %constant, -1
  %size.position = select i1 %is.dynamic, i64 %complement, i64 0
  %size = call i64 @word(ptr %frame, i64 %size.position)
  %should = select i1 %is.dynamic, i64 %size, i64 %constant
  %has.extent = icmp eq i64 %is, %should
  %factor = select i1 %is.dynamic, i64 %is, i64 1
  %nbytes.next = mul i64 %nbytes, %factor
  br i1 %has.extent, label %axis, label %answer

take:
  %data = call ptr @field(ptr %argument, i64 ${DATA})
  %start = ptrtoint ptr %data to i64
  %stop = add i64 %start, %nbytes
  %start.at = getelementptr i64, ptr %starts, i64 %i
  store i64 %start, ptr %start.at
  %stop.at = getelementptr i64, ptr %stops, i64 %i
  store i64 %stop, ptr %stop.at
  %is.result = icmp ult i64 %i, %results
  %before.i = select i1 %is.result, i64 %i, i64 %results
  br label %overlap

overlap:
  %k = phi i64 [ 0, %take ], [ %k.next, %compare ]
  %is.apart = icmp eq i64 %k, %before.i
  br i1 %is.apart, label %place, label %compare

compare:
  %k.next = add i64 %k, 1
  %k.start = call i64 @word(ptr %starts, i64 %k)
  %k.stop = call i64 @word(ptr %stops, i64 %k)
  %before = icmp ult i64 %start, %k.stop
  %after = icmp ult i64 %k.start, %stop
  %shared = and i1 %before, %after
  br i1 %shared, label %answer, label %overlap

place:
  %where = phi ptr [ %value, %address ], [ %data, %overlap ]
  call void @put(ptr %frame, i64 %position, ptr %where)
  %i.next = add i64 %i, 1
  br label %next

run:
  %thread = call ptr @PyEval_SaveThread()
  call void %function(ptr %frame)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %answer

answer:
  %called = phi i1 [ true, %run ], [ false, %0 ], [ false, %other ], [ false, %check ],
                   [ false, %extent ], [ false, %compare ]
  ret i1 %called
}

define ptr @launch(ptr %self, ptr %arguments, i64 %given) {
  %table = call ptr @table_of(ptr %self)
  %called = call i1 @is_launched(ptr %table, ptr %arguments, i64 %given)
  %word = zext i1 %called to i64
  %bool = call ptr @PyBool_FromLong(i64 %word)
  ret ptr %bool
}

; A new object of a type with `__slots__`, whose fields are set from pairs of an offset and an
; object. Null, with a Python exception set, if there is no memory for it.

define internal ptr @filled(ptr %type, ptr %pairs, i64 %count) {
  %object = call ptr @PyType_GenericAlloc(ptr %type, i64 0)
  %is.there = icmp ne ptr %object, null
  br i1 %is.there, label %next, label %done

next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %fill ]
  %is.last = icmp eq i64 %i, %count
  br i1 %is.last, label %done, label %fill

fill:
  %pair = mul i64 %i, 2
  %second = add i64 %pair, 1
  %place = call i64 @word(ptr %pairs, i64 %pair)
  %field = call ptr @pointer(ptr %pairs, i64 %second)
  call void @Py_IncRef(ptr %field)
  call void @set_field(ptr %object, i64 %place, ptr %field)
  %i.next = add i64 %i, 1
  br label %next

done:
  ret ptr %object
}

; As `launch`, but each argument is an outer object that has an inner object that has the array.
; Returns a new outer object with the result, or None where `launch` would return False. If there is
; no table for `launch`, it calls a Python object with the arrays. Steps:
;   look, open, look.inner, open.inner: find the array of an argument, checking both classes;
;   check, compare: the other fields of the inner object are the expected ones;
;   distinct, differ: no two arguments have the same array;
;   keep: take a reference to the array;
;   make, compute, make.empty, run: compute the result;
;   wrap, number, make.outer, own: make the objects around it;
;   release: drop the references to the arrays.

define ptr @launch_held(ptr %self, ptr %arguments, i64 %given) {
  %table = call ptr @table_of(ptr %self)
  %none = call ptr @pointer(ptr %table, i64 0)
  %count = call i64 @word(ptr %table, i64 1)
  %launch = call ptr @pointer(ptr %table, i64 2)
  %maker = call ptr @pointer(ptr %table, i64 3)
  %shape = call ptr @pointer(ptr %table, i64 4)
  %outer.type = call ptr @pointer(ptr %table, i64 5)
  %inner.type = call ptr @pointer(ptr %table, i64 6)
  %inner.place = call i64 @word(ptr %table, i64 7)
  %array.place = call i64 @word(ptr %table, i64 8)
  %owner.place = call i64 @word(ptr %table, i64 9)
  %serial.place = call i64 @word(ptr %table, i64 10)
  %serials = call ptr @pointer(ptr %table, i64 11)
  %outer.fields = call i64 @word(ptr %table, i64 12)
  %inner.fields = call i64 @word(ptr %table, i64 13)
  %checks = call i64 @word(ptr %table, i64 14)
  %outer.pairs = getelementptr i64, ptr %table, i64 ${HOLDER_HEADER}
  %outer.words = mul i64 %outer.fields, 2
  %inner.pairs = getelementptr i64, ptr %outer.pairs, i64 %outer.words
  %inner.words = mul i64 %inner.fields, 2
  %input.pairs = getelementptr i64, ptr %inner.pairs, i64 %inner.words
  %all = add i64 %count, 1
  %arrays = alloca ptr, i64 %all
  %fits = icmp eq i64 %given, %count
  br i1 %fits, label %next, label %release

next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %keep ]
  %is.last = icmp eq i64 %i, %count
  br i1 %is.last, label %make, label %look

look:
  %i.next = add i64 %i, 1
  %outer = call ptr @pointer(ptr %arguments, i64 %i)
  %outer.is = call ptr @field(ptr %outer, i64 ${TYPE})
  %is.outer = icmp eq ptr %outer.is, %outer.type
  br i1 %is.outer, label %open, label %release

open:
  %inner = call ptr @field(ptr %outer, i64 %inner.place)
  %has.inner = icmp ne ptr %inner, null
  br i1 %has.inner, label %look.inner, label %release

look.inner:
  %inner.is = call ptr @field(ptr %inner, i64 ${TYPE})
  %is.inner = icmp eq ptr %inner.is, %inner.type
  br i1 %is.inner, label %open.inner, label %release

open.inner:
  %array = call ptr @field(ptr %inner, i64 %array.place)
  %is.set = icmp ne ptr %array, null
  %is.known = icmp ne ptr %array, %none
  %has.array = and i1 %is.set, %is.known
  %first.check = mul i64 %i, %checks
  br i1 %has.array, label %check, label %release

check:
  %j = phi i64 [ 0, %open.inner ], [ %j.next, %compare ]
  %is.checked = icmp eq i64 %j, %checks
  br i1 %is.checked, label %distinct, label %compare

compare:
  %j.next = add i64 %j, 1
  %check.at = add i64 %first.check, %j
  %pair = mul i64 %check.at, 2
  %second = add i64 %pair, 1
  %place = call i64 @word(ptr %input.pairs, i64 %pair)
  %wanted = call ptr @pointer(ptr %input.pairs, i64 %second)
  %is = call ptr @field(ptr %inner, i64 %place)
  %is.wanted = icmp eq ptr %is, %wanted
  br i1 %is.wanted, label %check, label %release

distinct:
  %k = phi i64 [ 0, %check ], [ %k.next, %differ ]
  %k.next = add i64 %k, 1
  %is.distinct = icmp eq i64 %k, %i
  br i1 %is.distinct, label %keep, label %differ

differ:
  %other = call ptr @pointer(ptr %arrays, i64 %k.next)
  %is.same = icmp eq ptr %other, %array
  br i1 %is.same, label %release, label %distinct

keep: ; Another thread may drop the object's own reference while the code runs.
  call void @Py_IncRef(ptr %array)
  call void @put(ptr %arrays, i64 %i.next, ptr %array)
  br label %next

make:
  %is.direct = icmp ne ptr %launch, null
  br i1 %is.direct, label %make.empty, label %compute

compute:
  %first = getelementptr ptr, ptr %arrays, i64 1
  %computed = call ptr @PyObject_Vectorcall(ptr %maker, ptr %first, i64 %count, ptr null)
  %is.computed = icmp ne ptr %computed, null
  br i1 %is.computed, label %wrap, label %release

make.empty:
  %empty = call ptr @PyObject_CallObject(ptr %maker, ptr %shape)
  %is.made = icmp ne ptr %empty, null
  br i1 %is.made, label %run, label %release

run:
  call void @put(ptr %arrays, i64 0, ptr %empty)
  %called = call i1 @is_launched(ptr %launch, ptr %arrays, i64 %all)
  br i1 %called, label %wrap, label %drop

drop:
  call void @Py_DecRef(ptr %empty)
  br label %release

wrap:
  %result = phi ptr [ %empty, %run ], [ %computed, %compute ]
  %new.inner = call ptr @filled(ptr %inner.type, ptr %inner.pairs, i64 %inner.fields)
  %is.inner.made = icmp ne ptr %new.inner, null
  br i1 %is.inner.made, label %number, label %fail

fail:
  call void @Py_DecRef(ptr %result)
  br label %release

number:
  call void @set_field(ptr %new.inner, i64 %array.place, ptr %result)
  %serial = call ptr @PyIter_Next(ptr %serials)
  call void @set_field(ptr %new.inner, i64 %serial.place, ptr %serial)
  %is.numbered = icmp ne ptr %serial, null
  br i1 %is.numbered, label %make.outer, label %fail.inner

make.outer:
  %new.outer = call ptr @filled(ptr %outer.type, ptr %outer.pairs, i64 %outer.fields)
  %is.outer.made = icmp ne ptr %new.outer, null
  br i1 %is.outer.made, label %own, label %fail.inner

fail.inner:
  call void @Py_DecRef(ptr %new.inner)
  br label %release

own:
  call void @set_field(ptr %new.outer, i64 %inner.place, ptr %new.inner)
  %owner = call ptr @PyWeakref_NewRef(ptr %new.outer, ptr null)
  call void @set_field(ptr %new.inner, i64 %owner.place, ptr %owner)
  %is.owned = icmp ne ptr %owner, null
  br i1 %is.owned, label %release, label %fail.outer

fail.outer:
  call void @Py_DecRef(ptr %new.outer)
  br label %release

release: ; If %found is null, a Python exception is set.
  %kept = phi i64 [ 0, %0 ], [ %i, %look ], [ %i, %open ], [ %i, %look.inner ], [ %i, %open.inner ],
                  [ %i, %compare ], [ %i, %differ ], [ %count, %compute ], [ %count, %make.empty ],
                  [ %count, %drop ], [ %count, %fail ], [ %count, %fail.inner ], [ %count, %own ],
                  [ %count, %fail.outer ]
  %found = phi ptr [ %none, %0 ], [ %none, %look ], [ %none, %open ], [ %none, %look.inner ],
                   [ %none, %open.inner ], [ %none, %compare ], [ %none, %differ ],
                   [ null, %compute ], [ null, %make.empty ], [ %none, %drop ], [ null, %fail ],
                   [ null, %fail.inner ], [ %new.outer, %own ], [ null, %fail.outer ]
  br label %release.next

release.next:
  %r = phi i64 [ 0, %release ], [ %r.next, %let.go ]
  %r.next = add i64 %r, 1
  %is.released = icmp eq i64 %r, %kept
  br i1 %is.released, label %answer, label %let.go

let.go:
  %held = call ptr @pointer(ptr %arrays, i64 %r.next)
  call void @Py_DecRef(ptr %held)
  br label %release.next

answer:
  %is.none = icmp eq ptr %found, %none
  br i1 %is.none, label %refuse, label %return

refuse:
  call void @Py_IncRef(ptr %none)
  br label %return

return:
  ret ptr %found
}
