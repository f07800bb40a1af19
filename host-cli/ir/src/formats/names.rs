//! How the things of a model are called in files and reports: by name, with `#n` where several have
//! the same one.

use crate::escape;
use crate::{BitLit, Cfa, Clause, EdgeId, InputId, LocId, PropertyId, Term, VarId};
use std::collections::HashMap;

/// One kind of thing, with a unique spelling for each.
#[derive(Clone, Debug)]
pub struct Table {
    names: Vec<String>,
    spelled: Vec<String>,
    by_name: HashMap<String, Vec<u32>>,
}

/// Why a name does not lead to one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// Nothing is called so.
    Missing,
    /// This many are called so, and the name does not say which.
    Ambiguous(usize),
    /// There are only this many of that name.
    TooFew(usize),
}

impl Table {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Table {
        let mut table = Table { names: vec![], spelled: vec![], by_name: HashMap::new() };
        names.for_each(|name| table.push(name.to_string()));
        table
    }

    /// One more thing. The first of several of a name is respelt when the second comes.
    fn push(&mut self, name: String) {
        let index = self.names.len() as u32;
        let all = self.by_name.entry(name.clone()).or_default();
        all.push(index);
        let spelled = spell(&name);
        if let [first, _] = all[..] {
            self.spelled[first as usize] = format!("{spelled}#1");
        }
        self.spelled.push(match all.len() {
            1 => spelled,
            nth => format!("{spelled}#{nth}"),
        });
        self.names.push(name);
    }

    /// The spelling of a thing, if there is one of this number.
    pub fn get(&self, index: u32) -> Option<&str> {
        self.spelled.get(index as usize).map(String::as_str)
    }

    /// The spelling of a thing, or its number.
    pub fn show(&self, index: u32) -> String {
        self.get(index).map_or_else(|| format!("#{index}"), str::to_string)
    }

    /// The thing with this name, the `nth` (from 1) if there are several.
    pub fn find(&self, name: &str, nth: Option<usize>) -> Result<u32, Lookup> {
        let all = self.by_name.get(name).ok_or(Lookup::Missing)?;
        match (nth, all.as_slice()) {
            (None, [one]) => Ok(*one),
            (None, _) => Err(Lookup::Ambiguous(all.len())),
            (Some(nth), _) => {
                let index = nth.checked_sub(1).and_then(|i| all.get(i));
                index.copied().ok_or(Lookup::TooFew(all.len()))
            }
        }
    }

    /// The known names, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

/// The names of a model.
#[derive(Clone, Debug)]
pub struct Names {
    /// Variables and parameters.
    pub vars: Table,
    /// Inputs, by the number of their [`InputId`].
    pub inputs: Table,
    /// Locations, by the number of their [`LocId`].
    pub locations: Table,
    /// Properties, by the number of their [`PropertyId`].
    pub properties: Table,
}

impl Names {
    /// Collects the names of a model.
    pub fn new(cfa: &Cfa) -> Names {
        Names::with_terms(cfa, &[])
    }

    /// The same, with terms as further variables.
    pub fn with_terms(cfa: &Cfa, terms: &[Term]) -> Names {
        let mut names = Names {
            vars: Table::new(cfa.vars.iter().map(|v| v.name.as_str())),
            inputs: Table::new(cfa.inputs.iter().map(|i| i.name.as_str())),
            locations: Table::new(cfa.locations.iter().map(|l| l.name.as_str())),
            properties: Table::new(cfa.properties.iter().map(|p| p.name.as_str())),
        };
        terms.iter().for_each(|term| names.push_term(term));
        names
    }

    /// One more term as a further variable.
    pub fn push_term(&mut self, term: &Term) {
        let known = &self.vars.names;
        let name = |var: VarId| known.get(var.index()).map_or("?", |n| n).to_string();
        let name = term.name(name);
        self.vars.push(name);
    }

    /// The name of a variable.
    pub fn var(&self, id: VarId) -> String {
        self.vars.show(id.0)
    }
    /// The name of an input.
    pub fn input(&self, id: InputId) -> String {
        self.inputs.show(id.0)
    }
    /// The name of a location.
    pub fn location(&self, id: LocId) -> String {
        self.locations.show(id.0)
    }
    /// The name of a property.
    pub fn property(&self, id: PropertyId) -> String {
        self.properties.show(id.0)
    }
    /// A literal: `timer.3`, `!timer.3`.
    pub fn lit(&self, lit: &BitLit) -> String {
        format!("{}{}.{}", if lit.value { "" } else { "!" }, self.var(lit.var), lit.bit)
    }
    /// The literals of a clause; `never` if there are none.
    pub fn clause(&self, clause: &Clause) -> String {
        match clause.lits.as_slice() {
            [] => "never".to_string(),
            lits => lits.iter().map(|l| self.lit(l)).collect::<Vec<_>>().join(" "),
        }
    }
    /// An edge: `Idle -> Run`, with `#n` where several lead from one to the other.
    pub fn edge(&self, cfa: &Cfa, id: EdgeId) -> String {
        let Some(edge) = cfa.edges.get(id.index()) else { return format!("edge #{}", id.0) };
        let parallel = |e: &&crate::Edge| e.from == edge.from && e.to == edge.to;
        let mut text = format!("{} -> {}", self.location(edge.from), self.location(edge.to));
        if cfa.edges.iter().filter(parallel).count() > 1 {
            let nth = cfa.edges[..id.index()].iter().filter(parallel).count() + 1;
            text.push_str(&format!(" #{nth}"));
        }
        text
    }
}

/// Whether a name can be written without quotes.
pub fn is_bare(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_bare_char)
}

/// Characters of names without quotes.
pub fn is_bare_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:@$/[]()<>+-*".contains(c)
}

/// A name as it is written in a file: as it is, or in quotes.
pub fn spell(name: &str) -> String {
    if is_bare(name) {
        return name.to_string();
    }
    let mut text = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if escape::is_active(c) => {
                text.push_str(&format!("\\u{{{:x}}}", c as u32));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The known name that is closest to a misspelt one, if any is close.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3).max(1);
    known.map(|k| (distance(name, k, limit), k)).filter(|(d, _)| *d <= limit).min().map(|(_, k)| k)
}

/// The edit distance, or anything above `limit` if it is above.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_counted_and_odd_ones_quoted() {
        let table = Table::new(["a", "b c", "a", "", "a#1"].into_iter());
        let spelled: Vec<_> = (0..5).map(|i| table.get(i).unwrap()).collect();
        assert_eq!(spelled, ["a#1", "\"b c\"", "a#2", "\"\"", "\"a#1\""]);
        assert_eq!(table.find("a", Some(2)), Ok(2));
        assert_eq!(table.find("a", None), Err(Lookup::Ambiguous(2)));
        assert_eq!(table.find("a", Some(0)), Err(Lookup::TooFew(2)));
        assert_eq!(table.find("a", Some(3)), Err(Lookup::TooFew(2)));
        assert_eq!(table.find("b c", Some(1)), Ok(1));
        assert_eq!(table.find("c", None), Err(Lookup::Missing));
    }

    #[test]
    fn suggestions_are_close() {
        let known = || ["timer", "pre", "charge"].into_iter();
        assert_eq!(closest("tiner", known()), Some("timer"));
        assert_eq!(closest("chrage", known()), Some("charge"));
        assert_eq!(closest("voltage", known()), None);
    }
}
