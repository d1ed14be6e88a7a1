//! The stored text of a section: its source without what no reader sees, and with what is stored otherwise.
//!
//! In: the source, the section's range, the edits. Out: the text, and for a place of it where it stands in
//! the source. A line that only held something hidden goes as a whole; if it parted two paragraphs, an empty
//! line still does.

use std::ops::Range;

use crate::edit::Edit;
use crate::indent;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredText {
    pub(crate) text: String,
    segments: Vec<Segment>,
}

/// A stretch of the source that is in the text as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    source: usize,
    text: usize,
    length: usize,
}

impl StoredText {
    /// `edits` are in order and apart.
    pub(crate) fn of(source: &str, range: Range<usize>, edits: &[Edit]) -> Self {
        let mut stored = Self::default();
        let first = edits.partition_point(|edit| edit.range.end <= range.start);
        let mut position = range.start;
        let mut edits = edits[first..]
            .iter()
            .take_while(|edit| edit.range.start < range.end)
            .peekable();
        while let Some(edit) = edits.next() {
            stored.copy(source, position..edit.range.start.max(position));
            let mut end = edit.range.end.min(range.end);
            position = end;
            if !edit.text.is_empty() {
                // One that began before the range is another section's.
                if edit.range.start >= range.start {
                    stored.insert(edit.range.start, &edit.text);
                }
                continue;
            }
            // What is hidden side by side on a line hides it together.
            while let Some(next) = edits.next_if(|next| {
                next.text.is_empty()
                    && source[end..next.range.start]
                        .bytes()
                        .all(|byte| matches!(byte, b' ' | b'\t'))
            }) {
                end = next.range.end.min(range.end);
            }
            position = end;
            let blanks = indent::leading_blanks(&source.as_bytes()[end..range.end]);
            let after_blanks = end + blanks;
            let at_line_end = end > 0 && source.as_bytes()[end - 1] == b'\n';
            let edited_next = edits.peek().is_some_and(|next| next.range.start <= after_blanks);
            if edited_next
                || !at_line_end && after_blanks < range.end && source.as_bytes()[after_blanks] != b'\n'
            {
                continue;
            }
            stored.trim_blanks();
            if stored.text.is_empty() || stored.text.ends_with('\n') {
                let next_line = if at_line_end {
                    end
                } else {
                    (after_blanks + 1).min(range.end)
                };
                position = stored.part(source, next_line, range.end);
            } else if at_line_end {
                stored.text.push('\n');
            } else {
                position = after_blanks;
            }
        }
        stored.copy(source, position..range.end);
        let trimmed = stored.text.trim_end().len();
        stored.text.truncate(trimmed);
        stored
    }

    /// Text that stands at `place` of the source without being there.
    fn insert(&mut self, place: usize, text: &str) {
        self.segments.push(Segment {
            source: place,
            text: self.text.len(),
            length: 0,
        });
        self.text.push_str(text);
    }

    /// Adds a paragraph that belongs to the text and stands elsewhere in the source.
    pub(crate) fn append(&mut self, place: usize, paragraph: &str) {
        if !paragraph.is_empty() {
            self.insert(place, "\n\n");
            self.text.push_str(paragraph);
        }
    }

    fn copy(&mut self, source: &str, range: Range<usize>) {
        let mut range = range;
        if self.text.is_empty() {
            // Leading empty lines are no text.
            let slice = &source[range.clone()];
            let blank = slice.len() - slice.trim_start().len();
            range.start += slice[..blank].rfind('\n').map_or(0, |feed| feed + 1);
            if blank == slice.len() {
                return;
            }
        }
        if !range.is_empty() {
            self.segments.push(Segment {
                source: range.start,
                text: self.text.len(),
                length: range.len(),
            });
            self.text.push_str(&source[range]);
        }
    }

    fn trim_blanks(&mut self) {
        let trimmed = self.text.trim_end_matches([' ', '\t']).len();
        self.text.truncate(trimmed);
    }

    /// After a line that went: one empty line where it parted text, none where there is one already.
    fn part(&mut self, source: &str, position: usize, end: usize) -> usize {
        let next = source[position..end]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default();
        let after_empty = self.text.is_empty() || self.text.ends_with("\n\n");
        match (after_empty, next.trim().is_empty()) {
            (true, true) => position + next.len(),
            (false, false) => {
                self.text.push('\n');
                position
            }
            _ => position,
        }
    }

    /// Where a place of the text stands in the source.
    pub(crate) fn source_of(&self, place: usize) -> usize {
        let next = self.segments.partition_point(|segment| segment.text <= place);
        match next.checked_sub(1).and_then(|index| self.segments.get(index)) {
            Some(segment) => segment.source + (place - segment.text).min(segment.length),
            None => self.segments.first().map_or(0, |segment| segment.source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hides everything between `‹` and `›`.
    fn stored(marked: &str) -> String {
        let mut hidden = Vec::new();
        for (start, _) in marked.match_indices('‹') {
            let end = start + marked[start..].find('›').unwrap() + '›'.len_utf8();
            hidden.push(Edit::hide(start..end));
        }
        let stored = StoredText::of(marked, 0..marked.len(), &hidden);
        for place in 0..stored.text.len() {
            let source = stored.source_of(place);
            let same = stored.text.as_bytes()[place] == marked.as_bytes()[source];
            assert!(same || stored.text.as_bytes()[place] == b'\n', "{marked:?}");
        }
        stored.text
    }

    #[test]
    fn hidden_lines_go_and_paragraphs_stay_apart() {
        let cases = [
            ("a\n\nb\n", "a\n\nb"),
            ("a\n‹x›\nb\n", "a\n\nb"),
            ("a\n\n‹x›\n\nb\n", "a\n\nb"),
            ("a\n\n‹x›\nb\n", "a\n\nb"),
            ("a\n‹x\ny›\n\nb\n", "a\n\nb"),
            ("‹x›\n\n# T\n", "# T"),
            ("# T ‹x›\n\na\n", "# T\n\na"),
            ("a ‹x› b\n", "a  b"),
            ("‹x› ‹y›\na", "a"),
            ("a\n  ‹x› ‹y›  \nb", "a\n\nb"),
            ("a\n‹x›", "a"),
            ("  \n\n    code\n", "    code"),
            ("‹x›", ""),
        ];
        for (marked, expected) in cases {
            assert_eq!(stored(marked), expected, "{marked:?}");
        }
    }

    #[test]
    fn a_hidden_line_feed_ends_its_line_all_the_same() {
        for (source, hidden, expected) in [("a\nx\nb", 2..4, "a\n\nb"), ("a x\nb", 2..4, "a\nb")] {
            assert_eq!(
                StoredText::of(source, 0..source.len(), &[Edit::hide(hidden)]).text,
                expected
            );
        }
    }

    #[test]
    fn replaced_stretches_keep_their_line_and_their_place() {
        let edits = [
            Edit::hide(0..2),
            Edit::replace(2..5, "a long title"),
            Edit::replace(9..10, "b"),
        ];
        let source = "xxTAG\n\ny z\nlast";
        let stored = StoredText::of(source, 0..source.len(), &edits);
        assert_eq!(stored.text, "a long title\n\ny b\nlast");
        assert_eq!(stored.source_of(3), 2);
        assert_eq!(stored.source_of(stored.text.len() - 4), source.len() - 4);
        assert_eq!(StoredText::of(source, 3..source.len(), &edits).text, "y b\nlast");
    }
}
