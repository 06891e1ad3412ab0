"""Names that are taken in the languages that programs are rendered to.

`names.py` renames a symbol or a value that has one of them. The lists hold more than one compiler
knows: a name is rendered alike for all of them, and one that is renamed without need stays
readable. `test/unit/lowering/test_names_of_languages.py` holds them against the headers and
compilers that are installed.
"""

from __future__ import annotations

_MATH = """
    acos acosh asin asinh atan atan2 atan2pi atanh canonicalize cbrt ceil copysign cos cosh drem erf
    erfc exp exp10 exp2 expm1 fabs fadd fdim fdiv finite floor fma fmax fmaximum fmaximum_mag
    fmaximum_mag_num fmaximum_num fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fmod fmul
    fromfp fromfpx frexp fsub gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint
    llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown nexttoward
    nextup pow pow10 pown powr remainder remquo rint rootn round roundeven rsqrt scalb scalbln
    scalbn significand sin sincos sincospi sinh sinpi cospi tanpi acospi asinpi atanpi sqrt tan tanh
    tgamma trunc ufromfp ufromfpx y0 y1 yn
    dadd ddiv dfma dmul dsqrt dsub ffma fmaxmag fminmag fsqrt getpayload setpayload setpayloadsig
    totalorder totalordermag
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog clog10 conj cpow
    cproj creal csin csinh csqrt ctan ctanh
""".split()  # noqa: SIM905
"""Functions of <math.h> and <complex.h>. Each has forms for other types (`_TYPES`)."""

_TYPES = ("", "f", "l", "f16", "f32", "f32x", "f64", "f64x", "f128")

