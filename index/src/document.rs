//! What the writer takes in: one document, split into sections and parts, with the text of each field apart.
//!
//! Whoever reads a source format (Markdown, HTML, …) makes [`DocumentSource`] values from it and knows
//! nothing of the index file; this crate analyzes and stores them and knows nothing of the source format.

/// One source file, split into sections.
///
/// A document must have at least one section; a file without any text is no document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentSource {
    /// Path in the docs tree with `/` between its names, the source's name in front where there are several
    /// (`name/path`). The literal bytes of the file's name, so not always UTF-8. It orders the index.
    pub path: Vec<u8>,
    /// Title of the page: front matter, else the first level-1 heading, else the file's name.
    pub title: String,
    /// Description or summary from the front matter; may be empty.
    pub description: String,
    /// Tags and keywords from the front matter.
    pub tags: Vec<String>,
    /// Public address of the page, where one is known; may be empty.
    pub url: String,
    /// BCP 47 language tag, where one is known; may be empty.
    pub language: String,
    /// BLAKE2b-256 over the source and everything it includes.
    pub source_hash: [u8; 32],
    /// Bytes of the source file.
    pub source_bytes: u64,
    /// The sections in order: the first one owns line 1, and their line ranges joined are the file.
    pub sections: Vec<SectionSource>,
}

/// A heading and the text up to the next document-level heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionSource {
    /// Plain text of the heading; may be empty. For a level-0 section its title: front matter, else file name.
    pub heading: String,
    /// The fragment after `#`, unique in its document. Empty exactly for a level-0 section.
    pub anchor: String,
    /// Further fragments that lead here (`<a id>`, `<h2 id>`).
    pub aliases: Vec<String>,
    /// 1 to 6; 0 for the preamble, or for a page without headings.
    pub level: u8,
    /// First line in the original file, from 1.
    pub line_start: u32,
    /// Last line in the original file, at least `line_start`.
    pub line_end: u32,
    /// The text, cut where it is longer than a part's limit; never empty.
    pub parts: Vec<PartSource>,
}

/// A piece of a section: the unit of search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartSource {
    /// Stored Markdown. The first part of a section begins with its heading line(s).
    pub text: String,
    /// Bytes at the start of `text` repeated from an earlier part (a fence's opener, a table's header).
    pub repeated_head: u32,
    /// Bytes at the end of `text` repeated for reading (a fence's closer).
    pub repeated_tail: u32,
    /// The text of each body field, without the heading.
    pub fields: BodyText,
    /// Links in this part, in order.
    pub links: Vec<LinkSource>,
}

/// The text of the body fields of one part. They are disjoint: inline code inside a link stands in
/// `inline_code` alone. Separate pieces are separated by a line feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BodyText {
    /// Running text.
    pub prose: String,
    /// Code spans.
    pub inline_code: String,
    /// Texts of links.
    pub link_text: String,
    /// Code blocks, fenced or indented.
    pub code: String,
}

/// A link to another section or page of the tree, found in a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkSource {
    /// The path as it was written, without fragment and query, percent-decoded: relative to the linking document's
    /// folder, or with `/` in front to the site's root; empty for the linking document itself. It may lack an ending, end
    /// in `/`, or end in `.html`; see [`crate::LinkTargets`] for what it names when all documents are known.
    pub path: Vec<u8>,
    /// The fragment after `#`, percent-decoded; may be empty.
    pub fragment: String,
    /// The link's visible text, plain.
    pub text: String,
}
