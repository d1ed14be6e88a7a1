//! Inline roles of `MyST` and Sphinx: `` {ref}`text <target>` ``.
//!
//! In: a line's place of a brace. Out: where the role ends and what of it is shown. Roles that point somewhere show
//! their text; all others show code.

use std::ops::Range;

use crate::markdown::char_boundary;

/// Roles whose text is prose.
const PROSE_ROLES: [&str; 16] = [
    "abbr",
    "any",
    "cite",
    "cite:p",
    "cite:t",
    "doc",
    "download",
    "eq",
    "guilabel",
    "menuselection",
    "numref",
    "ref",
    "sub",
    "sup",
    "term",
    "external",
];

/// Longest role, in bytes.
const LONGEST: usize = 400;

/// A role in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) range: Range<usize>,
    /// What is shown of it.
    pub(crate) shown: Range<usize>,
    /// Whether that is code, backticks included.
    pub(crate) is_code: bool,
}

/// The role whose opening brace stands at `position`.
pub(crate) fn role_at(text: &str, position: usize) -> Option<Role> {
    let near = &text[position..char_boundary(text, position + LONGEST)];
    let line = near.lines().next().unwrap_or_default();
    let (name, rest) = line.strip_prefix('{')?.split_once('}')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || b":-_+".contains(&byte));
    let inner = rest.strip_prefix('`').filter(|inner| !inner.starts_with('`'))?;
    let length = inner.find('`').filter(|&length| length > 0 && is_name)?;
    let ticks = position + line.len() - rest.len();
    let end = ticks + length + 2;
    let content = &inner[..length];
    let is_code = !PROSE_ROLES.contains(&name) && !name.starts_with("std:");
    let shown = match content.rfind(" <") {
        Some(target) if content.ends_with('>') && target > 0 => ticks + 1..ticks + 1 + target,
        _ if is_code => ticks..end,
        _ => ticks + 1..end - 1,
    };
    Some(Role {
        range: position..end,
        is_code: is_code && shown.start == ticks,
        shown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_show_their_text() {
        let cases = [
            ("{ref}`The guide <guide>` x", Some(("The guide", false))),
            ("{doc}`/install`", Some(("/install", false))),
            ("{py:func}`open`", Some(("`open`", true))),
            ("{class}`A file <io.File>`", Some(("A file", false))),
            ("{a: 1} `x`", None),
            ("{ref} `x`", None),
            ("{ref}``x``", None),
            ("{ref}`x", None),
            ("{", None),
        ];
        for (text, expected) in cases {
            let found = role_at(text, 0).map(|role| (&text[role.shown.clone()], role.is_code));
            assert_eq!(found, expected, "{text}");
        }
    }
}
