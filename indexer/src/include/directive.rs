//! A directive that asks for a file, whichever tool's it is, and what the file becomes.

use crate::include::roots::Family;
use crate::include::selection::Selection;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directive {
    pub(crate) family: Family,
    /// As written.
    pub(crate) path: String,
    pub(crate) selection: Selection,
    pub(crate) rendering: Rendering,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rendering {
    /// The lines take the place of the directive, and directives in them are resolved in turn.
    Text,
    /// A block of code.
    Fence {
        /// Empty: that of the file's suffix.
        language: String,
        title: String,
    },
}

impl Rendering {
    pub(crate) fn fence(language: &str, title: &str) -> Self {
        Self::Fence {
            language: language.to_owned(),
            title: title.to_owned(),
        }
    }
}

/// A directive in a line of text, and what it is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the line, from where the directive begins.
    pub(crate) length: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Include(Box<Directive>),
    /// An escaped directive: shown as this many of its bytes from the end, without what escapes it.
    Shown {
        from: usize,
    },
}

impl Found {
    pub(crate) fn include(length: usize, directive: Directive) -> Self {
        Self {
            length,
            what: What::Include(Box::new(directive)),
        }
    }
}

/// Whether a word can be a file's path, for the forms that other languages use for other things.
pub(crate) fn is_path(word: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "{}()<>\"'`|;=&$*?!,".contains(c);
    !word.is_empty() && word.contains(['.', '/']) && !word.contains(odd)
}

/// Whether nothing can be fetched from the path without a network.
pub(crate) fn is_remote(path: &str) -> bool {
    let scheme = path.split("://").next().unwrap_or_default();
    let is_scheme =
        scheme.len() < path.len() && scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    is_scheme || path.starts_with("//")
}

/// The language that a fence names for files of this suffix.
pub(crate) fn language_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let Some((_, suffix)) = name.rsplit_once('.') else {
        return match name {
            "Dockerfile" => "dockerfile",
            "Makefile" => "makefile",
            _ => "",
        };
    };
    let known = match suffix {
        "py" | "pyi" => "python",
        "rs" => "rust",
        "rb" => "ruby",
        "js" | "mjs" | "cjs" => "javascript",
        "ts" | "mts" | "cts" => "typescript",
        "cs" => "csharp",
        "fs" => "fsharp",
        "kt" | "kts" => "kotlin",
        "md" | "markdown" => "markdown",
        "yml" => "yaml",
        "sh" => "bash",
        "ps1" | "psm1" | "psd1" => "powershell",
        "h" => "c",
        "cc" | "cxx" | "hpp" | "hh" => "cpp",
        "pl" => "perl",
        "hs" => "haskell",
        "ex" | "exs" => "elixir",
        "txt" => "text",
        "htm" => "html",
        _ => suffix,
    };
    let is_word = known
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+#-_".contains(&byte));
    if is_word { known } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_told_from_other_words() {
        for word in ["a.md", "../src/x.py", "src/Makefile", "./é.rs"] {
            assert!(is_path(word) && !is_remote(word), "{word}");
        }
        for word in ["", "isOpen", "a && b.c", "props.onClick()", "a.b,"] {
            assert!(!is_path(word), "{word}");
        }
        for url in ["https://a.b/c.md", "file:///etc/passwd", "//host/x.md"] {
            assert!(is_remote(url), "{url}");
        }
        assert!(!is_remote("/etc/passwd") && !is_remote("a//b"));
    }

    #[test]
    fn languages_come_from_suffixes() {
        for (path, language) in [
            ("a/b.py", "python"),
            ("b.toml", "toml"),
            ("x.tar.gz", "gz"),
            ("Dockerfile", "dockerfile"),
            ("LICENSE", ""),
            ("a.b c", ""),
            ("a\\b.cs", "csharp"),
        ] {
            assert_eq!(language_of(path), language, "{path}");
        }
    }
}
