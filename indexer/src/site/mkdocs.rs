//! The configuration of `MkDocs`: where its snippets are looked for.
//!
//! In: `mkdocs.yml` and the files it inherits from. Out: the folders of `base_path`, in its order; without one the
//! folder of the configuration. Tags such as `!!python/name:` and `!ENV` are passed over; where YAML itself fails, the
//! lines that set `base_path` are still read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_norway::Value;

use super::{Place, Reader};

const SNIPPETS: &str = "pymdownx.snippets";
/// Configurations that one may inherit from, one after another.
const LONGEST_INHERITANCE: usize = 4;

/// What a path may begin with, by the tag `!relative`.
const CONFIG_FOLDER: &str = "$config_dir";
const DOCS_FOLDER: &str = "$docs_dir";

pub(super) fn snippet_folders(config: &Path, place: Place<'_>, reader: &mut Reader<'_>) -> Vec<PathBuf> {
    let mut file = config.to_owned();
    let mut settings = Settings::default();
    for _ in 0..=LONGEST_INHERITANCE {
        let Some(text) = reader.read(&file, place) else {
            break;
        };
        let found = read(&text).unwrap_or_else(|(line, reason)| {
            // MkDocs takes a key given twice.
            if !reason.contains("duplicate entry") {
                let message = format!("is no YAML: {reason}; its lines are read for `base_path` alone");
                reader.warn(&file, place, line, &message);
            }
            Settings {
                base_path: lines_of_base_path(&text),
                ..Settings::default()
            }
        });
        settings.base_path = settings.base_path.or(found.base_path);
        settings.docs_folder = settings.docs_folder.or(found.docs_folder);
        match (found.inherits, file.parent()) {
            (Some(parent), Some(folder)) if settings.base_path.is_none() => file = folder.join(parent),
            _ => break,
        }
    }
    let Some(paths) = settings.base_path else {
        return vec![place.folder.to_owned()];
    };
    let docs_folder = place
        .folder
        .join(settings.docs_folder.as_deref().unwrap_or("docs"));
    let mut folders = Vec::new();
    for path in paths {
        let folder = if let Some(rest) = path.strip_prefix(CONFIG_FOLDER) {
            place.folder.join(rest.trim_start_matches('/'))
        } else if let Some(rest) = path.strip_prefix(DOCS_FOLDER) {
            docs_folder.join(rest.trim_start_matches('/'))
        } else {
            place.folder.join(&path)
        };
        // A folder that is not there holds no snippets.
        let Some(folder) = fs::canonicalize(folder).ok().filter(|folder| folder.is_dir()) else {
            continue;
        };
        if !reader.holds(&folder) {
            let message =
                format!("its `base_path` {path:?} leads out of the folders around the tree and is not used");
            reader.warn(config, place, None, &message);
        } else if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    base_path: Option<Vec<String>>,
    docs_folder: Option<String>,
    inherits: Option<String>,
}

/// What YAML says; else the line of its fault, from 1, and the fault.
fn read(text: &str) -> Result<Settings, (Option<u32>, String)> {
    let value: Value = serde_norway::from_str(text).map_err(|error| {
        let line = error
            .location()
            .and_then(|location| u32::try_from(location.line()).ok());
        (line, error.to_string())
    })?;
    let key = |name: &str| text_of(value.get(name)?).map(str::to_owned);
    Ok(Settings {
        base_path: value
            .get("markdown_extensions")
            .and_then(snippets)
            .and_then(paths),
        docs_folder: key("docs_dir"),
        inherits: key("INHERIT"),
    })
}

/// `base_path` of the extension, in a list of extensions or a mapping of them.
fn snippets(extensions: &Value) -> Option<&Value> {
    let options = match extensions {
        Value::Sequence(list) => list.iter().find_map(|extension| extension.get(SNIPPETS)),
        _ => extensions.get(SNIPPETS),
    };
    options?.get("base_path")
}

fn paths(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Sequence(list) => Some(list.iter().filter_map(text_of).map(str::to_owned).collect()),
        _ => text_of(value).map(|path| vec![path.to_owned()]),
    }
}

/// A text, whatever its tag; of `!ENV [NAME, default]` the default, for the environment is not read.
fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::Tagged(tagged) if tagged.tag == "ENV" => match &tagged.value {
            Value::Sequence(list) if list.len() > 1 => list.last().and_then(Value::as_str),
            _ => None,
        },
        Value::Tagged(tagged) => tagged.value.as_str(),
        _ => value.as_str(),
    }
}

/// `base_path: x`, `base_path: [x, y]`, or `base_path:` with lines of `- x`, wherever it stands.
fn lines_of_base_path(text: &str) -> Option<Vec<String>> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.trim_start().strip_prefix("base_path:"))?;
    let value = plain(value);
    if let Some(list) = value.strip_prefix('[') {
        let items = list.trim_end_matches(']').split(',').map(plain);
        return Some(items.filter(|item| !item.is_empty()).map(str::to_owned).collect());
    }
    if !value.is_empty() {
        return Some(vec![value.to_owned()]);
    }
    let items = lines.map_while(|line| line.trim_start().strip_prefix("- "));
    Some(items.map(|item| plain(item).to_owned()).collect())
}

