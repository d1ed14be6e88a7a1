//! Which paths of a docs tree are left out, and by which rule.
//!
//! In: the globs of `--include` and `--exclude`, and the ignore files met on the way down. Out: for a path, the
//! reason why it is left out, in words for the report. Nothing here walks.
//!
//! Ignore files (`.docsignore`, `.ignore`, `.gitignore`) have the syntax and meaning of gitignore(5). The nearest
//! folder's rules win; within one folder `.docsignore` is asked first, then `.ignore`, then `.gitignore`.
//! Globs of the command line are plain: `*`, `?`, `[ab]`, `{a,b}`, `**`; a leading `!` or `#` means itself. One that
//! has a `/` is matched against the path in the tree, one without against each name in it, so that `drafts`
//! and `*.mdx` do what they say. A glob that matches a folder matches all that is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use thiserror::Error;

use crate::report::{Warning, WarningKind};

/// The ignore files of one folder, the strongest first.
const IGNORE_FILES: [&str; 3] = [".docsignore", ".ignore", ".gitignore"];

/// A glob of the command line that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GlobError {
    /// Nothing to match.
    #[error("{option} has an empty glob")]
    Empty {
        /// The option it was given to.
        option: &'static str,
    },
    /// Not a glob.
    #[error("{option} {glob:?} is no glob")]
    Invalid {
        /// The option it was given to.
        option: &'static str,
        /// The glob as given.
        glob: String,
        /// What is wrong with it.
        source: ignore::Error,
    },
}

/// The globs of `--include` and `--exclude`.
#[derive(Debug)]
pub struct PathFilter {
    include: Option<Gitignore>,
    exclude: Gitignore,
}

impl PathFilter {
    /// Without an `include` glob everything is included.
    ///
    /// # Errors
    /// Where a glob is empty or is none.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, GlobError> {
        Ok(Self {
            include: if include.is_empty() {
                None
            } else {
                Some(matcher("--include", include)?)
            },
            exclude: matcher("--exclude", exclude)?,
        })
    }

    /// The glob that excludes this path, which is relative to the tree.
    pub fn excluded_by(&self, path: &Path, is_folder: bool) -> Option<String> {
        match self.exclude.matched(path, is_folder) {
            Match::Ignore(glob) => Some(
                glob.from()
                    .unwrap_or(Path::new(""))
                    .to_string_lossy()
                    .into_owned(),
            ),
            Match::None | Match::Whitelist(_) => None,
        }
    }

    /// Whether a document at this path, which is relative to the tree, is asked for.
    pub fn includes(&self, path: &Path) -> bool {
        self.include
            .as_ref()
            .is_none_or(|globs| globs.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// Plain globs as a matcher of gitignore rules. Each rule's `from` holds the glob as the user wrote it.
fn matcher(option: &'static str, globs: &[String]) -> Result<Gitignore, GlobError> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for glob in globs {
        if glob.is_empty() {
            return Err(GlobError::Empty { option });
        }
        let invalid = |source| GlobError::Invalid {
            option,
            glob: glob.clone(),
            source,
        };
        for rule in rules_of(glob) {
            builder
                .add_line(Some(PathBuf::from(glob)), &rule)
                .map_err(invalid)?;
        }
    }
    builder.build().map_err(|source| GlobError::Invalid {
        option,
        glob: globs.join(" "),
        source,
    })
}

/// The gitignore rules that mean what a plain glob means.
fn rules_of(glob: &str) -> Vec<String> {
    let mut rule = match glob.strip_prefix("./") {
        Some(rest) => format!("/{rest}"),
        None if glob.starts_with(['!', '#']) => format!("\\{glob}"),
        None => glob.to_owned(),
    };
    // An unescaped space at the end of a rule is dropped; in a glob it is part of a name.
    if rule.ends_with(' ') {
        rule.insert(rule.len() - 1, '\\');
    }
    // `drafts/**` says everything in the folder; saying the folder too lets it be left out as one.
    let folder = rule
        .strip_suffix("/**")
        .filter(|folder| !matches!(*folder, "" | "**" | "\\"));
    let folder = folder.map(|folder| {
        let anchor = if folder.contains('/') { "" } else { "/" };
        format!("{anchor}{folder}/")
    });
    std::iter::once(rule).chain(folder).collect()
}

/// What the ignore files say about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Silent,
    /// Left out, and the reason in words.
    Ignored(String),
    /// Taken in by a rule with `!`, even if hidden.
    Wanted,
}

/// The ignore files of a folder, and behind them those of the folders it is in.
#[derive(Debug, Clone, Default)]
pub struct FolderRules {
    nearest: Option<Rc<Layer>>,
}

#[derive(Debug)]
struct Layer {
    /// A matcher and the name of its file for people.
    files: Vec<(Gitignore, String)>,
    outer: Option<Rc<Layer>>,
}

