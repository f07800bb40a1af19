//! The index width of tables and arenas: `u16` on a device, `u32` on a host.
//!
//! Everything the engine stores (literals, variables, references into a pool, levels) is one word.
//! In registers all of it is a plain `usize` or [`Lit`](crate::lit::Lit); only storage is narrow.

/// An unsigned integer that tables and arenas are made of.
pub trait Word: bytemuck::Pod + Ord + core::fmt::Debug {
    /// The largest value, also used as "none" in links.
    const NONE: Self;
    /// The largest index that can be stored; `NONE` is kept apart.
    const MAX_INDEX: usize;
    /// Narrows an index. The caller has made sure that it is at most `NONE`.
    fn of(index: usize) -> Self;
    /// Widens to an index.
    fn get(self) -> usize;
}

macro_rules! word {
    ($t:ty) => {
        impl Word for $t {
            const NONE: Self = <$t>::MAX;
            const MAX_INDEX: usize = <$t>::MAX as usize - 1;
            #[inline(always)]
            fn of(index: usize) -> Self {
                debug_assert!(index <= <$t>::MAX as usize);
                index as $t
            }
            #[inline(always)]
            fn get(self) -> usize {
                self as usize
            }
        }
    };
}
word!(u16);
word!(u32);
