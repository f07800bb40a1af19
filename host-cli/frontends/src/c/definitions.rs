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
    /// What it declares or defines as `weak`.
    weak: BTreeSet<Rc<str>>,
}

#[derive(Debug)]
struct Definition {
    name: Rc<str>,
    /// Whether other units can mean it.
    external: bool,
    /// Whether another unit's definition counts more: it is `weak`, or a variable without a value.
    yields: bool,
    mentions: BTreeSet<Rc<str>>,
}

/// How a unit defines what others mean by a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Defines {
    No,
    /// Another unit's definition counts more.
    Yields,
    Firmly,
}

impl Outline {
    /// Of a preprocessed text.
    pub fn of(text: &str) -> Result<Outline, Fail> {
        let lexer::Lexed { tokens, weak, .. } = lexer::lex_whole(text)?;
        let mut outline = Outline { weak: weak.into_iter().collect(), ..Outline::default() };
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
    pub fn defines(&self, name: &str) -> Defines {
        let own = self.definitions.iter().filter(|d| d.external && &*d.name == name);
        own.map(|definition| self.strength(definition)).max().unwrap_or(Defines::No)
    }

    fn strength(&self, definition: &Definition) -> Defines {
        match definition.yields || self.weak.contains(&definition.name) {
            true => Defines::Yields,
            false => Defines::Firmly,
        }
    }

    fn declaration(&mut self, tokens: &[Token], function: bool) {
        let has = |word: &str| top(tokens).any(|(_, token)| is_word(token, word));
        if has("typedef") {
            return;
        }
        let assigns = top(tokens).any(|(_, token)| is(token, "="));
        let names = variables(tokens);
        if is_weak(tokens) {
            self.weak.extend(names.iter().cloned().chain(function_name(tokens)));
        }
        if let Some(target) = alias(tokens) {
            let names = names.into_iter().chain(function_name(tokens));
            let external = !has("static");
            self.definitions.extend(names.map(|name| {
                let mentions = [target.clone()].into();
                Definition { name, external, yields: false, mentions }
            }));
            return;
        }
        if !function && !assigns && (has("extern") || names.is_empty()) {
            self.declared.extend(names);
            self.declared.extend(function_name(tokens));
            return;
        }
        let is_inline = ["inline", "__inline", "__inline__"].into_iter().any(has);
        let external = !has("static") && (!is_inline || has("extern"));
        let mentions: BTreeSet<Rc<str>> = tokens.iter().filter_map(word).collect();
        let names: Vec<Rc<str>> = match function {
            true => function_name(tokens).into_iter().collect(),
            false => names,
        };
        let yields = !function && !assigns;
        for name in names {
            let mentions = mentions.clone();
            self.definitions.push(Definition { name, external, yields, mentions });
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

/// Whether a declaration has the attribute `weak`, in front of the braces of a function.
fn is_weak(tokens: &[Token]) -> bool {
    let attribute =
        |token: &Token| ["__attribute__", "__attribute"].iter().any(|a| is_word(token, a));
    let weak = |token: &Token| is_word(token, "weak") || is_word(token, "__weak__");
    let groups = tokens.iter().enumerate().filter(|(_, token)| attribute(token));
    let mut inner = groups.flat_map(|(at, _)| {
        tokens[at + 1..].iter().take_while(|token| {
            matches!(token.kind, TokenKind::Word(_)) || is(token, "(") || is(token, ",")
        })
    });
    inner.any(weak)
}

/// What `alias("target")` in a declaration names.
fn alias(tokens: &[Token]) -> Option<Rc<str>> {
    let is_alias = |token: &Token| is_word(token, "alias") || is_word(token, "__alias__");
    tokens.windows(3).find_map(|three| match three {
        [word, open, Token { kind: TokenKind::Text(text), .. }]
            if is_alias(word) && is(open, "(") =>
        {
            let target: String = text.units.iter().filter_map(|u| char::from_u32(*u)).collect();
            Some(target.into())
        }
        _ => None,
    })
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

/// Where a text has a word.
fn places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let (before, behind) = (&text[..*at], &text[at + name.len()..]);
        !is_part(before.chars().next_back()) && !is_part(behind.chars().next())
    })
}

/// Whether a text has a word.
pub fn mentions(text: &str, name: &str) -> bool {
    places(text, name).next().is_some()
}

/// Whether a text looks as if it defined a function, before it is preprocessed: its name stands at the beginning of
/// a line without a semicolon, or in front of parentheses and a brace.
pub fn seems_to_define(text: &str, name: &str) -> bool {
    let begins = |line: &str| {
        !line.starts_with([' ', '\t', '#', '/', '*']) && !line.contains(';') && mentions(line, name)
    };
    let has_body = |at: usize| {
        let behind = text[at + name.len()..].trim_start();
        let mut depth = 0usize;
        let end = behind.find(|c| {
            depth += (c == '(') as usize;
            depth -= (c == ')' && depth > 0) as usize;
            depth == 0
        });
        behind.starts_with('(')
            && end.is_some_and(|end| behind[end + 1..].trim_start().starts_with('{'))
    };
    text.lines().any(begins) || places(text, name).any(has_body)
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

    /// How the units define a name.
    pub fn defines(&self, name: &str) -> Defines {
        self.units.iter().map(|unit| unit.defines(name)).max().unwrap_or(Defines::No)
    }

    /// A name that is mentioned by what the roots need, and that no unit defines firmly yet.
    pub fn missing(&self, roots: &[String]) -> Option<String> {
        // Of several definitions, the one that the linker takes.
        let mut external: HashMap<&str, (usize, &Definition)> = HashMap::new();
        for wanted in [Defines::Firmly, Defines::Yields] {
            for (number, unit) in self.units.iter().enumerate() {
                let own = unit.definitions.iter().filter(|d| d.external);
                for definition in own.filter(|d| unit.strength(d) == wanted) {
                    external.entry(&definition.name).or_insert((number, definition));
                }
            }
        }
        let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut todo: Vec<(usize, &str)> =
            roots.iter().map(|root| (usize::MAX, root.as_str())).collect();
        while let Some((unit, name)) = todo.pop() {
            if !seen.insert((unit, name)) {
                continue;
            }
            let here = self.units.get(unit);
            let own = here.into_iter().flat_map(|unit| &unit.definitions);
            let own: Vec<&Definition> = own.filter(|d| &*d.name == name).collect();
            let is_static = own.iter().any(|definition| !definition.external);
            if !is_static {
                if own.is_empty() && here.is_some_and(|unit| !unit.declared.contains(name)) {
                    continue;
                }
                let firm = |(unit, d): &(usize, &Definition)| {
                    self.units[*unit].strength(d) == Defines::Firmly
                };
                let is_firm = external.get(name).is_some_and(firm);
                if !is_firm && !self.nowhere.contains(name) {
                    return Some(name.to_string());
                }
            }
            let found = match is_static {
                true => own.into_iter().map(|definition| (unit, definition)).collect(),
                false => external.get(name).copied().into_iter().collect::<Vec<_>>(),
            };
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
        for name in ["limit", "table", "x", "handlers"] {
            assert_eq!(outline.defines(name), Defines::Firmly, "{name}");
        }
        assert_eq!(outline.defines("f"), Defines::Yields);
        for name in ["e", "t", "s", "m", "count", "h", "declared", "a"] {
            assert_eq!(outline.defines(name), Defines::No, "{name}");
        }
    }

    #[test]
    fn some_definitions_yield_to_others() {
        use Defines::{Firmly, No, Yields};
        let text = "int tentative; int firm = 1; __attribute__((used, __weak__)) int hook(void) { return 0; }\n\
                    void late(void) __attribute__((weak)); void late(void) { int weak; }\n\
                    __attribute__((noinline)) void f(void) { int weak = 1; use(weak); }\n";
        let outline = Outline::of(text).unwrap();
        for name in ["tentative", "hook", "late"] {
            assert_eq!(outline.defines(name), Defines::Yields, "{name}");
        }
        for name in ["firm", "f"] {
            assert_eq!(outline.defines(name), Defines::Firmly, "{name}");
        }
        let text = "void wait(void) { } void tick(void) __attribute__((weak, alias(\"wait\")));\n\
                    extern int other __attribute__((alias(\"own\"))); static int own;\n\
                    inline int f(void) { return 1; } extern inline int g(void) { return 2; }\n";
        let outline = Outline::of(text).unwrap();
        let of = |name| outline.defines(name);
        assert_eq!([of("tick"), of("other"), of("f"), of("g")], [Yields, Firmly, No, Firmly]);
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
        // What a definition mentions that another one replaces is not needed, either.
        let weak = "void old(void); __attribute__((weak)) void step(void) { old(); }";
        let firm = "void new(void); void step(void) { new(); }";
        let mut program = Program::default();
        program.add(Outline::of(weak).unwrap());
        assert_eq!(program.missing(&roots), Some("step".into()));
        program.add(Outline::of(firm).unwrap());
        assert_eq!(program.missing(&roots), Some("new".into()));
        program.give_up("new".into());
        assert_eq!(program.missing(&roots), None);
        assert!(mentions("a helper(b)", "helper") && !mentions("my_helper", "helper"));
        for text in [
            "int f(int a)\n{",
            "  int f (g(int), (int)) { return 1; }",
            "f(\n  int a)\n{ return 1; }",
        ] {
            assert!(seems_to_define(text, "f"), "{text}");
        }
        for text in ["  if (f(1)) { x = 2; }", "int f(int a);", " f(1); {}", " f"] {
            assert!(!seems_to_define(text, "f"), "{text}");
        }
    }
}
