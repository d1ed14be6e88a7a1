//! The site that a docs tree is made for, read from the tree's own configuration.
//!
//! In: the folder given to `build`. Out: whose rules name its headings, where its includes are looked for, which
//! dialect its `.md` files are in, and warnings about a configuration that could not be read. Looked at are the tree
//! and its parents up to the one that holds `.git`, or at most three parents where none does; the nearest folder with
//! a known configuration decides. Nothing is executed, and nothing outside of the outermost of these folders is read.

mod docusaurus;
mod hugo;
mod language;
mod mkdocs;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::flavour::Flavour;
use crate::report::{Warning, WarningKind, path_for_people};

/// Parents looked at where no folder around the tree holds `.git`.
const PARENTS_WITHOUT_REPOSITORY: usize = 3;
/// Bytes of the largest configuration that is read.
const LARGEST_CONFIGURATION: u64 = 1 << 20;
/// Languages for which MDN keeps a list of moved pages in its tree.
const MDN_LOCALES: [&str; 10] = [
    "en-us", "de", "es", "fr", "ja", "ko", "pt-br", "ru", "zh-cn", "zh-tw",
];

/// What the configuration around a docs tree says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// Whose rules name its headings, where a configuration tells.
    pub flavour: Option<Flavour>,
    /// The file by which it was recognised.
    pub config: Option<PathBuf>,
    /// The folder that the configuration is of.
    pub folder: Option<PathBuf>,
    /// Outermost folder that was looked at: nothing that the configuration names lies outside of it.
    pub root: Option<PathBuf>,
    /// `MkDocs`: folders in which snippets are looked for, in this order.
    pub snippet_folders: Vec<PathBuf>,
    /// Docusaurus: `.md` files are MDX too.
    pub markdown_is_mdx: bool,
    /// Sphinx or `MyST`: directives and roles mean something.
    pub myst: bool,
    /// A vault of Obsidian's: what stands between `%%` is a remark.
    pub obsidian: bool,
    /// Tag of the language that its pages are in unless they say otherwise; empty where no configuration tells.
    pub language: String,
}

impl Site {
    /// Reads what stands in `tree` and in the folders around it.
    ///
    /// A tree that does not exist, or of which no configuration is known, is of no particular site.
    pub fn detect(tree: &Path) -> (Self, Vec<Warning>) {
        let Some(reach) = Reach::of(tree) else {
            return (Self::default(), Vec::new());
        };
        let mut reader = Reader {
            root: reach.root(),
            warnings: Vec::new(),
        };
        let folders = reach.folders.iter().enumerate();
        let mut found = folders
            .clone()
            .find_map(|(distance, folder)| Self::of_folder(folder, distance, &mut reader));
        if found.is_none() {
            found = folders.clone().find_map(|(_, folder)| {
                let config = first_file(folder, &[".gitlab-ci.yml"])?;
                Some(Self::named(Flavour::Gitlab, &config, folder))
            });
        }
        let found = found.unwrap_or_default();
        let site = Self {
            language: language::of_site(&found, &reader),
            root: Some(reach.root().to_owned()),
            obsidian: reach
                .folders
                .iter()
                .any(|folder| folder.join(".obsidian").is_dir()),
            ..found
        };
        (site, reader.warnings)
    }

    fn named(flavour: Flavour, config: &Path, folder: &Path) -> Self {
        Self {
            flavour: Some(flavour),
            config: Some(config.to_owned()),
            folder: Some(folder.to_owned()),
            ..Self::default()
        }
    }

