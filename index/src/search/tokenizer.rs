//! Finds tokens in text: words, identifiers with their separators, and runs of CJK text.
//!
//! In: any text. Out: slices of it, in order. A token is one or more runs of word characters (letters, digits,
//! `_`, combining marks) joined by one of `.` `-` `/` `:` `::` `'` `’` `@`; it keeps a leading `--`, `-`, `@`,
//! `$`, `#` or `.` before a letter, and a trailing `++` or `#`, so that `--no-color`, `.NET`, `C++` and `F#`
//! stay whole. CJK text is written without spaces; each run of it is a token of its own, also where it touches
//! other letters.

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// Chinese, Japanese or Korean.
    Cjk,
}

/// A slice of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) kind: TokenKind,
    /// Place of its first byte in the text.
    pub(crate) start: usize,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Tokens of `text` in order.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

/// Iterator over the tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

/// Han, kana, hangul and their radicals and compatibility forms.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fff}' | '\u{3005}' | '\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{1100}'..='\u{11ff}' | '\u{20000}'..='\u{3ffff}')
}

/// A character of words other than CJK.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        c.is_alphanumeric() && !is_cjk(c)
    }
}

/// A character that continues a word: combining marks never begin one.
fn continues_word(c: char) -> bool {
    is_word(c) || (!c.is_ascii() && unicode_normalization::char::is_combining_mark(c) && !is_cjk(c))
}

impl<'t> Tokens<'t> {
    /// End of the run of word characters that begins at `at`.
    fn run_end(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = at;
        while let Some(&byte) = bytes.get(end) {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                end += 1;
            } else if byte.is_ascii() {
                break;
            } else {
                match self.text[end..].chars().next() {
                    Some(c) if continues_word(c) => end += c.len_utf8(),
                    _ => break,
                }
            }
        }
        end
    }

    /// Place after a separator at `at` where another run of the same token begins.
    fn after_separator(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let length = match rest.as_bytes().first()? {
            b':' if rest.as_bytes().get(1) == Some(&b':') => 2,
            b'.' | b'-' | b'/' | b':' | b'\'' | b'@' => 1,
            _ if rest.starts_with('’') => '’'.len_utf8(),
            _ => return None,
        };
        rest[length..]
            .chars()
            .next()
            .filter(|&c| is_word(c))
            .map(|_| at + length)
    }

    /// Start of the token whose first run begins at `at`, with the prefix that belongs to it.
    fn with_prefix(&self, from: usize, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if !bytes[at].is_ascii_alphabetic() {
            return at;
        }
        let before = &bytes[from..at];
        let length = if before.ends_with(b"--") {
            2
        } else {
            usize::from(before.last().is_some_and(|byte| b"-@$#.".contains(byte)))
        };
        let start = at - length;
        // After a word the sign is punctuation or a separator, not a prefix.
        match self.text[..start].chars().next_back() {
            Some(c) if continues_word(c) => at,
            _ => start,
        }
    }

    fn word(&self, from: usize, at: usize) -> Token<'t> {
        let start = self.with_prefix(from, at);
        let mut end = self.run_end(at);
        while let Some(next) = self.after_separator(end) {
            end = self.run_end(next);
        }
        let rest = &self.text[end..];
        if rest.starts_with("++") {
            end += 2;
        } else if rest.starts_with('#') && !rest[1..].chars().next().is_some_and(|c| is_word(c) || is_cjk(c))
        {
            end += 1;
        }
        Token {
            text: &self.text[start..end],
            kind: TokenKind::Word,
            start,
        }
    }

    fn cjk(&self, at: usize) -> Token<'t> {
        let rest = &self.text[at..];
        let length = rest.find(|c| !is_cjk(c)).unwrap_or(rest.len());
        Token {
            text: &rest[..length],
            kind: TokenKind::Cjk,
            start: at,
        }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            let token = if byte.is_ascii() {
                if !(byte.is_ascii_alphanumeric() || byte == b'_') {
                    at += 1;
                    continue;
                }
                self.word(from, at)
            } else {
                let c = self.text[at..].chars().next()?;
                if is_cjk(c) {
                    self.cjk(at)
                } else if is_word(c) {
                    self.word(from, at)
                } else {
                    at += c.len_utf8();
                    continue;
                }
            };
            self.at = token.end();
            return Some(token);
        }
        self.at = bytes.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).map(|token| token.text).collect()
    }

    #[test]
    fn tokens_of_text_and_code() {
        for (text, expected) in [
            ("", &[][..]),
            ("?! -- ...", &[]),
            ("Hello, world.", &["Hello", "world"]),
            ("std::vec::Vec<T>", &["std::vec::Vec", "T"]),
            ("os.path.join(a, b)", &["os.path.join", "a", "b"]),
            ("use --no-color or -v", &["use", "--no-color", "or", "-v"]),
            (
                "@app.route $HOME #derive .NET",
                &["@app.route", "$HOME", "#derive", ".NET"],
            ),
            ("C++, C# and F#.", &["C++", "C#", "and", "F#"]),
            ("a#b C#x", &["a", "b", "C", "x"]),
            ("don't Bob’s", &["don't", "Bob’s"]),
            ("x = tool_call_id;", &["x", "tool_call_id"]),
            ("https://a.example/b_c?d=1", &["https", "a.example/b_c", "d", "1"]),
            ("v1.0.21.", &["v1.0.21"]),
            ("全文検索とBM25です", &["全文検索と", "BM25", "です"]),
            ("Быстрый старт", &["Быстрый", "старт"]),
            ("e\u{301}te\u{301}", &["e\u{301}te\u{301}"]),
            ("a-b--c", &["a-b", "c"]),
            ("x.-y", &["x", "-y"]),
        ] {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_slices_in_order(text in "\\PC*") {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(token.start >= end && !token.text.is_empty());
                prop_assert_eq!(&text[token.start..token.end()], token.text);
                end = token.end();
            }
        }
    }
}
