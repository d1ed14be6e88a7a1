//! Reads Markdown: where the document-level headings stand, and which text belongs to which field.
//!
//! In: the parse buffer. Out: an [`Outline`]: headings in order, and pieces of text with their place in the buffer,
//! so that they can be dealt out to sections and parts later. Headings in quotes, lists, footnotes and admonitions
//! are content. CommonMark with tables, footnotes, strikethrough, task lists and GitHub's alerts; none of the
//! parser's dialects for metadata, attributes or maths, for they misread ordinary documents.

use std::ops::Range;

use docs_index::BodyText;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use crate::anchor;
use crate::html_text::HtmlText;
use crate::mask::{Dialect, FILLER, Masked, Style};
use crate::scrub::is_invisible;

#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) headings: Vec<Heading>,
    /// In the order of their places.
    pub(crate) pieces: Vec<Piece>,
    /// In the order of their places.
    pub(crate) links: Vec<Link>,
    /// The `id` and `name` of HTML tags, by their places in the buffer, in order.
    pub(crate) ids: Vec<(usize, String)>,
    /// The text of the first `<h1>` on a line of its own; may be empty.
    pub(crate) html_title: String,
    /// Headings that are content, and defined terms that a site gives names, by their places in the buffer.
    pub(crate) content_headings: Vec<(usize, String)>,
    /// Places in the buffer of the definitions that links refer to, in order.
    pub(crate) definitions: Vec<Range<usize>>,
    pub(crate) footnote_definitions: Vec<Footnote>,
    /// In the order of their places.
    pub(crate) footnote_references: Vec<Footnote>,
    /// The texts of all pieces, one after another.
    texts: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) title: String,
    /// Place in the buffer.
    pub(crate) range: Range<usize>,
}

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Place in the buffer.
    pub(crate) range: Range<usize>,
    pub(crate) form: LinkForm,
    pub(crate) destination: String,
    pub(crate) text: String,
    pub(crate) is_image: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkForm {
    /// `[text](destination)`: the place of the destination in the buffer.
    Inline(Range<usize>),
    /// `[text][label]`, `[text][]`, `[text]`: the place after the text.
    Reference(usize),
    /// `[[destination|text]]`
    Wiki,
    /// `<https://…>` and the like.
    Auto,
    /// `<a href="…">`: the place of the destination in the buffer.
    Html(Range<usize>),
}

/// A footnote, at its definition or where it is referred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Footnote {
    pub(crate) label: String,
    /// Place in the buffer.
    pub(crate) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Prose,
    InlineCode,
    LinkText,
    Code,
}

/// What stands between a piece and the one before it in its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Glue {
    None,
    Space,
    Line,
}

/// Text of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    field: Field,
    glue: Glue,
    /// Place in the buffer.
    pub(crate) range: Range<usize>,
    text: Range<usize>,
}

pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
}

impl Outline {
    /// Appends a piece's text to its field, or only what of it stands in `range` of the buffer where the piece is
    /// as long as its place.
    pub(crate) fn append(&self, piece: &Piece, range: &Range<usize>, body: &mut BodyText) {
        let mut text = &self.texts[piece.text.clone()];
        let mut glue = piece.glue;
        if piece.range.len() == text.len() && !text.is_empty() {
            let end = char_boundary(text, range.end.saturating_sub(piece.range.start));
            let start = char_boundary(text, range.start.saturating_sub(piece.range.start)).min(end);
            if start > 0 {
                glue = Glue::Line;
            }
            text = &text[start..end];
        } else if piece.range.start < range.start {
            return;
        }
        let field = match piece.field {
            Field::Prose => &mut body.prose,
            Field::InlineCode => &mut body.inline_code,
            Field::LinkText => &mut body.link_text,
            Field::Code => &mut body.code,
        };
        if text.is_empty() {
            return;
        }
        if !field.is_empty() {
            match glue {
                Glue::None => {}
                Glue::Space if field.ends_with([' ', '\n']) || text.starts_with(' ') => {}
                Glue::Line if field.ends_with('\n') => {}
                Glue::Space => field.push(' '),
                Glue::Line => field.push('\n'),
            }
        }
        field.push_str(text);
    }

