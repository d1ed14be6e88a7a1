//! Finds the documents of a docs tree.
//!
//! In: a folder and what to leave out. Out: every document once, sorted by the bytes of its path with `/`
//! between the names (the order of ids), whatever order the file system lists them in; with it what was left
//! out and why, and warnings for what could not be read.
//!
//! Symbolic links: what lies outside the tree is not reached through them. A file or folder that the walk meets
//! under its own path is taken there and the link to it is left out; one that it does not meet (it is hidden,
//! say, and a visible link leads to it) is taken under the link's path. A folder is walked at most once, so
//! loops end.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use walkdir::WalkDir;

use crate::report::{Skipped, Warning, WarningKind, path_for_people};
use crate::rules::{FolderRules, GlobError, PathFilter, Verdict};

/// Ends of the names of documents, without the dot, in lower case.
pub const DOCUMENT_SUFFIXES: [&str; 3] = ["md", "markdown", "mdx"];

/// What to take and what to leave out.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Globs; where there are any, only documents that match one are taken.
    pub include: Vec<String>,
    /// Globs; documents and folders that match one are left out.
    pub exclude: Vec<String>,
    /// Take hidden files and folders too.
    pub hidden: bool,
    /// Pay no heed to ignore files.
    pub no_ignore: bool,
    /// Bytes above which a file is left out with a warning.
    pub max_file_size: u64,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            hidden: false,
            no_ignore: false,
            max_file_size: 16 << 20,
        }
    }
}

/// A document to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path in the tree, `/` between the names, the literal bytes of the names.
    pub path_in_tree: Vec<u8>,
    /// Where to read it.
    pub absolute: PathBuf,
    /// Its size when it was found.
    pub bytes: u64,
}

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The documents, sorted by path.
    pub files: Vec<SourceFile>,
    /// What was left out, sorted by path.
    pub skipped: Vec<Skipped>,
    /// What could not be read or is too large.
    pub warnings: Vec<Warning>,
}

/// Why a tree cannot be walked at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WalkError {
    /// The folder cannot be reached.
    #[error("{} cannot be read", tree.display())]
    Unreachable {
        /// The folder as given.
        tree: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file was given.
    #[error("{} is not a folder; give the folder that holds the documents", tree.display())]
    NotAFolder {
        /// The path as given.
        tree: PathBuf,
    },
    /// A glob is none.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

/// Finds the documents under `tree`.
///
/// # Errors
/// Where `tree` is no readable folder or a glob is none. What cannot be read inside the tree is a warning.
pub fn walk(tree: &Path, options: &WalkOptions) -> Result<Walk, WalkError> {
    let unreachable = |source| WalkError::Unreachable {
        tree: tree.to_owned(),
        source,
    };
    let root = fs::canonicalize(tree).map_err(unreachable)?;
    if !fs::metadata(&root).map_err(unreachable)?.is_dir() {
        return Err(WalkError::NotAFolder {
            tree: tree.to_owned(),
        });
    }
    fs::read_dir(&root).map_err(unreachable)?;
    let mut walker = Walker {
        filter: PathFilter::new(&options.include, &options.exclude)?,
        options,
        root: &root,
        found: Walk::default(),
        folders: HashSet::new(),
        documents: HashMap::new(),
        links: BTreeMap::new(),
    };
    let rules = if options.no_ignore {
        FolderRules::default()
    } else {
        FolderRules::around(&root, &mut walker.found.warnings)
    };
    walker.folder(&root, Path::new(""), &rules);
    // Links come after everything that has a path of its own, in the order of their paths.
    while let Some((_, link)) = walker.links.pop_first() {
        walker.follow(link);
    }
    let mut found = walker.found;
    found.files.sort_by(|a, b| a.path_in_tree.cmp(&b.path_in_tree));
    found.skipped.sort();
    found.warnings.sort();
    Ok(found)
}

/// The longest folder prefix, with its final `/`, that all paths share.
pub fn common_folder<'p>(paths: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut paths = paths.into_iter().map(|path| {
        let end = path
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or(0, |slash| slash + 1);
        path.get(..end).unwrap_or_default()
    });
    let Some(mut prefix) = paths.next() else {
        return Vec::new();
    };
    for folder in paths {
        let shared = prefix.iter().zip(folder).take_while(|(a, b)| a == b).count();
        let end = prefix
            .iter()
            .take(shared)
            .rposition(|&byte| byte == b'/')
            .map_or(0, |slash| slash + 1);
        prefix = prefix.get(..end).unwrap_or_default();
    }
    prefix.to_vec()
}

