//! Marks at the start of a line of Markdown that are not read: quotes, lists, admonitions, rules.
//!
//! In: the rest of a text from the start of a line. Out: how many of its bytes are mark, and what is read in
//! their place.

/// What a line begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineMark {
    /// Bytes of the line that are not read.
    pub(super) length: usize,
    /// What is read instead.
    pub(super) words: String,
    /// The line begins something new.
    pub(super) begins: bool,
    /// Something of use is not read: text that stands in another file.
    pub(super) is_loss: bool,
}

/// The mark that `rest` begins with.
pub(super) fn line_mark(rest: &str) -> LineMark {
    let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
    let mut at = indent(line);
    let mut mark = LineMark::default();
    while line[at..].starts_with('>') {
        at += 1;
        at += indent(&line[at..]);
    }
    let text = line[at..].trim_end();
    match text.as_bytes().first() {
        None => {
            mark.length = line.len();
            mark.begins = true;
            return mark;
        }
        // Most lines of prose.
        Some(byte) if byte.is_ascii_alphabetic() || *byte >= 0x80 => {}
        Some(b'{') if stands_for_other_text(text) => {
            mark.length = line.len();
            mark.begins = true;
            mark.is_loss = true;
            return mark;
        }
        Some(b'-') if text.starts_with("--8<--") => {
            mark.length = line.len();
            mark.begins = true;
            mark.is_loss = true;
            return mark;
        }
        Some(_) if is_rule(text) => {
            mark.length = line.len();
            mark.begins = true;
            return mark;
        }
        Some(b'[') if text.starts_with("[!") => {
            if let Some(kind) = text[2..].split(']').next().filter(|kind| is_name(kind)) {
                mark.words = title_of(kind, "");
                mark.begins = true;
                at += kind.len() + 3;
            }
        }
        Some(b'!' | b'?' | b'/' | b':' | b'=') if fence_of_block(text).is_some() => {
            mark.length = line.len();
            mark.begins = true;
            mark.words = fence_of_block(text).unwrap_or_default();
            return mark;
        }
        Some(b':') if text[1..].starts_with([' ', '\t']) => {
            at += 1 + indent(&text[1..]);
            mark.begins = true;
        }
        Some(b'*' | b'+' | b'-') if text[1..].starts_with([' ', '\t']) => {
            at += 1 + indent(&text[1..]);
            "-".clone_into(&mut mark.words);
            mark.begins = true;
        }
        Some(b'#') => {
            let level = text.bytes().take_while(|&byte| byte == b'#').count();
            if level <= 6 && text[level..].starts_with([' ', '\t']) {
                at += level + 1;
                mark.begins = true;
            }
        }
        Some(byte) => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            mark.begins = *byte == b'|'
                || ((1..=9).contains(&digits)
                    && (text[digits..].starts_with(". ") || text[digits..].starts_with(") ")));
        }
    }
    mark.length = at;
    mark
}

fn indent(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        .count()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 30
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// `---`, `* * *`, `====`: a rule or an underline.
fn is_rule(text: &str) -> bool {
    let Some(&mark) = text.as_bytes().first().filter(|byte| b"-*_=".contains(byte)) else {
        return false;
    };
    let count = text.bytes().filter(|&byte| byte == mark).count();
    count >= 3 && text.bytes().all(|byte| byte == mark || byte == b' ')
}

/// `{* file *}`, `{{#include file}}`, `{{< name >}}`, `{% name %}`: the line stands for text that is elsewhere.
fn stands_for_other_text(text: &str) -> bool {
    is_inclusion(text)
        || [("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}")]
            .iter()
            .any(|(open, close)| text.starts_with(open) && text.ends_with(close))
}

/// As above, of those that stand in code, too, where others are code.
pub(super) fn is_inclusion(text: &str) -> bool {
    (text.starts_with("{* ") && text.ends_with("*}"))
        || (text.ends_with("}}")
            && ["{{#include ", "{{#rustdoc_include ", "{{#playground "]
                .iter()
                .any(|open| text.starts_with(open)))
}

/// What is read for the line that opens or closes a block of `!!!`, `???`, `///`, `:::` or `===`.
fn fence_of_block(text: &str) -> Option<String> {
    let mark = *text.as_bytes().first()?;
    let run = text.bytes().take_while(|&byte| byte == mark).count();
    if run < 3 {
        return None;
    }
    let rest = text[run..].trim_start_matches('+').trim();
    if mark == b'=' {
        // A tab has a quoted title.
        return rest
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .map(|title| format!("{title}:"));
    }
    if rest.is_empty() {
        return Some(String::new());
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(rest.len());
    let (kind, rest) = rest.split_at(end);
    let title = rest.trim_matches([' ', '|', '"', '[', ']', '{', '}']);
    (!kind.is_empty()).then(|| {
        // Attributes are no title.
        let is_attributes = rest.trim_start().starts_with('{');
        title_of(kind, if is_attributes { "" } else { title })
    })
}

/// `Note:`, or the title where there is one.
fn title_of(kind: &str, title: &str) -> String {
    if !title.is_empty() {
        return format!("{title}:");
    }
    if kind.contains('.') {
        // The name of something that is documented here.
        return kind.to_owned();
    }
    let lower = kind.to_ascii_lowercase();
    let (first, rest) = lower.split_at(1);
    format!("{}{rest}:", first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_lines() {
        for (line, length, words, begins) in [
            ("Plain text", 0, "", false),
            ("", 0, "", true),
            ("> Quoted", 2, "", false),
            ("> [!NOTE]", 9, "Note:", true),
            ("[link](x)", 0, "", false),
            ("* item", 2, "-", true),
            ("  - item", 4, "-", true),
            ("1. item", 0, "", true),
            ("2024 was", 0, "", false),
            ("---", 3, "", true),
            ("* * *", 5, "", true),
            ("!!! note", 8, "Note:", true),
            ("??? tip \"Why so\"", 16, "Why so:", true),
            ("/// warning | Beware", 20, "Beware:", true),
            ("///", 3, "", true),
            (":::tip[Did you know]", 20, "Did you know:", true),
            ("::: note { #x }", 15, "Note:", true),
            ("::: fastapi.APIRouter", 21, "fastapi.APIRouter", true),
            (":::", 3, "", true),
            ("=== \"Linux\"", 11, "Linux:", true),
            (":   A definition", 4, "", true),
            ("{* ../../a.py hl[1] *}", 22, "", true),
            ("{{#include ../a.rs}}", 20, "", true),
            ("{{ item }}", 0, "", false),
            ("#hash", 0, "", false),
            ("## Heading", 3, "", true),
        ] {
            let mark = line_mark(line);
            assert_eq!(
                (mark.length, mark.words.as_str(), mark.begins),
                (length, words, begins),
                "{line:?}"
            );
        }
    }
}
