//! What a program in Rust says about itself, for the proof of its machine code.

#![doc = include_str!("../README.md")]
#![no_std]

pub use vouch_marker_macros::{always, init, input, interrupt, param, step};

/// What records are made of; for the attributes alone.
#[doc(hidden)]
pub mod __record {
    use core::sync::atomic::*;

    /// A number that a record tells the width of, in bits; with a sign it is that plus 128.
    #[diagnostic::on_unimplemented(
        message = "vouch knows no input or parameter of type `{Self}`",
        note = "it knows `bool`, and integers of up to 32 bits"
    )]
    pub trait Value {
        /// Its width.
        const WIDTH: u8;
    }

    /// The same for a static that the program does not take for a constant.
    #[diagnostic::on_unimplemented(
        message = "a parameter of type `{Self}` would be a constant for the compiler",
        note = "make it an atomic (`AtomicU8` and the like, `AtomicBool`), or a `static mut` of a number"
    )]
    pub trait Changeable {
        /// Its width.
        const WIDTH: u8;
    }

    macro_rules! values {
        ($($atomic:ty: $value:ty = $width:expr),* $(,)?) => {
            $(
                impl Value for $value {
                    const WIDTH: u8 = $width;
                }
                impl Changeable for $atomic {
                    const WIDTH: u8 = $width;
                }
            )*
        };
    }

    values!(
        AtomicBool: bool = 1,
        AtomicU8: u8 = 8,
        AtomicU16: u16 = 16,
        AtomicU32: u32 = 32,
        AtomicUsize: usize = 32,
        AtomicI8: i8 = 128 + 8,
        AtomicI16: i16 = 128 + 16,
        AtomicI32: i32 = 128 + 32,
        AtomicIsize: isize = 128 + 32,
    );
}

/// What attributes do not take.
///
/// ```compile_fail
/// struct Pump;
/// impl Pump {
///     #[vouch::step]
///     fn step(&mut self) {}
/// }
/// ```
/// ```compile_fail
/// #[vouch::step]
/// fn step<T>() {}
/// ```
/// ```compile_fail
/// #[vouch::always]
/// fn holds(level: u8) -> bool { level < 3 }
/// ```
/// ```compile_fail
/// #[vouch::param]
/// static LIMIT: core::sync::atomic::AtomicU8 = core::sync::atomic::AtomicU8::new(4);
/// ```
/// ```compile_fail
/// #[vouch::init]
/// static LEVEL: u8 = 0;
/// ```
/// ```compile_fail
/// #[vouch::step(3)]
/// fn step() {}
/// ```
#[cfg(doctest)]
mod refused {}
