//! Lines that mark something by themselves: colons and slashes that open a container, zones, images, tabs, labels.
//!
//! In: a line without the blanks around it. Out: what it marks, if it does, with places in the line.

use std::ops::Range;

/// What a line is that stands for itself.
pub(super) enum Mark {
    /// With the place of its label in the line.
    Open(Range<usize>),
    /// The place of its name.
    Tab(Range<usize>),
    /// A zone, a column, a label: nothing of it is shown.
    Unseen,
    Image(Image),
}

impl Mark {
    pub(super) fn of(line: &str) -> Option<Self> {
        match line.bytes().next()? {
            b'(' => return label_of(line).map(|_| Self::Unseen),
            b'#' => return tab_of(line).map(Self::Tab),
            b'>' => {
                let rest = line.trim_start_matches(['>', ' ']);
                return (rest.starts_with("[!div ") && rest.ends_with(']')).then_some(Self::Unseen);
            }
            b':' | b'/' => {}
            _ => return None,
        }
        let marker = line.chars().next()?;
        let rest = line.trim_start_matches(marker);
        let length = line.len() - rest.len();
        if length < 3 {
            return None;
        }
        let label = rest.trim_start();
        let name_end = label
            .find(|character: char| !character.is_ascii_alphanumeric() && !"-_".contains(character))
            .unwrap_or(label.len());
        let name = &label[..name_end];
        if marker == ':' {
            match name {
                "zone" | "zone-end" | "moniker" | "moniker-end" | "row" | "row-end" | "column"
                | "column-end" | "image-end" | "video" => return Some(Self::Unseen),
                "image" if label.ends_with(":::") => return Some(Self::Image(Image::of(line))),
                // Includes that could not be resolved stay visible.
                "code" if label.ends_with(":::") => return None,
                _ => {}
            }
        }
        let opens = if marker == ':' {
            // mkdocstrings names what it documents so: `::: package.module`.
            let is_identifier = label[name_end..].starts_with('.');
            !is_identifier && (!name.is_empty() || label.starts_with(['{', '[']))
        } else {
            // Three slashes begin comments too, where code stands without a fence.
            !name.is_empty()
                && matches!(
                    label[name_end..].trim_start().as_bytes().first(),
                    None | Some(b'|')
                )
        };
        if !opens || label.ends_with(":::") && marker == ':' {
            return None;
        }
        let start = line.len() - label.len();
        // Attributes at the end are no words: `:::note[Title]{.wide}`.
        let end = match label.rfind('{') {
            Some(brace) if brace > 0 && label.ends_with('}') => start + brace,
            _ => line.len(),
        };
        Some(Self::Open(start..start + line[start..end].trim_end().len()))
    }
}

/// The name in `(name)=`, by which `MyST` refers to what follows.
pub(crate) fn label_of(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('(')?.strip_suffix(")=")?;
    let is_label = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()[]{}<>#".contains(c));
    is_label.then_some(name)
}

/// The name in `# [Name](#tab/id)`, which opens a tab of Microsoft's.
fn tab_of(line: &str) -> Option<Range<usize>> {
    let rest = line.trim_start_matches('#').trim_start().strip_prefix('[')?;
    let (name, target) = rest.split_once("](#tab/")?;
    let start = line.len() - rest.len();
    (target.ends_with(')') && !target.contains(char::is_whitespace)).then(|| start..start + name.len())
}

/// `:::image type="content" source="a.png" alt-text="…":::`
pub(super) struct Image {
    /// Place of its alternative text.
    pub(super) alt: Range<usize>,
    pub(super) markdown: String,
}

impl Image {
    pub(super) fn of(mark: &str) -> Self {
        let value = |key: &str| {
            let start = mark.find(key)? + key.len();
            let length = mark[start..].find('"')?;
            Some(start..start + length)
        };
        let alt = value("alt-text=\"").unwrap_or_default();
        let source = value("source=\"").unwrap_or_default();
        // An icon says nothing that the text around it does not.
        let markdown = if alt.is_empty() && mark.contains("type=\"icon\"") {
            String::new()
        } else {
            format!("![{}]({})", &mark[alt.clone()], &mark[source])
        };
        Self { alt, markdown }
    }
}
