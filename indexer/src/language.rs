//! The language that a document is in.
//!
//! In: a document's front matter, its path, the tree it stands in, and its text. Out: a BCP 47 tag, or nothing where
//! nothing tells; the index reads such a document as English. The first that tells decides: the front matter; a folder
//! or an ending of the file's name that is a language tag where sites put one; the site's configuration, if it names
//! another language than English, which most configurations name because their template did; and the text itself,
//! where there is enough of it and it is beyond doubt ([`detection`]).
//!
//! A folder named like a language may be none (`id`, `is`, `cs`): see [`TreeLanguages`].

mod detection;

use std::collections::{BTreeMap, HashMap};

use docs_index::SectionSource;

/// Languages that documentation is written in, with the regions and scripts that sites give with them.
///
/// Languages that a site may be in without a further sign stand in [`CLEAR`]; names such as `to`, `so`, `as`, `or`, `am`
/// and `be` are words before they are languages and stand in neither.
const LANGUAGES: [(&str, &str); 58] = [
    ("ar", "ae eg ma sa"),
    ("az", "az"),
    ("bg", "bg"),
    ("bn", "bd in"),
    ("bs", "ba"),
    ("ca", "es"),
    ("cs", "cz"),
    ("da", "dk"),
    ("de", "at ch de"),
    ("el", "gr"),
    ("en", "au ca gb ie in nz us za"),
    ("es", "419 ar cl co es mx pe us"),
    ("et", "ee"),
    ("eu", "es"),
    ("fa", "ir"),
    ("fi", "fi"),
    ("fr", "be ca ch fr"),
    ("ga", "ie"),
    ("gl", "es"),
    ("he", "il"),
    ("hi", "in"),
    ("hr", "hr"),
    ("hu", "hu"),
    ("hy", "am"),
    ("id", "id"),
    ("is", "is"),
    ("it", "ch it"),
    ("ja", "jp"),
    ("ka", "ge"),
    ("kk", "kz"),
    ("ko", "kr"),
    ("lt", "lt"),
    ("lv", "lv"),
    ("mk", "mk"),
    ("ml", "in"),
    ("mn", "mn"),
    ("mr", "in"),
    ("ms", "my"),
    ("my", "mm"),
    ("nb", "no"),
    ("ne", "np"),
    ("nl", "be nl"),
    ("nn", "no"),
    ("no", "no"),
    ("pl", "pl"),
    ("pt", "br pt"),
    ("ro", "ro"),
    ("ru", "ru"),
    ("sk", "sk"),
    ("sl", "si"),
    ("sr", "cyrl latn rs"),
    ("sv", "fi se"),
    ("ta", "in lk"),
    ("th", "th"),
    ("tr", "tr"),
    ("uk", "ua"),
    ("vi", "vn"),
    ("zh", "cn hans hant hk mo sg tw"),
];

/// Languages whose tags mean little else in a docs tree.
const CLEAR: [&str; 8] = ["de", "en", "fr", "ja", "ko", "pt", "ru", "zh"];

/// Folders that hold one folder for each language.
const FOLDERS_OF_LANGUAGES: [&str; 7] = [
    "i18n",
    "l10n",
    "locale",
    "locales",
    "translated",
    "translation",
    "translations",
];

/// Folders in which sites keep their pages.
const FOLDERS_OF_PAGES: [&str; 8] = [
    "content",
    "doc",
    "docs",
    "documentation",
    "files",
    "pages",
    "site",
    "src",
];

/// A language with its script or region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LanguageTag {
    language: &'static str,
    /// Script or region in lower case; may be empty.
    variant: &'static str,
}

impl LanguageTag {
    /// The tag of a name, in whatever case and with `-` or `_`; none where it names no language of the table.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let (written, variant) = match name.iter().position(|byte| matches!(byte, b'-' | b'_')) {
            Some(at) => (&name[..at], Some(&name[at + 1..])),
            None => (name, None),
        };
        let (language, variants) = LANGUAGES
            .iter()
            .find(|(language, _)| written.eq_ignore_ascii_case(language.as_bytes()))?;
        let variant = match variant {
            None => "",
            Some(variant) => variants
                .split(' ')
                .find(|known| variant.eq_ignore_ascii_case(known.as_bytes()))?,
        };
        Some(Self { language, variant })
    }

    /// Whether it can be nothing else: a language with its region is no word.
    fn is_certain(self) -> bool {
        !self.variant.is_empty()
    }

    fn is_clear(self) -> bool {
        CLEAR.contains(&self.language)
    }
}

impl std::fmt::Display for LanguageTag {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.language)?;
        match self.variant.len() {
            0 => Ok(()),
            // A script: `zh-Hans`.
            4 => write!(
                formatter,
                "-{}{}",
                self.variant[..1].to_ascii_uppercase(),
                &self.variant[1..]
            ),
            _ => write!(formatter, "-{}", self.variant.to_ascii_uppercase()),
        }
    }
}

