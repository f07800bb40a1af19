//! Functions that are known by their name: what verification tasks, `assert.h` and `vouch.h` use.

use super::tree::{Function, Op};
use super::types::Type;

/// What a known function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// The run breaks the property `reach_error`.
    Error,
    /// The run breaks a property of its own.
    AssertFail,
    /// The run breaks a property of its own if the argument is zero, and ends.
    Assert,
    /// The run breaks a property of its own if the argument is zero, and continues: on the target there
    /// is nothing in this place.
    Claim,
    /// The same with the property's name as the first argument.
    ClaimNamed,
    /// Any value, named by the argument.
    Input,
    /// A character of a text that a format gives.
    Text,
    /// How many characters the format of the current call gives.
    FormatLength,
    /// How many characters a text has that the next call formats.
    TextLength,
    /// Runs in which the argument is zero are not looked at.
    Assume,
    /// The run ends.
    Stop,
    /// The program says that no run gets here.
    Unreachable,
    /// The first argument is the value.
    First,
    /// Nothing that a program could notice.
    Nothing,
    /// The same, of a function that stands for an instruction.
    Instruction,
    /// A function of the bits of a number.
    Bits(Bits),
    /// Arithmetic that tells whether its exact result fits where it is stored.
    Overflow(Op),
    /// A floating-point number without its sign.
    Magnitude,
    /// A function of `math.h` that rounds.
    Math,
    /// Only prints; its value is arbitrary.
    Print,
    /// Allocates a block of the heap, zeroed or not.
    Allocate { zeroed: bool },
    /// Frees one.
    Free,
    /// How many bytes one has.
    BlockBytes,
    /// Allocates memory that is gone when the function returns.
    Alloca,
    /// The list in the first argument begins.
    VaStart,
    /// The list in the first argument becomes that in the second.
    VaCopy,
    /// Whether operands are evaluated in another order than the usual one.
    Order,
    /// Handlers of interrupts may run.
    Pause,
    /// Interrupts are disabled, or enabled; the result, if there is one, is whether they were disabled.
    Mask(bool),
    /// Whether they are disabled.
    Masked,
    /// They are disabled if the argument is odd.
    SetMask,
    /// From which priority on they are disabled; zero: from none.
    Level,
    /// That is set, or only if more are disabled then.
    SetLevel { only_up: bool },
    /// The next store-exclusive may store, or will not.
    Reserve(bool),
    /// Whether a store-exclusive stores.
    Reserved,
    /// What follows is one access to handlers of interrupts, up to where it ends.
    Atomic(bool),
}

/// Functions of the bits of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    /// How many are set.
    Popcount,
    /// Whether that is odd.
    Parity,
    /// Zeros before the highest that is set; of zero, anything.
    LeadingZeros,
    /// Zeros behind the lowest that is set; of zero, anything.
    TrailingZeros,
    /// The number of the lowest that is set, from 1; of zero, zero.
    FirstSet,
    /// Copies of the sign bit behind it.
    RedundantSigns,
    /// The bytes in the opposite order.
    SwapBytes,
}

impl Builtin {
    /// Whether it allocates a block.
    pub fn allocates(self) -> bool {
        matches!(self, Builtin::Allocate { .. } | Builtin::Alloca)
    }

    /// Whether a call of it may end the current edge.
    pub fn ends_or_asks(self) -> bool {
        matches!(
            self,
            Builtin::Error
                | Builtin::AssertFail
                | Builtin::Assert
                | Builtin::Claim
                | Builtin::ClaimNamed
                | Builtin::Assume
                | Builtin::Stop
                | Builtin::Unreachable
                | Builtin::Pause
                | Builtin::Mask(_)
                | Builtin::SetMask
                | Builtin::SetLevel { .. }
        )
    }
}