/// A scalar of one line without its tag, quotes and comment.
fn plain(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    let value = match value.strip_prefix('!') {
        Some(tagged) => tagged.split_once(' ').map_or("", |(_, value)| value.trim()),
        None => value,
    };
    value.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::super::tests::repository;
    use super::*;
    use crate::report::Warning;
    use crate::site::Site;

    /// The snippet folders of a site in `site/`, as paths in the repository, and the warnings.
    fn folders(files: &[(&str, &str)]) -> (Vec<String>, Vec<Warning>) {
        let repository = repository(files);
        for name in ["site/docs/inc", "site/snippets", "docs_src"] {
            fs::create_dir_all(repository.path().join(name)).unwrap();
        }
        let (site, warnings) = Site::detect(&repository.path().join("site/docs"));
        let root = fs::canonicalize(repository.path()).unwrap();
        let in_root = |folder: PathBuf| folder.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        (site.snippet_folders.into_iter().map(in_root).collect(), warnings)
    }

    #[test]
    fn base_path_is_a_path_or_a_list() {
        let tags = "  - pymdownx.emoji:\n      emoji_index: !!python/name:material.extensions.emoji.twemoji\n  \
            - pymdownx.slugs:\n      slugify: !!python/object/apply:pymdownx.slugs.slugify\n        kwds:\n          case: lower\n";
        let cases: [(&str, &[&str]); 14] = [
            ("", &["site"]),
            (
                "markdown_extensions:\n  - toc\n  - pymdownx.snippets\n",
                &["site"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: docs/inc\n",
                &["site/docs/inc"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: [snippets, docs/inc, ./snippets]\n",
                &["site/snippets", "site/docs/inc"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path:\n        - ../docs_src\n        - .\n",
                &["docs_src", "site"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: [missing, docs]\n",
                &["site/docs"],
            ),
            (
                "  pymdownx.snippets:\n    base_path: snippets\n",
                &["site/snippets"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: !relative $docs_dir/inc\n",
                &["site/docs/inc"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: [!relative $config_dir]\n",
                &["site"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: !ENV [SNIPPETS, snippets]\n",
                &["site/snippets"],
            ),
            (
                "  - pymdownx.snippets:\n      base_path: !ENV SNIPPETS\n",
                &["site"],
            ),
            ("  - pymdownx.snippets:\n      base_path: 3\n", &["site"]),
            ("  - pymdownx.snippets: null\n", &["site"]),
            ("  - pymdownx.snippets:\n      base_path: []\n", &[]),
        ];
        for (text, expected) in cases {
            let config = if text.starts_with("  pymdownx") {
                format!("site_name: x\nmarkdown_extensions:\n{text}")
            } else if text.starts_with(' ') {
                format!("site_name: !ENV [A, b]\nmarkdown_extensions:\n{tags}{text}")
            } else {
                text.to_owned()
            };
            let found = folders(&[("site/mkdocs.yml", &config)]);
            assert_eq!(
                found,
                (expected.iter().map(|&f| f.to_owned()).collect(), Vec::new()),
                "{config}"
            );
        }
    }

    #[test]
    fn what_is_not_set_is_inherited() {
        let base =
            "docs_dir: docs\nmarkdown_extensions:\n  - pymdownx.snippets:\n      base_path: snippets\n";
        let own = "INHERIT: ../shared/base.yml\n";
        let found = folders(&[("site/mkdocs.yml", own), ("shared/base.yml", base)]);
        assert_eq!(found, (vec!["site/snippets".to_owned()], Vec::new()));
        let looped = folders(&[("site/mkdocs.yml", "INHERIT: mkdocs.yml\n")]);
        assert_eq!(looped, (vec!["site".to_owned()], Vec::new()));
        let (found, warnings) = folders(&[("site/mkdocs.yml", "INHERIT: nowhere.yml\n")]);
        assert_eq!(found, ["site"]);
        assert_eq!(warnings[0].path, "../nowhere.yml");
    }

    #[test]
    fn a_base_path_outside_is_refused() {
        for outside in ["/", "../../.."] {
            let text =
                format!("markdown_extensions:\n  pymdownx.snippets:\n    base_path: [{outside}, snippets]\n");
            let (found, warnings) = folders(&[("site/mkdocs.yml", &text)]);
            assert_eq!(found, ["site/snippets"]);
            let message = format!(
                "its `base_path` {outside:?} leads out of the folders around the tree and is not used"
            );
            assert_eq!(warnings[0].message, message);
            assert_eq!(warnings[0].path, "../mkdocs.yml");
        }
    }

    #[test]
    fn broken_yaml_is_read_line_by_line() {
        let broken = "a: [\nmarkdown_extensions:\n  - pymdownx.snippets:\n";
        let cases: [(&str, &[&str]); 5] = [
            ("", &["site"]),
            ("      base_path: 'snippets' # here\n", &["site/snippets"]),
            (
                "      base_path: [\"snippets\", docs/inc]\n",
                &["site/snippets", "site/docs/inc"],
            ),
            (
                "      base_path:\n        - !relative $docs_dir\n        - \"snippets\"\n      x: y\n",
                &["site/docs", "site/snippets"],
            ),
            ("      base_path:\n", &[]),
        ];
        for (text, expected) in cases {
            let (found, warnings) = folders(&[("site/mkdocs.yml", &[broken, text].concat())]);
            assert_eq!(found, expected, "{text}");
            assert_eq!(warnings.len(), 1);
            assert!(
                warnings[0].message.starts_with("is no YAML: "),
                "{}",
                warnings[0].message
            );
            assert!(warnings[0].line.is_some());
        }
        let twice = "docs_dir: docs\ndocs_dir: docs\nmarkdown_extensions:\n  pymdownx.snippets:\n    base_path: snippets\n";
        assert_eq!(
            folders(&[("site/mkdocs.yml", twice)]),
            (vec!["site/snippets".to_owned()], Vec::new())
        );
    }
}