_FUNCTIONS = """
    lgamma_r lgammaf_r lgammal_r signgam
    bcmp bcopy bzero explicit_bzero ffs ffsl ffsll fls flsl flsll index rindex
    memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset memset_explicit
    memset_pattern16 memset_pattern4 memset_pattern8 rawmemchr stpcpy stpncpy strcasecmp strcasestr
    strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strfry strlcat strlcpy
    strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal
    strspn strstr strtok strtok_r strverscmp strxfrm swab strcoll_l strcasecmp_l strncasecmp_l
    strxfrm_l strerror_r strerror_l basename
    abort abs aligned_alloc alloca atexit atof atoi atol atoll at_quick_exit bsearch calloc clearenv
    div drand48 environ erand48 exit free free_sized free_aligned_sized getenv getsubopt jrand48
    labs lcong48 ldiv llabs lldiv lrand48 malloc mblen mbstowcs mbtowc memalign memalignment mkdtemp
    mkostemp mkstemp mktemp mrand48 nrand48 posix_memalign putenv pvalloc qsort qsort_r quick_exit
    rand rand_r random realloc reallocarray reallocf realpath seed48 setenv setstate srand srand48
    srandom strtod strtof strtoimax strtol strtold strtoll strtoq strtoul strtoull strtoumax strtouq
    system unsetenv valloc wcstombs wctomb a64l l64a ecvt fcvt gcvt initstate imaxabs imaxdiv
    vec_calloc vec_free vec_malloc vec_realloc
    asprintf clearerr ctermid dprintf fclose fcloseall fdopen feof ferror fflush fgetc fgetpos fgets
    fileno fiprintf flockfile fmemopen fopen fopen64 fprintf fputc fputs fread freopen fscanf fseek
    fseeko fseeko64 fsetpos ftell ftello ftello64 ftrylockfile funlockfile fwrite getc getchar
    getdelim getline gets getw iprintf open_memstream pclose perror popen printf putc putchar puts
    putw remove rename renameat rewind scanf setbuf setbuffer setlinebuf setvbuf siprintf snprintf
    sprintf sscanf stderr stdin stdout tempnam tmpfile tmpfile64 tmpnam ungetc vasprintf vdprintf
    vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
    clearerr_unlocked feof_unlocked ferror_unlocked fflush_unlocked fgetc_unlocked fgets_unlocked
    fileno_unlocked fputc_unlocked fputs_unlocked fread_unlocked fwrite_unlocked getc_unlocked
    getchar_unlocked putc_unlocked putchar_unlocked
    access acct alarm brk chdir chmod chown chroot close closedir confstr creat creat64 crypt dup
    dup2 dup3 execl execle execlp execv execve execvp execvP execvpe faccessat fchdir fchmod
    fchmodat fchown fchownat fcntl fdatasync fdopendir fexecve fork fpathconf fstat fstat64 fstatat
    fstatvfs fstatvfs64 fsync ftruncate ftw getcwd getegid geteuid getgid getgroups gethostname
    getitimer getlogin getlogin_r getopt getpagesize getpgid getpgrp getpid getppid getpwnam
    getpwuid getrlimit getrusage getsid getuid getwd htonl htons ioctl isatty kill lchown link
    linkat lockf lseek lseek64 lstat lstat64 mkdir mkfifo mknod mmap mprotect msync munmap nice
    ntohl ntohs open open64 openat opendir pathconf pause pipe pipe2 poll pread prlimit pwrite read
    readdir readlink readlinkat readv rewinddir rmdir sbrk select setegid seteuid setgid setitimer
    setpgid setpgrp setregid setreuid setrlimit setsid setuid sleep stat stat64 statvfs statvfs64
    symlink sync syscall sysconf tcgetpgrp tcsetpgrp truncate ttyname umask uname unlink unlinkat
    usleep utime utimes vfork wait wait3 wait4 waitpid write writev
    accept bind connect getpeername getsockname getsockopt listen recv recvfrom recvmsg send sendmsg
    sendto setsockopt shutdown socket socketpair
    dladdr dlclose dlerror dlopen dlsym dlvsym
    asctime clock clock_getres clock_gettime clock_nanosleep clock_settime ctime difftime getdate
    gettimeofday gmtime localtime mktime nanosleep settimeofday strftime strptime time times
    timespec_get tzset asctime_r ctime_r gmtime_r localtime_r daylight timezone tzname
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    isxdigit toascii tolower toupper
    btowc fgetwc fgetws fputwc fputws fwide fwprintf fwscanf getwc getwchar iswalnum iswalpha
    iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
    iswxdigit mbrlen mbrtowc mbsinit mbsrtowcs putwc putwchar swprintf swscanf towctrans towlower
    towupper ungetwc vfwprintf vswprintf vwprintf wcrtomb wcscat wcschr wcscmp wcscoll wcscpy
    wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy wcsnlen wcspbrk wcsrchr wcsrtombs wcsspn wcsstr
    wcstod wcstof wcstok wcstol wcstold wcstoll wcstoul wcstoull wcswidth wcsxfrm wctob wctrans
    wctype wcwidth wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf wscanf mbrtoc16 mbrtoc32
    c16rtomb c32rtomb
    feclearexcept fedisableexcept feenableexcept fegetenv fegetexcept fegetexceptflag fegetmode
    fegetround feholdexcept feraiseexcept fesetenv fesetexcept fesetexceptflag fesetmode fesetround
    fetestexcept fetestexceptflag feupdateenv
    atomic_flag_clear atomic_flag_test_and_set atomic_signal_fence atomic_thread_fence
    errno localeconv setlocale longjmp setjmp siglongjmp sigsetjmp raise sigaction sigaddset
    sigdelset sigemptyset sigfillset sigismember signal sigpending sigprocmask sigqueue sigsuspend
    sigwait call_once thrd_create thrd_current thrd_exit thrd_join thrd_sleep thrd_yield
    backtrace error err errx warn warnx verrx getauxval getentropy getrandom arc4random
    main edata end etext environ
""".split()  # noqa: SIM905
"""Functions and variables of the C library and of POSIX, and those that LLVM knows besides."""

LIBRARY = frozenset(_FUNCTIONS) - {"main"} | {
    f"{name}{suffix}" for name in _MATH for suffix in _TYPES
}
"""Functions of libraries that compilers know by their names, or call by themselves."""

LIBRARY_PATTERN = "tg_|pthread_|WARP_SZ$"
"""A regular expression: what begins like a name of our own, or of the thread library; and the one
word that PTX has."""

OBJECT_PATTERN = rf"""{LIBRARY_PATTERN}
    |([bdhpqsvwxz][0-9]{{1,2}}|[wx]zr|w?sp|lr|fp|lsl|lsr|asr|ror|msl|[su]xt[bhwx])$"""
