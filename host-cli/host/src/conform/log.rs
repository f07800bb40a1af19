//! Logs: JSON lines, CSV with a header, or lines from elsewhere.

use crate::formats::names::{Table, closest};
use crate::frontend::machines::Machines;
use crate::ir::formats::Names;
use crate::ir::{InputId, Type, VarId, Word, value};
use std::collections::BTreeMap;

/// What a column of a log is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Column {
    /// A variable or parameter, and its name in the log.
    Var(VarId, String),
    /// An input of the step that led here.
    Input(InputId, String),
    /// The state of a machine.
    State(usize, String),
}

impl Column {
    /// Its name in the log.
    pub fn name(&self) -> &str {
        match self {
            Column::Var(_, name) | Column::Input(_, name) | Column::State(_, name) => name,
        }
    }

    /// Its type and width.
    fn ty(&self, moves: &Machines) -> (Type, u32) {
        match self {
            Column::Var(id, _) => {
                let var = &moves.cfa.vars[id.index()];
                (var.ty.clone(), var.width)
            }
            Column::Input(id, _) => {
                let input = &moves.cfa.inputs[id.index()];
                (input.ty.clone(), input.width)
            }
            Column::State(machine, _) => {
                let states = moves.machines[*machine].states.iter();
                (Type::names(states.map(|s| s.0.clone())), 32)
            }
        }
    }

    /// A value of it for people.
    pub fn show(&self, moves: &Machines, word: Word) -> String {
        let (ty, width) = self.ty(moves);
        value::show(&ty, width, word)
    }
}

/// A line: a value for each column, as far as it says something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Its number in the file, from 1.
    pub line: usize,
    /// One for each column of the log; `None` where the line leaves it open.
    pub values: Vec<Option<Word>>,
}

/// A log of a running system: the columns that it has, and a row for each of its lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    /// What it tells.
    pub columns: Vec<Column>,
    /// Line by line.
    pub rows: Vec<Row>,
}

/// What is wrong with a log, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}{}: {message}", column.as_ref().map_or(String::new(), |c| format!(", column {c}")))]
pub struct LogError {
    /// The line, from 1.
    pub line: usize,
    /// The column's name or number.
    pub column: Option<String>,
    /// What is wrong, and a way out.
    pub message: String,
}

fn error(line: usize, column: Option<&str>, message: impl Into<String>) -> LogError {
    LogError { line, column: column.map(|c| format!("`{c}`")), message: message.into() }
}

struct Reader<'m> {
    moves: &'m Machines,
    names: Names,
    ignored: &'m [String],
    /// By name; `None` for what is ignored.
    known: BTreeMap<String, Option<usize>>,
    log: Log,
}

/// A line of a log that was read elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// Names and values; an empty one is not known.
    pub fields: Vec<(String, String)>,
}

/// Reads a log of a model. Columns of the names `ignored` say nothing of it.
pub fn read(moves: &Machines, text: &str, ignored: &[String]) -> Result<Log, LogError> {
    let mut reader = Reader::new(moves, ignored);
    let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim_start();
    if first.starts_with(['{', '[']) {
        reader.json(text)?;
    } else {
        reader.csv(text)?;
    }
    reader.finish("each line is a JSON object, or CSV with the names in the first line")
}

/// Puts together a log of lines with fields.
pub fn of_lines(moves: &Machines, lines: &[Line], ignored: &[String]) -> Result<Log, LogError> {
    let mut reader = Reader::new(moves, ignored);
    for Line { number, fields } in lines {
        reader.row(*number, fields.iter().map(|(name, value)| (name.as_str(), value.clone())))?;
    }
    reader.finish("a line is a message of nothing but fields, as `level=3 open=true`")
}

fn find(table: &Table, name: &str) -> Option<u32> {
    let nth = name.rsplit_once('#').and_then(|(base, nth)| Some((base, nth.parse().ok()?)));
    let found = table.find(name, None).ok();
    found.or_else(|| nth.and_then(|(base, nth)| table.find(base, Some(nth)).ok()))
}

