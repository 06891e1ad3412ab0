"""Malformed listings and the error that each must give: `|` marks its place."""

from typing import NamedTuple


class Malformed(NamedTuple):
    """A listing that is wrong, and a part of the message."""

    name: str
    marked: str
    message: str


LOOP = """\
0 UOps.DEFINE_GLOBAL : ptr.dtypes.float [] (0, 'data0', True)
1 UOps.CONST : dtypes.int [] 0
2 UOps.CONST : dtypes.int [] 4
3 UOps.LOOP : dtypes.int [1, 2] None
"""


def _line(name: str, marked: str, message: str, before: str = LOOP) -> Malformed:
    """A listing that ends in a wrong line."""
    return Malformed(name, before + marked + "\n", message)


TODAY = """\
   0 Ops.PARAM            :            dtypes.float.ptr(4)         []            0
   1 Ops.CONST            :            dtypes.int                  []            4
   2 Ops.RANGE            : 0          dtypes.int                  ['4']         (0, AxisType.LOOP)
   3 Ops.INDEX            : 0          dtypes.float.ptr(4)         [0, 2]        None
"""

OURS = """\
@k
0 Ops.PARAM : dtypes.float.ptr(4) [] 0
1 Ops.CONST : dtypes.index [] 4
2 Ops.RANGE : dtypes.index [1] 0, loop
3 Ops.INDEX : dtypes.float.ptr() [0, 2]
"""


def _ours(name: str, marked: str, message: str, before: str = OURS) -> Malformed:
    return _line(name, marked, message, before)