/// What a function of this name does, if it is known.
pub fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "__VERIFIER_error" | "reach_error" | "vouch_fail" => Builtin::Error,
        "__assert_fail" | "__assert" | "__assert_func" | "__assert_perror_fail" => {
            Builtin::AssertFail
        }
        "__VERIFIER_assume" | "__CPROVER_assume" | "vouch_assume" | "__vouch_assume"
        | "__builtin_assume" => Builtin::Assume,
        "assert" => Builtin::Assert,
        "__CPROVER_assert" | "vouch_assert" => Builtin::Claim,
        "vouch_input" | "__vouch_input_float" | "__vouch_input_double" | "__vouch_input" => {
            Builtin::Input
        }
        "__vouch_text" | "__vouch_scanned" | "__vouch_scanned_float" | "__vouch_scanned_double" => {
            Builtin::Text
        }
        "__vouch_format_length" => Builtin::FormatLength,
        "__vouch_text_length" => Builtin::TextLength,
        "vouch_assert_named" => Builtin::ClaimNamed,
        "abort" | "exit" | "_exit" | "_Exit" | "__builtin_abort" | "__builtin_trap" => {
            Builtin::Stop
        }
        "__builtin_expect" | "__builtin_expect_with_probability" | "__builtin_assume_aligned" => {
            Builtin::First
        }
        "__builtin_unreachable" => Builtin::Unreachable,
        "__builtin_prefetch"
        | "__sync_synchronize"
        | "__builtin_va_end"
        | "__builtin___clear_cache" => Builtin::Nothing,
        "printf" | "puts" | "putchar" | "fprintf" | "fputs" | "fputc" | "perror" | "fflush"
        | "vprintf" | "vfprintf" | "putc" | "fwrite" | "__builtin_printf" | "__builtin_puts"
        | "__builtin_putchar" => Builtin::Print,
        "malloc" | "__builtin_malloc" | "kmalloc" => Builtin::Allocate { zeroed: false },
        "calloc" | "__builtin_calloc" => Builtin::Allocate { zeroed: true },
        "free" | "__builtin_free" | "kfree" => Builtin::Free,
        "__vouch_block_bytes" => Builtin::BlockBytes,
        "alloca" | "__builtin_alloca" | "_alloca" => Builtin::Alloca,
        "__builtin_va_start" => Builtin::VaStart,
        "__builtin_va_copy" => Builtin::VaCopy,
        super::order::ORDER => Builtin::Order,
        super::interrupt::PAUSE => Builtin::Pause,
        // As CMSIS calls them, and what the instructions do.
        "__disable_irq"
        | "__vouch_disable_irq"
        | "__disable_interrupt"
        | "__disable_interrupts"
        | "_disable_interrupt"
        | "_disable_interrupts"
        | "__builtin_avr_cli"
        | "noInterrupts" => Builtin::Mask(true),
        "__enable_irq"
        | "__vouch_enable_irq"
        | "__enable_interrupt"
        | "__enable_interrupts"
        | "_enable_interrupt"
        | "_enable_interrupts"
        | "__builtin_avr_sei"
        | "interrupts" => Builtin::Mask(false),
        "__get_BASEPRI" | "__vouch_get_BASEPRI" => Builtin::Level,
        "__set_BASEPRI" | "__vouch_set_BASEPRI" => Builtin::SetLevel { only_up: false },
        "__set_BASEPRI_MAX" | "__vouch_set_BASEPRI_MAX" => Builtin::SetLevel { only_up: true },
        "__vouch_begin_exclusive" => Builtin::Reserve(true),
        "__vouch_clear_exclusive" => Builtin::Reserve(false),
        "__vouch_end_exclusive" => Builtin::Reserved,
        "__vouch_begin_atomic" => Builtin::Atomic(true),
        "__vouch_end_atomic" => Builtin::Atomic(false),
        "__NOP"
        | "__WFI"
        | "__WFE"
        | "__SEV"
        | "__ISB"
        | "__DSB"
        | "__DMB"
        | "__nop"
        | "__wfi"
        | "__no_operation"
        | "__SEVL"
        | "__YIELD"
        | "__sev"
        | "__wfe"
        | "__isb"
        | "__dsb"
        | "__dmb"
        | "__schedule_barrier"
        | "__builtin_arm_nop"
        | "__builtin_arm_wfi"
        | "__builtin_arm_wfe"
        | "__builtin_arm_sev"
        | "__builtin_arm_yield"
        | "__builtin_arm_isb"
        | "__builtin_arm_dsb"
        | "__builtin_arm_dmb" => Builtin::Instruction,
        "__get_PRIMASK" | "__vouch_get_PRIMASK" => Builtin::Masked,
        "__set_PRIMASK" | "__vouch_set_PRIMASK" => Builtin::SetMask,
        _ => return bits(name).or_else(|| overflow(name)).or_else(|| math(name)),
    })
}

