//! A section's text, read once for all queries.
//!
//! In: the text without its heading. Out: [`ReadBody`]: its reading, and where its tokens are with what each begins
//! with, so that most of them are passed over without being looked at. Nothing in it depends on a query; it is kept
//! from one search to the next ([`crate::kept_bodies`]), so its parts are 32 bits wide.

use super::wanted::Beginning;
use crate::{
    search::{
        reading::Reading,
        tokenizer::{Token, TokenKind, tokens},
    },
    text::cut_at_boundary,
};

/// Bytes of a part that are looked at; parts are much shorter unless their limit was raised.
const TEXT_LIMIT: usize = 64 * 1024;

/// A text as snippets are chosen from it.
#[derive(Debug)]
pub(crate) struct ReadBody {
    pub(super) reading: Reading,
    pub(super) tokens: Vec<TokenPlace>,
    /// All of the text was read, and nothing was left out but marks.
    pub(super) is_lossless: bool,
}

/// A token of the reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenPlace {
    start: u32,
    length: u32,
    kind: TokenKind,
    pub(super) beginning: Beginning,
}

impl ReadBody {
    pub(crate) fn of(body: &str) -> Self {
        let looked_at = cut_at_boundary(body, TEXT_LIMIT);
        let reading = Reading::of(looked_at);
        let mut places = Vec::with_capacity(reading.words.len() + reading.words.len() / 8);
        places.extend(tokens(&reading.text).map(|token| TokenPlace {
            start: token.start as u32,
            length: token.text.len() as u32,
            kind: token.kind,
            beginning: Beginning::of(&token),
        }));
        Self {
            is_lossless: reading.is_lossless && looked_at.len() == body.len(),
            reading,
            tokens: places,
        }
    }

    pub(super) fn token(&self, place: &TokenPlace) -> Token<'_> {
        let start = place.start as usize;
        Token {
            text: &self.reading.text[start..start + place.length as usize],
            kind: place.kind,
            start,
        }
    }

    /// Gives back what was set aside while it was read.
    pub(crate) fn shrink(&mut self) {
        self.reading.shrink();
        self.tokens.shrink_to_fit();
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.reading.text
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.reading.bytes() + self.tokens.capacity() * size_of::<TokenPlace>()
    }
}