impl<'m> Reader<'m> {
    fn new(moves: &'m Machines, ignored: &'m [String]) -> Reader<'m> {
        let names = Names::new(&moves.cfa);
        Reader { moves, names, ignored, known: BTreeMap::new(), log: Log::default() }
    }

    /// The log, if it has lines; otherwise what would have been one.
    fn finish(self, lines: &str) -> Result<Log, LogError> {
        let mut log = self.log;
        if log.rows.is_empty() {
            return Err(error(1, None, format!("the log has no lines\nhelp: {lines}")));
        }
        // Columns that came up later are open in the lines before.
        let columns = log.columns.len();
        log.rows.iter_mut().for_each(|row| row.values.resize(columns, None));
        Ok(log)
    }

    /// Adds a line of fields.
    fn row<'f>(
        &mut self,
        line: usize,
        fields: impl Iterator<Item = (&'f str, String)>,
    ) -> Result<(), LogError> {
        let mut row = Row { line, values: vec![] };
        for (name, text) in fields {
            let Some(column) = self.column(line, name)? else { continue };
            if !text.is_empty() {
                let word = self.value(line, column, &text)?;
                self.set(&mut row, column, word);
            }
        }
        self.log.rows.push(row);
        Ok(())
    }

    /// The column of a name.
    fn column(&mut self, line: usize, name: &str) -> Result<Option<usize>, LogError> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        let column = match self.find(name) {
            _ if self.ignored.iter().any(|i| i == name) => None,
            Some(column) => {
                self.log.columns.push(column);
                Some(self.log.columns.len() - 1)
            }
            None => return Err(self.unknown(line, name)),
        };
        self.known.insert(name.to_string(), column);
        Ok(column)
    }

    fn find(&self, name: &str) -> Option<Column> {
        let own = || name.to_string();
        let machines = &self.moves.machines;
        // A parameter of a C function is both: what it is called with counts.
        let input = find(&self.names.inputs, name).map(|id| Column::Input(InputId(id), own()));
        let var = || find(&self.names.vars, name).map(|id| Column::Var(VarId(id), own()));
        let machine = || {
            let by_name = machines.iter().position(|m| m.name == name);
            by_name.or_else(|| (machines.len() == 1 && name == "state").then_some(0))
        };
        input.or_else(var).or_else(|| machine().map(|m| Column::State(m, own())))
    }

    fn unknown(&self, line: usize, name: &str) -> LogError {
        let machines = self.moves.machines.iter().map(|m| m.name.as_str());
        let known = self.names.vars.names().chain(self.names.inputs.names()).chain(machines);
        let near = closest(name, known);
        let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        let message = format!(
            "the model has no variable, input or machine of this name{near}\n\
             help: leave the column out of the comparison with `--ignore {name}`"
        );
        error(line, Some(name), message)
    }

    fn value(&self, line: usize, column: usize, text: &str) -> Result<Word, LogError> {
        let column = &self.log.columns[column];
        let (ty, width) = column.ty(self.moves);
        // A boolean is often logged as a number.
        let read = match (&ty, text) {
            (Type::Bool, "0") => Some(0),
            (Type::Bool, "1") => Some(1),
            _ => value::read(&ty, width, text),
        };
        let is_state = matches!(column, Column::State(..));
        let read = read.filter(|word| !is_state || ty.name(*word).is_some());
        read.ok_or_else(|| {
            let near = match &ty {
                Type::Enum(names) => closest(text, names.iter().map(|n| n.1.as_str())),
                _ => None,
            };
            let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            let expected = value::describe(&ty, width);
            error(line, Some(column.name()), format!("`{text}` is not {expected}{near}"))
        })
    }

    fn set(&self, row: &mut Row, column: usize, word: Word) {
        row.values.resize(self.log.columns.len(), None);
        row.values[column] = Some(word);
    }

    fn json(&mut self, text: &str) -> Result<(), LogError> {
        for (line, text) in (1..).zip(text.lines()) {
            crate::deadline::tick();
            if text.trim().is_empty() {
                continue;
            }
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)
                .map_err(|e| LogError {
                    line,
                    column: Some(e.column().to_string()),
                    message: "this is not a JSON object\nhelp: write one object in each line, as in {\"level\": 3}".into(),
                })?;
            let mut fields = vec![];
            for (name, value) in &object {
                let text = match value {
                    serde_json::Value::Null => String::new(),
                    serde_json::Value::Bool(b) => b.to_string(),
                    serde_json::Value::Number(n) => n.to_string(),
                    serde_json::Value::String(s) => s.clone(),
                    _ if self.ignored.contains(name) => continue,
                    _ => {
                        let message = "a list or an object is not a value\nhelp: log each element under its own name, as in \"buf[0]\"";
                        return Err(error(line, Some(name), message));
                    }
                };
                fields.push((name.as_str(), text));
            }
            self.row(line, fields.into_iter())?;
        }
        Ok(())
    }

    fn csv(&mut self, text: &str) -> Result<(), LogError> {
        let mut header: Option<Vec<(String, Option<usize>)>> = None;
        for (line, text) in (1..).zip(text.lines()) {
            crate::deadline::tick();
            if text.trim().is_empty() {
                continue;
            }
            let fields = fields(line, text)?;
            let Some(columns) = &header else {
                let mut columns = vec![];
                for name in fields {
                    let column = self.column(line, &name)?;
                    if columns.iter().any(|(other, _)| *other == name) {
                        return Err(error(line, Some(&name), "there are two columns of this name"));
                    }
                    columns.push((name, column));
                }
                header = Some(columns);
                continue;
            };
            if fields.len() != columns.len() {
                let message = format!(
                    "{} values for {} columns\nhelp: what is not known stays empty between its commas",
                    fields.len(),
                    columns.len()
                );
                return Err(error(line, None, message));
            }
            let mut row = Row { line, values: vec![] };
            for ((_, column), text) in columns.iter().zip(&fields) {
                let Some(column) = column else { continue };
                if text.is_empty() {
                    continue;
                }
                let word = self.value(line, *column, text)?;
                self.set(&mut row, *column, word);
            }
            self.log.rows.push(row);
        }
        Ok(())
    }
}

/// The fields of a line of CSV.
fn fields(line: usize, text: &str) -> Result<Vec<String>, LogError> {
    let mut fields = vec![];
    let mut rest = text.trim_end_matches('\r');
    loop {
        let start = rest.trim_start();
        if let Some(quoted) = start.strip_prefix('"') {
            let mut field = String::new();
            let mut chars = quoted.char_indices().peekable();
            let end = loop {
                match chars.next() {
                    Some((_, '"')) if chars.peek().is_some_and(|c| c.1 == '"') => {
                        chars.next();
                        field.push('"');
                    }
                    Some((at, '"')) => break at + 1,
                    Some((_, c)) => field.push(c),
                    None => return Err(error(line, None, "a quote is not closed")),
                }
            };
            fields.push(field);
            rest = quoted[end..].trim_start();
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None if rest.is_empty() => return Ok(fields),
                None => return Err(error(line, None, "a comma is expected after a quote")),
            }
        } else {
            let (field, more) = match rest.split_once(',') {
                Some((field, more)) => (field, Some(more)),
                None => (rest, None),
            };
            fields.push(field.trim().to_string());
            match more {
                Some(more) => rest = more,
                None => return Ok(fields),
            }
        }
    }
}
