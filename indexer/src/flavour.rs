//! Flavours: how each site generator makes a heading's fragment from its text.
//!
//! In: the plain text of a heading. Out: its slug, the suffixes that tell equal slugs apart, and the other names by
//! which a site of that flavour may know the heading. Unicode letters stay in every flavour, and a slug without
//! letters and digits becomes `section`, where the generators leave it empty or make a name of their own.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The slug of a heading without letters.
const EMPTY_SLUG: &str = "section";

/// Whose rules name the headings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flavour {
    /// GitHub: a space becomes `-`, other punctuation goes.
    #[default]
    Github,
    /// GitLab: as GitHub, with runs of `-` as one.
    Gitlab,
    /// MkDocs: Python-Markdown's, with Unicode letters kept; its ASCII names are aliases.
    Mkdocs,
    /// Docusaurus: as GitHub.
    Docusaurus,
    /// VitePress: no accents, punctuation becomes `-`, `_` before a leading digit.
    Vitepress,
    /// Hugo: as GitHub, without combining marks.
    Hugo,
    /// mdBook: letters and digits, every blank a `-`.
    Mdbook,
    /// MDN: words joined by `_`; duplicates get `_2`, `_3`.
    Mdn,
}

/// A name that is no flavour's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown flavour of anchors {name:?}")]
pub struct UnknownFlavour {
    /// What was given.
    pub name: String,
}

/// What follows a slug that an earlier heading has: the joint, and a number from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suffix {
    pub(crate) joint: char,
    pub(crate) first: usize,
}

const HYPHEN: Suffix = Suffix { joint: '-', first: 1 };
const PYTHON: Suffix = Suffix { joint: '_', first: 1 };
const MDN: Suffix = Suffix { joint: '_', first: 2 };

/// Another way in which a site of a flavour may name its headings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alternative {
    /// The slug of a title, where this way names it at all.
    pub(crate) slug: fn(&str) -> Option<String>,
    pub(crate) suffix: Suffix,
}

impl Flavour {
    /// Every flavour.
    pub const ALL: [Self; 8] = [
        Self::Github,
        Self::Gitlab,
        Self::Mkdocs,
        Self::Docusaurus,
        Self::Vitepress,
        Self::Hugo,
        Self::Mdbook,
        Self::Mdn,
    ];

    /// The name by which it is chosen: `github`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Mkdocs => "mkdocs",
            Self::Docusaurus => "docusaurus",
            Self::Vitepress => "vitepress",
            Self::Hugo => "hugo",
            Self::Mdbook => "mdbook",
            Self::Mdn => "mdn",
        }
    }

    pub(crate) const fn suffix(self) -> Suffix {
        if matches!(self, Self::Mdn) { MDN } else { HYPHEN }
    }

    pub(crate) const fn alternatives(self) -> &'static [Alternative] {
        match self {
            Self::Github => &[Alternative {
                slug: with_selectors,
                suffix: HYPHEN,
            }],
            Self::Docusaurus => &[Alternative {
                slug: |title| with_selectors(&title.to_lowercase()),
                suffix: HYPHEN,
            }],
            Self::Gitlab => &[
                Alternative {
                    slug: |title| with_selectors(title).map(|slug| hyphens_as_one(&slug)),
                    suffix: HYPHEN,
                },
                Alternative {
                    slug: number_alone,
                    suffix: HYPHEN,
                },
            ],
            Self::Mkdocs => &[
                Alternative {
                    slug: |title| Some(slug(title, Self::Mkdocs)),
                    suffix: PYTHON,
                },
                Alternative {
                    slug: ascii,
                    suffix: PYTHON,
                },
            ],
            Self::Vitepress | Self::Hugo | Self::Mdbook | Self::Mdn => &[],
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Flavour {
    type Err = UnknownFlavour;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|flavour| flavour.name() == name);
        found.ok_or_else(|| UnknownFlavour {
            name: name.to_owned(),
        })
    }
}