/// What the paths of a tree and its site say of the languages that documents are in.
///
/// A folder is a language's if its name is a tag with a region (`zh-cn`); a tag in a folder for languages (`i18n/cs`); a
/// clear one (`de`, `ja`) at the top of the tree or in a folder of pages (`docs/de`); or a tag that stands beside two
/// clear ones, or beside one where no more folders are something else (`en`, `id`). Known from all documents of the
/// tree, so that each shard of it decides alike.
#[derive(Debug, Default)]
pub(crate) struct TreeLanguages<'t> {
    /// All documents, in the order of their bytes.
    paths: &'t [Vec<u8>],
    /// Folders that are languages', without a final `/`.
    folders: HashMap<&'t [u8], LanguageTag>,
    /// What the site's configuration names; may be empty.
    of_site: &'t str,
}

impl<'t> TreeLanguages<'t> {
    /// Looks at all documents of the tree, sorted.
    pub(crate) fn new(paths: &'t [Vec<u8>], of_site: &'t str) -> Self {
        // By parent its folders, with what they are named like.
        let mut all: BTreeMap<&[u8], HashMap<&[u8], Option<LanguageTag>>> = BTreeMap::new();
        let mut last: &[u8] = b"";
        for path in paths {
            let folder = folder_of(path);
            if folder == last {
                continue;
            }
            last = folder;
            let mut start = 0;
            for name in folder.split(|&byte| byte == b'/') {
                let end = start + name.len();
                let parent = &folder[..start.saturating_sub(1)];
                let children = all.entry(parent).or_default();
                children.insert(&folder[..end], LanguageTag::of(name));
                start = end + 1;
            }
        }
        let mut folders = HashMap::new();
        for (parent, children) in all {
            let tags = || children.values().flatten();
            let unambiguous = tags().filter(|tag| tag.is_certain() || tag.is_clear()).count();
            let are_many = tags().count() > 1 && tags().count() * 2 >= children.len();
            let holds_languages =
                is_one_of(parent, &FOLDERS_OF_LANGUAGES) || unambiguous > 1 || (unambiguous == 1 && are_many);
            let holds_pages = parent.is_empty() || is_one_of(parent, &FOLDERS_OF_PAGES);
            let named = children
                .iter()
                .filter_map(|(folder, tag)| Some((*folder, (*tag)?)));
            folders.extend(
                named.filter(|(_, tag)| {
                    holds_languages || tag.is_certain() || (holds_pages && tag.is_clear())
                }),
            );
        }
        Self {
            paths,
            folders,
            of_site,
        }
    }

    /// The tag of a document, by the first of its facts that tells; empty where none does.
    pub(crate) fn of_document(&self, front: &str, path: &[u8], sections: &[SectionSource]) -> String {
        if is_tag(front) {
            return front.to_owned();
        }
        if let Some(tag) = self.of_path(path) {
            return tag.to_string();
        }
        if !self.of_site.is_empty() && !self.of_site.starts_with("en") {
            return self.of_site.to_owned();
        }
        detection::language_of(sections)
            .or((!self.of_site.is_empty()).then_some(self.of_site))
            .unwrap_or_default()
            .to_owned()
    }

    /// By the outermost folder that is a language's, else by the name's last ending but one: `page.de.md`.
    fn of_path(&self, path: &[u8]) -> Option<LanguageTag> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let by_folder = ends
            .map(|(end, _)| &path[..end])
            .find_map(|folder| self.folders.get(folder).copied());
        by_folder.or_else(|| {
            let dot = path.iter().rposition(|&byte| byte == b'.')?;
            let stem = &path[..dot];
            let start = stem.iter().rposition(|&byte| byte == b'.')?;
            let tag = LanguageTag::of(&stem[start + 1..])?;
            let is_language = tag.is_certain() || tag.is_clear() || {
                // Another language's page beside it: `page.md`, `page.en.md`.
                let of_original = |ending: &[u8]| [&path[..start], ending, &path[dot..]].concat();
                [of_original(b""), of_original(b".en")]
                    .iter()
                    .any(|original| self.paths.binary_search(original).is_ok())
            };
            is_language.then_some(tag)
        })
    }
}

fn folder_of(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    &path[..end]
}

