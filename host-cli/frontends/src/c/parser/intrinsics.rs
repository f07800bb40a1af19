//! Functions that stand for instructions: `include/intrinsics.c` says what those do that compute, and others do nothing that a program
//! could notice.

/// What they do, as C.
pub(super) const BODIES: &str = include_str!("../include/intrinsics.c");

/// Those that do nothing.
const IDLE: [&str; 16] = [
    "void __SEVL(void)",
    "void __YIELD(void)",
    "void __sev(void)",
    "void __wfe(void)",
    "void __isb(int)",
    "void __dsb(int)",
    "void __dmb(int)",
    "void __schedule_barrier(void)",
    "void __builtin_arm_nop(void)",
    "void __builtin_arm_wfi(void)",
    "void __builtin_arm_wfe(void)",
    "void __builtin_arm_sev(void)",
    "void __builtin_arm_yield(void)",
    "void __builtin_arm_isb(unsigned int)",
    "void __builtin_arm_dsb(unsigned int)",
    "void __builtin_arm_dmb(unsigned int)",
];

/// The declaration of a function.
pub(super) fn prototype(name: &str) -> Option<&'static str> {
    let is_head = |text: &&str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    let heads = BODIES.lines().filter(is_head).chain(IDLE);
    heads.into_iter().find(|text| super::library::declares(text, name))
}