/// Functions of `math.h`, for `double` and `float`.
fn math(name: &str) -> Option<Builtin> {
    const ROUNDS: [&str; 38] = [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "cbrt",
        "floor",
        "ceil",
        "round",
        "trunc",
        "rint",
        "nearbyint",
        "pow",
        "fmod",
        "remainder",
        "hypot",
        "copysign",
        "fma",
        "lround",
        "llround",
        "lrint",
        "atof",
    ];
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    let is = |wanted: &str| plain == wanted || plain.strip_suffix('f') == Some(wanted);
    match () {
        _ if is("fabs") => Some(Builtin::Magnitude),
        _ if ROUNDS.into_iter().any(is) => Some(Builtin::Math),
        _ => None,
    }
}

/// `__builtin_clz` and its kin, for every width; `ffs` is in the library, too.
fn bits(name: &str) -> Option<Builtin> {
    let plain = name.strip_prefix("__builtin_");
    let plain = plain.or_else(|| name.starts_with("ffs").then_some(name))?;
    if let "bswap16" | "bswap32" | "bswap64" | "bswap128" = plain {
        return Some(Builtin::Bits(Bits::SwapBytes));
    }
    let known = [
        ("popcount", Bits::Popcount),
        ("parity", Bits::Parity),
        ("clz", Bits::LeadingZeros),
        ("ctz", Bits::TrailingZeros),
        ("ffs", Bits::FirstSet),
        ("clrsb", Bits::RedundantSigns),
    ];
    let found = known.iter().find(|(stem, _)| {
        plain.strip_prefix(stem).is_some_and(|width| matches!(width, "" | "l" | "ll" | "imax"))
    });
    found.map(|(_, bits)| Builtin::Bits(*bits))
}

/// `__builtin_add_overflow`, and `__builtin_uaddll_overflow` for certain types.
fn overflow(name: &str) -> Option<Builtin> {
    let plain = name.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    let known = [("add", Op::Add), ("sub", Op::Sub), ("mul", Op::Mul)];
    let found = known.iter().find(|(stem, _)| {
        plain == *stem
            || (plain.strip_prefix(['s', 'u']).and_then(|p| p.strip_prefix(stem)))
                .is_some_and(|width| matches!(width, "" | "l" | "ll"))
    });
    found.map(|(_, op)| Builtin::Overflow(*op))
}

/// Whether a call of it is not a call of its body. Of the functions that programs like to define
/// themselves, only the ones that mean an error are taken away from them.
pub fn of(function: &Function) -> Option<Builtin> {
    let params = &function.locals[..function.params];
    let is_float = |ty: &Type| matches!(ty, Type::Float(_));
    let on_floats = is_float(&function.result) || params.iter().any(|p| is_float(&p.ty));
    find(&function.name).filter(|b| match b {
        Builtin::Error => true,
        // `log` may well be something else.
        Builtin::Math | Builtin::Magnitude => function.body.is_none() && on_floats,
        _ => function.body.is_none(),
    })
}

/// Whether a function of this name does nothing but return any value: that is how verifiers name their inputs.
pub fn only_chooses(name: &str) -> bool {
    name.contains("nondet")
}

/// Whether a function of this name, which the program does not define, runs parts of the program at
/// other times or continues elsewhere: more than returning any value.
pub fn goes_elsewhere(name: &str) -> bool {
    let name = name.trim_start_matches("__builtin_").trim_start_matches('_');
    matches!(
        name,
        "setjmp"
            | "sigsetjmp"
            | "longjmp"
            | "siglongjmp"
            | "signal"
            | "sigaction"
            | "bsd_signal"
            | "raise"
            | "atexit"
            | "at_quick_exit"
            | "on_exit"
            | "pthread_create"
            | "thrd_create"
            | "fork"
            | "vfork"
            | "getcontext"
            | "setcontext"
            | "swapcontext"
    )
}

/// Whether a function of this name, which the program does not define, is one of the C library whose result is more
/// than any value, and of which there is no model.
pub fn has_no_model(name: &str) -> bool {
    let name = name.trim_start_matches("__builtin_");
    matches!(
        name,
        "qsort"
            | "strtod"
            | "strtof"
            | "strtold"
            | "modf"
            | "modff"
            | "frexp"
            | "frexpf"
            | "ldexp"
            | "ldexpf"
            | "scalbn"
            | "scalbnf"
            | "strerror"
            | "localtime"
            | "gmtime"
            | "ctime"
            | "asctime"
            | "mktime"
            | "getenv"
            | "vscanf"
            | "vsscanf"
            | "vfscanf"
            | "div"
            | "ldiv"
            | "lldiv"
    )
}

/// Whether its body, if there is one, does not matter.
pub fn is_known(function: &Function) -> bool {
    of(function).is_some()
}