LISTINGS = [
    # Numbers of lines.
    Malformed("no listing", "|int main() {}\n", "there is no listing"),
    Malformed("empty file", "|", "there is no listing"),
    Malformed(
        "first line is not 0", "|1 UOps.CONST : [] 0\n", "begins with line 0, not with line 1"
    ),
    _line("line left out", "|5 UOps.ENDLOOP : [3] None", "line 4 is missing: the next one is 5"),
    _line("number twice", "|3 UOps.ENDLOOP : [3] None", "there are two lines 3"),
    _line("goes on after other text", "a = 1\n|4 UOps.ENDLOOP : [3] None", "not with line 4"),
    _line("no number", "|UOps.ENDLOOP : [3] None", "a line begins with its number"),
    _line(
        "digits of another script", "|\u0664 UOps.ENDLOOP : [3] None", "is not the number of a line"
    ),
    _line("negative number", "|-4 UOps.ENDLOOP : [3] None", "'-4' is not the number of a line"),
    _line(
        "number with a letter", "|4x UOps.ENDLOOP : [3] None", "'4x' is not the number of a line"
    ),
    _line("huge number", f"|{'9' * 5000} UOps.ENDLOOP : [3]", "5000 digits is too great"),
    # Ops.
    _line("unknown op", "4 |UOps.ENDLOP : [3] None", "there is no op ENDLOP; did you mean ENDLOOP"),
    _line("unknown op without a neighbour", "4 |UOps.QQQQ : [3] None", "there is no op QQQQ"),
    _line("lower-case op", "4 |UOps.endloop : [3] None", "'UOps.endloop' is not the name of an op"),
    _line("op without a vocabulary", "4 |ENDLOOP : [3] None", "written Ops.NAME or UOps.NAME"),
    _line("no colon", "4 UOps.ENDLOOP |[3] None", "expected ':'"),
    _line("text before the colon", "4 UOps.ENDLOOP |x : [3] None", "expected ':'"),
    # Sources.
    _line("no sources", "4 UOps.ENDLOOP : None|", "expected a list of sources"),
    _line("sources not closed", "4 UOps.ENDLOOP : [3 |None", "expected ',' or ']'"),
    _line("no comma", "4 UOps.ENDLOOP : [3 |2] None", "expected ',' or ']'"),
    _line("comma first", "4 UOps.ENDLOOP : [|, 3] None", "expected a source, or ']'"),
    _line(
        "comma last", "4 UOps.ENDLOOP : [3, |] None", "the number of a line, or a quoted constant"
    ),
    _line("name as a source", "4 UOps.ENDLOOP : [|x] None", "number of a line, or a quoted"),
    _line("source with a name", "4 UOps.ENDLOOP : [begin=|3] None", "only a listing with a title"),
    _line("string not terminated", "4 UOps.LOAD : dtypes.float [0, |'3] None", "quoted constant"),
    _line("huge source", f"4 UOps.ENDLOOP : [|{'3' * 5000}] None", "5000 digits is too great"),
    _line("source outside", "4 UOps.ENDLOOP : [|9] None", "there is no line 9"),
    _line(
        "source of itself",
        "4 UOps.ENDLOOP : [|4] None",
        "ENDLOOP 4 in line 5 is a source of itself",
    ),
    _line(
        "forward reference",
        "4 UOps.ALU : dtypes.int [3, |5] BinaryOps.ADD\n5 UOps.CONST : dtypes.int [] 3",
        "CONST 5 in line 6 comes after ALU 4 in line 5",
    ),
    _line(
        "cycle",
        "4 UOps.ALU : dtypes.int [3, |5] BinaryOps.ADD\n"
        "5 UOps.ALU : dtypes.int [4, 3] BinaryOps.ADD",
        "ALU 5 in line 6 comes after ALU 4",
    ),
    _line("source out of the listing", "4 UOps.ENDLOOP : [|'--'] None", "is not in the listing"),
    _line(
        "too few sources",
        "4 UOps.ALU : dtypes.int |[3] BinaryOps.ADD",
        "ALU takes 2 sources, got 1",
    ),
    _line("too many sources", "4 UOps.ENDLOOP : |[3, 2] None", "ENDLOOP takes 1 source, got 2"),
    _line(
        "optional sources", "4 UOps.STORE : |[0, 1] None", "STORE takes at least 3 sources, got 2"
    ),
    _line(
        "no source", "4 UOps.LOAD : dtypes.float |[] None", "LOAD takes at least 1 source, got 0"
    ),
    _line(
        "source without a value",
        "4 UOps.ENDLOOP : [3] None\n5 UOps.ALU : dtypes.int [1, |4] BinaryOps.ADD",
        "ENDLOOP 4 in line 5 gives no value",
    ),
    # Dtypes.
    _line(
        "unknown dtype",
        "4 UOps.CONST : |dtypes.flot [] 0",
        "there is no dtype 'flot'; did you mean float",
    ),
    _line("no dtype at all", "4 UOps.CONST : |float [] 0", "'float' is not a dtype"),
    _line(
        "pointer not closed", "4 UOps.DEFINE_GLOBAL : |PtrDType(dtypes.int [] 1", "is not a dtype"
    ),
    _line(
        "bad suffix",
        "4 Ops.CONST : dtypes.int|.vex(4) [] 0",
        "unexpected '.vex\\(4\\)' after a dtype",
    ),
    _line("bad lanes", "4 Ops.CONST : dtypes.int.|vec(x) [] 0", "does not read"),
    _line("no lanes", "4 Ops.CONST : |dtypes.int.vec(0) [] 0", "of one element or more"),
    _line(
        "bad space",
        "4 Ops.DEFINE_REG : dtypes.int.|ptr(4, AddrSpace.X) [] 0",
        "is not one of AddrSpace.GLOBAL",
    ),
    _line(
        "written dtypes differ",
        "4 UOps.CONST : dtypes.float [] 0.0\n5 UOps.ALU : dtypes.float [4, |1] BinaryOps.ADD",
        "dtypes.int of CONST 1 in line 2, but dtypes.float of ALU 5 in line 6",
    ),
    _line(
        "inferred dtypes differ",
        "4 UOps.LOAD : [0, 3] None\n5 UOps.ALU : [4, |3] BinaryOps.ADD",
        "dtypes.int of LOOP 3 in line 4, but dtypes.float of DEFINE_GLOBAL 0 in line 1",
    ),
    _line("condition is no bool", "4 UOps.IF : [|3] None", "dtypes.bool of a condition of IF 4"),
    _line("comparison is no int", "4 UOps.ALU : |dtypes.int [1, 2] BinaryOps.CMPLT", "dtypes.bool"),
    Malformed("nothing says the dtype", "0 |UOps.DEFINE_GLOBAL : [] 0\n", "nothing says the dtype"),
    _line(
        "lanes differ",
        "4 UOps.ALU : |dtypes._int4 [1, 2] BinaryOps.ADD",
        "the line says dtypes._int4, the op gives dtypes.int",
    ),
    # Arguments.
    _line(
        "unknown operation",
        "4 UOps.ALU : dtypes.int [3, 3] |BinaryOps.ADDD",
        "did you mean BinaryOps.ADD",
    ),
    _line("no operation", "4 UOps.ALU : dtypes.int [3, 3]|", "'' is not an operation of ALU"),
    _line(
        "constant of another kind", "4 UOps.CONST : dtypes.int [] |'a'", "a constant is a number"
    ),
    _line("constant left out", "4 UOps.CONST : dtypes.int []|", "expected a value, not the end"),
    _line(
        "constant not representable",
        "4 UOps.CONST : dtypes.int [] |0.5",
        "0.5 is not representable in i32",
    ),
    _line(
        "constant too great", "4 UOps.CONST : dtypes.int [] |3000000000", "not representable in i32"
    ),
    _line("constant of many digits", f"4 UOps.CONST : dtypes.int [] |{'7' * 5000}", "too long"),
    _line(
        "constant as a source",
        "4 UOps.ALU : dtypes.int [3, |'0.5'] BinaryOps.ADD",
        "not representable in i32",
    ),
    _line(
        "text after the constant",
        "4 UOps.CONST : dtypes.int [] 3 |4",
        "expected the end of the argument",
    ),
    _line(
        "string in an argument",
        "4 UOps.DEFINE_GLOBAL : ptr.dtypes.int [] (1, |'data1, True)",
        "not terminated",
    ),
    _line(
        "tuple not closed",
        "4 UOps.DEFINE_GLOBAL : ptr.dtypes.int [] (1, True|",
        r"expected ',' or '\)'",
    ),
    _line(
        "character",
        "4 UOps.DEFINE_GLOBAL : ptr.dtypes.int [] (1, |$)",
        r"unexpected '\$' in an argument",
    ),
    _line("slot", "4 UOps.DEFINE_GLOBAL : ptr.dtypes.int [] |-1", "reads 0, \\(0, True\\) or"),
    _line(
        "nested deeply",
        f"4 UOps.CONST : dtypes.int [] {'(' * 50}|{'(' * 9000}",
        "nested too deeply",
    ),
    _line(
        "special without a bound", "4 Ops.SPECIAL : dtypes.int |[] gidx0", "SPECIAL takes a bound"
    ),
    _line(
        "name of a special",
        "4 |Ops.SPECIAL : dtypes.int ['4'] gidx7\n5 UOps.ENDLOOP : [3]",
        "is not gidx, lidx or idx",
    ),
    _line(
        "axis type",
        "4 Ops.RANGE : dtypes.int ['4'] |(0, AxisType.FAST)",
        "AxisType.FAST is not one of",
    ),
    _line("lane", "4 Ops.GEP : dtypes.int [3] |('a',)", "the argument of GEP reads 0"),
    # Loops and conditions.
    Malformed("loop not ended", LOOP.replace("3 UOps", "3 |UOps"), "this LOOP is never ended"),
    _line(
        "end of something else", "4 UOps.ENDLOOP : [|2] None", "ENDLOOP ends a LOOP, not CONST 2"
    ),
    _line(
        "loop ended twice",
        "4 UOps.ENDLOOP : [3] None\n5 UOps.ENDLOOP : [|3] None",
        "LOOP 3 in line 4 is ended already, by ENDLOOP 4 in line 5",
    ),
    _line(
        "outer loop ended first",
        "4 UOps.LOOP : dtypes.int [1, 2] None\n5 UOps.ENDLOOP : [|3] None",
        "LOOP 4 in line 5 is inside LOOP 3 in line 4, and is not ended yet",
    ),
    _line(
        "end of another vocabulary",
        "4 UOps.ENDRANGE : [|3] None",
        "ENDRANGE ends a RANGE, not LOOP 3",
    ),
    _line(
        "value after its loop",
        "4 UOps.LOAD : dtypes.float [0, 3] None\n5 UOps.ENDLOOP : [3] None\n"
        "6 UOps.STORE : [0, 1, |4] None",
        "LOAD 4 in line 5 is inside LOOP 3 in line 4, which ENDLOOP 5 in line 6 ends",
    ),
    _line("constant ends a loop", "4 UOps.ENDLOOP : [|'3'] None", "ENDLOOP ends a LOOP, not '3'"),
    # What verifiers find.
    _line(
        "phi of a constant",
        "4 |UOps.PHI : dtypes.int [1, 2, 3] None\n5 UOps.ENDLOOP : [3] None",
        "PHI updates an acc",
    ),
    _line(
        "index of a value",
        "4 |Ops.INDEX : dtypes.int [1, 2, '1']\n5 UOps.ENDLOOP : [3]",
        "has no condition",
    ),
    # Today's vocabulary.
    _line(
        "loop of today not ended",
        "4 Ops.END : dtypes.void [3, |1] None",
        "END ends a RANGE, not CONST 1",
        TODAY,
    ),
    _line(
        "load after its loop",
        "4 Ops.END : dtypes.void [3, 2] None\n5 Ops.LOAD : dtypes.float [|3] None",
        "is inside RANGE 2",
        TODAY,
    ),
    # Listings with a title.
    _ours("no lines", "|@k", "the listing of @k has no lines", ""),
    _ours(
        "unknown kind of title",
        "|fun @k\n0 Ops.CONST : dtypes.int [] 4",
        "a fun is printed as a listing",
        "",
    ),
    _ours("bad attributes", "@k {a = |}\n0 Ops.CONST : dtypes.int [] 4", "", ""),
    _ours(
        "module is not first", "|module {a = 1 : i32}", "the title of the module is the first line"
    ),
    _ours(
        "function without its end",
        "func |@f\n0 Ops.CONST : dtypes.int [] 4",
        "does not end in FUNC.RETURN",
        "",
    ),
    _ours(
        "no op of tg", "4 |Ops.LOADD : dtypes.float [3]", "tg has no op LOADD; did you mean LOAD"
    ),
    _ours("no op of tg_legacy", "4 |UOps.MUL : dtypes.float [3, 3]", "tg_legacy has no op MUL"),
    _ours(
        "op with a region",
        "4 |Ops.FUNCTION : dtypes.float [3]",
        "tg.function is printed in a listing, but not",
    ),
    _ours("missing dtype", "4 |Ops.LOAD : [3]", "has a dtype in each line"),
    _ours(
        "constant among the sources",
        "4 Ops.LOAD : dtypes.float [|'3']",
        "no constants among its sources",
    ),
    _ours("later line", "4 Ops.LOAD : dtypes.float [|4]", "line 4 does not come before this one"),
    _ours(
        "unknown source",
        "4 Ops.LOAD : dtypes.float [3, atl=|3]",
        "tg.load has no source 'atl'; did you mean alt",
    ),
    _ours("further source", "4 Ops.LOAD : dtypes.float [3, |3]", "further ones have names"),
    _ours("source twice", "4 Ops.LOAD : dtypes.float [3, alt=3, alt=|3]", "tg.load has one alt"),
    _ours("missing source", "4 Ops.LOAD : dtypes.float |[alt=3]", "tg.load needs its buffer"),
    _ours(
        "names where there are none",
        "4 Ops.ADD : dtypes.index [2, rhs=|2]",
        "tg.add does not name its sources",
    ),
    _ours(
        "missing argument",
        "4 Ops.BUFFER : dtypes.float.ptr(4, AddrSpace.REG) []|",
        "tg.buffer needs its slot",
    ),
    _ours("further argument", "4 Ops.ADD : dtypes.index [2, 2] |5", "tg.add has no such argument"),
    _ours(
        "malformed integer",
        "4 Ops.BUFFER : dtypes.float.ptr(4, AddrSpace.REG) [] |x",
        "expected an integer",
    ),
    _ours(
        "unknown keyword", "4 Ops.RANGE : dtypes.index [1] 1, |lopp", "'lopp' is not one of global"
    ),
    _ours("unknown name", "4 Ops.ADD : dtypes.index [2, 2] |%1x.", "is not the name of a value"),
    _ours(
        "bracket not closed",
        "4 Ops.VCONST : dtypes.index.vec(2) [] (1, 2|",
        "a bracket is not closed",
    ),
    _ours(
        "name in a tuple",
        "4 Ops.VCONST : dtypes.index.vec(2) [] |(1, 2, a=3)",
        "only the arguments of a call have names",
    ),
    _ours("bracket not opened", "4 Ops.VCONST : dtypes.index.vec(2) [] 1, 2|)", "closes nothing"),
    _ours("wrong type", "4 |Ops.LOAD : dtypes.int [3]", "the result type is written as"),
    _ours("loop of ours not ended", "4 Ops.LOAD : dtypes.float [3]", "", OURS.replace("@k", "|@k")),
    _ours(
        "member of no linear", "4 Ops.LINEAR : dtypes.void |[2]", "the ops that come just before it"
    ),
]