"""The same, and registers and shifts that an assembler for ARM takes for no labels."""

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default defined delete do double dynamic_cast else enum explicit
    export extern false final float for friend goto if import inline int long module mutable
    namespace new noexcept not not_eq nullptr operator or or_eq override private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
    assert complex fortran i386 imaginary linux near far huge interface offsetof unix va_arg va_copy
    va_end va_list va_start
    fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal
    issignaling issubnormal isunordered iszero iseqsig math_errhandling signbit
    constant device event_t generic global half kernel local pipe quad read_only read_write sampler
    sampler_t uniform visible write_only thread threadgroup threadgroup_imageblock ray_data
    object_data vertex fragment mesh object intersection stitchable bfloat array array_ref depth2d
    depthcube metal simd tensor texture1d texture2d texture3d texturebuffer texturecube vec matrix
    uchar ushort uint ulong longlong ulonglong size_t
    blockDim blockIdx dim3 gridDim threadIdx warpSize std
    gid lid
""".split()  # noqa: SIM905
"""Keywords, types, variables and macros of C, C++, OpenCL C, CUDA C++ and Metal, and the
parameters that each kernel in Metal has after its own (`languages.py`)."""

_DEVICE_FUNCTIONS = """
    abs abs_diff absdiff add_sat addsat all any barrier bit_reverse bitselect
    capture_event_profiling_info clamp clz cross ctz degrees determinant distance distance_squared
    divide dot enqueue_kernel enqueue_marker extract_bits faceforward fast_distance fast_length
    fast_normalize fence fract hadd insert_bits is_valid_event is_valid_reserve_id isequal
    isnotequal isordered length length_squared lgamma_r mad mad24 mad_hi mad_sat madhi madsat max
    max3 maxmag median3 mem_fence min min3 minmag mix mul24 mul_hi mulhi ndrange normalize ocl
    popcount precise prefetch radians recip reflect refract release_event retain_event reverse_bits
    rhadd rotate saturate set_user_event_status shuffle shuffle2 sign smoothstep step sub_sat subsat
    transpose upsample wait_group_events create_user_event commit_read_pipe commit_write_pipe
    reserve_read_pipe reserve_write_pipe kernel_exec
    brkpt clock clock64 cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f dadd dmul
    dsub erfcinv erfcinvf erfcx erfcxf erfinv erfinvf fdividef fdivide llmax llmin mul64hi norm
    norm3d norm3df norm4d norm4df normf normcdf normcdff normcdfinv normcdfinvf powi powif rcbrt
    rcbrtf rhypot rhypotf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf ullmax ullmin umax umin
    umulhi umul24 umul64hi
""".split()  # noqa: SIM905
"""Functions that are built into OpenCL C, CUDA C++ and Metal, besides those of <math.h>."""

SOURCE = frozenset((*LIBRARY, *_KEYWORDS, *_DEVICE_FUNCTIONS, "main"))
"""Names that a source in a C-like language may not define."""

_BEFORE_UNDERSCORE = """
    amd arm as async atom atomic bitfield cl clk convert cuda dot get half intel make memory native
    ndrange nv packed pocl quad read simd simdgroup sub_group vload vloada vstore vstorea work_group
    write
""".split()  # noqa: SIM905

SOURCE_PATTERN = rf"""{LIBRARY_PATTERN}
    |({"|".join(_BEFORE_UNDERSCORE)})_
    |[A-Z][A-Z0-9_]*[A-Z_][A-Z0-9_]*$
    |[A-Za-z0-9_]*_t$
    |CLK_|cu[A-Z]|cuda[A-Z]|atomic[A-Z]
    |(vload|vstore)[0-9]*$|(image|tex|surf)[123]|(tex|surf)Cube
    |(double|float|int|uint|ll|ull)2[a-z]+$
    |u?(bool|char|short|int|long|longlong|float|double|half|bfloat)[0-9]+(x[0-9]+|_[0-9]+a)?$
    """
"""A regular expression: what begins or ends like one of a family of names of these languages, as
conversions, vector types, atomic functions; and macros, which have no lower-case letters."""
