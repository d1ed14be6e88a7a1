//! Resolves includes: what other files say is put where a document asks for it, before Markdown is read.
//!
//! In: a document's decoded text, its path, and where files may come from. Out: the text with included files in the
//! place of their directives, the original line of each of its lines, which stretches are other files' text (their
//! headings are content of the section that includes them), and a warning for each directive that stays as it is.
//!
//! ```text
//! text ──line, myst──▶ directives ──roots──▶ bytes ──decode, scrub──▶ text ──selection──▶ the lines asked for
//!                                            ──expander──▶ the same again for their own directives ──placed──▶ text
//! ```
//!
//! Each tool's forms have a module: [`mkdocs`], [`mdbook`], [`vitepress`], [`myst`], [`learn`].

mod directive;
mod expander;
mod fault;
mod learn;
mod line;
mod marks;
mod mdbook;
mod mkdocs;
mod myst;
mod placed;
mod roots;
mod selection;
mod vitepress;

use std::borrow::Cow;
use std::ops::Range;

use crate::include::expander::{Expander, Place};
pub(crate) use crate::include::placed::LineMap;
use crate::include::placed::Output;
use crate::include::roots::Including;
pub(crate) use crate::include::roots::{IncludeFiles, IncludeRoots};
#[cfg(test)]
pub(crate) use crate::include::{fault::IncludeFault, roots::IncludeRequest, roots::IncludedFile};

/// A document with its includes.
#[derive(Debug, PartialEq)]
pub(crate) struct Expansion<'t> {
    /// Borrowed where nothing was resolved.
    pub(crate) text: Cow<'t, str>,
    pub(crate) lines: LineMap,
    /// Stretches of the text that stand where directives stood, in order: a heading that begins in one is content.
    /// Every line that is not the first of its original line begins in one.
    pub(crate) included: Vec<Range<usize>>,
    /// In the order of the directives.
    pub(crate) warnings: Vec<IncludeWarning>,
    /// BLAKE2b-256 of the bytes of each file included, in the order of their directives.
    pub(crate) sources: Vec<[u8; 32]>,
}

impl<'t> Expansion<'t> {
    /// The text as it is.
    pub(crate) fn unchanged(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            lines: LineMap::default(),
            included: Vec::new(),
            warnings: Vec::new(),
            sources: Vec::new(),
        }
    }
}

/// A directive that stays in the text as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IncludeWarning {
    /// Of the document; for a directive in an included file, that of the one that led there.
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) advice: &'static str,
}

/// Resolves the includes of the document at that path in the tree, whose body begins at `body`.
pub(crate) fn expand<'t>(
    text: &'t str,
    body: usize,
    document: &[u8],
    files: &dyn IncludeFiles,
) -> Expansion<'t> {
    let mut expansion = Expansion::unchanged(text);
    if !line::has_trigger(&text[body..]) {
        return expansion;
    }
    let mut output = Output::default();
    let mut line = 1;
    for front in text[..body].split_inclusive('\n') {
        output.keep(front, line);
        line += 1;
    }
    let place = Place {
        from: Including::Document(document),
        included_as: None,
        line,
        code_of: None,
    };
    let mut expander = Expander::new(files, document);
    expander.walk(&text[body..], place, &mut output);
    expansion.warnings = expander.warnings;
    expansion.sources = expander.sources;
    if output.changed {
        expansion.included = std::mem::take(&mut output.included);
        expansion.text = Cow::Owned(std::mem::take(&mut output.text));
        expansion.lines = output.line_map();
    }
    expansion
}

#[cfg(test)]
mod tests;
