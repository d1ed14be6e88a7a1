//! What an answer says, and that it never says more than it may.
//!
//! In: what a search found, or a part that an id leads to. Out: one text of at most so many bytes. Whoever shows an
//! answer, or counts what it costs, gets the same bytes; nothing here knows how it is sent.
//!
//! # The form
//!
//! A search answer is a list of hits with an empty line between them. A hit is the line
//! `[id] heading path (score)`, or `(score, complete)` when no second call is needed, and below it the snippet,
//! one line. With no snippets asked for, a hit is its first line alone and they stand one below the other. A
//! section answer is the line `[id] heading path`, an empty line, the stored Markdown, and where the section goes
//! on, an empty line and `part 2 of 5, next: path#anchor~3`.
//!
//! # Documentation is data
//!
//! No text from the index can pose as our own:
//!
//! * Ids, headings and snippets are folded to one line each, so they can add no line.
//! * A snippet that begins with `[`, or like another line of ours, gets a space in front: at the start of a
//!   line, `[` is always a hit.
//! * A section's Markdown stands as it is, except that a line in a form of ours gets a space in front (Markdown
//!   reads it the same). Ordinary lines that begin with a bracket (links, log lines, TOML tables) are left alone.
//! * What we add after it comes last, after an empty line.
//!
//! # The budget
//!
//! An answer that would be too long is cut between hits, or in a section at the end of a line where possible,
//! always on a character boundary, and ends in a mark that says how to get the rest.

mod found;
mod hits;
mod line;
mod part;

pub use found::{Found, FoundHit, Lookup, Section, bare_id};
pub use hits::search;
pub use line::{quoted, short_line};
pub use part::{section, unknown_id};

/// Bytes that an answer's text may have unless told otherwise.
pub const DEFAULT_MAX_BYTES: usize = 16_000;

/// What is said to one who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The one text block.
    pub text: String,
    /// Whether the call failed: whoever asked should read the text and try again.
    pub is_error: bool,
}

impl Answer {
    /// An answer to a call that could be carried out.
    fn done(text: String, max_bytes: usize) -> Self {
        Self {
            text: within(text, max_bytes),
            is_error: false,
        }
    }

    /// A call that could not be carried out, with what to do instead.
    pub fn failed(text: &str, max_bytes: usize) -> Self {
        Self {
            text: within(text.to_owned(), max_bytes),
            is_error: true,
        }
    }
}

/// The last guard: whatever a text holds, it leaves no longer than this.
fn within(text: String, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text;
    }
    line::short_block(&text, max_bytes)
}

/// The line that names arguments which were left aside, to stand at an answer's end; empty where there are none.
pub fn ignored_note(ignored: &[String]) -> String {
    const NAMED: usize = 5;
    if ignored.is_empty() {
        return String::new();
    }
    let plural = if ignored.len() == 1 { "" } else { "s" };
    let named: Vec<String> = ignored
        .iter()
        .take(NAMED)
        .map(|name| format!("\"{}\"", short_line(name, 40)))
        .collect();
    let more = if ignored.len() > NAMED { ", …" } else { "" };
    format!("\n\nIgnored unknown argument{plural} {}{more}.", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_arguments_are_named() {
        assert_eq!(ignored_note(&[]), "");
        assert_eq!(
            ignored_note(&["lang".into()]),
            "\n\nIgnored unknown argument \"lang\"."
        );
        let many: Vec<String> = ('a'..='g').map(String::from).collect();
        assert_eq!(
            ignored_note(&many),
            "\n\nIgnored unknown arguments \"a\", \"b\", \"c\", \"d\", \"e\", …."
        );
    }
}
