//! Which product's models a device takes.
//!
//! A signed model for another product is a right one in the wrong place. So the comparison is hardened as the others are: what a
//! package is for is read twice, compared by different code, and goes into the sum that makes a model [accepted](crate::store).

use crate::harden::{self, Passed, SUITED, Twice};
use crate::package::{self, Header, Product};
use core::hint::black_box;

/// Any product's. What lies in memory by chance is not this: then there is one.
const ANY: u32 = 0x6b1e_94d3;
/// One product's.
const ONE: u32 = 0x94d8_2a6c;

/// The products whose models are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Products {
    which: u32,
    one: Product,
}

impl Products {
    pub const fn any() -> Products {
        Products { which: ANY, one: [0; 16] }
    }

    pub const fn only(product: Product) -> Products {
        Products { which: ONE, one: product }
    }

    /// Passed if a package is for one of them. Its header was read from these bytes.
    #[inline(always)]
    pub fn suit(&self, header: &Header, bytes: &[u8]) -> Passed {
        let differing = Twice(self.differing(header), self.differing_again(bytes));
        harden::neither(SUITED, differing)
    }

    /// Nothing if they are any, else all bits.
    #[inline(always)]
    fn mask(&self) -> u32 {
        let other = black_box(self.which) ^ ANY;
        (((other | other.wrapping_neg()) as i32) >> 31) as u32
    }

    /// Bits in which what a package is for differs from what it has to be for.
    #[inline(never)]
    fn differing(&self, header: &Header) -> u32 {
        harden::difference(&header.release.product, &self.one) & self.mask()
    }

    /// The same from the end on, as read by other code.
    #[inline(never)]
    fn differing_again(&self, bytes: &[u8]) -> u32 {
        let mask = self.mask();
        let Some(product) = package::product_again(bytes) else { return u32::MAX };
        let mut differing = 0;
        for (its, one) in product.iter().zip(&self.one).rev() {
            differing = black_box(differing) | (its ^ one);
        }
        u32::from(differing) & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Release;

    fn suits(products: Products, product: Product) -> [bool; 2] {
        let release = Release { product, firmware: 3 };
        let header = Header { release, ..Header::unsigned(&[1], 1) };
        let found = [products.differing(&header), products.differing_again(&header.to_bytes())];
        let passed = products.suit(&header, &header.to_bytes()).then(SUITED, || ()).is_some();
        assert_eq!(passed, found == [0; 2]);
        found.map(|differing| differing == 0)
    }

    #[test]
    fn each_bit_of_a_product_counts_by_both_ways() {
        let one: Product = core::array::from_fn(|i| 17 * i as u8);
        assert_eq!(suits(Products::only(one), one), [true; 2]);
        assert_eq!(suits(Products::only(one), [0; 16]), [false; 2]);
        for bit in 0..128 {
            let mut other = one;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(suits(Products::only(one), other), [false; 2], "{bit}");
            assert_eq!(suits(Products::any(), other), [true; 2], "{bit}");
        }
        // Neither memory that nobody has written nor a bit that has changed means any.
        for which in [0, u32::MAX, ONE, ANY ^ 1, ANY ^ 1 << 31] {
            assert_eq!(suits(Products { which, one }, [0; 16]), [false; 2], "{which:#x}");
        }
    }
}
