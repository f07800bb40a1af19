//! `vouch.toml`: what is to be checked, and how (`docs/project.md`).

use super::keys::{self, FLAGS, Key, Kind, OWN, TABLES};
use super::store::hash_all;
use super::{folder, paths};
use crate::formats::names::closest;
use crate::frontend::{Diagnostic, Source};
use crate::ir::Span;
use crate::ir::requirements::{self, Requirements};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A project: the models, requirements and names that a `vouch.toml` lists.
#[derive(Clone, PartialEq, Debug)]
pub struct Project {
    /// The folder of its file; all paths are seen from there.
    pub root: PathBuf,
    /// The `vouch.toml` itself, which diagnostics point into.
    pub source: Source,
    /// What is to be checked.
    pub checks: Vec<Check>,
    /// The requirements that are to be covered: id and text.
    pub requirements: Vec<(String, String)>,
    /// Names of targets, for `--target`.
    pub targets: Vec<(String, String)>,
    /// Names of files with keys, for `--sign` and its kin.
    pub keys: Vec<(String, String)>,
}

impl Project {
    /// The checks of a model, whatever its path is called here and there.
    pub fn checks_of(&self, model: &Path) -> impl Iterator<Item = &Check> {
        let place = std::fs::canonicalize(model).ok();
        let at = |check: &Check| std::fs::canonicalize(self.root.join(&check.path)).ok();
        self.checks.iter().filter(move |check| place.is_some() && at(check) == place)
    }
}

/// One thing to be checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// What it is called among the others.
    pub name: String,
    /// The model's file, as seen from the project.
    pub path: String,
    /// How it is checked.
    pub settings: Vec<Setting>,
    /// The only property, if it is not about all.
    pub property: Option<String>,
    /// Parameters that have a certain value.
    pub bind: Vec<(String, String)>,
    /// What properties cover, besides what the model itself says.
    pub requirements: Requirements,
    /// Where it is in the file.
    pub span: Span,
}

/// How something is checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// What is set.
    pub key: &'static Key,
    /// To what. A switch that is on has none, one that is off is not there.
    pub values: Vec<String>,
    /// Where it is in the file.
    pub span: Span,
}

impl Setting {
    /// The flags that say the same.
    pub fn flags(&self) -> Vec<String> {
        let flag = format!("--{}", self.key.name);
        match self.key.kind {
            Kind::Switch => vec![flag],
            Kind::Listed => vec![format!("{flag}={}", self.values.join(","))],
            _ => self.values.iter().map(|value| format!("{flag}={value}")).collect(),
        }
    }
}

impl Check {
    /// The flags of `vouch check` that say the same.
    pub fn flags(&self) -> Vec<String> {
        let bind = self.bind.iter().map(|(name, value)| format!("--bind={name}={value}"));
        let property = self.property.iter().map(|name| format!("--property={name}"));
        self.settings.iter().flat_map(Setting::flags).chain(property).chain(bind).collect()
    }

    /// What tells it from others, whatever its model's content is.
    pub fn id(&self) -> String {
        hash_all(&[self.path.as_bytes(), self.flags().join("\n").as_bytes()])
    }
}

/// Reads a project's file.
pub fn read(path: &Path) -> std::io::Result<Result<Project, (Source, Vec<Diagnostic>)>> {
    let text = crate::read::text(path)?;
    let source = Source { path: path.display().to_string(), text };
    Ok(parse(source.clone(), folder(path)).map_err(|errors| (source, errors)))
}

/// A project of one model: what its folder's project says of it, or nothing but its name.
pub fn of_model(model: &Path, project: Option<Project>) -> Project {
    if let Some(mut project) = project {
        project.checks = project.checks_of(model).cloned().collect();
        // Others may cover them.
        project.requirements.clear();
        if !project.checks.is_empty() {
            return project;
        }
    }
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map_or_else(String::new, |part| part.to_string_lossy().into_owned())
    };
    let check = Check {
        name: text(model.file_stem()),
        path: text(model.file_name()),
        settings: vec![],
        property: None,
        bind: vec![],
        requirements: Requirements::default(),
        span: Span::default(),
    };
    Project {
        root: folder(model).to_path_buf(),
        source: Source { path: model.display().to_string(), text: String::new() },
        checks: vec![check],
        requirements: vec![],
        targets: vec![],
        keys: vec![],
    }
}