impl FolderRules {
    /// The rules of the folders around `tree` (an absolute path), up to the one that holds `.git`; none where no
    /// folder around it does.
    pub fn around(tree: &Path, warnings: &mut Vec<Warning>) -> Self {
        let mut rules = Self::default();
        let Some(distance) = tree.ancestors().position(|folder| folder.join(".git").exists()) else {
            return rules;
        };
        let outer: Vec<&Path> = tree.ancestors().take(distance + 1).skip(1).collect();
        for (steps, folder) in outer.iter().enumerate().rev() {
            rules = rules.enter(folder, folder, &"../".repeat(steps + 1), warnings);
        }
        rules
    }

    /// The rules inside a folder: those of its own ignore files before the ones it inherits.
    ///
    /// `folder` is where its files are read; `named` is the path that the rules are relative to, and `shown`
    /// stands before an ignore file's name in the report.
    #[must_use]
    pub fn enter(&self, folder: &Path, named: &Path, shown: &str, warnings: &mut Vec<Warning>) -> Self {
        let mut files = Vec::new();
        for name in IGNORE_FILES {
            let shown = format!("{shown}{name}");
            match read_rules(&folder.join(name)) {
                Ok(None) => {}
                Ok(Some(text)) => files.push((parse_rules(named, &text, &shown, warnings), shown)),
                Err(error) => {
                    let message = format!("the ignore file cannot be read: {error}");
                    let warning = Warning::new(WarningKind::Unreadable, shown, None, message);
                    warnings.push(warning.with_advice("make it readable, or use --no-ignore"));
                }
            }
        }
        if files.is_empty() {
            return self.clone();
        }
        Self {
            nearest: Some(Rc::new(Layer {
                files,
                outer: self.nearest.clone(),
            })),
        }
    }

    /// What the rules say about `path`, which begins with the `named` path of a folder entered.
    pub fn verdict(&self, path: &Path, is_folder: bool) -> Verdict {
        let mut layer = self.nearest.as_deref();
        while let Some(Layer { files, outer }) = layer {
            for (rules, name) in files {
                match rules.matched(path, is_folder) {
                    Match::None => {}
                    Match::Whitelist(_) => return Verdict::Wanted,
                    Match::Ignore(rule) => {
                        return Verdict::Ignored(format!("ignored by {name}: {}", rule.original()));
                    }
                }
            }
            layer = outer.as_deref();
        }
        Verdict::Silent
    }
}

