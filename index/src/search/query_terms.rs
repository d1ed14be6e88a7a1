//! Placeholder until the languages are in: English only.
use super::{
    analyzer::{Analyzer, Term},
    tokenizer::{Token, TokenKind},
};

/// A term of a query's word, with what stands for it in the index's languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) texts: Vec<String>,
    pub(crate) covers: usize,
}

#[derive(Debug)]
pub(crate) struct QueryAnalyzer {
    analyzer: Analyzer,
}

impl QueryAnalyzer {
    pub(crate) fn new() -> Self {
        Self {
            analyzer: Analyzer::new(),
        }
    }

    pub(crate) fn terms(&self, token: &Token<'_>, out: &mut Vec<QueryTerm>) {
        let mut terms: Vec<Term> = Vec::new();
        self.analyzer.terms(token, &mut terms);
        let is_single = terms.len() == 1;
        for term in terms {
            let mut texts = vec![term.text];
            if is_single
                && token.kind == TokenKind::Word
                && token.text.bytes().all(|b| b.is_ascii_alphanumeric())
            {
                let plain = token.text.to_ascii_lowercase();
                if plain != texts[0] {
                    texts.push(plain);
                }
            }
            out.push(QueryTerm {
                texts,
                covers: term.covers,
            });
        }
    }
}
