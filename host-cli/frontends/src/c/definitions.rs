//! What units define and mention, told without their types: enough to know which of many are needed.

use super::token::{Token, TokenKind};
use super::{Fail, lexer};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What a unit defines, each with the names that it mentions.
#[derive(Debug, Default)]
pub struct Outline {
    definitions: Vec<Definition>,
    /// What it only declares.
    declared: BTreeSet<Rc<str>>,
}

#[derive(Debug)]
struct Definition {
    name: Rc<str>,
    /// Whether other units can mean it.
    external: bool,
    mentions: BTreeSet<Rc<str>>,
}

impl Outline {
    /// Of a preprocessed text.
    pub fn of(text: &str) -> Result<Outline, Fail> {
        let tokens = lexer::lex(text)?;
        let mut outline = Outline::default();
        let (mut start, mut depth) = (0, 0usize);
        for (at, token) in tokens.iter().enumerate() {
            let TokenKind::Punct(punct) = token.kind else { continue };
            match punct {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends_function = punct == "}" && depth == 0 && is_function(&tokens[start..=at]);
            if depth == 0 && punct == ";" || ends_function {
                outline.declaration(&tokens[start..=at], ends_function);
                start = at + 1;
            }
        }
        Ok(outline)
    }

    /// Whether it defines something that others mean by this name.
    pub fn defines(&self, name: &str) -> bool {
        self.definitions.iter().any(|d| d.external && &*d.name == name)
    }

    fn declaration(&mut self, tokens: &[Token], function: bool) {
        let has = |word: &str| top(tokens).any(|(_, token)| is_word(token, word));
        if has("typedef") {
            return;
        }
        let assigns = top(tokens).any(|(_, token)| is(token, "="));
        let names = variables(tokens);
        if !function && !assigns && (has("extern") || names.is_empty()) {
            self.declared.extend(names);
            self.declared.extend(function_name(tokens));
            return;
        }
        let external = !["static", "inline", "__inline", "__inline__"].into_iter().any(has);
        let mentions: BTreeSet<Rc<str>> = tokens.iter().filter_map(word).collect();
        let names: Vec<Rc<str>> = match function {
            true => function_name(tokens).into_iter().collect(),
            false => names,
        };
        for name in names {
            self.definitions.push(Definition { name, external, mentions: mentions.clone() });
        }
    }
}

fn is(token: &Token, punct: &str) -> bool {
    matches!(token.kind, TokenKind::Punct(p) if p == punct)
}

fn word(token: &Token) -> Option<Rc<str>> {
    match &token.kind {
        TokenKind::Word(word) => Some(word.clone()),
        _ => None,
    }
}

fn is_word(token: &Token, text: &str) -> bool {
    matches!(&token.kind, TokenKind::Word(word) if **word == *text)
}

/// The tokens outside of all brackets.
fn top(tokens: &[Token]) -> impl Iterator<Item = (usize, &Token)> {
    let mut depth = 0usize;
    tokens.iter().enumerate().filter(move |(_, token)| {
        let before = depth;
        if let TokenKind::Punct(punct) = token.kind {
            match punct {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        before == 0 || depth == 0
    })
}

/// Whether a declaration that ends in a brace is a function: not a struct, and not a list of initial values.
fn is_function(tokens: &[Token]) -> bool {
    let first = top(tokens).find(|(_, token)| is(token, "{")).map_or(0, |(at, _)| at);
    let before = &tokens[..first];
    let assigns = top(before).any(|(_, token)| is(token, "="));
    function_name(before).is_some() && !assigns && !is_record(before)
}

/// `struct s { … }`: the brace is that of the type.
fn is_record(before: &[Token]) -> bool {
    let is_keyword = |token: &Token| ["struct", "union", "enum"].iter().any(|k| is_word(token, k));
    match before {
        [.., a, _] if is_keyword(a) => true,
        [.., a] => is_keyword(a),
        [] => false,
    }
}

/// The name before the first parentheses that are no attribute's.
fn function_name(tokens: &[Token]) -> Option<Rc<str>> {
    let other =
        ["__attribute__", "__attribute", "__declspec", "__asm__", "asm", "__typeof__", "_Alignas"];
    let mut names =
        top(tokens).filter(|(at, _)| tokens.get(at + 1).is_some_and(|next| is(next, "(")));
    names.find_map(|(_, token)| word(token).filter(|w| !other.contains(&&**w)))
}

/// The names that stand where variables do.
fn variables(tokens: &[Token]) -> Vec<Rc<str>> {
    let ends = |token: &Token| ["=", ";", ",", "["].iter().any(|p| is(token, p));
    let follows = |at: usize| {
        let next = tokens.get(at + 1);
        next.is_some_and(|next| ends(next) || is_word(next, "__attribute__"))
    };
    let tables = |at: usize| {
        // `void (*table[3])(int)`: within the first parentheses.
        tokens.get(at.wrapping_sub(1)).is_some_and(|before| is(before, "*"))
    };
    let mut found: Vec<Rc<str>> =
        top(tokens).filter(|(at, _)| follows(*at)).filter_map(|(_, token)| word(token)).collect();
    if found.is_empty() {
        let inner = tokens.iter().enumerate().filter(|(at, _)| tables(*at));
        found.extend(inner.filter_map(|(_, token)| word(token)).take(1));
    }
    found
}

/// Whether a text has a word.
pub fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
    })
}