    /// Whether any piece in `range` of the buffer has text.
    pub(crate) fn has_text(&self, range: &Range<usize>) -> bool {
        let first = self
            .pieces
            .partition_point(|piece| piece.range.start < range.start);
        let pieces = self.pieces[first..]
            .iter()
            .take_while(|piece| piece.range.start < range.end);
        pieces
            .map(|piece| &self.texts[piece.text.clone()])
            .any(|text| !text.trim().is_empty())
    }
}

pub(crate) fn read(masked: &Masked, source: &str, style: Style) -> Outline {
    let mut reader = Reader {
        outline: Outline::default(),
        source,
        masked,
        dialect: style.dialect,
        next_blanked: 0,
        next_body: 0,
        depth: 0,
        heading: None,
        content_heading: None,
        has_terms: style.is_mdn,
        items: Vec::new(),
        links: Vec::new(),
        html: None,
        code_block: None,
        glue: [Glue::None; 4],
    };
    let mut options = options();
    // `[[1]](url)` is a link around brackets.
    if masked.buffer.contains("[[") && !masked.buffer.contains("]](") {
        options |= Options::ENABLE_WIKILINKS;
    }
    let mut events = Parser::new_ext(&masked.buffer, options).into_offset_iter();
    let definitions = events.reference_definitions().iter();
    let mut definitions: Vec<Range<usize>> = definitions.map(|(_, found)| found.span.clone()).collect();
    definitions.sort_by_key(|definition| definition.start);
    for (event, range) in events.by_ref() {
        reader.blanked_before(range.start);
        reader.take(event, range);
    }
    reader.blanked_before(usize::MAX);
    let mut outline = reader.outline;
    outline.definitions = definitions;
    outline.ids.extend(masked.ids.iter().cloned());
    outline.ids.sort();
    // The parser tells HTML line by line, so what stands in a comment is only known now.
    let in_comment = |place: usize| {
        let place = masked.source_range(&(place..place)).start;
        let next = masked.edits.partition_point(|edit| edit.range.start <= place);
        let edit = next.checked_sub(1).and_then(|index| masked.edits.get(index));
        edit.is_some_and(|edit| place < edit.range.end && source[edit.range.clone()].starts_with("<!--"))
    };
    outline
        .links
        .retain(|link| !matches!(link.form, LinkForm::Html(_)) || !in_comment(link.range.start));
    outline.ids.retain(|(place, _)| !in_comment(*place));
    outline.links.sort_by_key(|link| link.range.start);
    outline
}

struct Reader<'m> {
    outline: Outline,
    source: &'m str,
    masked: &'m Masked,
    dialect: Dialect,
    next_blanked: usize,
    next_body: usize,
    /// Containers around the place: quotes, lists, footnotes.
    depth: usize,
    /// The document-level heading being read.
    heading: Option<Heading>,
    /// Whether an item whose nested item begins with a colon is a term that is defined there: MDN's lists of
    /// definitions.
    has_terms: bool,
    /// The items around the place, the outer first.
    items: Vec<ListItem>,
    /// The other heading being read: its place and its title so far.
    content_heading: Option<(usize, String)>,
    /// Links and images around the place, the outer first, each with the end of what was last read in it.
    links: Vec<OpenLink>,
    html: Option<HtmlText>,
    /// Whether the code block being read is prose to its dialect.
    code_block: Option<bool>,
    /// What is due before the next piece of each field.
    glue: [Glue; 4],
}

/// A list item, as far as it may be a term that is defined.
struct ListItem {
    place: usize,
    /// The text of its first element.
    term: String,
    is_complete: bool,
}

