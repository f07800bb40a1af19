//! What can be said of a model in `vouch.toml`: each key is a flag of `vouch check`.

/// What a key's value looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number, which becomes the flag's value.
    Number,
    /// A string, which becomes the flag's value.
    Text,
    /// A text, or several, each of which is a flag of its own.
    Texts,
    /// Texts that one flag takes, with commas between them.
    Listed,
}

/// A key of a model in `vouch.toml` that is a flag of `vouch check`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Its name, which is that of the flag.
    pub name: &'static str,
    /// What its value looks like.
    pub kind: Kind,
    /// Whether verdicts are about something else with another value.
    pub means: bool,
}

const fn key(name: &'static str, kind: Kind, means: bool) -> Key {
    Key { name, kind, means }
}

/// The keys that are flags.
pub const FLAGS: [Key; 30] = [
    key("always", Kind::Texts, true),
    key("blocks", Kind::Number, true),
    key("budget", Kind::Number, false),
    key("checks", Kind::Listed, true),
    key("compile-commands", Kind::Text, true),
    key("data-model", Kind::Text, true),
    key("declared-only", Kind::Text, true),
    key("define", Kind::Texts, true),
    key("engine", Kind::Text, false),
    key("entry", Kind::Text, true),
    key("host-headers", Kind::Switch, true),
    key("include", Kind::Texts, true),
    key("include-file", Kind::Texts, true),
    key("init", Kind::Text, true),
    key("input", Kind::Texts, true),
    key("interrupt", Kind::Texts, true),
    key("lang", Kind::Text, true),
    key("loop", Kind::Switch, true),
    key("max-rss", Kind::Text, false),
    key("memory", Kind::Text, false),
    key("overflow", Kind::Text, true),
    key("passes", Kind::Listed, false),
    key("recursion", Kind::Number, true),
    key("registers", Kind::Texts, true),
    key("first-run", Kind::Switch, false),
    key("task", Kind::Texts, true),
    key("threads", Kind::Number, false),
    key("timeout", Kind::Number, false),
    key("undefine", Kind::Texts, true),
    key("unit", Kind::Texts, true),
];

/// The keys of a model that are not flags.
pub const OWN: [&str; 5] = ["path", "name", "property", "bind", "requirements"];

/// The tables of the file.
pub const TABLES: [&str; 5] = ["check", "keys", "model", "requirements", "targets"];

/// The key of this name.
pub fn flag(name: &str) -> Option<&'static Key> {
    FLAGS.iter().find(|key| key.name == name)
}
