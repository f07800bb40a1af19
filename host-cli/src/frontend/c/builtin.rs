//! Functions that are known by their name: what verification tasks, `assert.h` and `vouch.h` use.

use super::tree::Function;

/// What a known function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// The run breaks the property `reach_error`.
    Error,
    /// The run breaks a property of its own.
    AssertFail,
    /// The run breaks a property of its own if the argument is zero.
    Assert,
    /// The same with the property's name as the first argument.
    AssertNamed,
    /// Any value, named by the argument.
    Input,
    /// Runs in which the argument is zero are not looked at.
    Assume,
    /// The run ends.
    Stop,
    /// The first argument is the value.
    Expect,
    /// Only prints; its value is arbitrary.
    Print,
    /// Needs a heap.
    Heap,
    /// Needs more arguments than are known.
    Variadic,
}

/// What a function of this name does, if it is known.
pub fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "__VERIFIER_error" | "reach_error" => Builtin::Error,
        "__assert_fail" | "__assert" | "__assert_func" | "__assert_perror_fail" => {
            Builtin::AssertFail
        }
        "__VERIFIER_assume" | "__CPROVER_assume" | "vouch_assume" | "__builtin_assume" => {
            Builtin::Assume
        }
        "assert" | "__CPROVER_assert" | "vouch_assert" => Builtin::Assert,
        "vouch_input" => Builtin::Input,
        "vouch_assert_named" => Builtin::AssertNamed,
        "abort" | "exit" | "_exit" | "_Exit" | "__builtin_abort" | "__builtin_trap" => {
            Builtin::Stop
        }
        "__builtin_expect" => Builtin::Expect,
        "printf" | "puts" | "putchar" | "fprintf" | "fputs" | "fputc" | "perror" | "fflush"
        | "__builtin_printf" | "__builtin_puts" | "__builtin_putchar" => Builtin::Print,
        "malloc" | "calloc" | "realloc" | "free" | "alloca" | "__builtin_alloca"
        | "__builtin_malloc" | "__builtin_free" | "kmalloc" | "kfree" => Builtin::Heap,
        "__builtin_va_start" | "__builtin_va_end" | "__builtin_va_copy" => Builtin::Variadic,
        _ => return None,
    })
}

/// Whether a call of it is not a call of its body. Of the functions that programs like to define
/// themselves, only the ones that mean an error are taken away from them.
pub fn of(function: &Function) -> Option<Builtin> {
    find(&function.name).filter(|b| function.body.is_none() || *b == Builtin::Error)
}

/// Whether a function of this name, which the program does not define, runs parts of the program at
/// other times or goes on elsewhere: more than returning any value.
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

/// Whether its body, if there is one, does not matter.
pub fn is_known(function: &Function) -> bool {
    of(function).is_some()
}
