// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{'/etc/passwd' is an absolute path: write the file's place in the folder}}
  %0 = tg.binary file "/etc/passwd", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'../a.bin' is no path of a file in the folder: write names with / between them, without . and ..}}
  %0 = tg.binary file "../a.bin", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'a/../../b.bin' is no path of a file in the folder}}
  %0 = tg.binary file "a/../../b.bin", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'./a.bin' is no path of a file in the folder}}
  %0 = tg.binary file "./a.bin", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'' is no path of a file in the folder}}
  %0 = tg.binary file "", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'a/' is no path of a file in the folder}}
  %0 = tg.binary file "a/", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'..\\a.bin' is no path of a file in the folder}}
  %0 = tg.binary file "..\\a.bin", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'a\x00b' is no path of a file in the folder}}
  %0 = tg.binary file "a\00b", offset = 0, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected integer literal}}
  %0 = tg.binary file "a.bin", offset = -1, length = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected ','}}
  %0 = tg.binary file "a.bin", offset = 1 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<1xui8>, but the op gives tensor<4xui8>}}
  %0 = tg.binary file "a.bin", offset = 1, length = 4 : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{no file has 4611686018427387904 bytes from byte 4611686018427387904 on}}
  %0 = tg.binary file "a.bin", offset = 4611686018427387904, length = 4611686018427387904 : tensor<4611686018427387904xui8>
  func.return
}

// -----

// expected-error@below {{the machine code of a program is in its text, and in no file}}
tg.program @p {
  tg.linear {
    %s = tg.sink
  }
  %0 = tg.binary file "a.o", offset = 0, length = 4 : tensor<4xui8>
}
