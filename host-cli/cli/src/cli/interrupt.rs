//! How a handler of an interrupt is named on the command line.

use std::str::FromStr;

/// A handler of an interrupt, and its priority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interrupt(pub String, pub u8);

impl FromStr for Interrupt {
    type Err = String;

    fn from_str(text: &str) -> Result<Interrupt, String> {
        // Paths of Rust have colons, too.
        let (name, priority) = match text.rsplit_once(':') {
            Some((name, number)) if !name.ends_with(':') => {
                let (digits, radix) = match number.strip_prefix("0x") {
                    Some(digits) => (digits, 16),
                    None => (number, 10),
                };
                let what = || format!("the priority `{number}` is not a number from 0 to 255");
                (name, u8::from_str_radix(digits, radix).map_err(|_| what())?)
            }
            _ => (text, 0),
        };
        match name.is_empty() {
            true => Err("a handler's name is missing".into()),
            false => Ok(Interrupt(name.into(), priority)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_may_follow() {
        let read = |text: &str| text.parse::<Interrupt>().map(|Interrupt(name, p)| (name, p));
        assert_eq!(read("TIM2"), Ok(("TIM2".into(), 0)));
        assert_eq!(read("TIM2:64"), Ok(("TIM2".into(), 64)));
        assert_eq!(read("app::tick:0x40"), Ok(("app::tick".into(), 64)));
        assert_eq!(read("app::tick"), Ok(("app::tick".into(), 0)));
        assert!(read("TIM2:256").is_err_and(|e| e.contains("from 0 to 255")));
        assert!(read("TIM2:high").is_err() && read(":3").is_err() && read("").is_err());
    }
}
