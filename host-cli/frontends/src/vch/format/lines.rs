//! Lines with their comments, and how they become text.

/// Where comments after code begin, if the code leaves them room.
const COMMENT_COLUMN: usize = 40;
/// Longer lines push only their own comment to the right.
const LONG: usize = 60;
/// Blanks of a level.
const INDENT: usize = 4;

#[derive(Default)]
struct Line {
    levels: usize,
    text: String,
    /// A comment after the code, which ends the line.
    comment: Option<String>,
}

impl Line {
    fn width(&self) -> usize {
        INDENT * self.levels + self.text.chars().count()
    }
}

/// The lines so far.
pub struct Lines {
    lines: Vec<Line>,
}

impl Lines {
    /// Starts without any line; `begin` or `add` makes the first.
    pub fn new() -> Lines {
        Lines { lines: vec![] }
    }

    /// Begins a line, after a blank one if asked.
    pub fn begin(&mut self, levels: usize, blank: bool) {
        if blank && !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.push(Line { levels, ..Line::default() });
    }

    /// Continues the last line.
    pub fn add(&mut self, blank: bool, text: &str) {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        if let Some(line) = self.lines.last_mut() {
            if blank && !line.text.is_empty() {
                line.text.push(' ');
            }
            line.text.push_str(text);
        }
    }

    /// Ends the last line with a comment.
    pub fn comment(&mut self, text: &str) {
        match self.lines.last_mut() {
            Some(line) if !line.text.is_empty() => line.comment = Some(text.to_owned()),
            _ => self.add(false, text),
        }
    }

    /// Columns of the last line.
    pub fn width(&self) -> usize {
        self.lines.last().map_or(0, Line::width)
    }

    /// The formatted text: lines indented, trailing comments aligned, each line ended by `\n`.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (line, column) in self.lines.iter().zip(self.columns()) {
            if !line.text.is_empty() {
                out.extend(std::iter::repeat_n(' ', INDENT * line.levels));
                out.push_str(&line.text);
            }
            if let Some(comment) = &line.comment {
                let blanks = column.saturating_sub(line.width()).max(1);
                out.extend(std::iter::repeat_n(' ', blanks));
                out.push_str(comment);
            }
            out.push('\n');
        }
        out
    }

    /// Where the comment of each line begins: lines that follow each other agree on it.
    fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::with_capacity(self.lines.len());
        for run in self.lines.chunk_by(|a, b| a.comment.is_some() && b.comment.is_some()) {
            let widths = || run.iter().map(Line::width);
            let longest = widths().filter(|w| *w <= LONG).max().unwrap_or(0);
            let column = COMMENT_COLUMN.max(longest + 1);
            columns.extend(widths().map(|w| if w > LONG { 0 } else { column }));
        }
        columns
    }
}