/// Reads a project's file that is seen from `root`; or all that is wrong with it.
pub fn parse(source: Source, root: &Path) -> Result<Project, Vec<Diagnostic>> {
    let text = source.text.clone();
    let table = DeTable::parse(&text).map_err(|e| {
        let span = e.span().map(span).unwrap_or_default();
        vec![Diagnostic::error(e.message().trim().to_string(), span, "not understood")]
    })?;
    let mut reader = Reader { root, errors: vec![], unnamed: vec![] };
    let project = reader.project(table.get_ref(), source);
    match reader.errors.is_empty() {
        true => Ok(project),
        false => {
            reader.errors.sort_by_key(|error| error.span.start);
            Err(reader.errors)
        }
    }
}

fn span(range: Range<usize>) -> Span {
    Span { start: range.start as u32, end: range.end as u32 }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

type Value<'a> = Spanned<DeValue<'a>>;

struct Reader<'r> {
    root: &'r Path,
    errors: Vec<Diagnostic>,
    /// Checks that are called as their file is, and how long that part of their name is.
    unnamed: Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn project(&mut self, table: &DeTable<'_>, source: Source) -> Project {
        let mut defaults = vec![];
        let (mut requirements, mut targets, mut keys) = (vec![], vec![], vec![]);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("check", DeValue::Table(table)) => {
                    for (key, value) in table {
                        match keys::flag(key.get_ref()) {
                            Some(flag) => self.setting(flag, value, &mut defaults),
                            None => {
                                let known = FLAGS.iter().map(|key| key.name);
                                self.unknown(key, known, "`[check]`");
                            }
                        }
                    }
                }
                ("requirements", DeValue::Table(table)) => {
                    table.keys().for_each(|id| self.id(id.get_ref(), id.span()));
                    self.pairs(table, &mut requirements);
                }
                ("targets", DeValue::Table(table)) => self.pairs(table, &mut targets),
                ("keys", DeValue::Table(table)) => self.pairs(table, &mut keys),
                ("check" | "keys" | "requirements" | "targets", other) => {
                    let what = format!("a table, `[{}]`", key.get_ref());
                    self.expected(&what, other, value.span());
                }
                // After all that holds for every model.
                ("model", _) => {}
                _ => self.unknown(key, TABLES.into_iter(), "the file"),
            }
        }
        let mut checks = vec![];
        match table.get("model").map(|value| (value.get_ref(), value.span())) {
            Some((DeValue::Array(models), _)) => {
                for model in models {
                    match model.get_ref() {
                        DeValue::Table(table) => {
                            self.model(table, model.span(), &defaults, &mut checks);
                        }
                        other => self.expected("a table, `[[model]]`", other, model.span()),
                    }
                }
            }
            Some((other, at)) => self.expected("`[[model]]`, in double brackets", other, at),
            None => {
                let message = "there is no model to check";
                let error = Diagnostic::error(message, Span::default(), "no `[[model]]`");
                self.errors.push(error.help("add `[[model]]` with `path = \"…\"`"));
            }
        }
        self.names(&mut checks);
        Project { root: self.root.to_path_buf(), source, checks, requirements, targets, keys }
    }

    /// Names and texts.
    fn pairs(&mut self, table: &DeTable<'_>, pairs: &mut Vec<(String, String)>) {
        for (name, text) in table {
            if let Some(text) = self.text(text) {
                pairs.push((name.get_ref().to_string(), text));
            }
        }
    }

    /// One table can mean several checks: a pattern, several properties, several sets of parameters.
    fn model(
        &mut self,
        table: &DeTable<'_>,
        at: Range<usize>,
        defaults: &[Setting],
        checks: &mut Vec<Check>,
    ) {
        let mut settings = vec![];
        let mut covered = Requirements::default();
        let (mut found, mut name, mut properties, mut binds) = (None, None, vec![], vec![]);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "path" => found = Some(self.paths(value)),
                "name" => name = self.text(value),
                "property" => properties = self.texts(value),
                "bind" => binds = self.binds(value),
                "requirements" => self.covered(value, &mut covered),
                other => match keys::flag(other) {
                    Some(flag) => self.setting(flag, value, &mut settings),
                    None => {
                        let known = OWN.into_iter().chain(FLAGS.iter().map(|key| key.name));
                        self.unknown(key, known, "a model");
                    }
                },
            }
        }
        let is_set = |key: &Key| {
            settings.iter().any(|s: &Setting| s.key == key) || table.contains_key(key.name)
        };
        let inherited: Vec<Setting> =
            defaults.iter().filter(|default| !is_set(default.key)).cloned().collect();
        settings.splice(0..0, inherited);
        let database = settings.iter().find(|s| s.key.name == "compile-commands");
        let found = found.unwrap_or_else(|| match database {
            Some(setting) => setting.values.clone(),
            None => {
                let error =
                    Diagnostic::error("a model needs a path", span(at.clone()), "no `path`");
                self.errors.push(error.help("say which file it is: `path = \"models/pump.vch\"`"));
                vec![]
            }
        });
        let several = found.len() > 1;
        let properties: Vec<Option<String>> = match properties.is_empty() {
            true => vec![None],
            false => properties.into_iter().map(Some).collect(),
        };
        let binds = if binds.is_empty() { vec![vec![]] } else { binds };
        for path in &found {
            let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
            let first = match &name {
                Some(name) if several => format!("{name}-{stem}"),
                Some(name) => name.clone(),
                None => {
                    let each = properties.len() * binds.len();
                    self.unnamed
                        .extend((checks.len()..checks.len() + each).map(|at| (at, stem.len())));
                    stem.into_owned()
                }
            };
            for property in &properties {
                for bind in &binds {
                    let mut name = first.clone();
                    if let Some(property) = property.as_ref().filter(|_| properties.len() > 1) {
                        name += &format!(".{property}");
                    }
                    if binds.len() > 1 {
                        let values = bind.iter().map(|(name, value)| format!("{name}={value}"));
                        name += &format!(" ({})", values.collect::<Vec<String>>().join(", "));
                    }
                    checks.push(Check {
                        name,
                        path: path.clone(),
                        settings: settings.clone(),
                        property: property.clone(),
                        bind: bind.clone(),
                        requirements: covered.clone(),
                        span: span(at.clone()),
                    });
                }
            }
        }
    }

    /// Reports need a name for each. Where files in two folders or languages have one, their paths tell them
    /// apart.
    fn names(&mut self, checks: &mut [Check]) {
        let shared = |at: usize| {
            let (name, path) = (&checks[at].name, &checks[at].path);
            checks.iter().any(|other| other.name == *name && other.path != *path)
        };
        let shared: Vec<_> = self.unnamed.iter().copied().filter(|(at, _)| shared(*at)).collect();
        for (at, stem) in shared {
            let check = &mut checks[at];
            check.name = format!("{}{}", check.path, &check.name[stem..]);
        }
        for (at, check) in checks.iter().enumerate() {
            if let Some(first) = checks[..at].iter().find(|first| first.name == check.name) {
                let message = format!("two models are called `{}`", check.name);
                let error = Diagnostic::error(message, check.span, "the second of them");
                let error = error.related(first.span, "the first");
                self.errors.push(error.help("give one of them another `name = \"…\"`"));
            }
        }
    }

    fn setting(&mut self, key: &'static Key, value: &Value<'_>, settings: &mut Vec<Setting>) {
        let values = match (key.kind, value.get_ref()) {
            (Kind::Switch, DeValue::Boolean(true)) => Some(vec![]),
            (Kind::Switch, DeValue::Boolean(false)) => None,
            (Kind::Switch, other) => {
                self.expected("`true` or `false`", other, value.span());
                None
            }
            (Kind::Number, DeValue::Integer(_) | DeValue::Float(_)) => {
                self.scalar(value).map(|v| vec![v])
            }
            (Kind::Number, other) => {
                self.expected("a number", other, value.span());
                None
            }
            (Kind::Text, _) => self.text(value).map(|text| vec![text]),
            (Kind::Texts | Kind::Listed, _) => Some(self.texts(value)),
        };
        if let Some(values) = values {
            settings.push(Setting { key, values, span: span(value.span()) });
        }
    }

    fn paths(&mut self, value: &Value<'_>) -> Vec<String> {
        let mut all = vec![];
        for pattern in self.texts(value) {
            if !paths::is_pattern(&pattern) {
                all.push(pattern);
                continue;
            }
            let found = paths::matching(self.root, &pattern);
            if found.is_empty() {
                let message = format!("no file is like `{pattern}`");
                let error = Diagnostic::error(message, span(value.span()), "nothing found");
                self.errors.push(error.help("paths are seen from the folder of this file"));
            }
            all.extend(found);
        }
        all.dedup();
        all
    }

    /// One set of parameters, or several.
    fn binds(&mut self, value: &Value<'_>) -> Vec<Vec<(String, String)>> {
        let sets = match value.get_ref() {
            DeValue::Table(table) => vec![table],
            DeValue::Array(all) => {
                let mut sets = vec![];
                for set in all {
                    match set.get_ref() {
                        DeValue::Table(table) => sets.push(table),
                        other => {
                            self.expected("a table, as in `{ limit = 12 }`", other, set.span())
                        }
                    }
                }
                sets
            }
            other => {
                self.expected("a table, as in `{ limit = 12 }`", other, value.span());
                vec![]
            }
        };
        let mut all = vec![];
        for set in sets {
            let pairs = set.iter().filter_map(|(name, value)| {
                Some((name.get_ref().to_string(), self.scalar(value)?))
            });
            all.push(pairs.collect());
        }
        all
    }

    fn covered(&mut self, value: &Value<'_>, covered: &mut Requirements) {
        let DeValue::Table(table) = value.get_ref() else {
            let what = "a table, as in `{ no_inrush = \"REQ-12\" }`";
            return self.expected(what, value.get_ref(), value.span());
        };
        for (property, ids) in table {
            let all = self.texts(ids);
            for id in &all {
                self.id(id, ids.span());
            }
            covered.add(property.get_ref(), all);
        }
    }

    fn id(&mut self, id: &str, at: Range<usize>) {
        if !requirements::is_id(id) {
            let message = format!("`{id}` is not the id of a requirement");
            let error = Diagnostic::error(message, span(at), "this one");
            self.errors
                .push(error.help("ids are made of letters, digits and `_-.#+`, as in `REQ-12`"));
        }
    }

    fn text(&mut self, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            other => {
                self.expected("a text", other, value.span());
                None
            }
        }
    }

    /// A text, or a list of texts.
    fn texts(&mut self, value: &Value<'_>) -> Vec<String> {
        match value.get_ref() {
            DeValue::Array(all) => all.iter().filter_map(|one| self.text(one)).collect(),
            DeValue::String(text) => vec![text.to_string()],
            other => {
                self.expected("a text, or a list of texts", other, value.span());
                vec![]
            }
        }
    }

    /// A value as a flag takes it.
    fn scalar(&mut self, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Float(number) => Some(number.to_string()),
            DeValue::Boolean(value) => Some(value.to_string()),
            other => {
                self.expected("a value", other, value.span());
                None
            }
        }
    }

    fn expected(&mut self, what: &str, found: &DeValue<'_>, at: Range<usize>) {
        let found = kind_of(found);
        let error = Diagnostic::error(format!("expected {what}, found {found}"), span(at), found);
        self.errors.push(error.help(format!("write {what}")));
    }

    /// A key that nobody knows, and the one that may be meant.
    fn unknown(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        known: impl Iterator<Item = &'static str> + Clone,
        place: &str,
    ) {
        let name = key.get_ref().as_ref();
        let message = format!("{place} has no key `{name}`");
        let error = Diagnostic::error(message, span(key.span()), "unknown key");
        // Those who know the flags may write `_`, or more than one.
        let plain = name.replace('_', "-");
        let near = closest(&plain, known.clone());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let mut all: Vec<&str> = known.collect();
                all.sort_unstable();
                format!("known are {}", all.join(", "))
            }
        };
        self.errors.push(error.help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::render;

    fn source(text: &str) -> Source {
        Source { path: "vouch.toml".into(), text: text.into() }
    }

    fn project(text: &str) -> Project {
        let root = tempfile::tempdir().unwrap();
        for name in ["b.vch", "a.vch"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        parse(source(text), root.path()).unwrap_or_else(|e| panic!("{}", render(&source(text), &e)))
    }

    fn errors(text: &str) -> String {
        let errors = parse(source(text), Path::new("/nowhere")).unwrap_err();
        render(&source(text), &errors)
    }

    #[test]
    fn settings_become_flags_and_a_model_overrides_what_holds_for_all() {
        let project = project(
            "[check]\ntimeout = 60\noverflow = \"error\"\nloop = true\nchecks = [\"bounds\", \"div\"]\n\
             [requirements]\nREQ-1 = \"never dry\"\n[targets]\nbench = \"tcp:rig:4000\"\n[keys]\nrelease = \"keys/r\"\n\
             [[model]]\npath = \"pump.c\"\nentry = \"step\"\noverflow = \"wrap\"\nloop = false\n\
             define = [\"A=1\", \"B\"]\nbind = { limit = 0x10, on = true }\n\
             requirements = { never_dry = [\"REQ-1\", \"REQ-2\"] }\n",
        );
        assert_eq!(project.requirements, [("REQ-1".to_string(), "never dry".to_string())]);
        assert_eq!(project.targets, [("bench".to_string(), "tcp:rig:4000".to_string())]);
        assert_eq!(project.keys, [("release".to_string(), "keys/r".to_string())]);
        let check = &project.checks[0];
        assert_eq!(check.name, "pump");
        let mut flags = check.flags();
        flags.sort();
        assert_eq!(
            flags,
            [
                "--bind=limit=0x10",
                "--bind=on=true",
                "--checks=bounds,div",
                "--define=A=1",
                "--define=B",
                "--entry=step",
                "--overflow=wrap",
                "--timeout=60",
            ]
        );
        assert_eq!(check.requirements.of("never_dry"), ["REQ-1", "REQ-2"]);
    }

    #[test]
    fn one_table_can_be_several_checks() {
        let names = |text: &str| -> Vec<String> {
            project(text).checks.into_iter().map(|check| check.name).collect()
        };
        assert_eq!(names("[[model]]\npath = \"*.vch\""), ["a", "b"]);
        assert_eq!(names("[[model]]\nname = \"x\"\npath = [\"a.vch\", \"c.vch\"]"), ["x-a", "x-c"]);
        assert_eq!(names("[[model]]\npath = \"a.vch\"\nproperty = [\"p\", \"q\"]"), ["a.p", "a.q"]);
        assert_eq!(
            names("[[model]]\npath = \"a.vch\"\nbind = [{ n = 1 }, { n = 2, m = 3 }]").len(),
            2
        );
        let same = "[[model]]\npath = \"a.vch\"\nproperty = [\"p\", \"q\"]\n[[model]]\npath = [\"src/a.c\", \"b.vch\"]";
        assert_eq!(names(same), ["a.p", "a.q", "a", "b"]);
        let same = "[[model]]\npath = \"a.vch\"\n[[model]]\npath = [\"src/a.c\", \"b.vch\"]";
        assert_eq!(names(same), ["a.vch", "src/a.c", "b"]);
        let database = project("[[model]]\ncompile-commands = \"build/compile_commands.json\"");
        assert_eq!(database.checks[0].path, "build/compile_commands.json");
    }

    #[test]
    fn a_misspelt_key_is_pointed_at() {
        insta::assert_snapshot!(errors(
            "[check]\ntimeuot = 3\n\n[[model]]\npath = \"a.vch\"\nover_flow = \"wrap\"\n"
        ));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        insta::assert_snapshot!(errors(
            "[chekc]\n[[model]]\nname = 3\nloop = \"yes\"\nbind = 3\n[[model]]\npath = \"*.none\"\n\
             requirements = { p = \"a b\" }\n[[model]]\npath = \"a.vch\"\n[[model]]\npath = \"a.vch\"\n"
        ));
    }

    #[test]
    fn what_is_not_toml_is_pointed_at() {
        let text = errors("[[model]]\npath = pump.vch\n");
        assert!(text.contains("vouch.toml:2:"), "{text}");
        assert!(errors("").contains("there is no model"));
        assert!(errors("model = 3").contains("[[model]]"));
    }
}