/// Whether a text looks as if it defined a function, before it is preprocessed.
pub fn seems_to_define(text: &str, name: &str) -> bool {
    let defines = |line: &str| {
        !line.starts_with([' ', '\t', '#', '/', '*']) && !line.contains(';') && mentions(line, name)
    };
    text.lines().any(defines)
}

/// All units that are known to be needed.
#[derive(Default)]
pub struct Program {
    units: Vec<Outline>,
    nowhere: BTreeSet<String>,
}

impl Program {
    /// One more is needed.
    pub fn add(&mut self, unit: Outline) {
        self.units.push(unit);
    }

    /// Nobody defines this.
    pub fn give_up(&mut self, name: String) {
        self.nowhere.insert(name);
    }

    /// A name that is mentioned by what the roots need, and that no unit defines yet.
    pub fn missing(&self, roots: &[String]) -> Option<String> {
        let mut external: HashMap<&str, (usize, &Definition)> = HashMap::new();
        for (number, unit) in self.units.iter().enumerate() {
            for definition in unit.definitions.iter().filter(|d| d.external) {
                external.entry(&definition.name).or_insert((number, definition));
            }
        }
        let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut todo: Vec<(usize, &str)> =
            roots.iter().map(|root| (usize::MAX, root.as_str())).collect();
        while let Some((unit, name)) = todo.pop() {
            if !seen.insert((unit, name)) {
                continue;
            }
            let own = self.units.get(unit).into_iter().flat_map(|unit| &unit.definitions);
            let mut own = own.filter(|d| &*d.name == name).map(|d| (unit, d)).peekable();
            let is_declared = self.units.get(unit).is_none_or(|unit| unit.declared.contains(name));
            let found = match own.peek() {
                Some(_) => own.collect(),
                None if !is_declared => continue,
                None => external.get(name).copied().into_iter().collect::<Vec<_>>(),
            };
            if found.is_empty() && !self.nowhere.contains(name) {
                return Some(name.to_string());
            }
            for (unit, definition) in found {
                todo.extend(definition.mentions.iter().map(|name| (unit, &**name)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found() {
        let text = "extern int e; typedef int t; struct s { int m; };\n\
                    static int count; int limit = 3, table[2] = { 1, 2 };\n\
                    __attribute__((weak)) void *f(int a) { return g(a); }\n\
                    static inline int h(void) { return count; }\n\
                    struct s x = { 1 }; void (*handlers[2])(int) = { f, 0 };\n\
                    int declared(int);\n";
        let outline = Outline::of(text).unwrap();
        for name in ["limit", "table", "f", "x", "handlers"] {
            assert!(outline.defines(name), "{name}");
        }
        for name in ["e", "t", "s", "m", "count", "h", "declared", "a"] {
            assert!(!outline.defines(name), "{name}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        let mut program = Program::default();
        let roots = ["step".to_string()];
        assert_eq!(program.missing(&roots), Some("step".into()));
        let text = "void helper(void); extern int limit; void other(void); void led(int);\n\
                    void step(void) { int i = limit; helper(); led(i); }\n\
                    void idle(void) { other(); }";
        program.add(Outline::of(text).unwrap());
        let mut nowhere = vec![];
        while let Some(name) = program.missing(&roots).filter(|name| name != "helper") {
            program.give_up(name.clone());
            nowhere.push(name);
        }
        nowhere.sort();
        assert!(nowhere.iter().all(|name| name == "led" || name == "limit"), "{nowhere:?}");
        assert_eq!(program.missing(&roots), Some("helper".into()));
        program.add(Outline::of("static int n; void helper(void) { n++; }").unwrap());
        program.give_up("led".into());
        program.give_up("limit".into());
        assert_eq!(program.missing(&roots), None, "`other` is not needed");
        assert!(mentions("a helper(b)", "helper") && !mentions("my_helper", "helper"));
    }
}