/// The text of an ignore file; `None` where there is none (a pipe or a folder of that name is none either).
fn read_rules(file: &Path) -> io::Result<Option<String>> {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};

    match fs::symlink_metadata(file) {
        Ok(_) => {}
        // Nothing in this folder can be reached. Who walks it says so once, not for each ignore file it might hold.
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => return Ok(None),
        Err(error) => return Err(error),
    }
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => {
            Ok(Some(String::from_utf8_lossy(&fs::read(file)?).into_owned()))
        }
        Ok(_) => Ok(None),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse_rules(named: &Path, text: &str, shown: &str, warnings: &mut Vec<Warning>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(named);
    let mut invalid = |line: Option<u32>, error: &ignore::Error| {
        warnings.push(Warning::new(
            WarningKind::InvalidIgnoreRule,
            shown.to_owned(),
            line,
            format!("the rule is ignored: {error}"),
        ));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        if let Err(error) = builder.add_line(None, line) {
            invalid(Some(number), &error);
        }
    }
    builder.build().unwrap_or_else(|error| {
        invalid(None, &error);
        Gitignore::empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(list: &[&str]) -> Vec<String> {
        list.iter().map(|&glob| glob.to_owned()).collect()
    }

    #[test]
    fn plain_globs_match_paths_names_and_folders() {
        let cases: &[(&str, &str, bool)] = &[
            ("*.mdx", "a.mdx", true),
            ("*.mdx", "deep/er/a.mdx", true),
            ("drafts", "drafts/a.md", true),
            ("drafts", "guide/drafts/a.md", true),
            ("drafts/", "guide/drafts/a.md", true),
            ("drafts/**", "drafts/x/a.md", true),
            ("drafts/**", "guide/drafts/a.md", false),
            ("**/drafts/**", "guide/drafts/a.md", true),
            ("guide/*.md", "guide/a.md", true),
            ("guide/*.md", "guide/x/a.md", false),
            ("./a.md", "a.md", true),
            ("./a.md", "x/a.md", false),
            ("/a.md", "x/a.md", false),
            ("guide/**/*.md", "guide/a.md", true),
            ("guide/**/*.md", "guide/x/y/a.md", true),
            ("{guide,blog}/**", "blog/a.md", true),
            ("{guide,blog}/**", "news/a.md", false),
            ("**/*.{md,mdx}", "x/a.mdx", true),
            ("!a.md", "!a.md", true),
            ("!a.md", "a.md", false),
            ("#a.md", "#a.md", true),
            ("a[0-9].md", "a7.md", true),
            ("A.md", "a.md", false),
            ("**", "x/a.md", true),
        ];
        for &(glob, path, expected) in cases {
            let filter = PathFilter::new(&globs(&[glob]), &[]).unwrap();
            assert_eq!(filter.includes(Path::new(path)), expected, "{glob} on {path}");
        }
    }

    #[test]
    fn an_excluded_folder_is_named_with_the_glob_as_written() {
        for (glob, folder) in [
            ("drafts/**", "drafts"),
            ("**/drafts/**", "a/drafts"),
            ("drafts", "a/drafts"),
            ("{a,b}/**", "b"),
            ("a/b/**", "a/b"),
        ] {
            let filter = PathFilter::new(&[], &globs(&["other", glob])).unwrap();
            assert_eq!(
                filter.excluded_by(Path::new(folder), true).as_deref(),
                Some(glob),
                "{glob}"
            );
        }
        let filter = PathFilter::new(&[], &globs(&["drafts/**"])).unwrap();
        assert_eq!(filter.excluded_by(Path::new("a/drafts"), true), None);
        assert_eq!(filter.excluded_by(Path::new("drafts.md"), false), None);
        let all_folders = PathFilter::new(&[], &globs(&["*/**"])).unwrap();
        assert_eq!(all_folders.excluded_by(Path::new("a.md"), false), None);
    }

    #[test]
    fn a_glob_that_is_none_is_refused() {
        let error = PathFilter::new(&[], &globs(&["a[b"])).unwrap_err();
        assert_eq!(error.to_string(), "--exclude \"a[b\" is no glob");
        let error = PathFilter::new(&globs(&[""]), &[]).unwrap_err();
        assert_eq!(error.to_string(), "--include has an empty glob");
    }

    #[test]
    fn the_nearest_folder_wins_and_docsignore_beats_gitignore() {
        let folder = tempfile::tempdir().unwrap();
        let (root, sub) = (folder.path(), folder.path().join("sub"));
        fs::create_dir(&sub).unwrap();
        fs::write(root.join(".gitignore"), "\u{feff}*.md\r\n/out/\r\n").unwrap();
        fs::write(root.join(".docsignore"), "!keep.md\n").unwrap();
        fs::write(sub.join(".ignore"), "!near.md\n").unwrap();
        let mut warnings = Vec::new();
        let outer = FolderRules::default().enter(root, root, "", &mut warnings);
        let inner = outer.enter(&sub, &sub, "sub/", &mut warnings);
        assert_eq!(
            outer.verdict(&root.join("a.md"), false),
            Verdict::Ignored("ignored by .gitignore: *.md".into())
        );
        assert_eq!(outer.verdict(&root.join("keep.md"), false), Verdict::Wanted);
        assert_eq!(
            outer.verdict(&root.join("near.md"), false),
            Verdict::Ignored("ignored by .gitignore: *.md".into())
        );
        assert_eq!(
            outer.verdict(&root.join("out"), true),
            Verdict::Ignored("ignored by .gitignore: /out/".into())
        );
        assert_eq!(inner.verdict(&sub.join("near.md"), false), Verdict::Wanted);
        assert_eq!(inner.verdict(&sub.join("keep.md"), false), Verdict::Wanted);
        assert_eq!(inner.verdict(&sub.join("out"), true), Verdict::Silent);
        assert_eq!(warnings, []);
    }

    #[test]
    fn a_rule_that_is_no_glob_is_a_warning_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".gitignore"), "# head\n{a\n*.tmp.md\n").unwrap();
        let mut warnings = Vec::new();
        let rules = FolderRules::default().enter(folder.path(), folder.path(), "guide/", &mut warnings);
        assert_eq!(warnings.len(), 1);
        assert_eq!(
            (warnings[0].path.as_str(), warnings[0].line),
            ("guide/.gitignore", Some(2))
        );
        assert_eq!(warnings[0].kind, WarningKind::InvalidIgnoreRule);
        assert!(matches!(
            rules.verdict(&folder.path().join("x.tmp.md"), false),
            Verdict::Ignored(_)
        ));
    }

    #[test]
    fn folders_around_the_tree_count_up_to_the_one_with_git() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let tree = root.join("repo/site/docs");
        fs::create_dir_all(&tree).unwrap();
        fs::write(root.join(".gitignore"), "outside.md\n").unwrap();
        fs::write(root.join("repo/.gitignore"), "inside.md\n").unwrap();
        let mut warnings = Vec::new();
        let none = FolderRules::around(&tree, &mut warnings);
        assert_eq!(
            none.verdict(&tree.join("inside.md"), false),
            Verdict::Silent,
            "no .git, no repository"
        );
        fs::create_dir(root.join("repo/.git")).unwrap();
        let rules = FolderRules::around(&tree, &mut warnings);
        let reason = "ignored by ../../.gitignore: inside.md";
        assert_eq!(
            rules.verdict(&tree.join("inside.md"), false),
            Verdict::Ignored(reason.into())
        );
        assert_eq!(rules.verdict(&tree.join("outside.md"), false), Verdict::Silent);
    }
}
