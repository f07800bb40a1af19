//! Results as JUnit's XML, which every CI system shows.
//!
//! There is no standard; this is the part that Jenkins, GitLab, GitHub actions and pytest agree on. What is checked is a
//! suite, and a property of it is a case. Counts and times of suites are those of their cases.

use super::markup::{escape, escape_lines};
use std::fmt::Write;

/// A file of results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// What was run.
    pub name: String,
    /// The suites, in the order in which they are written.
    pub suites: Vec<Suite>,
}

/// Results that belong together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Suite {
    /// What was tested.
    pub name: String,
    /// Seconds, if that is not the sum of the cases' times.
    pub time_s: Option<f64>,
    /// Facts about all of it: name and value.
    pub properties: Vec<(String, String)>,
    /// The results, one for each `testcase` element.
    pub cases: Vec<Case>,
    /// What was printed.
    pub output: Option<String>,
}

/// One result: a `testcase` element.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Case {
    /// What was tested.
    pub name: String,
    /// What it is grouped under.
    pub class: String,
    /// Where it is written: file, and line from 1.
    pub place: Option<(String, Option<usize>)>,
    /// Time in seconds; written as 0 if it is not known.
    pub time_s: Option<f64>,
    /// Facts about it: name and value. One name may have several values.
    pub properties: Vec<(String, String)>,
    /// What came out.
    pub status: Status,
    /// What was printed.
    pub output: Option<String>,
}

/// What came out of a case.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Status {
    /// It is as it should be.
    #[default]
    Passed,
    /// It is not.
    Failed(Trouble),
    /// It could not be found out.
    Error(Trouble),
    /// Nobody has tried, and why.
    Skipped(String),
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trouble {
    /// In one word.
    pub kind: String,
    /// In one line.
    pub message: String,
    /// All of it.
    pub text: String,
}

impl Suite {
    fn time(&self) -> f64 {
        let sum =
            || self.cases.iter().filter_map(|case| case.time_s).fold(0.0, |all, time| all + time);
        self.time_s.unwrap_or_else(sum)
    }
}

/// How many cases there are of each kind.
fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for case in cases {
        tests += 1;
        match case.status {
            Status::Passed => {}
            Status::Failed(_) => failures += 1,
            Status::Error(_) => errors += 1,
            Status::Skipped(_) => skipped += 1,
        }
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

impl Report {
    /// The report as a JUnit XML file.
    pub fn to_xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // A string takes whatever it is given.
        self.write(&mut out).unwrap_or_default();
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let cases = self.suites.iter().flat_map(|suite| &suite.cases);
        let time = self.suites.iter().map(Suite::time).fold(0.0, |all, time| all + time);
        let name = escape(&self.name);
        writeln!(out, "<testsuites name=\"{name}\" {} time=\"{time:.3}\">", counts(cases))?;
        for suite in &self.suites {
            let (name, time) = (escape(&suite.name), suite.time());
            let counts = counts(suite.cases.iter());
            writeln!(out, "  <testsuite name=\"{name}\" {counts} time=\"{time:.3}\">")?;
            properties(out, "    ", &suite.properties)?;
            for case in &suite.cases {
                case.write(out)?;
            }
            output(out, "    ", suite.output.as_deref())?;
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

impl Case {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        write!(out, "    <testcase name=\"{}\"", escape(&self.name))?;
        write!(out, " classname=\"{}\"", escape(&self.class))?;
        if let Some((file, line)) = &self.place {
            write!(out, " file=\"{}\"", escape(file))?;
            if let Some(line) = line {
                write!(out, " line=\"{line}\"")?;
            }
        }
        writeln!(out, " time=\"{:.3}\">", self.time_s.unwrap_or(0.0))?;
        properties(out, "      ", &self.properties)?;
        match &self.status {
            Status::Passed => {}
            Status::Failed(trouble) => trouble.write(out, "failure")?,
            Status::Error(trouble) => trouble.write(out, "error")?,
            Status::Skipped(why) => {
                writeln!(out, "      <skipped message=\"{}\"/>", escape(why))?;
            }
        }
        output(out, "      ", self.output.as_deref())?;
        writeln!(out, "    </testcase>")
    }
}

impl Trouble {
    fn write(&self, out: &mut String, tag: &str) -> std::fmt::Result {
        let (kind, message) = (escape(&self.kind), escape(&self.message));
        let text = escape_lines(&self.text);
        writeln!(out, "      <{tag} type=\"{kind}\" message=\"{message}\">{text}</{tag}>")
    }
}

fn properties(out: &mut String, indent: &str, properties: &[(String, String)]) -> std::fmt::Result {
    if properties.is_empty() {
        return Ok(());
    }
    writeln!(out, "{indent}<properties>")?;
    for (name, value) in properties {
        let (name, value) = (escape(name), escape(value));
        writeln!(out, "{indent}  <property name=\"{name}\" value=\"{value}\"/>")?;
    }
    writeln!(out, "{indent}</properties>")
}

fn output(out: &mut String, indent: &str, text: Option<&str>) -> std::fmt::Result {
    match text {
        Some(text) => writeln!(out, "{indent}<system-out>{}</system-out>", escape_lines(text)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(text: &str) -> Trouble {
        Trouble { kind: "unsafe".into(), message: "a\n\"b\" < c".into(), text: text.into() }
    }

    fn case(name: &str, status: Status) -> Case {
        let class = "pump".to_string();
        Case { name: name.into(), class, time_s: Some(0.5), status, ..Case::default() }
    }

    fn report() -> Report {
        let mut broken = case("never_dry", Status::Failed(trouble("step 1\n  ]]> & \u{1b}[0m\n")));
        broken.place = Some(("pump.vch".into(), Some(12)));
        broken.properties =
            vec![("requirement".into(), "REQ-1".into()), ("requirement".into(), "REQ-2".into())];
        let cases = vec![
            case("fine", Status::Passed),
            broken,
            case("open", Status::Error(trouble(""))),
            case("left", Status::Skipped("not <asked>".into())),
        ];
        let suite = Suite {
            name: "pump & valve".into(),
            properties: vec![("engine".into(), "ic3cfa".into())],
            cases,
            output: Some("done".into()),
            ..Suite::default()
        };
        let other = Suite { name: "empty".into(), time_s: Some(1.25), ..Suite::default() };
        Report { name: "vouch".into(), suites: vec![suite, other] }
    }

    #[test]
    fn a_report() {
        insta::assert_snapshot!(report().to_xml());
    }

    /// Whatever the texts are, a parser reads them back.
    #[test]
    fn a_parser_reads_it_back() {
        let xml = report().to_xml();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let root = document.root_element();
        let counted = ["tests", "failures", "errors", "skipped"].map(|n| root.attribute(n));
        assert_eq!(counted, [Some("4"), Some("1"), Some("1"), Some("1")]);
        assert_eq!(root.attribute("time"), Some("3.250"));
        let failure = root.descendants().find(|n| n.has_tag_name("failure")).unwrap();
        assert_eq!(failure.attribute("message"), Some("a \"b\" < c"));
        assert_eq!(failure.text(), Some("step 1\n  ]]> &  [0m"));
    }
}