struct Walker<'w> {
    filter: PathFilter,
    options: &'w WalkOptions,
    /// The tree, without links in its path.
    root: &'w Path,
    found: Walk,
    /// Real paths of the folders walked.
    folders: HashSet<PathBuf>,
    /// Real paths of the documents taken, and their paths in the tree.
    documents: HashMap<PathBuf, PathBuf>,
    /// Links not yet followed, by path in the tree.
    links: BTreeMap<Vec<u8>, Link>,
}

struct Link {
    /// Path in the tree.
    path: PathBuf,
    /// What it leads to, without links in its path.
    target: PathBuf,
    metadata: Metadata,
    /// The rules of the folder it stands in.
    rules: FolderRules,
}

impl Walker<'_> {
    /// Walks the folder at `real`, which has no links in its path and is called `path` in the tree.
    fn folder(&mut self, real: &Path, path: &Path, rules: &FolderRules) {
        // The rules that hold inside the folders from `real` down to the entry at hand.
        let mut inside: Vec<FolderRules> = Vec::new();
        let mut entries = WalkDir::new(real)
            .follow_links(false)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let met = error.path().and_then(|met| met.strip_prefix(real).ok());
                    let met = met.map_or_else(|| path.to_owned(), |met| path.join(met));
                    self.unreadable(&met, error.io_error());
                    continue;
                }
            };
            inside.truncate(entry.depth());
            let around = inside.last().unwrap_or(rules).clone();
            let below = entry.path().strip_prefix(real).unwrap_or(Path::new(""));
            let entry_path = if below.as_os_str().is_empty() {
                path.to_owned()
            } else {
                path.join(below)
            };
            let kind = entry.file_type();
            if kind.is_dir() {
                let left_out = if entry.depth() == 0 {
                    None
                } else {
                    self.left_out(&entry_path, true, &around)
                };
                if let Some(reason) = left_out {
                    self.skip(&entry_path, reason);
                    entries.skip_current_dir();
                } else if self.folders.insert(entry.path().to_owned()) {
                    inside.push(self.rules_inside(entry.path(), &entry_path, &around));
                } else {
                    self.skip(&entry_path, "walked already, under another path".to_owned());
                    entries.skip_current_dir();
                }
            } else if kind.is_symlink() {
                self.link(entry.path(), &entry_path, &around);
            } else if is_document(&entry_path) {
                if let Some(reason) = self.left_out(&entry_path, false, &around) {
                    self.skip(&entry_path, reason);
                } else {
                    match entry.metadata() {
                        Ok(metadata) => self.document(entry.path(), &entry_path, &metadata),
                        Err(error) => self.unreadable(&entry_path, error.io_error()),
                    }
                }
            }
        }
    }

    fn rules_inside(&mut self, real: &Path, path: &Path, around: &FolderRules) -> FolderRules {
        if self.options.no_ignore {
            return around.clone();
        }
        let mut shown = path_for_people(&path_bytes(path));
        if !shown.is_empty() {
            shown.push('/');
        }
        around.enter(real, &self.root.join(path), &shown, &mut self.found.warnings)
    }

    /// Why a document or folder is left out, if it is.
    fn left_out(&self, path: &Path, is_folder: bool, rules: &FolderRules) -> Option<String> {
        let name = path.file_name().unwrap_or_default();
        if name == ".git" {
            return Some("git's own".to_owned());
        }
        if let Some(glob) = self.filter.excluded_by(path, is_folder) {
            return Some(format!("excluded by --exclude {glob}"));
        }
        match rules.verdict(&self.root.join(path), is_folder) {
            Verdict::Ignored(reason) => return Some(reason),
            Verdict::Wanted => {}
            Verdict::Silent if self.options.hidden || !name.as_encoded_bytes().starts_with(b".") => {}
            Verdict::Silent => return Some("hidden".to_owned()),
        }
        (!is_folder && !self.filter.includes(path)).then(|| "matches no --include".to_owned())
    }

    /// Takes a document that nothing leaves out.
    fn document(&mut self, real: &Path, path: &Path, metadata: &Metadata) {
        if let Some(taken) = self.documents.get(real) {
            let taken = path_for_people(&path_bytes(taken));
            self.skip(path, format!("the same file as {taken}, by a symbolic link"));
        } else if !metadata.is_file() {
            self.skip(path, "not a regular file".to_owned());
        } else if metadata.len() > self.options.max_file_size {
            let limit = self.options.max_file_size;
            self.skip(
                path,
                format!(
                    "larger than --max-file-size ({} bytes, limit {limit})",
                    metadata.len()
                ),
            );
            let message = format!(
                "the file has {} bytes, more than {limit}, and is left out",
                metadata.len()
            );
            self.warn(WarningKind::TooLarge, path, message);
        } else {
            self.documents.insert(real.to_owned(), path.to_owned());
            self.found.files.push(SourceFile {
                path_in_tree: path_bytes(path),
                absolute: real.to_owned(),
                bytes: metadata.len(),
            });
        }
    }

    /// Notes a link for later, or leaves it out.
    fn link(&mut self, real: &Path, path: &Path, rules: &FolderRules) {
        let target = fs::canonicalize(real).and_then(|target| Ok((fs::metadata(&target)?, target)));
        let is_folder = target.as_ref().is_ok_and(|(metadata, _)| metadata.is_dir());
        // A broken link may have led to a folder of documents.
        let may_be_folder = target.is_err() && has_name_of_folder(path);
        if !is_folder && !is_document(path) && !may_be_folder {
            return;
        }
        if let Some(reason) = self.left_out(path, is_folder, rules) {
            self.skip(path, reason);
            return;
        }
        match target {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.unreadable(path, Some(&error));
            }
            Err(error) => {
                self.skip(path, "a broken symbolic link".to_owned());
                if may_be_folder {
                    return;
                }
                let message = format!("the symbolic link leads nowhere: {error}");
                self.warn(WarningKind::BrokenSymlink, path, message);
            }
            Ok((_, target)) if !target.starts_with(self.root) => {
                self.skip(path, "a symbolic link out of the tree".to_owned());
            }
            Ok((metadata, target)) => {
                let link = Link {
                    path: path.to_owned(),
                    target,
                    metadata,
                    rules: rules.clone(),
                };
                self.links.insert(path_bytes(path), link);
            }
        }
    }

    fn follow(&mut self, link: Link) {
        let Link {
            path,
            target,
            metadata,
            rules,
        } = link;
        if metadata.is_dir() {
            if self.folders.contains(&target) {
                self.skip(
                    &path,
                    "a symbolic link to a folder that is walked under its own path".to_owned(),
                );
            } else {
                self.folder(&target, &path, &rules);
            }
        } else {
            self.document(&target, &path, &metadata);
        }
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.found.skipped.push(Skipped {
            path: path_for_people(&path_bytes(path)),
            reason,
        });
    }

    fn unreadable(&mut self, path: &Path, error: Option<&io::Error>) {
        let reason = error.map_or_else(
            || "cannot be read".to_owned(),
            |error| format!("cannot be read: {error}"),
        );
        self.warn(WarningKind::Unreadable, path, reason.clone());
        self.skip(path, reason);
    }

    fn warn(&mut self, kind: WarningKind, path: &Path, message: String) {
        let path = path_for_people(&path_bytes(path));
        self.found.warnings.push(Warning::new(kind, path, None, message));
    }
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| {
        DOCUMENT_SUFFIXES
            .iter()
            .any(|known| suffix.as_encoded_bytes().eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Whether a name could be that of a folder: it has no suffix, or is a version such as `v1.0`.
fn has_name_of_folder(path: &Path) -> bool {
    path.extension()
        .is_none_or(|suffix| suffix.as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

/// A path in the tree as the system writes it: what [`path_bytes`] was made from.
pub(crate) fn native_path(path: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(std::ffi::OsStr::from_bytes(path))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(path).into_owned())
    }
}

/// The names of a relative path with `/` between them. Only real separators become `/`.
fn path_bytes(path: &Path) -> Vec<u8> {
    let names: Vec<&[u8]> = path
        .components()
        .map(|name| name.as_os_str().as_encoded_bytes())
        .collect();
    names.join(&b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with these files; a name that ends in `/` is an empty folder.
    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            if file.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "# Text\n").unwrap();
            }
        }
        folder
    }

    fn options(include: &[&str], exclude: &[&str]) -> WalkOptions {
        let list = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        WalkOptions {
            include: list(include),
            exclude: list(exclude),
            ..WalkOptions::default()
        }
    }

    fn paths(found: &Walk) -> Vec<String> {
        found
            .files
            .iter()
            .map(|file| path_for_people(&file.path_in_tree))
            .collect()
    }

    fn skipped(found: &Walk) -> Vec<(&str, &str)> {
        found
            .skipped
            .iter()
            .map(|skipped| (skipped.path.as_str(), skipped.reason.as_str()))
            .collect()
    }

    #[test]
    fn documents_are_sorted_by_their_bytes() {
        let tree = tree(&[
            "b.md",
            "a/b.md",
            "a-b.md",
            "a.MDX",
            "a/c.Markdown",
            "a/x.txt",
            "é.md",
            "md",
            "z/",
        ]);
        let found = walk(tree.path(), &WalkOptions::default()).unwrap();
        assert_eq!(
            paths(&found),
            ["a-b.md", "a.MDX", "a/b.md", "a/c.Markdown", "b.md", "é.md"]
        );
        assert_eq!((found.skipped, found.warnings), (vec![], vec![]));
        assert_eq!(found.files[0].bytes, 7);
    }

    #[test]
    fn hidden_files_and_git_are_left_out() {
        let tree = tree(&[".git/refs/x.md", ".github/a.md", ".b.md", "c.md", ".d.txt"]);
        let found = walk(tree.path(), &WalkOptions::default()).unwrap();
        assert_eq!(paths(&found), ["c.md"]);
        assert_eq!(
            skipped(&found),
            [(".b.md", "hidden"), (".git", "git's own"), (".github", "hidden")]
        );
        let all = walk(
            tree.path(),
            &WalkOptions {
                hidden: true,
                ..WalkOptions::default()
            },
        )
        .unwrap();
        assert_eq!(paths(&all), [".b.md", ".github/a.md", "c.md"]);
        fs::write(tree.path().join(".docsignore"), "!.github/\n").unwrap();
        let wanted = walk(tree.path(), &WalkOptions::default()).unwrap();
        assert_eq!(paths(&wanted), [".github/a.md", "c.md"]);
    }

    #[test]
    fn globs_leave_out_files_and_whole_folders() {
        let tree = tree(&[
            "a.md",
            "drafts/x.md",
            "drafts/y/z.md",
            "guide/b.mdx",
            "guide/c.md",
        ]);
        let found = walk(
            tree.path(),
            &options(&["guide/**", "a.md"], &["*.mdx", "drafts/**"]),
        )
        .unwrap();
        assert_eq!(paths(&found), ["a.md", "guide/c.md"]);
        let expected = [
            ("drafts", "excluded by --exclude drafts/**"),
            ("guide/b.mdx", "excluded by --exclude *.mdx"),
        ];
        assert_eq!(skipped(&found), expected);
        let found = walk(tree.path(), &options(&["guide"], &["guide/b.mdx"])).unwrap();
        assert_eq!(paths(&found), ["guide/c.md"]);
        assert_eq!(skipped(&found)[0], ("a.md", "matches no --include"));
    }

    #[test]
    fn ignore_files_hold_below_their_folder() {
        let tree = tree(&["a.md", "b.md", "out/c.md", "sub/a.md", "sub/b.md", "sub/out/d.md"]);
        fs::write(tree.path().join(".gitignore"), "a.md\n/out/\n").unwrap();
        fs::write(tree.path().join("sub/.docsignore"), "!a.md\nb.md\n").unwrap();
        let found = walk(tree.path(), &WalkOptions::default()).unwrap();
        assert_eq!(paths(&found), ["b.md", "sub/a.md", "sub/out/d.md"]);
        let expected = [
            ("a.md", "ignored by .gitignore: a.md"),
            ("out", "ignored by .gitignore: /out/"),
            ("sub/b.md", "ignored by sub/.docsignore: b.md"),
        ];
        assert_eq!(skipped(&found), expected);
        let all = walk(
            tree.path(),
            &WalkOptions {
                no_ignore: true,
                ..WalkOptions::default()
            },
        )
        .unwrap();
        assert_eq!(all.files.len(), 6);
    }

    #[test]
    fn a_large_file_is_a_warning() {
        let tree = tree(&["a.md", "b.md"]);
        fs::write(tree.path().join("b.md"), "# Longer\n").unwrap();
        let found = walk(
            tree.path(),
            &WalkOptions {
                max_file_size: 8,
                ..WalkOptions::default()
            },
        )
        .unwrap();
        assert_eq!(paths(&found), ["a.md"]);
        assert_eq!(
            skipped(&found),
            [("b.md", "larger than --max-file-size (9 bytes, limit 8)")]
        );
        assert_eq!(found.warnings.len(), 1);
        assert_eq!(found.warnings[0].kind, WarningKind::TooLarge);
    }

    #[test]
    fn a_tree_must_be_a_folder() {
        let tree = tree(&["a.md"]);
        let missing = walk(&tree.path().join("none"), &WalkOptions::default());
        assert!(matches!(missing, Err(WalkError::Unreachable { .. })));
        let file = walk(&tree.path().join("a.md"), &WalkOptions::default());
        assert!(matches!(file, Err(WalkError::NotAFolder { .. })));
        let glob = walk(tree.path(), &options(&["{"], &[]));
        assert!(matches!(glob, Err(WalkError::Glob(GlobError::Invalid { .. }))));
    }

    #[test]
    fn the_common_folder_ends_in_a_slash() {
        for (paths, expected) in [
            (&[][..], ""),
            (&["a.md"], ""),
            (&["a/b.md"], "a/"),
            (&["a/b/c.md", "a/bc/d.md"], "a/"),
            (&["a/b/c.md", "a/b/d/e.md"], "a/b/"),
            (&["a/b.md", "c.md"], ""),
            (&["ab/c.md", "ad/e.md"], ""),
        ] {
            let found = common_folder(paths.iter().map(|path| path.as_bytes()));
            assert_eq!(path_for_people(&found), expected, "{paths:?}");
        }
    }

    #[cfg(unix)]
    mod links {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::fs::symlink;

        use super::*;

        #[test]
        fn loops_end_and_each_file_comes_once() {
            let tree = tree(&["docs/a.md", "docs/sub/b.md"]);
            let docs = tree.path().join("docs");
            symlink(".", docs.join("loop")).unwrap();
            symlink("../docs", docs.join("up")).unwrap();
            symlink("../..", docs.join("sub/top")).unwrap();
            symlink("a.md", docs.join("alias.md")).unwrap();
            symlink("self.md", docs.join("self.md")).unwrap();
            symlink("gone", docs.join("folder")).unwrap();
            symlink("gone.png", docs.join("image.png")).unwrap();
            let found = walk(tree.path(), &WalkOptions::default()).unwrap();
            assert_eq!(paths(&found), ["docs/a.md", "docs/sub/b.md"]);
            let walked = "a symbolic link to a folder that is walked under its own path";
            let expected = [
                ("docs/alias.md", "the same file as docs/a.md, by a symbolic link"),
                ("docs/folder", "a broken symbolic link"),
                ("docs/loop", walked),
                ("docs/self.md", "a broken symbolic link"),
                ("docs/sub/top", walked),
                ("docs/up", walked),
            ];
            assert_eq!(skipped(&found), expected);
            assert_eq!(found.warnings.len(), 1);
            assert_eq!(found.warnings[0].kind, WarningKind::BrokenSymlink);
        }

        #[test]
        fn what_is_outside_is_not_followed() {
            let outside = tree(&["x.md", "y/z.md"]);
            let tree = tree(&["a.md"]);
            symlink(outside.path().join("x.md"), tree.path().join("x.md")).unwrap();
            symlink(outside.path().join("y"), tree.path().join("y")).unwrap();
            symlink("/", tree.path().join("root")).unwrap();
            let found = walk(tree.path(), &WalkOptions::default()).unwrap();
            assert_eq!(paths(&found), ["a.md"]);
            let out = "a symbolic link out of the tree";
            assert_eq!(skipped(&found), [("root", out), ("x.md", out), ("y", out)]);
        }

        #[test]
        fn a_visible_link_to_a_hidden_place_is_followed() {
            let tree = tree(&[".v1/a.md", ".v1/sub/b.md", ".v1/sub/c.md"]);
            symlink(".v1", tree.path().join(".current")).unwrap();
            symlink(".current/a.md", tree.path().join("a.md")).unwrap();
            symlink(".current/sub", tree.path().join("pages")).unwrap();
            symlink("..", tree.path().join(".v1/sub/round")).unwrap();
            fs::write(tree.path().join(".docsignore"), "pages/c.md\n").unwrap();
            let found = walk(tree.path(), &WalkOptions::default()).unwrap();
            // The link `round` leads back to `.v1` and shows `a.md` again.
            assert_eq!(paths(&found), ["a.md", "pages/b.md"]);
            assert!(found.files[1].absolute.ends_with(".v1/sub/b.md"));
            let again = ("pages/round/a.md", "the same file as a.md, by a symbolic link");
            assert!(skipped(&found).contains(&again), "{:?}", found.skipped);
            assert!(skipped(&found).contains(&("pages/c.md", "ignored by .docsignore: pages/c.md")));
        }

        #[test]
        fn names_keep_their_bytes() {
            let tree = tree(&["a.md", "back\\slash.md", "new\nline.md"]);
            fs::write(tree.path().join(OsStr::from_bytes(b"caf\xe9.md")), "# Bad\n").unwrap();
            let found = walk(tree.path(), &WalkOptions::default()).unwrap();
            let names: Vec<&[u8]> = found
                .files
                .iter()
                .map(|file| file.path_in_tree.as_slice())
                .collect();
            assert_eq!(
                names,
                [&b"a.md"[..], b"back\\slash.md", b"caf\xe9.md", b"new\nline.md"]
            );
        }
    }
}
