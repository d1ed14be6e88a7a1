//! The fields of records and documents: where a term can stand, and what it is worth there.
//!
//! Weights are those of BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted
//! fields", CIKM 2004), applied to term frequencies before saturation.

use crate::format::{
    metadata::LengthKind,
    postings::{DOCUMENT_FIELDS, RECORD_FIELDS},
    section_table::ArchivedDocumentEntry,
};

/// A field of a record; the numbers are places in a posting's frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordField {
    Heading = 0,
    Prose = 1,
    InlineCode = 2,
    LinkText = 3,
    Code = 4,
    FrontMatter = 5,
    Incoming = 6,
}

impl RecordField {
    pub(crate) const ALL: [Self; RECORD_FIELDS] = [
        Self::Heading,
        Self::Prose,
        Self::InlineCode,
        Self::LinkText,
        Self::Code,
        Self::FrontMatter,
        Self::Incoming,
    ];

    /// Names in the specification, and for people.
    pub(crate) const NAMES: [&str; RECORD_FIELDS] = [
        "heading",
        "prose",
        "inline code",
        "link text",
        "code",
        "front matter",
        "incoming",
    ];

    pub(crate) const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) const fn weight(self) -> f32 {
        match self {
            Self::Heading => 4.0,
            Self::Prose | Self::InlineCode | Self::Incoming => 1.0,
            Self::LinkText => 0.75,
            Self::Code | Self::FrontMatter => 0.5,
        }
    }

    /// Weight for a query term that looks like code.
    pub(crate) const fn code_weight(self) -> f32 {
        match self {
            Self::InlineCode => 1.5,
            other => other.weight(),
        }
    }

    /// Which length normalises its frequencies.
    pub(crate) const fn length_kind(self) -> LengthKind {
        match self {
            Self::Heading => LengthKind::Heading,
            Self::Prose | Self::InlineCode | Self::LinkText | Self::Code => LengthKind::Body,
            Self::FrontMatter => LengthKind::FrontMatter,
            Self::Incoming => LengthKind::Incoming,
        }
    }

    /// Whether a record that has the term here counts in the term's section frequency: the record's own text.
    pub(crate) const fn is_own(self) -> bool {
        !matches!(self, Self::FrontMatter | Self::Incoming)
    }
}

/// A field that all records of a document share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentField {
    Title = 0,
    Path = 1,
}

impl DocumentField {
    pub(crate) const ALL: [Self; DOCUMENT_FIELDS] = [Self::Title, Self::Path];

    /// Names in the specification, and for people.
    pub(crate) const NAMES: [&str; DOCUMENT_FIELDS] = ["title", "path"];

    pub(crate) const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) const fn weight(self) -> f32 {
        match self {
            Self::Title => 2.0,
            Self::Path => 1.5,
        }
    }

    /// Its length in terms.
    pub(crate) fn length(self, document: &ArchivedDocumentEntry) -> u32 {
        match self {
            Self::Title => document.title_length.to_native(),
            Self::Path => document.path_length.to_native(),
        }
    }

    pub(crate) const fn length_kind(self) -> LengthKind {
        match self {
            Self::Title => LengthKind::Title,
            Self::Path => LengthKind::Path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places() {
        for (place, field) in RecordField::ALL.iter().enumerate() {
            assert_eq!(*field as usize, place);
        }
        for (place, field) in DocumentField::ALL.iter().enumerate() {
            assert_eq!(*field as usize, place);
        }
    }
}
