//! Any bytes are a document, or none.

use std::collections::HashSet;

use docs_indexer::flavour::Flavour;
use docs_indexer::split::split_alone;

/// The document is whole: its sections own all lines, once each, under names of their own, and what was cut into parts
/// is the section.
///
/// # Panics
///
/// Where that does not hold.
pub fn split_markdown(input: &[u8]) {
    let Some((&settings, source)) = input.split_first() else {
        return;
    };
    let path: &[u8] = if settings & 1 == 0 { b"a/b.md" } else { b"a/b.mdx" };
    let flavour = Flavour::ALL[usize::from(settings >> 1) % Flavour::ALL.len()];
    let part_limit = usize::from(settings >> 4) * 20;
    let Ok(split) = split_alone(path, source, part_limit, flavour) else {
        return;
    };
    let mut next_line = 1;
    let mut names = HashSet::new();
    let uncut =
        split_alone(path, source, usize::MAX, flavour).expect("a limit decides only where parts are cut");
    assert_eq!(split.document.sections.len(), uncut.document.sections.len());
    for (section, uncut) in split.document.sections.iter().zip(&uncut.document.sections) {
        assert_eq!(section.line_start, next_line, "{section:?}");
        assert!(section.line_end >= section.line_start, "{section:?}");
        next_line = section.line_end + 1;
        assert_eq!(section.anchor.is_empty(), section.level == 0, "{section:?}");
        for name in section.aliases.iter().chain([&section.anchor]) {
            assert!(names.insert(name), "{name:?} twice");
        }
        let own_texts = section.parts.iter().map(|part| {
            let end = part.text.len() - part.repeated_tail as usize;
            let own = &part.text[part.repeated_head as usize..end];
            assert!(!own.is_empty(), "{part:?}");
            own
        });
        let joined: String = own_texts.collect();
        assert_eq!(joined, uncut.parts[0].text);
    }
    // Line ends of other encodings are the decoder's affair.
    if let Ok(text) = std::str::from_utf8(source)
        && !text.contains('\0')
    {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        assert_eq!(next_line as usize, text.lines().count().max(1) + 1);
    }
}