/// The fragment of a heading that is the first of its text in the document.
pub(crate) fn slug(title: &str, flavour: Flavour) -> String {
    let slug = match flavour {
        Flavour::Github => without_selectors(github(title)),
        Flavour::Docusaurus => without_selectors(github(&title.to_lowercase())),
        Flavour::Gitlab => hyphens_as_one(&without_selectors(github(title.trim()))),
        Flavour::Mkdocs => python(title.nfc()),
        Flavour::Vitepress => vitepress(title),
        Flavour::Hugo => hugo(title.trim()),
        Flavour::Mdbook => mdbook(title),
        Flavour::Mdn => mdn(title),
    };
    let is_letter = |character: char| {
        character.is_alphanumeric()
            || is_combining_mark(character)
            || (character == '_' && flavour != Flavour::Mdn)
    };
    if slug.contains(is_letter) {
        slug
    } else {
        EMPTY_SLUG.to_owned()
    }
}

/// Lower case; letters, marks, numbers, `-` and `_` stay, a space becomes `-`, the rest goes.
fn github(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for character in title.chars() {
        if character == ' ' {
            slug.push('-');
        } else if character.is_ascii() {
            if character.is_ascii_alphanumeric() || matches!(character, '-' | '_') {
                slug.push(character.to_ascii_lowercase());
            }
        } else if character.is_alphanumeric() || is_combining_mark(character) {
            slug.extend(character.to_lowercase());
        }
    }
    slug
}

/// The mark that asks for an emoji in colour outlives its emoji in GitHub's slugs. Nobody could see or type it, so
/// it is only in an alias.
fn is_selector(character: char) -> bool {
    matches!(character, '\u{FE00}'..='\u{FE0F}')
}

fn without_selectors(slug: String) -> String {
    if slug.contains(is_selector) {
        slug.replace(is_selector, "")
    } else {
        slug
    }
}

fn with_selectors(title: &str) -> Option<String> {
    title.contains(is_selector).then(|| github(title))
}

fn hyphens_as_one(slug: &str) -> String {
    let mut squeezed = String::with_capacity(slug.len());
    for character in slug.chars() {
        if character != '-' || !squeezed.ends_with('-') {
            squeezed.push(character);
        }
    }
    squeezed
}

/// GitLab keeps bare numbers for its issues.
fn number_alone(title: &str) -> Option<String> {
    let slug = slug(title, Flavour::Gitlab);
    slug.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| format!("anchor-{slug}"))
}

/// Word characters, blanks and `-` stay, outer blanks go, runs of blanks and `-` become one `-`.
fn python(title: impl Iterator<Item = char>) -> String {
    let is_word =
        |character: char| character == '_' || (character.is_alphanumeric() && !is_combining_mark(character));
    let kept: String = title
        .filter(|&character| is_word(character) || character.is_whitespace() || character == '-')
        .collect();
    let kept = kept.trim().to_lowercase();
    hyphens_as_one(&kept.replace(char::is_whitespace, "-"))
}

/// What Python-Markdown makes by default: letters that are no ASCII letters with an accent go.
fn ascii(title: &str) -> Option<String> {
    let slug = python(title.nfkd().filter(char::is_ascii));
    (!slug.is_empty()).then_some(slug)
}

