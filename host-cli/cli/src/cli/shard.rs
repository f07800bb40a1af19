//! One of several parts of the work, for machines that share it.

use std::fmt;
use std::str::FromStr;

/// Parts that there can be at most.
const MOST: u32 = 100_000;

/// `2/4`: the second of four parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which, from 1.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(number, count)| {
            Some(Shard { number: number.trim().parse().ok()?, count: count.trim().parse().ok()? })
        });
        let wrong = "write `i/n`, as in `2/4` for the second of four parts; the first is 1";
        parts
            .filter(|s| 1 <= s.number && s.number <= s.count && s.count <= MOST)
            .ok_or_else(|| wrong.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, count: 4 }));
        for wrong in ["0/4", "5/4", "2", "2/", "/4", "a/b", "-1/4", "1/100001", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
