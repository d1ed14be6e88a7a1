//! Where a run of text without white space may be cut.
//!
//! In: two neighbouring characters. Out: whether they belong together. Chinese and Japanese are written without
//! spaces, so they may be cut between any two characters, except that a mark of punctuation stays with what it
//! closes or opens. No script may be cut between a letter and its marks, or inside an emoji of several parts.

use crate::search::tokenizer::is_cjk;
use unicode_normalization::char::is_combining_mark;

const JOINER: char = '\u{200d}';

/// Whether a reader sees `before` and `after` as one character.
///
/// Flags are pairs of letters; to tell which of a run of letters are pairs, all of them stay together.
pub(crate) fn are_joined(before: char, after: char) -> bool {
    if before.is_ascii() && after.is_ascii() {
        return false;
    }
    before == JOINER
        || after == JOINER
        || is_combining_mark(after)
        || matches!(after, '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}'
            | '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}')
        || (is_flag_letter(before) && is_flag_letter(after))
}

/// Whether a text may be cut between these two although no white space stands there.
pub(crate) fn may_part(before: char, after: char) -> bool {
    if is_plain_letter(before) && is_plain_letter(after) {
        return true;
    }
    (is_unspaced(before) || is_unspaced(after))
        && !are_joined(before, after)
        && !is_closing(after)
        && !is_opening(before)
}

/// Characters of scripts that are written without spaces, and their punctuation. Korean has spaces.
pub(crate) fn is_unspaced(c: char) -> bool {
    if c < '\u{2e80}' {
        return false;
    }
    let is_hangul = matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}');
    (is_cjk(c) && !is_hangul)
        || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}'
            | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff9f}')
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Letters of Han and kana that nothing joins and that are no punctuation: most of such a text.
fn is_plain_letter(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

/// Never first in a line: it belongs to what stands before it.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '>'
            | ','
            | '.'
            | ';'
            | ':'
            | '!'
            | '?'
            | '%'
            | '"'
            | '\''
            | '”'
            | '’'
            | '…'
            | '、'
            | '。'
            | '，'
            | '．'
            | '：'
            | '；'
            | '？'
            | '！'
            | '）'
            | '］'
            | '｝'
            | '」'
            | '』'
            | '】'
            | '》'
            | '〉'
            | '〕'
            | '〗'
            | 'ー'
            | 'ゝ'
            | 'ゞ'
            | '々'
            | 'ぁ'
            | 'ぃ'
            | 'ぅ'
            | 'ぇ'
            | 'ぉ'
            | 'っ'
            | 'ゃ'
            | 'ゅ'
            | 'ょ'
            | 'ァ'
            | 'ィ'
            | 'ゥ'
            | 'ェ'
            | 'ォ'
            | 'ッ'
            | 'ャ'
            | 'ュ'
            | 'ョ'
    )
}

/// Never last in a line.
fn is_opening(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '<'
            | '“'
            | '‘'
            | '（'
            | '［'
            | '｛'
            | '「'
            | '『'
            | '【'
            | '《'
            | '〈'
            | '〔'
            | '〖'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_belong_together() {
        for (before, after, joined, parts) in [
            ('a', 'b', false, false),
            ('卷', '快', false, true),
            ('卷', '。', false, false),
            ('。', '卷', false, true),
            ('「', '卷', false, false),
            ('a', '卷', false, true),
            ('파', '드', false, false),
            ('e', '\u{301}', true, false),
            ('か', '\u{3099}', true, false),
            ('👩', JOINER, true, false),
            (JOINER, '👧', true, false),
            ('👍', '\u{1f3fd}', true, false),
            ('🇫', '🇷', true, false),
            ('🦊', '漢', false, true),
        ] {
            assert_eq!(are_joined(before, after), joined, "{before:?} {after:?}");
            assert_eq!(may_part(before, after), parts, "{before:?} {after:?}");
        }
    }
}
