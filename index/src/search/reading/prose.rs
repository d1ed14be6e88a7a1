//! Reads prose: paragraphs, lists and quotes, up to the next block of code or table.
//!
//! In: Markdown without fences and tables. Out: words of the reading, without the marks at the start of lines
//! and within them.

use super::{
    Begins, DEPTH_LIMIT, Kind, Reading,
    cuts::is_unspaced,
    inline,
    line_marks::{LineMark, line_mark},
};

impl Reading {
    pub(super) fn prose(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.begin();
        let skipped = self.take_line_mark(&line_mark(text));
        self.inline(&text[skipped..], 0);
        self.has_open_emphasis = false;
        self.begin();
    }

    /// Ends a line within a paragraph: without a space where its script has none.
    fn line_goes_on(&mut self, rest: &str) {
        let is_glued = self.open < self.text.len()
            && self.text.chars().next_back().is_some_and(is_unspaced)
            && rest.trim_start().chars().next().is_some_and(is_unspaced);
        if is_glued {
            self.push_words();
            self.open = self.text.len();
        } else {
            self.close();
        }
    }

    /// Reads the mark at the start of a line; gives the bytes it took.
    fn take_line_mark(&mut self, mark: &LineMark) -> usize {
        if mark.begins {
            self.begin();
        }
        self.is_lossless &= !mark.is_loss;
        if !mark.words.is_empty() {
            self.inline(&mark.words, DEPTH_LIMIT);
            self.close();
            // The marker of an item or the name of an admonition is no sentence by itself.
            if mark.words == "-" {
                self.next = Begins::Nothing;
            }
        }
        mark.length
    }

    /// Reads prose; `depth` is that of the links it stands in.
    pub(super) fn inline(&mut self, text: &str, depth: usize) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &text[at..];
            match byte {
                b'\n' => {
                    at += 1;
                    let next = &text[at..];
                    if depth == 0 {
                        let mark = line_mark(next);
                        if !mark.begins {
                            self.line_goes_on(&next[mark.length..]);
                        }
                        at += self.take_line_mark(&mark);
                    } else {
                        self.line_goes_on(next);
                    }
                }
                b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => {
                    // A mark of code without its partner would be half a code span.
                    self.text.push(match bytes[at + 1] {
                        b'`' => '\'',
                        other => char::from(other),
                    });
                    at += 2;
                }
                b'`' => at += self.code_span(rest),
                b'*' if rest.starts_with("**") => at += 2,
                b'*' => {
                    let before = self.text[self.open..].chars().next_back();
                    if self.has_open_emphasis && before.is_some() {
                        self.has_open_emphasis = false;
                    } else if inline::opens_emphasis(before, rest) {
                        self.has_open_emphasis = true;
                    } else {
                        self.text.push('*');
                    }
                    at += 1;
                }
                b'!' | b'[' => {
                    let is_image = byte == b'!' && rest.starts_with("![");
                    let found = if byte == b'[' || is_image {
                        inline::link(&rest[usize::from(is_image)..]).filter(|_| depth < DEPTH_LIMIT)
                    } else {
                        None
                    };
                    if let Some(found) = found {
                        self.is_lossless = false;
                        let outer = std::mem::replace(&mut self.kind, Kind::Link);
                        self.inline(found.text, depth + 1);
                        self.kind = outer;
                        self.link_end = self.text.len();
                        at += usize::from(is_image) + found.length;
                    } else {
                        self.text.push(char::from(byte));
                        at += 1;
                    }
                }
                b'<' => at += self.tag(rest),
                b'{' => {
                    if let Some(length) = inline::attributes(rest) {
                        at += length;
                    } else {
                        self.text.push('{');
                        at += 1;
                    }
                }
                b'&' => {
                    if let Some((c, length)) = inline::reference(rest) {
                        if c == ' ' {
                            self.close();
                        } else {
                            self.text.push(c);
                        }
                        at += length;
                    } else {
                        self.text.push('&');
                        at += 1;
                    }
                }
                _ if is_plain(byte) => {
                    let length = rest
                        .bytes()
                        .position(|byte| !is_plain(byte))
                        .unwrap_or(rest.len());
                    self.text.push_str(&rest[..length]);
                    at += length;
                }
                _ => {
                    let c = rest.chars().next().unwrap_or(' ');
                    if c.is_whitespace() || c.is_control() {
                        self.close();
                    } else if c != '\u{ad}' && c != '\u{200b}' && c != '\u{feff}' {
                        self.text.push(c);
                    }
                    at += c.len_utf8();
                }
            }
        }
    }

    /// Passes over a tag; gives the bytes taken.
    fn tag(&mut self, rest: &str) -> usize {
        let Some(tag) = inline::tag(rest) else {
            self.text.push('<');
            return 1;
        };
        if let Some(address) = tag.address {
            self.text.push_str(address);
            return tag.length;
        }
        if !tag.name.is_empty() {
            self.is_lossless = false;
        }
        if tag.parts_words() {
            self.close();
            self.html_tag(&tag);
        }
        tag.length
    }

    /// Takes a code span as one word; a mark without a partner is left out. Gives the bytes taken.
    fn code_span(&mut self, rest: &str) -> usize {
        let marks = rest.bytes().take_while(|&byte| byte == b'`').count();
        let mut at = marks;
        while let Some(found) = rest[at..].find('`') {
            let start = at + found;
            let length = rest[start..].bytes().take_while(|&byte| byte == b'`').count();
            // Only what was not looked at before, so that many marks cost no more than their text.
            if rest[at.saturating_sub(1)..start].contains("\n\n") {
                break;
            }
            if length == marks {
                let place = self.text.len();
                let mut parts = rest[marks..start].split_whitespace();
                self.text.push_str(&rest[..marks]);
                self.text.push_str(parts.next().unwrap_or_default());
                for part in parts {
                    self.text.push(' ');
                    self.text.push_str(part);
                }
                self.text.push_str(&rest[..marks]);
                self.spans.push(place..self.text.len());
                return start + length;
            }
            at = start + length;
        }
        marks
    }
}

/// Bytes that are taken as they are: no white space, no mark, and a character by themselves.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(byte, b'\\' | b'`' | b'*' | b'!' | b'[' | b'<' | b'{' | b'&');
        byte += 1;
    }
    plain
};

fn is_plain(byte: u8) -> bool {
    PLAIN[usize::from(byte)]
}
