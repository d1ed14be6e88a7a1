//! Texts of records, block by block.

use crate::{
    error::ReadError,
    format::{
        layout::Tag,
        section_table::table,
        text_blocks::{ArchivedBlockEntry, Unpacker},
    },
    reader::{Index, RecordNumber},
};

/// Reads texts; keeps the block that was unpacked last, so that neighbours cost one unpacking.
#[derive(Debug)]
pub(crate) struct TextReader<'i> {
    index: &'i Index,
    unpacker: Unpacker,
    block: Option<(u32, Vec<u8>)>,
}

impl<'i> TextReader<'i> {
    pub(crate) fn new(index: &'i Index) -> Self {
        Self {
            index,
            unpacker: Unpacker::default(),
            block: None,
        }
    }

    pub(crate) fn text(&mut self, number: RecordNumber) -> Result<&str, ReadError> {
        let entry = self.index.record_entry(number)?;
        let block_number = entry.text_block.to_native();
        if self.block.as_ref().is_none_or(|(kept, _)| *kept != block_number) {
            let blocks: &[ArchivedBlockEntry] =
                table(self.index.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
            let block = blocks.get(block_number as usize).ok_or(ReadError::damaged(
                Tag::Records,
                "a record's text block is not there",
            ))?;
            self.block = Some((
                block_number,
                self.unpacker.unpack(self.index.region(Tag::Text), block)?,
            ));
        }
        let start = entry.text_start.to_native() as usize;
        let end = start.checked_add(entry.text_length.to_native() as usize);
        let text = self.block.as_ref().and_then(|(_, block)| block.get(start..end?));
        let text = text.ok_or(ReadError::damaged(
            Tag::Records,
            "a record's text does not fit its block",
        ))?;
        std::str::from_utf8(text).map_err(|_| ReadError::damaged(Tag::Text, "a text is not UTF-8"))
    }
}

/// The first `length` bytes of a text, or fewer where a character would be cut.
pub(crate) fn cut_at_boundary(text: &str, length: usize) -> &str {
    let mut end = text.len().min(length);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
