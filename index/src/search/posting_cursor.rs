//! Goes through a posting list, one unpacked block at a time.

use crate::{
    error::ReadError,
    format::{
        postings::{Block, PostingList},
        section_table::NONE,
    },
};

/// A place in a posting list.
#[derive(Debug)]
pub(crate) struct PostingCursor<'i, const FIELDS: usize> {
    list: PostingList<'i, FIELDS>,
    next_block: usize,
    block: Block<FIELDS>,
    row: usize,
}

impl<'i, const FIELDS: usize> PostingCursor<'i, FIELDS> {
    /// At the first posting.
    pub(crate) fn new(list: PostingList<'i, FIELDS>) -> Result<Self, ReadError> {
        let mut cursor = Self {
            list,
            next_block: 0,
            block: Block::default(),
            row: 0,
        };
        cursor.load()?;
        Ok(cursor)
    }

    fn load(&mut self) -> Result<(), ReadError> {
        self.row = 0;
        if self.next_block < self.list.block_count() {
            self.list.unpack(self.next_block, &mut self.block)?;
            self.next_block += 1;
        } else {
            self.block.clear();
        }
        Ok(())
    }

    /// Number of the current posting, or none.
    pub(crate) fn current(&self) -> u32 {
        self.block.numbers().get(self.row).copied().unwrap_or(NONE)
    }

    /// Frequency of a field in the current posting.
    pub(crate) fn frequency(&self, field: usize) -> u32 {
        self.block
            .frequencies(field)
            .and_then(|column| column.get(self.row))
            .copied()
            .unwrap_or(0)
    }

    /// The postings of the current block from the current one to the last one before `stop`.
    pub(crate) fn rows_before(&self, stop: u32) -> Rows<'_, FIELDS> {
        let rest = self.block.numbers().get(self.row..).unwrap_or_default();
        // Most often the whole block lies before.
        let length = match rest.last() {
            Some(&last) if last >= stop => rest.partition_point(|&number| number < stop),
            _ => rest.len(),
        };
        Rows {
            block: &self.block,
            start: self.row,
            end: self.row + length,
        }
    }

    /// Passes over postings of the current block. True if the next one stands in the same block.
    pub(crate) fn pass(&mut self, count: usize) -> Result<bool, ReadError> {
        self.row += count;
        if self.row < self.block.numbers().len() {
            return Ok(true);
        }
        self.load()?;
        Ok(false)
    }

    pub(crate) fn advance(&mut self) -> Result<(), ReadError> {
        self.pass(1).map(drop)
    }

    /// Moves on to the first posting with at least this number, over whole blocks where there is a directory.
    pub(crate) fn seek(&mut self, number: u32) -> Result<(), ReadError> {
        if self.block.numbers().last().is_some_and(|&last| last < number) {
            while self
                .list
                .bounds(self.next_block)
                .is_some_and(|bounds| bounds.last_number < number)
            {
                self.next_block += 1;
            }
            self.load()?;
        }
        let rest = self.block.numbers().get(self.row..).unwrap_or_default();
        self.pass(rest.partition_point(|&other| other < number))?;
        // What has no directory is one block; a damaged one is walked through.
        while self.current() < number {
            self.advance()?;
        }
        Ok(())
    }
}

/// Some postings of one block.
#[derive(Debug)]
pub(crate) struct Rows<'c, const FIELDS: usize> {
    block: &'c Block<FIELDS>,
    start: usize,
    end: usize,
}

impl<const FIELDS: usize> Rows<'_, FIELDS> {
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) fn numbers(&self) -> &[u32] {
        self.block.numbers().get(self.start..self.end).unwrap_or_default()
    }

    /// Frequencies of a field, one for each number; none where no posting of the block has it.
    pub(crate) fn frequencies(&self, field: usize) -> Option<&[u32]> {
        self.block.frequencies(field)?.get(self.start..self.end)
    }
}
