//! Docusaurus' configuration, a program that is read and never run.
//!
//! In: its text. Out: whether `.md` files are MDX, as they are unless `markdown: { format: … }` says otherwise.
//! Comments and strings are told from code; what a program computes is not known.

use std::iter::Peekable;
use std::str::CharIndices;

/// Whether `.md` files are MDX.
pub(super) fn markdown_is_mdx(text: &str) -> bool {
    // Of each open brace, innermost last, whether it begins the value of `markdown`.
    let mut open: Vec<bool> = Vec::new();
    let mut last = ["", "", ""];
    for token in Tokens::of(text) {
        let in_markdown = open.last() == Some(&true);
        match token {
            "{" => open.push(last[1] == "markdown" && last[2] == ":"),
            "}" => {
                open.pop();
            }
            "detect" | "md" if in_markdown && last[1] == "format" && last[2] == ":" => return false,
            _ => {}
        }
        last = [last[1], last[2], token];
    }
    true
}

/// The text that is the value of a key, in whatever object it stands: the first one in the program.
pub(super) fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut last = ["", ""];
    Tokens::of(text).find(|token| {
        let is_value = last == [key, ":"];
        last = [last[1], token];
        is_value
    })
}

/// Words, strings without their quotes, and single other characters.
struct Tokens<'t> {
    text: &'t str,
    characters: Peekable<CharIndices<'t>>,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            characters: text.char_indices().peekable(),
        }
    }

    /// Passes over what `wanted` accepts, and tells where that ends.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> usize {
        while self.characters.next_if(|&(_, next)| wanted(next)).is_some() {}
        self.position()
    }

    fn position(&mut self) -> usize {
        self.characters.peek().map_or(self.text.len(), |&(at, _)| at)
    }

    fn skip_comment(&mut self) {
        while let Some((_, character)) = self.characters.next() {
            if character == '*' && self.characters.next_if(|&(_, next)| next == '/').is_some() {
                break;
            }
        }
    }

    /// The rest of a string; one in simple quotes ends with its line.
    fn string(&mut self, quote: char) -> &'t str {
        let start = self.position();
        while let Some((at, character)) = self.characters.next() {
            if character == '\\' {
                self.characters.next();
            } else if character == quote || (character == '\n' && quote != '`') {
                return &self.text[start..at];
            }
        }
        &self.text[start..]
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            let (start, character) = self.characters.next()?;
            match character {
                '/' if self.characters.next_if(|&(_, next)| next == '/').is_some() => {
                    self.skip(|next| next != '\n');
                }
                '/' if self.characters.next_if(|&(_, next)| next == '*').is_some() => self.skip_comment(),
                '"' | '\'' | '`' => return Some(self.string(character)),
                _ if character.is_whitespace() => {}
                _ if is_word(character) => {
                    let end = self.skip(is_word);
                    return Some(&self.text[start..end]);
                }
                _ => return Some(&self.text[start..start + character.len_utf8()]),
            }
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_markdown_decides() {
        for (text, expected) in [
            ("", true),
            (
                "const config = { title: 'x', markdown: { mermaid: true } };",
                true,
            ),
            ("const config = { markdown: { format: 'mdx' } };", true),
            (
                "export default { markdown: { mermaid: true, format: 'detect' } }",
                false,
            ),
            (
                "export default { markdown: { hooks: { a: 1 }, format: \"md\" } }",
                false,
            ),
            (
                "export default {\n  'markdown' : {\n    'format' : `detect`,\n  },\n}",
                false,
            ),
            ("export default { markdown: {\n // format: 'detect'\n } }", true),
            ("export default { markdown: { /* format: 'md' */ } }", true),
            ("export default { markdown: { hooks: { format: 'md' } } }", true),
            (
                "export default { markdown: {}, prettier: { format: 'md' } }",
                true,
            ),
            ("export default { text: \"markdown: { format: 'md' }\" }", true),
            (
                "const it = 'it\\'s'; export default { markdown: { format: 'md' } }",
                false,
            ),
            (
                "const bad = /['\"]/;\nexport default { markdown: { format: 'md' } }",
                false,
            ),
            ("}}} markdown: { format: 'md' }", false),
            ("markdown: { format: 'detect", false),
            ("markdown: { é — `", true),
        ] {
            assert_eq!(markdown_is_mdx(text), expected, "{text}");
        }
    }
}
