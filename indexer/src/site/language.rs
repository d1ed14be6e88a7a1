//! The language of a site, as its configuration names it.
//!
//! In: a site and its configuration's text. Out: the tag of the language that pages are in which do not say otherwise;
//! none where the configuration names none, or names what is no language.

use serde_norway::Value;

use super::{Reader, Site, docusaurus};
use crate::flavour::Flavour;
use crate::language::LanguageTag;

pub(super) fn of_site(site: &Site, reader: &Reader<'_>) -> String {
    let named = site
        .config
        .as_deref()
        .zip(site.flavour)
        .and_then(|(config, flavour)| {
            // Whoever reads it for more has warned if it cannot be read.
            let text = reader.text(config).ok()?;
            named(flavour, site.myst, &text)
        });
    named
        .and_then(|name| LanguageTag::of(name.as_bytes()))
        .map(|tag| tag.to_string())
        .unwrap_or_default()
}

fn named(flavour: Flavour, is_sphinx: bool, text: &str) -> Option<String> {
    match flavour {
        Flavour::Mkdocs => {
            let value: Value = serde_norway::from_str(text).ok()?;
            Some(value.get("theme")?.get("language")?.as_str()?.to_owned())
        }
        Flavour::Mdbook => {
            let table: toml::Table = text.parse().ok()?;
            Some(table.get("book")?.get("language")?.as_str()?.to_owned())
        }
        Flavour::Hugo => ["defaultcontentlanguage", "languagecode"]
            .iter()
            .find_map(|key| setting(text, key))
            .map(str::to_owned),
        Flavour::Docusaurus => docusaurus::value_of(text, "defaultLocale").map(str::to_owned),
        Flavour::Vitepress => docusaurus::value_of(text, "lang").map(str::to_owned),
        _ if is_sphinx => setting(text, "language").map(str::to_owned),
        _ => None,
    }
}

/// The value on the first line that sets this key, in TOML, YAML, JSON or Python, the key in whatever case.
fn setting<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '"' | '\''));
        let (found, rest) = line.split_at_checked(key.len())?;
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        let value = rest.strip_prefix(['=', ':'])?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
        found
            .eq_ignore_ascii_case(key)
            .then(|| &value[..end.unwrap_or(value.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_name_a_language() {
        for (flavour, is_sphinx, text, expected) in [
            (
                Flavour::Mkdocs,
                false,
                "site_name: x\ntheme:\n  name: material\n  language: pt-BR\n",
                Some("pt-BR"),
            ),
            (Flavour::Mkdocs, false, "theme: material\n", None),
            (Flavour::Mkdocs, false, ":\n  - [", None),
            (Flavour::Mdbook, false, "[book]\nlanguage = \"zh\"\n", Some("zh")),
            (Flavour::Mdbook, false, "[book]\ntitle = 'x'\n", None),
            (
                Flavour::Hugo,
                false,
                "languageCode = 'en-us'\ndefaultContentLanguage = \"ja\"\n",
                Some("ja"),
            ),
            (
                Flavour::Hugo,
                false,
                "baseURL: x\nlanguageCode: ko # x\n",
                Some("ko"),
            ),
            (
                Flavour::Docusaurus,
                false,
                "export default { i18n: { defaultLocale: 'fr', locales: ['fr', 'de'] } }",
                Some("fr"),
            ),
            (Flavour::Docusaurus, false, "// defaultLocale: 'fr'", None),
            (
                Flavour::Vitepress,
                false,
                "export default defineConfig({\n  lang: 'zh-CN',\n})",
                Some("zh-CN"),
            ),
            (
                Flavour::Github,
                true,
                "import sphinx\nlanguage = 'de'\n",
                Some("de"),
            ),
            (Flavour::Github, true, "# language = 'de'\n", None),
            (Flavour::Github, true, "language = None\n", Some("None")),
            (Flavour::Github, false, "language = 'de'\n", None),
        ] {
            assert_eq!(named(flavour, is_sphinx, text).as_deref(), expected, "{text}");
        }
    }
}