/// Whether the last name of a folder is one of these.
fn is_one_of(folder: &[u8], names: &[&str]) -> bool {
    let name = folder.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    names
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a value of front matter has the form of a tag: a programming language in its place has not.
fn is_tag(value: &str) -> bool {
    let mut subtags = value.split(['-', '_']);
    let primary = subtags.next().unwrap_or_default();
    matches!(primary.len(), 2 | 3)
        && primary.bytes().all(|byte| byte.is_ascii_alphabetic())
        && subtags
            .all(|tag| (1..=8).contains(&tag.len()) && tag.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tags_where_the_table_has_them() {
        for (name, expected) in [
            ("de", Some("de")),
            ("DE", Some("de")),
            ("zh-cn", Some("zh-CN")),
            ("zh_Hant", Some("zh-Hant")),
            ("pt_BR", Some("pt-BR")),
            ("es-419", Some("es-419")),
            ("sr-Latn", Some("sr-Latn")),
            ("en-us", Some("en-US")),
            ("", None),
            ("to", None),
            ("to-do", None),
            ("is-it", None),
            ("no-js", None),
            ("go", None),
            ("in", None),
            ("deu", None),
            ("de-", None),
            ("de-de-x", None),
            ("my-ui", None),
        ] {
            let tag = LanguageTag::of(name.as_bytes()).map(|tag| tag.to_string());
            assert_eq!(tag.as_deref(), expected, "{name}");
        }
        assert!(LANGUAGES.is_sorted());
        assert!(CLEAR.iter().all(|tag| LanguageTag::of(tag.as_bytes()).is_some()));
    }

    /// The tags of the last document of each tree.
    #[test]
    fn paths_tell_where_sites_put_their_languages() {
        for (paths, expected) in [
            (&["docs/de/a.md"][..], Some("de")),
            (&["de/a.md"], Some("de")),
            (&["content/zh-cn/docs/a.md"], Some("zh-CN")),
            (&["files/en-us/web/html/element/th/index.md"], Some("en-US")),
            (
                &["i18n/cs/docusaurus-plugin-content-docs/current/a.md"],
                Some("cs"),
            ),
            (&["docs/en/a.md", "docs/id/a.md"], Some("id")),
            (
                &["src/content/docs/en/a.md", "src/content/docs/it/a.md"],
                Some("it"),
            ),
            (&["v2/guide/zh-tw/a.md"], Some("zh-TW")),
            (&["docs/a.md", "docs/ja/a/ko.md"], Some("ja")),
            (&["page.md", "page.tr.md"], Some("tr")),
            (&["page.en.md", "page.tr.md"], Some("tr")),
            (&["page.zh-cn.md"], Some("zh-CN")),
            (&["guide/page.fr.md"], Some("fr")),
            // Folders and endings that merely look like one.
            (&["docs/id/a.md"], None),
            (&["docs/is/a.md"], None),
            (&["docs/my/a.md", "docs/no/a.md"], None),
            (&["docs/cs/a.md"], None),
            (&["docs/go/a.md", "docs/in/a.md"], None),
            (
                &["web/html/element/hr/index.md", "web/html/element/tr/index.md"],
                None,
            ),
            (
                &[
                    "svg/attribute/cx/a.md",
                    "svg/attribute/fr/a.md",
                    "svg/attribute/fx/a.md",
                    "svg/attribute/in/a.md",
                    "svg/attribute/r/a.md",
                    "svg/attribute/id/a.md",
                ],
                None,
            ),
            (&["packages/de/a.md"], None),
            (&["Program.cs.md"], None),
            (&["docs/a.md"], None),
            (&["docs/de.md"], None),
            (&["languages/cs/a.md"], None),
        ] {
            let mut paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
            let last = paths.last().cloned().unwrap();
            paths.sort();
            let tag = TreeLanguages::new(&paths, "").of_path(&last);
            let text = String::from_utf8_lossy(&last).into_owned();
            assert_eq!(tag.map(|tag| tag.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_first_fact_that_tells_decides() {
        let paths = vec![b"docs/de/a.md".to_vec()];
        let german = "Diese Seite erklärt, wie man eine Anwendung einrichtet. ".repeat(8);
        let section = |prose: &str| SectionSource {
            parts: vec![docs_index::PartSource {
                fields: docs_index::BodyText {
                    prose: prose.to_owned(),
                    ..docs_index::BodyText::default()
                },
                ..docs_index::PartSource::default()
            }],
            ..SectionSource::default()
        };
        for (site, front, path, prose, expected) in [
            ("ja", "fr", "docs/de/a.md", "", "fr"),
            ("ja", "", "docs/de/a.md", "", "de"),
            ("ja", "python", "docs/de/a.md", "", "de"),
            ("ja", "", "docs/a.md", "", "ja"),
            ("ja", "", "docs/a.md", german.as_str(), "ja"),
            ("en", "", "docs/a.md", german.as_str(), "de"),
            ("en-US", "", "docs/a.md", "Short.", "en-US"),
            ("", "", "docs/a.md", german.as_str(), "de"),
            ("", "", "docs/a.md", "Kurz.", ""),
        ] {
            let languages = TreeLanguages::new(&paths, site);
            let found = languages.of_document(front, path.as_bytes(), &[section(prose)]);
            assert_eq!(found, expected, "{site} {front} {path}");
        }
    }
}
