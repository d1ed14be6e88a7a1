//! What a build says about itself: warnings, what was left out, counts.
//!
//! In: facts that the walk, the splitter and the writer hand over. Out: the one JSON object of `build --json`,
//! and the lines for people on stderr. Nothing here decides anything about the index.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

pub use crate::warning_kind::{KindTexts, WarningKind};

/// Warnings printed one by one for people; the rest are counted. All of them stand in `--json`.
const PRINTED_WARNINGS: usize = 50;

/// Something about a file that its author should know; the build went on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// Path in the docs tree; invalid bytes as U+FFFD.
    pub path: String,
    /// Line in the original file, from 1, where the warning belongs to one.
    pub line: Option<u32>,
    /// What it is about.
    pub kind: WarningKind,
    /// What was found and what was done about it.
    pub message: String,
    /// What the author can do.
    pub advice: String,
}

/// A document, or a whole folder, that is not in the index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Skipped {
    /// Path in the docs tree; invalid bytes as U+FFFD.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The JSON object of `build --json`, in the order of its keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BuildReport {
    /// Documents in the index.
    pub documents: u64,
    /// Sections in the index (not parts).
    pub sections: u64,
    /// Bytes of the source files of those documents.
    pub bytes_in: u64,
    /// Bytes of the index file; 0 where none was written.
    pub bytes_out: u64,
    /// Wall-clock seconds from the start of the walk to the finished file.
    pub seconds: f64,
    /// Left out, by path.
    pub skipped: Vec<Skipped>,
    /// Warnings, by path and line.
    pub warnings: Vec<Warning>,
}

impl Warning {
    /// A warning with the advice of its kind.
    pub fn new(kind: WarningKind, path: String, line: Option<u32>, message: String) -> Self {
        Self {
            path,
            line,
            kind,
            message,
            advice: kind.texts().advice.to_owned(),
        }
    }

    /// The same with advice for this one place.
    #[must_use]
    pub fn with_advice(self, advice: &str) -> Self {
        Self {
            advice: advice.to_owned(),
            ..self
        }
    }

    /// What was found and what can be done: `message (advice)`, without control characters.
    pub fn message_and_advice(&self) -> String {
        let mut text = on_one_line(&self.message).into_owned();
        if !self.advice.is_empty() {
            let _ = write!(text, " ({})", on_one_line(&self.advice));
        }
        text
    }

    /// The line for people: `path:line: message (advice)`.
    pub fn line_for_people(&self) -> String {
        let mut line = on_one_line(&self.path).into_owned();
        if let Some(number) = self.line {
            let _ = write!(line, ":{number}");
        }
        let _ = write!(line, ": {}", self.message_and_advice());
        line
    }
}

impl BuildReport {
    /// The lines for people about warnings: each on its own, and a count of those beyond the first fifty.
    pub fn warning_lines(&self) -> Vec<String> {
        let shown = self.warnings.iter().take(PRINTED_WARNINGS);
        let mut lines: Vec<String> = shown
            .map(|warning| format!("warning: {}", warning.line_for_people()))
            .collect();
        let rest = self.warnings.len().saturating_sub(PRINTED_WARNINGS);
        if rest > 0 {
            lines.push(format!(
                "… and {} (--json has them all)",
                counted(rest, "more warning")
            ));
        }
        lines
    }

    /// The lines of `--verbose`: what was left out and why.
    pub fn skipped_lines(&self) -> Vec<String> {
        let line = |skipped: &Skipped| {
            format!(
                "left out: {}: {}",
                on_one_line(&skipped.path),
                on_one_line(&skipped.reason)
            )
        };
        self.skipped.iter().map(line).collect()
    }

    /// The summary: what went in, what came out, how long it took.
    ///
    /// What was left out is counted, and `listed` says whether it has been listed too.
    pub fn summary_line(&self, listed: bool) -> String {
        let mut line = format!(
            "{} with {} ({}) became {} in {:.1} s; {}",
            counted(self.documents, "document"),
            counted(self.sections, "section"),
            size(self.bytes_in),
            size(self.bytes_out),
            self.seconds,
            counted(self.warnings.len(), "warning"),
        );
        if !self.skipped.is_empty() {
            let _ = write!(line, ", {} left out", number(self.skipped.len()));
            if !listed {
                line.push_str(" (--verbose lists them)");
            }
        }
        line
    }
}

/// The path of a document for people and JSON: invalid bytes as U+FFFD.
pub fn path_for_people(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Text without control characters, so that a file's name cannot draw on the terminal or break a line.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().flat_map(escaped_if_control).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn escaped_if_control(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = (!character.is_control()).then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

/// `1 section`, `2,103 sections`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

/// An integer with a comma between thousands.
pub fn number(value: impl TryInto<u64>) -> String {
    let digits = value.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in the unit that leaves it below 1,000, by powers of 1,000.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "bytes" {
        return counted(bytes, "byte");
    }
    let decimals = usize::from(value < 99.95);
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(path: &str, line: Option<u32>, message: &str, advice: &str) -> Warning {
        Warning {
            path: path.to_owned(),
            line,
            kind: WarningKind::InvalidFrontMatter,
            message: message.to_owned(),
            advice: advice.to_owned(),
        }
    }

    #[test]
    fn a_warning_is_one_line_for_people() {
        let cases = [
            (
                warning("a.md", Some(3), "bad", "mend it"),
                "a.md:3: bad (mend it)",
            ),
            (warning("a.md", None, "bad", ""), "a.md: bad"),
            (
                warning("a\nb\u{1b}[1m.md", Some(1), "x\ty", ""),
                "a\\nb\\u{1b}[1m.md:1: x\\ty",
            ),
        ];
        for (warning, expected) in cases {
            assert_eq!(warning.line_for_people(), expected);
        }
    }

    #[test]
    fn many_warnings_are_counted() {
        let warnings = vec![warning("a.md", Some(1), "bad", ""); 50];
        let mut report = BuildReport {
            warnings,
            ..BuildReport::default()
        };
        assert_eq!(report.warning_lines().len(), 50);
        report.warnings.push(warning("a.md", Some(1), "bad", ""));
        assert_eq!(
            report.warning_lines().last().unwrap(),
            "… and 1 more warning (--json has them all)"
        );
    }

    #[test]
    fn numbers_and_sizes_read_well() {
        for (value, expected) in [
            (0u64, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(number(value), expected);
        }
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (99_940, "99.9 kB"),
            (99_960, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (146_000_000, "146 MB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!(counted(1u64, "section"), "1 section");
        assert_eq!(counted(2u64, "section"), "2 sections");
    }

    #[test]
    fn the_json_report_has_exactly_its_keys_in_order() {
        let report = BuildReport {
            documents: 1,
            sections: 2,
            bytes_in: 3,
            bytes_out: 4,
            seconds: 0.5,
            skipped: vec![Skipped {
                path: "b.md".to_owned(),
                reason: "draft".to_owned(),
            }],
            warnings: vec![warning("a.md", None, "bad", "mend it")],
        };
        let expected = concat!(
            r#"{"documents":1,"sections":2,"bytes_in":3,"bytes_out":4,"seconds":0.5,"#,
            r#""skipped":[{"path":"b.md","reason":"draft"}],"#,
            r#""warnings":[{"path":"a.md","line":null,"kind":"invalid-front-matter","#,
            r#""message":"bad","advice":"mend it"}]}"#,
        );
        assert_eq!(serde_json::to_string(&report).unwrap(), expected);
    }
}
