//! What of a source is stored otherwise than it stands there.
//!
//! In: stretches that the scans of a document found, in any order. Out: the same in order and apart, so that a
//! section's stored text is its source with each stretch replaced. An edit without text hides its stretch: no
//! reader of the page sees it.

use std::ops::Range;

/// A stretch of the source, and what is stored in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn hide(range: Range<usize>) -> Self {
        Self {
            range,
            text: String::new(),
        }
    }

    pub(crate) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }

    fn hides(&self) -> bool {
        self.text.is_empty()
    }
}

/// Sorts edits and sets them apart. What is hidden hides the edits inside it; where edits overlap otherwise, the
/// first one stands and of the next only what it hides beyond is kept.
pub(crate) fn apart(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
    for mut edit in edits {
        if edit.range.is_empty() {
            continue;
        }
        if let Some(last) = kept.last_mut() {
            if edit.hides() && last.hides() && edit.range.start <= last.range.end {
                last.range.end = last.range.end.max(edit.range.end);
                continue;
            }
            if edit.range.start < last.range.end {
                if !edit.hides() || edit.range.end <= last.range.end {
                    continue;
                }
                edit.range.start = last.range.end;
            }
        }
        kept.push(edit);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_set_apart() {
        type Edits<'t> = &'t [(Range<usize>, &'t str)];
        let cases: [(Edits<'_>, Edits<'_>); 6] = [
            (&[(5..6, "b"), (1..2, "")], &[(1..2, ""), (5..6, "b")]),
            (&[(0..3, ""), (3..5, ""), (4..9, "")], &[(0..9, "")]),
            (&[(2..4, "x"), (0..9, "")], &[(0..9, "")]),
            (&[(0..4, "x"), (2..3, ""), (3..6, "")], &[(0..4, "x"), (4..6, "")]),
            (&[(0..4, "x"), (3..6, "y")], &[(0..4, "x")]),
            (
                &[(0..4, "x"), (4..6, "y"), (7..7, "z")],
                &[(0..4, "x"), (4..6, "y")],
            ),
        ];
        for (found, expected) in cases {
            let edits = |list: &[(Range<usize>, &str)]| -> Vec<Edit> {
                list.iter()
                    .map(|(range, text)| Edit::replace(range.clone(), *text))
                    .collect()
            };
            assert_eq!(apart(edits(found)), edits(expected), "{found:?}");
        }
    }
}