    /// The site configured in this folder; where there are several, the first of this order.
    fn of_folder(folder: &Path, distance: usize, reader: &mut Reader<'_>) -> Option<Self> {
        let place = Place { folder, distance };
        if let Some(config) = first_file(folder, &["mkdocs.yml", "mkdocs.yaml"]) {
            return Some(Self {
                snippet_folders: mkdocs::snippet_folders(&config, place, reader),
                ..Self::named(Flavour::Mkdocs, &config, folder)
            });
        }
        if let Some(config) = script(folder, "docusaurus.config") {
            let text = reader.read(&config, place);
            return Some(Self {
                markdown_is_mdx: text.is_none_or(|text| docusaurus::markdown_is_mdx(&text)),
                ..Self::named(Flavour::Docusaurus, &config, folder)
            });
        }
        let vitepress = script(folder, ".vitepress/config")
            .or_else(|| first_file(folder, &[".vitepress/config.json"]))
            .or_else(|| script(folder, ".vitepress/config/index"));
        if let Some(config) = vitepress {
            return Some(Self::named(Flavour::Vitepress, &config, folder));
        }
        if let Some(config) = hugo::config(place, reader) {
            return Some(Self::named(Flavour::Hugo, &config, folder));
        }
        if let Some(config) = first_file(folder, &["book.toml"]) {
            return Some(Self::named(Flavour::Mdbook, &config, folder));
        }
        let mdn = first_file(folder, &["front-matter-config.json"]).or_else(|| {
            let redirects = |locale: &&str| first_file(folder, &[&format!("files/{locale}/_redirects.txt")]);
            MDN_LOCALES.iter().find_map(redirects)
        });
        if let Some(config) = mdn {
            return Some(Self::named(Flavour::Mdn, &config, folder));
        }
        let myst = first_file(folder, &["myst.yml"]).or_else(|| {
            let config = first_file(folder, &["conf.py"])?;
            reader
                .read(&config, place)
                .is_none_or(|text| is_of_sphinx(&text))
                .then_some(config)
        });
        myst.map(|config| Self {
            myst: true,
            ..Self::named(Flavour::Github, &config, folder)
        })
    }
}

/// Many programs have a `conf.py`; this one names what only Sphinx knows.
fn is_of_sphinx(text: &str) -> bool {
    ["sphinx", "myst", "html_theme", "extensions"]
        .iter()
        .any(|word| text.contains(word))
}

/// The first of these that is a file in the folder.
fn first_file(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut paths = names.iter().map(|name| folder.join(name));
    paths.find(|path| path.is_file())
}

/// A configuration that is a program.
fn script(folder: &Path, stem: &str) -> Option<PathBuf> {
    ["js", "ts", "mjs", "cjs", "mts", "cts"]
        .iter()
        .find_map(|suffix| first_file(folder, &[&format!("{stem}.{suffix}")]))
}

/// The tree and the folders around it that may say something about it, nearest first.
struct Reach {
    folders: Vec<PathBuf>,
}

impl Reach {
    fn of(tree: &Path) -> Option<Self> {
        let tree = fs::canonicalize(tree).ok()?;
        let repository = tree
            .ancestors()
            .position(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
        let parents = repository.unwrap_or(PARENTS_WITHOUT_REPOSITORY);
        let folders = tree.ancestors().take(parents + 1).map(Path::to_owned);
        Some(Self {
            folders: folders.collect(),
        })
    }

    fn root(&self) -> &Path {
        self.folders.last().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// A folder in reach, and how many steps above the tree it is.
#[derive(Debug, Clone, Copy)]
struct Place<'p> {
    folder: &'p Path,
    distance: usize,
}

impl Place<'_> {
    /// The path of a file for people, as seen from the tree.
    fn shown(self, path: &Path) -> String {
        let name = path.strip_prefix(self.folder).unwrap_or(path);
        let name = path_for_people(name.as_os_str().as_encoded_bytes());
        ["../".repeat(self.distance), name].concat()
    }
}

/// Reads configurations, and remembers which could not be read.
struct Reader<'r> {
    /// Outermost folder in reach.
    root: &'r Path,
    warnings: Vec<Warning>,
}

