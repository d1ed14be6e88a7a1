//! Walks a text and puts included files where their directives stand.
//!
//! In: decoded text, the file that it is, and where files come from. Out: lines, in an [`Output`]. Included text is
//! walked in its turn, by the same function. What bounds the work: how deep files include each other, the bytes
//! read for one document, and the bytes that come of it; a directive beyond a bound stays as it is.

use std::path::PathBuf;

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};

use crate::fence;
use crate::include::IncludeWarning;
use crate::include::directive::{Directive, Rendering, What, is_remote, language_of};
use crate::include::fault::IncludeFault;
use crate::include::line::{LineContext, directives, has_trigger, opens_comment, prefix_length};
use crate::include::mkdocs::{self, SnippetLine};
use crate::include::myst::{self, Piece};
use crate::include::placed::{Content, Output, Placed, code_block, continuation};
use crate::include::roots::{Family, IncludeFiles, IncludeRequest, Including};
use crate::{decode, front_matter, scrub};

const DEEPEST: usize = 16;
/// Bytes that a document's includes may add to it.
const LARGEST_EXPANSION: usize = 16 << 20;
/// Bytes that may be read for one document, and what a file counts for at least: opening it has a price too.
const MOST_READ: usize = 128 << 20;
const LEAST_READ: usize = 4096;
/// Characters of a directive that a warning shows.
const LONGEST_SHOWN: usize = 120;

pub(crate) struct Expander<'e> {
    files: &'e dyn IncludeFiles,
    /// Identities of the files that are being walked, the document first.
    stack: Vec<PathBuf>,
    left_to_add: usize,
    left_to_read: usize,
    exhausted: bool,
    pub(crate) warnings: Vec<IncludeWarning>,
    pub(crate) sources: Vec<[u8; 32]>,
}

/// The text that is walked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) from: Including<'p>,
    /// The path by which it was included; none for the document itself.
    pub(crate) included_as: Option<&'p str>,
    /// Of the text's first line; in included text, the line of the document's directive, for all of it.
    pub(crate) line: u32,
    /// The whole text stands in a fence, and only this tool's directives count in it.
    pub(crate) code_of: Option<Family>,
}

impl Place<'_> {
    fn line(&self, index: usize) -> u32 {
        match self.included_as {
            Some(_) => self.line,
            None => self.line.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)),
        }
    }
}

impl<'e> Expander<'e> {
    pub(crate) fn new(files: &'e dyn IncludeFiles, document: &[u8]) -> Self {
        Self {
            files,
            stack: vec![files.document(document)],
            left_to_add: LARGEST_EXPANSION,
            left_to_read: MOST_READ,
            exhausted: false,
            warnings: Vec::new(),
            sources: Vec::new(),
        }
    }

