//! Which requirements properties cover. They are the author's own: nothing depends on them but reports.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The requirements of each property that has some, by the property's name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Requirements(BTreeMap<String, Vec<String>>);

/// Whether an id may have this character.
pub fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | '+')
}

/// Whether this is an id.
pub fn is_id(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_id_char)
}

/// A name and the ids in brackets after it: `no_inrush [REQ-12, REQ-13]`. What does not look like ids belongs to the
/// name.
pub fn split(text: &str) -> (&str, Vec<String>) {
    let list = text.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    let Some((name, list)) = list else { return (text, vec![]) };
    let ids: Vec<&str> = list.split(',').map(str::trim).collect();
    match ids.iter().all(|id| is_id(id)) && !name.trim().is_empty() {
        true => (name.trim_end(), ids.into_iter().map(Into::into).collect()),
        false => (text, vec![]),
    }
}

impl Requirements {
    /// A property covers these, too.
    pub fn add(&mut self, property: &str, ids: impl IntoIterator<Item = String>) {
        for id in ids {
            let all = self.0.entry(property.to_string()).or_default();
            if !all.contains(&id) {
                all.push(id);
            }
        }
    }

    /// What a property covers.
    pub fn of(&self, property: &str) -> &[String] {
        self.0.get(property).map_or(&[], Vec::as_slice)
    }

    /// Whether no property covers any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_a_name_in_brackets() {
        for (text, name, ids) in [
            ("low", "low", vec![]),
            ("low [REQ-1]", "low", vec!["REQ-1"]),
            ("low  [REQ-1, SYS.4.2#b]", "low", vec!["REQ-1", "SYS.4.2#b"]),
            ("buf[3]", "buf[3]", vec![]),
            ("buf [3] [A]", "buf [3]", vec!["A"]),
            ("low []", "low []", vec![]),
            ("low [a b]", "low [a b]", vec![]),
            (" [A]", " [A]", vec![]),
        ] {
            let ids: Vec<String> = ids.into_iter().map(String::from).collect();
            assert_eq!(split(text), (name, ids), "{text}");
        }
    }

    #[test]
    fn an_id_is_kept_once() {
        let mut all = Requirements::default();
        assert!(all.is_empty());
        all.add("p", ["A".to_string(), "B".to_string()]);
        all.add("p", ["A".to_string()]);
        assert_eq!(all.of("p"), ["A", "B"]);
        assert!(all.of("q").is_empty());
    }
}
