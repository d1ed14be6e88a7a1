//! What it costs an agent to come to the right section.
//!
//! In: a query, the index, and a judgement. Out: the size of the search answer, exactly as the server gives it, and the
//! tokens spent until the right section was read: the answer, and `get_section` for its hits in their order until the
//! first that is right. Where none is, all of them were read in vain.
//!
//! Tokens are those of the vocabulary `o200k_base`, which is compiled in. An answer keeps within the server's default
//! budget, so what is counted is never long.

use docs_index::answer::{self, DEFAULT_MAX_BYTES, Found, Section};
use docs_index::{Index, ReadError, SearchRequest};
use serde::{Deserialize, Serialize};

use super::judgement::{Judgement, Spot};

/// How the server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Asking {
    /// Hits of an answer.
    pub k: usize,
    /// Characters of a snippet.
    pub snippet_chars: usize,
}

/// The cost of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes of the search answer's text.
    pub answer_bytes: usize,
    /// Tokens of the search answer.
    pub answer_tokens: usize,
    /// Tokens until the right section was read, or everything in vain.
    pub tokens_to_section: usize,
    /// Whether the right section was among the answer's hits.
    pub in_answer: bool,
}

/// Asks as an agent would.
///
/// # Errors
/// [`ReadError::Damaged`].
pub fn cost(index: &Index, query: &str, asking: Asking, judgement: &Judgement) -> Result<Cost, ReadError> {
    let request = SearchRequest {
        limit: asking.k,
        snippet_chars: asking.snippet_chars,
        ..SearchRequest::new(query)
    };
    let results = index.search(&request)?;
    let records: Vec<_> = results.hits.iter().map(|hit| hit.record).collect();
    let found = Found::of(index, results)?;
    let text = answer::search(&found, &request, DEFAULT_MAX_BYTES).text;
    let answer_tokens = tokens(&text);
    let mut cost = Cost {
        answer_bytes: text.len(),
        answer_tokens,
        tokens_to_section: answer_tokens,
        in_answer: false,
    };
    for number in records {
        let section = Section::of(index, number)?;
        cost.tokens_to_section += tokens(&answer::section(&section, 0, DEFAULT_MAX_BYTES).text);
        if judgement.grade(&Spot::of(&index.record(number)?)) > 0 {
            cost.in_answer = true;
            break;
        }
    }
    Ok(cost)
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        for (text, want) in [
            ("", 0),
            ("hello world", 2),
            // Counted as text, not as the mark that it names.
            ("<|endoftext|>", 7),
            ("tiktoken is great!", 6),
            ("お誕生日おめでとう", 8),
        ] {
            assert_eq!(tokens(text), want, "{text:?}");
        }
    }

    #[test]
    fn no_text_is_too_much() {
        for unit in [
            "a", " ", "\n", "!", "\t ", "é", "0", "文", "'s", "Aa", "\u{0}", "\u{301}",
        ] {
            let text = unit.repeat(DEFAULT_MAX_BYTES / unit.len());
            assert!(tokens(&text) > 0, "{unit:?}");
            assert!(tokens(&format!("x{text}x")) > 0, "{unit:?}");
        }
    }
}