impl Reader<'_> {
    /// The text of a configuration; nothing, and a warning, where it cannot be had.
    fn read(&mut self, path: &Path, place: Place<'_>) -> Option<String> {
        match self.text(path) {
            Ok(text) => Some(text),
            Err(reason) => {
                self.warn(
                    path,
                    place,
                    None,
                    &format!("{reason}; only its name is considered"),
                );
                None
            }
        }
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
        if !self.holds(&fs::canonicalize(path).map_err(unreadable)?) {
            return Err("is a link that leads out of the folders around the tree".to_owned());
        }
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST_CONFIGURATION + 1).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST_CONFIGURATION) {
            return Err(format!("is larger than {LARGEST_CONFIGURATION} bytes"));
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.strip_prefix('\u{FEFF}').unwrap_or(&text).to_owned())
    }

    /// Whether a path without links is in the outermost folder.
    fn holds(&self, path: &Path) -> bool {
        path.starts_with(self.root)
    }

    fn warn(&mut self, path: &Path, place: Place<'_>, line: Option<u32>, message: &str) {
        let kind = WarningKind::UnreadableConfiguration;
        self.warnings
            .push(Warning::new(kind, place.shown(path), line, message.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A repository with these files, each empty or with its text.
    pub(super) fn repository(files: &[(&str, &str)]) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// What is found for a tree of the repository, the configuration's path in the repository.
    fn found(repository: &TempDir, tree: &str) -> (Option<Flavour>, Option<String>) {
        let (site, warnings) = Site::detect(&repository.path().join(tree));
        assert_eq!(warnings, []);
        let root = fs::canonicalize(repository.path()).unwrap();
        let config = site.config.map(|config| {
            let config = config.strip_prefix(&root).unwrap();
            config.to_str().unwrap().to_owned()
        });
        (site.flavour, config)
    }

    #[test]
    fn each_generator_is_known_by_its_configuration() {
        let cases: [(&str, &str, Option<Flavour>); 31] = [
            ("mkdocs.yml", "", Some(Flavour::Mkdocs)),
            ("mkdocs.yaml", "", Some(Flavour::Mkdocs)),
            ("docusaurus.config.js", "", Some(Flavour::Docusaurus)),
            ("docusaurus.config.ts", "", Some(Flavour::Docusaurus)),
            ("docusaurus.config.mts", "", Some(Flavour::Docusaurus)),
            (".vitepress/config.mts", "", Some(Flavour::Vitepress)),
            (".vitepress/config.json", "", Some(Flavour::Vitepress)),
            (".vitepress/config/index.ts", "", Some(Flavour::Vitepress)),
            (".vitepress/theme/index.ts", "", None),
            ("hugo.toml", "", Some(Flavour::Hugo)),
            ("hugo.json", "", Some(Flavour::Hugo)),
            ("config/_default/hugo.yaml", "", Some(Flavour::Hugo)),
            ("config/_default/config.toml", "", Some(Flavour::Hugo)),
            (
                "config.toml",
                "title = 'x'\nBaseUrl = 'https://x/'\n",
                Some(Flavour::Hugo),
            ),
            ("config.yaml", "baseURL: https://x/\n", Some(Flavour::Hugo)),
            (
                "config.json",
                "{\n  \"baseURL\": \"https://x/\"\n}\n",
                Some(Flavour::Hugo),
            ),
            (
                "config.json",
                "{\"baseURL\": \"https://x/\"}",
                Some(Flavour::Hugo),
            ),
            ("config.toml", "base_url = 'https://x/'\n", None),
            ("config.toml", "# baseURL = 'x'\nbaseURLs = 1\n", None),
            ("config.toml", "level = 3\n", None),
            ("book.toml", "", Some(Flavour::Mdbook)),
            ("front-matter-config.json", "", Some(Flavour::Mdn)),
            ("files/en-us/_redirects.txt", "", Some(Flavour::Mdn)),
            ("files/ja/_redirects.txt", "", Some(Flavour::Mdn)),
            ("conf.py", "extensions = ['myst_parser']\n", Some(Flavour::Github)),
            ("conf.py", "PORT = 80\n", None),
            ("myst.yml", "", Some(Flavour::Github)),
            (".gitlab-ci.yml", "", Some(Flavour::Gitlab)),
            ("README.md", "", None),
            // A folder is no configuration.
            ("mkdocs.yml/index.md", "", None),
            (".gitlab-ci.yml/index.md", "", None),
        ];
        for (name, text, flavour) in cases {
            let repository = repository(&[(name, text), ("docs/index.md", "# A")]);
            let config = flavour.map(|_| name.to_owned());
            for tree in [".", "docs"] {
                assert_eq!(
                    found(&repository, tree),
                    (flavour, config.clone()),
                    "{name}: {text:?}"
                );
            }
        }
    }

    #[test]
    fn hugo_is_known_by_its_folders() {
        let config = ("config.toml", "theme = 'x'\n");
        for (beside, text, flavour) in [
            ("layouts/index.html", "", Some(Flavour::Hugo)),
            ("themes/x/a", "", Some(Flavour::Hugo)),
            ("archetypes/a.md", "", Some(Flavour::Hugo)),
            ("templates/a", "", None),
            ("layouts", "a file", None),
        ] {
            let repository = repository(&[config, ("content/a.md", "# A"), (beside, text)]);
            assert_eq!(found(&repository, "content").0, flavour, "{beside}");
        }
        // Zola's folders are alike, its key is not.
        let zola = [
            ("config.toml", "base_url = 'x'\n"),
            ("content/a.md", ""),
            ("themes/x/a", ""),
        ];
        assert_eq!(found(&repository(&zola), "content").0, None);
    }

    #[test]
    fn the_nearest_configuration_decides() {
        let repository = repository(&[
            (".gitlab-ci.yml", ""),
            ("book.toml", ""),
            ("site/docusaurus.config.js", ""),
            ("site/mkdocs.yml", ""),
            ("site/docs/a/index.md", ""),
            ("site/sphinx/conf.py", "import sphinx"),
            ("guide/.gitlab-ci.yml", ""),
        ]);
        for (tree, flavour, config) in [
            (".", Flavour::Mdbook, "book.toml"),
            ("guide", Flavour::Mdbook, "book.toml"),
            ("site", Flavour::Mkdocs, "site/mkdocs.yml"),
            ("site/docs/a", Flavour::Mkdocs, "site/mkdocs.yml"),
            ("site/sphinx", Flavour::Github, "site/sphinx/conf.py"),
        ] {
            let expected = (Some(flavour), Some(config.to_owned()));
            assert_eq!(found(&repository, tree), expected, "{tree}");
        }
    }

    #[test]
    fn the_repository_bounds_the_search() {
        let outer = repository(&[
            ("mkdocs.yml", ""),
            ("inner/a/b/c/d/index.md", ""),
            ("other/.git", "gitdir: elsewhere"),
            ("other/docs/index.md", ""),
        ]);
        assert_eq!(found(&outer, "inner/a/b/c/d").0, Some(Flavour::Mkdocs));
        assert_eq!(found(&outer, "other/docs").0, None);
        fs::remove_dir(outer.path().join(".git")).unwrap();
        // Temporary folders may themselves lie in a repository.
        let in_none = |folder: &Path| folder.ancestors().all(|folder| !folder.join(".git").exists());
        if in_none(&fs::canonicalize(outer.path()).unwrap()) {
            assert_eq!(found(&outer, "inner/a/b").0, Some(Flavour::Mkdocs));
            assert_eq!(found(&outer, "inner/a/b/c").0, None);
        }
        let (site, warnings) = Site::detect(&outer.path().join("nowhere"));
        assert_eq!((site, warnings), (Site::default(), Vec::new()));
    }

    #[test]
    fn docusaurus_and_sphinx_tell_their_dialects() {
        for (name, text, mdx, myst) in [
            ("docusaurus.config.js", "module.exports = {};", true, false),
            (
                "docusaurus.config.js",
                "export default { markdown: { format: 'detect' } };",
                false,
                false,
            ),
            ("conf.py", "import sphinx", false, true),
            ("myst.yml", "", false, true),
            ("book.toml", "", false, false),
        ] {
            let repository = repository(&[(name, text)]);
            let (site, _) = Site::detect(repository.path());
            assert_eq!((site.markdown_is_mdx, site.myst), (mdx, myst), "{name}: {text}");
            assert_eq!(site.folder, fs::canonicalize(repository.path()).ok());
            assert_eq!(site.root, site.folder);
            assert_eq!(site.snippet_folders, Vec::<PathBuf>::new());
        }
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_a_warning() {
        let large = " ".repeat(1 + (1 << 20));
        let repository = repository(&[("docusaurus.config.js", &large), ("a/b/index.md", "")]);
        let (site, warnings) = Site::detect(&repository.path().join("a/b"));
        assert_eq!(site.flavour, Some(Flavour::Docusaurus));
        assert!(site.markdown_is_mdx);
        assert_eq!(
            warnings,
            [Warning {
                path: "../../docusaurus.config.js".to_owned(),
                line: None,
                kind: WarningKind::UnreadableConfiguration,
                message: "is larger than 1048576 bytes; only its name is considered".to_owned(),
                advice: "mend it, or choose the flavour of anchors with --anchors".to_owned(),
            }]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_not_read() {
        let outside = repository(&[("x.js", "export default { markdown: { format: 'md' } }")]);
        let inside = repository(&[("real.js", "export default { markdown: { format: 'md' } }")]);
        let config = inside.path().join("docusaurus.config.js");
        std::os::unix::fs::symlink(outside.path().join("x.js"), &config).unwrap();
        let (site, warnings) = Site::detect(inside.path());
        assert_eq!(
            (site.flavour, site.markdown_is_mdx),
            (Some(Flavour::Docusaurus), true)
        );
        assert_eq!(
            warnings[0].message,
            "is a link that leads out of the folders around the tree; only its name is considered"
        );
        fs::remove_file(&config).unwrap();
        std::os::unix::fs::symlink("real.js", &config).unwrap();
        let (site, warnings) = Site::detect(inside.path());
        assert_eq!((site.markdown_is_mdx, warnings), (false, Vec::new()));
    }
}