    pub(crate) fn walk(&mut self, text: &str, place: Place<'_>, output: &mut Output) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut comments_left = text.matches("-->").count();
        let mut open = None;
        let mut in_comment = false;
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at].trim_end_matches('\n');
            let mut context = LineContext {
                code: open.is_some() || place.code_of.is_some(),
                only: place.code_of,
                hidden: 0,
            };
            comments_left -= line.matches("-->").count();
            if in_comment {
                let Some(end) = line.find("-->") else {
                    output.keep(lines[at], place.line(at));
                    at += 1;
                    continue;
                };
                context.hidden = end + "-->".len();
                in_comment = false;
            }
            if context.hidden == 0
                && let Some(used) = self.block(&lines, at, context, place, output)
            {
                comments_left -= lines[at + 1..at + used]
                    .iter()
                    .map(|line| line.matches("-->").count())
                    .sum::<usize>();
                at += used;
                continue;
            }
            let found = directives(line, context);
            if found.is_empty() {
                output.keep(lines[at], place.line(at));
            } else {
                let placed = self.line(line, &found, context, place, place.line(at));
                match placed {
                    Some(placed) => output.replace(&placed, place.line(at), 1, lines[at].ends_with('\n')),
                    None => output.keep(lines[at], place.line(at)),
                }
            }
            at += 1;
            if let Some(fence) = open {
                if fence::closes(line, fence) {
                    open = None;
                }
            } else if !context.code {
                open = fence::opened_by(line);
                in_comment =
                    open.is_none() && comments_left > 0 && opens_comment(line, context.hidden).is_some();
            }
        }
    }

    /// A directive of several lines that begins at this one; how many lines it has.
    fn block(
        &mut self,
        lines: &[&str],
        at: usize,
        context: LineContext,
        place: Place<'_>,
        output: &mut Output,
    ) -> Option<usize> {
        let line = lines[at];
        let (placed, used) = if context.allows(Family::MkDocs)
            && mkdocs::snippet(line.trim_end()) == Some(SnippetLine::Block)
        {
            let rest = lines[at + 1..].iter();
            let names = rest
                .clone()
                .take_while(|line| mkdocs::snippet(line.trim_end()) != Some(SnippetLine::Block));
            let used = names.count() + 2;
            if at + used > lines.len() {
                return None;
            }
            let indent = &line[..prefix_length(line, true)];
            let names = &lines[at + 1..at + used - 1];
            (
                Some(self.snippets(names, indent, context, place, place.line(at))),
                used,
            )
        } else if !context.code && line.contains('{') {
            let fenced = myst::fenced(&lines[at..])?;
            (
                self.fenced(
                    line,
                    lines[at + fenced.length - 1],
                    &fenced,
                    place,
                    place.line(at),
                ),
                fenced.length,
            )
        } else {
            return None;
        };
        let last = lines[at + used - 1];
        match placed {
            Some(mut placed) => {
                placed.include_from(0);
                output.replace(&placed, place.line(at), used, last.ends_with('\n'));
            }
            None => {
                for (offset, line) in lines[at..at + used].iter().enumerate() {
                    output.keep(line, place.line(at + offset));
                }
            }
        }
        Some(used)
    }

    /// The files that a block of snippets names, one a line.
    fn snippets(
        &mut self,
        names: &[&str],
        indent: &str,
        context: LineContext,
        place: Place<'_>,
        line: u32,
    ) -> Placed {
        let mut placed = Placed::default();
        let mut is_first = true;
        for (offset, name) in names.iter().enumerate() {
            let name = name.trim();
            if name.starts_with(';') {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                placed.text.push('\n');
            }
            if name.is_empty() {
                continue;
            }
            placed.text.push_str(indent);
            let own_line = if place.included_as.is_some() {
                line
            } else {
                line.saturating_add(u32::try_from(offset + 1).unwrap_or(u32::MAX))
            };
            match self.content(
                &mkdocs::snippet_file(name),
                name,
                context,
                place,
                indent.len(),
                own_line,
            ) {
                Some(content) => placed.insert(&content, indent),
                None => placed.text.extend(["--8<-- \"", name, "\""]),
            }
        }
        placed
    }

    /// A fence that is a directive; none where it has to stay.
    fn fenced(
        &mut self,
        opener: &str,
        closer: &str,
        fenced: &myst::Fenced<'_>,
        place: Place<'_>,
        line: u32,
    ) -> Option<Placed> {
        let first = &opener[..prefix_length(opener, false)];
        let next = continuation(first);
        let mut placed = Placed::default();
        placed.text.push_str(first);
        for (index, piece) in fenced.pieces.iter().enumerate() {
            if index > 0 {
                placed.start_line(&next);
            }
            match piece {
                Piece::Include(directive) => {
                    let context = LineContext::default();
                    let content = self.content(directive, opener.trim(), context, place, next.len(), line)?;
                    placed.insert(&content, &next);
                }
                Piece::Lines(lines) => {
                    placed.text.push_str(opener[first.len()..].trim_end());
                    placed.text.push('\n');
                    for line in lines {
                        placed.text.push_str(line);
                    }
                    placed.text.push_str(closer.trim_end());
                }
            }
        }
        Some(placed)
    }

    /// The line with its directives resolved; none where nothing of it changes.
    fn line(
        &mut self,
        line: &str,
        found: &[(usize, crate::include::directive::Found)],
        context: LineContext,
        place: Place<'_>,
        number: u32,
    ) -> Option<Placed> {
        let next = continuation(&line[..prefix_length(line, context.code)]);
        let mut placed = Placed::default();
        let mut copied = 0;
        let mut block_start = None;
        let mut after_block = false;
        let mut changed = false;
        for (start, found) in found {
            let between = &line[copied..*start];
            if std::mem::take(&mut after_block) {
                placed.start_line(&next);
                placed.text.push_str(between.trim_start());
            } else {
                placed.text.push_str(between);
            }
            let written = &line[*start..*start + found.length];
            copied = *start + found.length;
            match &found.what {
                What::Shown { from } => {
                    placed.text.push_str(&written[*from..]);
                    changed = true;
                }
                What::Include(directive) => {
                    let start = placed.text.len();
                    match self.content(directive, written, context, place, next.len(), number) {
                        Some(content) => {
                            placed.insert(&content, &next);
                            changed = true;
                            after_block = content.is_block;
                            if content.is_block && block_start.is_none() {
                                block_start = Some(start);
                            }
                        }
                        None => placed.text.push_str(written),
                    }
                }
            }
        }
        let rest = &line[copied..];
        if !after_block {
            placed.text.push_str(rest);
        } else if !rest.trim().is_empty() {
            placed.start_line(&next);
            placed.text.push_str(rest.trim());
        }
        if let Some(start) = block_start {
            // What follows a block begins a line that the original does not begin.
            placed.include_from(start);
        }
        changed.then_some(placed)
    }

    /// What a directive becomes; where it cannot be resolved, none and a warning.
    fn content(
        &mut self,
        directive: &Directive,
        written: &str,
        context: LineContext,
        place: Place<'_>,
        indent: usize,
        line: u32,
    ) -> Option<Content> {
        if self.exhausted {
            return None;
        }
        match self.resolve(directive, context, place, indent, line) {
            Ok(content) => Some(content),
            Err(fault) => {
                self.exhausted = fault == IncludeFault::Exhausted;
                self.warn(&fault, written, place, line);
                None
            }
        }
    }

    fn resolve(
        &mut self,
        directive: &Directive,
        context: LineContext,
        place: Place<'_>,
        indent: usize,
        line: u32,
    ) -> Result<Content, IncludeFault> {
        if is_remote(&directive.path) {
            return Err(IncludeFault::Remote);
        }
        if self.stack.len() > DEEPEST {
            return Err(IncludeFault::TooDeep { limit: DEEPEST });
        }
        self.charge_reading(LEAST_READ)?;
        let file = self.files.read(&IncludeRequest {
            path: &directive.path,
            from: place.from,
            family: directive.family,
        })?;
        self.charge_reading(file.bytes.len())?;
        let is_text = directive.rendering == Rendering::Text;
        if is_text && self.stack.contains(&file.identity) {
            return Err(IncludeFault::Cycle);
        }
        let decoded = decode::decode(&file.bytes).text;
        let (text, _) = scrub::remove_invisible(scrub::shorten_data_uris(decoded));
        let mut selected = directive.selection.select(&text)?;
        if is_text && !context.code && is_markdown(&directive.path) {
            remove_front_matter(&mut selected, &text);
        }
        self.sources.push(Blake2b::<U32>::digest(&file.bytes).into());
        let content = match &directive.rendering {
            Rendering::Text => {
                let nested = Place {
                    from: Including::File(&file.identity),
                    included_as: Some(&directive.path),
                    line,
                    code_of: context.code.then_some(directive.family),
                };
                self.stack.push(file.identity.clone());
                let text = self.nested(selected, nested);
                self.stack.pop();
                Content {
                    text,
                    is_block: false,
                }
            }
            Rendering::Fence { .. } if context.code => Content {
                text: selected,
                is_block: false,
            },
            Rendering::Fence { language, title } => {
                let language = if language.is_empty() {
                    language_of(&directive.path)
                } else {
                    language
                };
                Content {
                    text: code_block(&selected, language, title),
                    is_block: true,
                }
            }
        };
        let lines = content.text.matches('\n').count();
        let added = content.text.len().saturating_add(lines.saturating_mul(indent));
        if added > self.left_to_add {
            return Err(IncludeFault::Exhausted);
        }
        self.left_to_add -= added;
        Ok(content)
    }

    fn nested(&mut self, text: String, place: Place<'_>) -> String {
        if !has_trigger(&text) {
            return text;
        }
        let mut output = Output::default();
        self.walk(&text, place, &mut output);
        let mut text = output.text;
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn charge_reading(&mut self, bytes: usize) -> Result<(), IncludeFault> {
        self.left_to_read = self
            .left_to_read
            .checked_sub(bytes)
            .ok_or(IncludeFault::Exhausted)?;
        Ok(())
    }

    fn warn(&mut self, fault: &IncludeFault, written: &str, place: Place<'_>, line: u32) {
        let mut shown: String = written.trim().chars().take(LONGEST_SHOWN).collect();
        if shown.len() < written.trim().len() {
            shown.push('…');
        }
        let within = place
            .included_as
            .map_or_else(String::new, |path| format!(" in {path}"));
        self.warnings.push(IncludeWarning {
            line,
            message: format!("{shown}{within} is not resolved: {fault}"),
            advice: fault.advice(),
        });
    }
}

/// Takes the file's front matter off what was selected of the file, with the blank lines after it.
fn remove_front_matter(selected: &mut String, file: &str) {
    let body = front_matter::read(selected).body;
    if body > 0 && file.starts_with(&selected[..body]) {
        let blank = selected[body..].len() - selected[body..].trim_start_matches('\n').len();
        selected.drain(..body + blank);
    }
}

fn is_markdown(path: &str) -> bool {
    let suffix = path.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    ["md", "markdown", "mdx"]
        .iter()
        .any(|known| suffix.eq_ignore_ascii_case(known))
}