struct OpenLink {
    link: Link,
    inner_end: usize,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => {
                self.inside(&range);
                self.text(&text, range);
            }
            Event::Code(code) => {
                self.inside(&range);
                self.item_text(&code, true);
                if let Some((_, title)) = &mut self.content_heading {
                    title.push_str(&code);
                }
                if let Some(heading) = &mut self.heading {
                    heading.title.push_str(&code);
                } else {
                    self.due(Field::InlineCode, Glue::Line);
                    self.push(Field::InlineCode, &code, range);
                    self.due(Field::Prose, Glue::Space);
                    self.due(Field::LinkText, Glue::Space);
                }
                for open in &mut self.links {
                    open.link.text.push_str(&code);
                }
            }
            Event::Html(html) => {
                self.html_names(&html, range.start);
                let mut text = String::new();
                self.html.get_or_insert_default().feed(&html, &mut text);
                self.push(Field::Prose, &text, range);
            }
            Event::InlineHtml(html) => {
                self.inside(&range);
                self.html_names(&html, range.start);
                if html.get(..3).is_some_and(|tag| tag.eq_ignore_ascii_case("<br")) {
                    self.soft_break();
                } else if html.get(..4).is_some_and(|tag| tag.eq_ignore_ascii_case("<img")) {
                    let mut text = String::new();
                    HtmlText::default().feed(&html, &mut text);
                    self.text(&text, range);
                }
            }
            Event::SoftBreak | Event::HardBreak => self.soft_break(),
            Event::Rule => self.block(),
            Event::FootnoteReference(label) => {
                self.inside(&range);
                self.outline.footnote_references.push(Footnote {
                    label: label.into_string(),
                    range,
                });
            }
            Event::TaskListMarker(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.block();
                if self.depth > 0 || self.in_body(range.start) {
                    self.content_heading = Some((range.start, String::new()));
                } else {
                    self.heading = Some(Heading {
                        level: level_number(level),
                        title: String::new(),
                        range,
                    });
                }
            }
            Tag::BlockQuote(kind) => {
                self.block();
                self.depth += 1;
                if let Some(kind) = kind {
                    self.push(Field::Prose, &format!("{kind:?}"), range.start..range.start);
                    self.block();
                }
            }
            Tag::List(_) => {
                self.block();
                self.depth += 1;
            }
            Tag::FootnoteDefinition(label) => {
                self.block();
                self.depth += 1;
                self.outline.footnote_definitions.push(Footnote {
                    label: label.into_string(),
                    range,
                });
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let is_prose = self.dialect == Dialect::Mdx && matches!(kind, CodeBlockKind::Indented);
                self.code_block = Some(is_prose);
            }
            Tag::HtmlBlock => {
                self.block();
                self.html = Some(HtmlText::default());
            }
            Tag::Link {
                dest_url, link_type, ..
            } => {
                self.due(Field::LinkText, Glue::Line);
                self.open_link(link_type, dest_url.into_string(), range, false);
            }
            Tag::Image {
                dest_url, link_type, ..
            } => self.open_link(link_type, dest_url.into_string(), range, true),
            Tag::Item => {
                self.block();
                self.items.push(ListItem {
                    place: range.start,
                    term: String::new(),
                    is_complete: false,
                });
            }
            Tag::Paragraph | Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => {
                self.block();
            }
            _ => {}
        }
    }

    fn open_link(&mut self, kind: LinkType, destination: String, range: Range<usize>, is_image: bool) {
        let form = match kind {
            LinkType::Inline => LinkForm::Inline(0..0),
            LinkType::Autolink | LinkType::Email => LinkForm::Auto,
            LinkType::WikiLink { .. } => LinkForm::Wiki,
            _ => LinkForm::Reference(0),
        };
        self.links.push(OpenLink {
            inner_end: range.start + 1 + usize::from(is_image),
            link: Link {
                range,
                form,
                destination,
                text: String::new(),
                is_image,
            },
        });
    }

    /// Something was read that may be part of the text of links.
    fn inside(&mut self, range: &Range<usize>) {
        for open in &mut self.links {
            open.inner_end = open.inner_end.max(range.end);
        }
    }

    fn close_link(&mut self, range: &Range<usize>) {
        let Some(OpenLink { mut link, inner_end }) = self.links.pop() else {
            return;
        };
        self.inside(range);
        link.text = folded(&link.text);
        let buffer = &self.masked.buffer;
        link.form = match link.form {
            LinkForm::Inline(_) => match inline_destination(buffer, inner_end..link.range.end) {
                Some(place) => LinkForm::Inline(place),
                None => LinkForm::Auto,
            },
            LinkForm::Reference(_) => {
                let rest = buffer.get(inner_end..link.range.end).unwrap_or_default();
                rest.find(']')
                    .map_or(LinkForm::Auto, |close| LinkForm::Reference(inner_end + close))
            }
            other => other,
        };
        self.outline.links.push(link);
    }

    /// The links and ids in a piece of HTML.
    fn html_names(&mut self, html: &str, start: usize) {
        if self.outline.html_title.is_empty()
            && let Some(open) = html.find("<h1")
            && let Some(length) = html[open..].find("</h1>")
        {
            let mut title = String::new();
            HtmlText::default().feed(&html[open..open + length], &mut title);
            self.outline.html_title = folded(&title);
        }
        let ids = anchor::tag_ids(html);
        self.outline
            .ids
            .extend(ids.map(|(place, id)| (start + place, id.to_owned())));
        let mut from = 0;
        while let Some(offset) = html[from..].find("href=") {
            let value = from + offset + 5;
            from = value;
            let Some(quote) = html[value..]
                .chars()
                .next()
                .filter(|quote| matches!(quote, '"' | '\''))
            else {
                continue;
            };
            let Some(length) = html[value + 1..].find(quote) else {
                return;
            };
            from = value + 1 + length + 1;
            let place = value + 1..value + 1 + length;
            self.outline.links.push(Link {
                destination: html[place.clone()].replace(FILLER, ""),
                range: start + place.start..start + place.end,
                form: LinkForm::Html(start + place.start..start + place.end),
                text: String::new(),
                is_image: false,
            });
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Heading(_) => {
                self.block();
                if let Some((place, title)) = self.content_heading.take() {
                    self.outline.content_headings.push((place, folded(&title)));
                }
                if let Some(mut heading) = self.heading.take() {
                    heading.title = folded(&heading.title);
                    self.outline.headings.push(heading);
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition => {
                self.block();
                self.depth = self.depth.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                self.block();
                self.code_block = None;
            }
            TagEnd::HtmlBlock => {
                self.block();
                self.html = None;
            }
            TagEnd::Link => {
                self.due(Field::Prose, Glue::Space);
                self.close_link(&range);
            }
            TagEnd::Image => self.close_link(&range),
            TagEnd::Item => {
                self.block();
                self.items.pop();
            }
            TagEnd::Paragraph | TagEnd::TableCell => self.block(),
            _ => {}
        }
    }

    /// Text of a list item: its term so far, or what shows that the item around it is one.
    fn item_text(&mut self, text: &str, is_code: bool) {
        if !self.has_terms {
            return;
        }
        let [outer @ .., item] = self.items.as_mut_slice() else {
            return;
        };
        if item.term.is_empty() && !is_code && text.starts_with(": ") {
            if let Some(term) = outer.last_mut().filter(|outer| !outer.term.is_empty()) {
                let text = folded(&std::mem::take(&mut term.term));
                self.outline.content_headings.push((term.place, text));
                term.is_complete = true;
            }
            item.is_complete = true;
        }
        if item.is_complete {
            return;
        }
        // A macro ends in filling: it is an element of its own.
        let (text, is_cut) = text
            .split_once(FILLER)
            .map_or((text, false), |(text, _)| (text, true));
        item.is_complete = is_cut || is_code && item.term.is_empty();
        item.term.push_str(text);
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if self.code_block.is_none() {
            self.item_text(text, false);
        }
        if let Some(is_prose) = self.code_block {
            self.push(if is_prose { Field::Prose } else { Field::Code }, text, range);
            return;
        }
        for open in &mut self.links {
            open.link.text.push_str(text);
        }
        if let Some((_, title)) = &mut self.content_heading {
            title.push_str(text);
        }
        if let Some(heading) = &mut self.heading {
            heading.title.push_str(text);
        } else {
            self.push(
                if self.links.iter().any(|open| !open.link.is_image) {
                    Field::LinkText
                } else {
                    Field::Prose
                },
                text,
                range,
            );
        }
    }

    fn soft_break(&mut self) {
        if let Some(heading) = &mut self.heading {
            heading.title.push(' ');
        }
        for open in &mut self.links {
            open.link.text.push(' ');
        }
        self.due(Field::Prose, Glue::Space);
        self.due(Field::LinkText, Glue::Space);
    }

    /// A block begins or ends here.
    fn block(&mut self) {
        self.glue = [Glue::Line; 4];
    }

    fn due(&mut self, field: Field, glue: Glue) {
        let due = &mut self.glue[field as usize];
        *due = (*due).max(glue);
    }

    fn push(&mut self, field: Field, text: &str, range: Range<usize>) {
        let start = self.outline.texts.len();
        if text.contains(FILLER) {
            self.outline.texts.extend(text.split(FILLER));
        } else {
            self.outline.texts.push_str(text);
        }
        if self.outline.texts.len() > start {
            let glue = std::mem::replace(&mut self.glue[field as usize], Glue::None);
            self.outline.pieces.push(Piece {
                field,
                glue,
                range,
                text: start..self.outline.texts.len(),
            });
        }
    }

    /// Adds the blanked text that belongs before `position`.
    fn blanked_before(&mut self, position: usize) {
        let masked = self.masked;
        while let Some(blanked) = masked
            .blanked
            .get(self.next_blanked)
            .filter(|blanked| blanked.place <= position)
        {
            self.next_blanked += 1;
            let text = self.source.get(blanked.source.clone()).unwrap_or_default().trim();
            self.due(blanked.field, Glue::Line);
            self.push(blanked.field, text, blanked.source.clone());
            self.due(blanked.field, Glue::Line);
        }
    }

    fn in_body(&mut self, position: usize) -> bool {
        while self
            .masked
            .bodies
            .get(self.next_body)
            .is_some_and(|body| body.end <= position)
        {
            self.next_body += 1;
        }
        self.masked
            .bodies
            .get(self.next_body)
            .is_some_and(|body| body.contains(&position))
    }
}

/// The place of the destination in the part of an inline link after its text: `](destination "title")`.
fn inline_destination(buffer: &str, rest: Range<usize>) -> Option<Range<usize>> {
    let text = buffer.get(rest.clone())?;
    let open = text.find("](")? + 2;
    let start = open + (text[open..].len() - text[open..].trim_start().len());
    if let Some(inner) = text[start..].strip_prefix('<') {
        let length = inner.find('>')?;
        return Some(rest.start + start..rest.start + start + length + 2);
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    let length = text[start..].find(|character: char| {
        let is_end = match character {
            _ if escaped => false,
            '(' => {
                depth += 1;
                false
            }
            ')' if depth == 0 => true,
            ')' => {
                depth -= 1;
                false
            }
            _ => character.is_whitespace(),
        };
        escaped = character == '\\' && !escaped;
        is_end
    })?;
    Some(rest.start + start..rest.start + start + length)
}

/// The last place up to `place` where a character begins or the text ends.
pub(crate) fn char_boundary(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// White space folded, characters that nobody sees left out.
fn folded(text: &str) -> String {
    let visible = |character: &char| *character != FILLER && !is_invisible(*character);
    let text: String = text.chars().filter(visible).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::mask;

    fn outline(source: &str) -> (Outline, BodyText) {
        let masked = mask(source, 0, Style::default());
        let outline = read(&masked, source, Style::default());
        let mut body = BodyText::default();
        for piece in &outline.pieces {
            outline.append(piece, &(0..source.len()), &mut body);
        }
        (outline, body)
    }

    #[test]
    fn only_document_level_headings_are_headings() {
        let source = "# A\n\n> # quoted\n\n- # item\n\n[^1]: # note\n\n<div>\n# html\n</div>\n\n<details>\n\n## B\n\n</details>\n\n!!! note\n    ## body\n\nC\n*c*\n===\n";
        let (outline, _) = outline(source);
        let titles: Vec<_> = outline
            .headings
            .iter()
            .map(|heading| (heading.level, heading.title.as_str()))
            .collect();
        assert_eq!(titles, [(1, "A"), (2, "B"), (1, "C c")]);
    }

    #[test]
    fn titles_are_the_plain_text_of_their_inlines() {
        let cases = [
            ("# [tool](https://x)", "tool"),
            ("## Use `Vec<T>` and *care*", "Use Vec<T> and care"),
            ("## ![logo](l.png) Brand", "logo Brand"),
            ("## With <a href=\"#x\">a tag</a> inside", "With a tag inside"),
            ("## Use <kbd>Ctrl</kbd>+<kbd>K</kbd> <!-- c -->", "Use Ctrl+K"),
            ("## C# ##", "C#"),
            ("## Keep \\##", "Keep ##"),
            ("##", ""),
            ("## {{domxref(\"X\", \"Y\")}}, more", "Y, more"),
        ];
        for (source, title) in cases {
            assert_eq!(outline(source).0.headings[0].title, title, "{source}");
        }
    }

    #[test]
    fn each_text_stands_in_one_field() {
        let source = "# Title `x`\n\nPro**se** with `code` and [a `b` link](c.md) end.\nNext ![alt](i.png) line.\n\n> [!TIP]\n> quoted\n\n| h | i |\n|---|---|\n| c | d |\n\n```sh\nrun it\n```\n\n<p>html <b>text</b></p>\n\n[ref]: https://x\n";
        let (outline, body) = outline(source);
        assert_eq!(
            body.prose,
            "Prose with  and  end. Next alt line.\nTip\nquoted\nh\ni\nc\nd\nhtml text \n"
        );
        assert_eq!(body.inline_code, "code\nb");
        assert_eq!(body.link_text, "a  link");
        assert_eq!(body.code, "run it\n");
        let links: Vec<_> = outline
            .links
            .iter()
            .map(|link| (link.text.as_str(), link.is_image))
            .collect();
        assert_eq!(links, [("a b link", false), ("alt", true)]);
        assert_eq!(outline.definitions.len(), 1);
    }

    #[test]
    fn terms_that_are_defined_are_named_on_mdn() {
        let source = "- `action`\n  - : The address. See:\n    - one\n- {{domxref(\"Lamp.oil\")}} {{ReadOnlyInline}}\n  - : Oil.\n- plain words\n  - : Words.\n- item\n  - no term\n";
        let style = Style {
            is_mdn: true,
            ..Style::default()
        };
        let masked = mask(source, 0, style);
        let outline = read(&masked, source, style);
        let terms: Vec<&str> = outline
            .content_headings
            .iter()
            .map(|(_, term)| term.as_str())
            .collect();
        assert_eq!(terms, ["action", "Lamp.oil", "plain words"]);
        let masked = mask(source, 0, Style::default());
        assert!(
            read(&masked, source, Style::default())
                .content_headings
                .is_empty()
        );
    }

    #[test]
    fn links_and_ids_of_html_are_found_outside_comments() {
        let source = "a <a href=\"b.md\" id=\"x\">b</a>\n\n<p>\n<!-- <a href=\"gone.md\">\n<a id=\"gone\"> --> <b id=\"y\">c</b>\n</p>\n";
        let (outline, _) = outline(source);
        let links: Vec<&str> = outline
            .links
            .iter()
            .map(|link| link.destination.as_str())
            .collect();
        assert_eq!(links, ["b.md"]);
        let ids: Vec<&str> = outline.ids.iter().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids, ["x", "y"]);
    }

    #[test]
    fn maths_and_shortcode_bodies_are_code() {
        let (outline, body) =
            outline("$$\nx = y\n$$\n\n{{< highlight sh >}}\n# run\n{{< /highlight >}}\n\nafter\n");
        assert!(outline.headings.is_empty());
        assert_eq!(body.code, "x = y\n# run");
        assert_eq!(body.prose, "after");
    }
}
