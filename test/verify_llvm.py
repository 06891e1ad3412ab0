"""Reads LLVM IR from the standard input, and fails unless LLVM accepts it: llvmlite's, and
`llvm-as-19` where it is installed."""

import shutil
import subprocess
import sys

import llvmlite.binding as llvm

text = sys.stdin.read()
module = llvm.parse_assembly(text)
module.verify()
assert any(not function.is_declaration for function in module.functions), "no function"
if (assembler := shutil.which("llvm-as-19")) is not None:
    subprocess.run([assembler, "-o", "/dev/null"], input=text, text=True, check=True)