fn vitepress(title: &str) -> String {
    let mut slug = String::with_capacity(title.len() + 1);
    let plain = title
        .nfkd()
        .filter(|character| !matches!(character, '\u{300}'..='\u{36F}' | '\0'..='\u{1F}'));
    for character in plain {
        let is_special = character.is_whitespace()
            || matches!(character, '“' | '”' | '‘' | '’')
            || character.is_ascii_punctuation();
        if !is_special {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    let joint = if slug.starts_with(|first: char| first.is_ascii_digit()) {
        "_"
    } else {
        ""
    };
    // Hangul and kana are whole again, as people write them in links.
    joint.chars().chain(slug.to_lowercase().nfc()).collect()
}

fn hugo(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for character in title.chars() {
        if matches!(character, ' ' | '\t' | '-') {
            slug.push('-');
        } else if character == '_' || is_letter_or_digit(character) {
            let lower = character.to_lowercase();
            slug.extend(lower.filter(|&lower| !is_combining_mark(lower)));
        }
    }
    slug
}

/// Whether Unicode calls a character a letter or a decimal digit; other numbers (`²`, `①`, `Ⅷ`), marks and letters
/// in circles are neither.
fn is_letter_or_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let is_letter = character.is_alphabetic() && !character.is_numeric() && !is_combining_mark(character);
    let is_number = character.is_numeric() && !character.is_alphabetic();
    let is_neither = matches!(character,
        '²' | '³' | '¹' | '¼'..='¾' | '\u{2070}'..='\u{2079}' | '\u{2080}'..='\u{2089}' | '\u{2150}'..='\u{215F}'
        | '\u{2189}' | '\u{2460}'..='\u{24FF}' | '\u{2776}'..='\u{2793}' | '\u{3192}'..='\u{3195}'
        | '\u{3220}'..='\u{3229}' | '\u{3248}'..='\u{325F}' | '\u{3280}'..='\u{3289}' | '\u{32B1}'..='\u{32BF}'
        | '\u{1F100}'..='\u{1F10C}' | '\u{1F130}'..='\u{1F189}');
    (is_letter || is_number) && !is_neither
}

fn mdbook(title: &str) -> String {
    let kept = title.trim().to_lowercase();
    let named = kept.chars().filter_map(|character| match character {
        '_' | '-' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ if character.is_whitespace() => Some('-'),
        _ => None,
    });
    named.collect()
}

fn mdn(title: &str) -> String {
    let is_dropped = |character: char| r##"*<>"#$%&+,/:;=?@[]^`{|}~'()\"##.contains(character);
    let kept = title.to_lowercase().replace(is_dropped, "");
    let mut slug = String::with_capacity(kept.len());
    for word in kept.split_whitespace() {
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.push_str(word);
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;
    use Flavour::{Docusaurus, Github, Gitlab, Hugo, Mdbook, Mdn, Mkdocs, Vitepress};

    fn slugs_are(flavour: Flavour, cases: &[(&str, &str)]) {
        for &(title, expected) in cases {
            assert_eq!(slug(title, flavour), expected, "{flavour}: {title:?}");
        }
    }

    #[test]
    fn github_and_docusaurus() {
        let cases = [
            ("Hello World", "hello-world"),
            ("Use & care", "use--care"),
            ("C++", "c"),
            ("snake_case-x", "snake_case-x"),
            ("Быстрый старт", "быстрый-старт"),
            ("Déjà vu", "déjà-vu"),
            ("De\u{301}ja", "de\u{301}ja"),
            ("概要", "概要"),
            ("설치 방법", "설치-방법"),
            ("हिन्दी", "हिन्दी"),
            ("Vec<T>::new()", "vectnew"),
            ("1.2 Notes", "12-notes"),
            ("🚀 Launch", "-launch"),
            ("⚙\u{FE0F} Settings", "-settings"),
            ("_", "_"),
        ];
        slugs_are(Github, &cases);
        slugs_are(Docusaurus, &cases);
        slugs_are(Docusaurus, &[("ΟΔΟΣ", "οδος")]);
    }

    #[test]
    fn gitlab() {
        slugs_are(
            Gitlab,
            &[
                ("Use & care", "use-care"),
                ("a - b -- c", "a-b-c"),
                ("-c option", "-c-option"),
                ("한글 (제목)", "한글-제목"),
                ("snake__case", "snake__case"),
                ("2024", "2024"),
                ("🚀 Launch", "-launch"),
            ],
        );
    }

    #[test]
    fn mkdocs() {
        slugs_are(
            Mkdocs,
            &[
                ("Use & care", "use-care"),
                ("a - b\u{3000}c", "a-b-c"),
                ("Déjà Vu", "déjà-vu"),
                ("De\u{301}ja", "déja"),
                ("snake_case", "snake_case"),
                ("概要", "概要"),
                ("설치 방법", "설치-방법"),
                ("1.2 Notes", "12-notes"),
                ("`async def` & co.", "async-def-co"),
                ("🚀 Launch", "launch"),
                ("Dash -", "dash-"),
            ],
        );
        for (title, expected) in [
            ("Déjà Vu", Some("deja-vu")),
            ("Straße", Some("strae")),
            ("ﬁt", Some("fit")),
            ("概要 2", Some("2")),
            ("概要", None),
        ] {
            assert_eq!(ascii(title).as_deref(), expected, "{title}");
        }
    }

    #[test]
    fn vitepress() {
        slugs_are(
            Vitepress,
            &[
                ("Use & care", "use-care"),
                ("Déjà Vu", "deja-vu"),
                ("snake_case", "snake-case"),
                ("1.2 Notes", "_1-2-notes"),
                ("`v-if` vs. `v-show`", "v-if-vs-v-show"),
                ("“Quoted” (x)", "quoted-x"),
                ("설치 방법", "설치-방법"),
                ("ガイド", "ガイド"),
                ("安装", "安装"),
                ("й ё", "и-е"),
                ("a — b", "a-—-b"),
                ("Tab\there", "tabhere"),
                ("🚀 Launch", "🚀-launch"),
                ("Ⅷ", "viii"),
            ],
        );
    }

    #[test]
    fn hugo() {
        slugs_are(
            Hugo,
            &[
                ("Use & care", "use--care"),
                ("  Déjà Vu ", "déjà-vu"),
                ("De\u{301}ja", "deja"),
                ("snake_case-x", "snake_case-x"),
                ("m² ① Ⅷ x", "m---x"),
                ("安装 kubectl", "安装-kubectl"),
                ("설치 방법", "설치-방법"),
                ("١٢", "١٢"),
                ("v1.2.3", "v123"),
                ("İ", "i"),
                ("🚀 Launch", "-launch"),
            ],
        );
    }

    #[test]
    fn mdbook() {
        slugs_are(
            Mdbook,
            &[
                ("`--passes`: add more", "--passes-add-more"),
                (" Übersicht ", "übersicht"),
                ("snake_case-x", "snake_case-x"),
                ("A\u{a0}b", "a-b"),
                ("中文標題 CJK title", "中文標題-cjk-title"),
                ("한국어", "한국어"),
                ("🐙 x", "-x"),
                ("m² x", "m²-x"),
            ],
        );
    }

    #[test]
    fn mdn() {
        slugs_are(
            Mdn,
            &[
                ("Browser compatibility", "browser_compatibility"),
                ("Load & unload events", "load_unload_events"),
                ("The !important exception", "the_!important_exception"),
                (
                    "Guideline 2.4 — Navigable: ways",
                    "guideline_2.4_—_navigable_ways",
                ),
                ("Array.prototype[@@iterator]()", "array.prototypeiterator"),
                (
                    "Using async function* expression",
                    "using_async_function_expression",
                ),
                ("snake_case-x", "snake_case-x"),
                ("안내 문서", "안내_문서"),
                ("Événement", "événement"),
            ],
        );
    }

    #[test]
    fn a_title_without_letters_is_a_section() {
        for flavour in Flavour::ALL {
            for title in ["", " ", "::", "->", "-", "- -", "🚀", "…"] {
                assert_eq!(slug(title, flavour), "section", "{flavour}: {title:?}");
            }
        }
        assert_eq!(slug("_ -", Mdn), "section");
    }

    #[test]
    fn flavours_have_names() {
        for flavour in Flavour::ALL {
            assert_eq!(flavour.to_string().parse(), Ok(flavour));
        }
        let unknown = "GitHub".parse::<Flavour>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown flavour of anchors \"GitHub\"");
    }
}
