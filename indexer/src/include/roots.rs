//! Where included files may come from.
//!
//! In: a path as a directive has it, and the file that has the directive. Out: the bytes of the file it means, or
//! why there are none. A file is read only where its path without links lies in the docs tree or in an include
//! root: where a path is looked for gives no leave to read what is found there.
//!
//! Documentation tools disagree about what a relative path is relative to, and a docs tree is often a part of
//! what its tool saw. So one path has several meanings, in an order that depends on nothing but the folders given;
//! the first that is a readable file inside the roots is the one.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::include::fault::IncludeFault;
use crate::walk::native_path;

/// The tool whose directive it is: it says what a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    MkDocs,
    MdBook,
    VitePress,
    Myst,
    Learn,
}

/// The file that holds a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Including<'r> {
    /// A document, by its path in the tree.
    Document(&'r [u8]),
    /// An included file, by its identity.
    File(&'r Path),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IncludeRequest<'r> {
    /// As the directive has it.
    pub(crate) path: &'r str,
    pub(crate) from: Including<'r>,
    pub(crate) family: Family,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IncludedFile {
    /// The same for the same file, whatever path led to it.
    pub(crate) identity: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Where `expand` takes included files from.
pub(crate) trait IncludeFiles {
    /// The identity that the document would have if it were included.
    fn document(&self, document: &[u8]) -> PathBuf;
    fn read(&self, request: &IncludeRequest<'_>) -> Result<IncludedFile, IncludeFault>;
}

/// An include root that is no folder.
#[derive(Debug, Error)]
#[error("the include root {} cannot be used", root.display())]
pub(crate) struct IncludeRootError {
    pub(crate) root: PathBuf,
    pub(crate) source: io::Error,
}

/// The docs tree and the folders around it, in the file system.
#[derive(Debug)]
pub(crate) struct IncludeRoots {
    /// Without links, as the include roots are.
    tree: PathBuf,
    /// Where the site's configuration stands.
    site_folder: Option<PathBuf>,
    snippet_folders: Vec<PathBuf>,
    /// The include roots.
    allowed: Vec<PathBuf>,
    max_file_size: u64,
}

impl IncludeRoots {
    /// Site and snippet folders say where to look; only `tree` and `include_roots` may be read.
    ///
    /// # Errors
    /// Where the tree or an include root is no folder that can be reached.
    pub(crate) fn new(
        tree: &Path,
        site_folder: Option<&Path>,
        snippet_folders: &[PathBuf],
        include_roots: &[PathBuf],
        max_file_size: u64,
    ) -> Result<Self, IncludeRootError> {
        Ok(Self {
            tree: folder(tree)?,
            site_folder: site_folder.map(Path::to_owned),
            snippet_folders: snippet_folders.to_vec(),
            allowed: include_roots
                .iter()
                .map(|root| folder(root))
                .collect::<Result<_, _>>()?,
            max_file_size,
        })
    }

    /// Whether a path without links may be read.
    fn check(&self, real: &Path) -> Result<(), IncludeFault> {
        let roots = std::iter::once(&self.tree).chain(&self.allowed);
        let mut inside = roots.filter_map(|root| real.strip_prefix(root).ok()).peekable();
        if inside.peek().is_none() {
            return Err(IncludeFault::OutsideRoots);
        }
        // Under every root: a root inside another says no more than where to look.
        let is_gits = |path: &Path| path.components().any(|name| name.as_os_str() == ".git");
        if inside.any(is_gits) {
            return Err(IncludeFault::GitsOwn);
        }
        Ok(())
    }

    /// Every place that the path may mean, the likeliest first.
    fn candidates(&self, request: &IncludeRequest<'_>) -> Vec<PathBuf> {
        let mut path = request.path.to_owned();
        if request.family == Family::Learn {
            path = path.replace('\\', "/");
        }
        let rooted = match request.family {
            Family::VitePress => path.strip_prefix("@/").or_else(|| path.strip_prefix('/')),
            Family::Myst => path.strip_prefix('/'),
            Family::Learn => path.strip_prefix("~/").or_else(|| path.strip_prefix('/')),
            Family::MkDocs | Family::MdBook => None,
        };
        let is_rooted = rooted.is_some();
        let path = Path::new(rooted.unwrap_or(&path).trim_start_matches('/')).to_owned();
        if !is_rooted && Path::new(request.path).is_absolute() {
            return vec![PathBuf::from(request.path)];
        }
        let folder = self.folder_of(request.from);
        let here = Some(folder.as_path()).filter(|_| !is_rooted);
        let site = self.site_folder.as_deref();
        let snippets = self.snippet_folders.iter().map(PathBuf::as_path);
        let mut bases: Vec<&Path> = Vec::new();
        if request.family == Family::MkDocs {
            bases.extend(snippets);
            bases.extend(site);
            bases.push(&self.tree);
            bases.extend(here);
        } else {
            bases.extend(here);
            if !is_rooted {
                bases.extend(snippets);
                bases.extend(site);
            }
            bases.push(&self.tree);
            if is_rooted && request.family == Family::VitePress {
                bases.extend(site);
            }
        }
        bases.extend(self.allowed.iter().map(PathBuf::as_path));
        // A path may be written for any folder around the document, such as that of a site within the tree.
        let around = folder
            .ancestors()
            .take_while(|around| around.starts_with(&self.tree));
        bases.extend(around);
        bases.extend(self.tree.ancestors().skip(1));
        let mut candidates: Vec<PathBuf> = bases.into_iter().map(|base| base.join(&path)).collect();
        let without_parents: PathBuf = path
            .components()
            .skip_while(|part| {
                matches!(
                    part,
                    std::path::Component::ParentDir | std::path::Component::CurDir
                )
            })
            .collect();
        for root in &self.allowed {
            candidates.push(root.join(&without_parents));
            let first = without_parents.components().next();
            if first.is_some_and(|first| Some(first.as_os_str()) == root.file_name()) {
                candidates.extend(root.parent().map(|parent| parent.join(&without_parents)));
            }
        }
        candidates
    }

    fn folder_of(&self, from: Including<'_>) -> PathBuf {
        let file = match from {
            Including::Document(path) => self.tree.join(native_path(path)),
            Including::File(path) => path.to_owned(),
        };
        file.parent().map_or_else(|| self.tree.clone(), Path::to_owned)
    }

    fn open(&self, real: &Path) -> Result<Vec<u8>, IncludeFault> {
        let unreadable = |error: io::Error| IncludeFault::Unreadable {
            reason: error.to_string(),
        };
        // Asked before it is opened, for opening a pipe would wait, and after, for the file may have been replaced.
        if !fs::metadata(real).map_err(unreadable)?.is_file() {
            return Err(IncludeFault::NotAFile);
        }
        let file = File::open(real).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let limit = self.max_file_size;
        if !metadata.is_file() {
            return Err(IncludeFault::NotAFile);
        }
        if metadata.len() > limit {
            return Err(IncludeFault::TooLarge { limit });
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if u64::try_from(bytes.len()).is_ok_and(|read| read > limit) {
            return Err(IncludeFault::TooLarge { limit });
        }
        Ok(bytes)
    }
}

impl IncludeFiles for IncludeRoots {
    fn document(&self, document: &[u8]) -> PathBuf {
        let path = self.tree.join(native_path(document));
        fs::canonicalize(&path).unwrap_or(path)
    }

    fn read(&self, request: &IncludeRequest<'_>) -> Result<IncludedFile, IncludeFault> {
        let mut fault = IncludeFault::NotFound;
        for candidate in self.candidates(request) {
            let Ok(real) = fs::canonicalize(&candidate) else {
                continue;
            };
            match self.check(&real).and_then(|()| self.open(&real)) {
                Ok(bytes) => {
                    return Ok(IncludedFile {
                        identity: real,
                        bytes,
                    });
                }
                // What is wrong with a file that may be read says more than that another may not.
                Err(worse) if fault == IncludeFault::NotFound || fault == IncludeFault::OutsideRoots => {
                    fault = worse;
                }
                Err(_) => {}
            }
        }
        Err(fault)
    }
}

fn folder(path: &Path) -> Result<PathBuf, IncludeRootError> {
    let fault = |source| IncludeRootError {
        root: path.to_owned(),
        source,
    };
    let real = fs::canonicalize(path).map_err(fault)?;
    if fs::metadata(&real).map_err(fault)?.is_dir() {
        Ok(real)
    } else {
        Err(fault(io::Error::from(io::ErrorKind::NotADirectory)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A repository with code beside the docs, as `FastAPI` has it: the docs tree is `docs/en/docs`.
    fn repository() -> TempDir {
        let folder = TempDir::new().unwrap();
        for (path, text) in [
            ("docs/en/docs/tutorial/a.md", "# A\n"),
            ("docs/en/docs/tutorial/part.md", "tutorial part"),
            ("docs/en/docs/part.md", "tree part"),
            ("docs/en/docs/é x.md", "odd name"),
            ("docs/en/snippets/part.md", "snippet part"),
            ("docs/en/mkdocs.yml", "site_name: X\n"),
            ("docs_src/first/x.py", "x = 1\n"),
            ("secret.txt", "secret"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn roots(repository: &TempDir, include_roots: &[&str]) -> IncludeRoots {
        let at = |path: &str| repository.path().join(path);
        let roots: Vec<PathBuf> = include_roots.iter().map(|root| at(root)).collect();
        IncludeRoots::new(&at("docs/en/docs"), Some(&at("docs/en")), &[], &roots, 64).unwrap()
    }

    fn read(roots: &IncludeRoots, family: Family, path: &str) -> Result<String, IncludeFault> {
        let request = IncludeRequest {
            path,
            from: Including::Document(b"tutorial/a.md"),
            family,
        };
        roots
            .read(&request)
            .map(|file| String::from_utf8(file.bytes).unwrap())
    }

    #[test]
    fn each_tool_looks_in_its_own_places_first() {
        let repository = repository();
        let roots = roots(&repository, &["docs_src"]);
        let cases = [
            (Family::MdBook, "part.md", "tutorial part"),
            (Family::MdBook, "../part.md", "tree part"),
            (Family::MkDocs, "part.md", "tree part"),
            (Family::VitePress, "@/part.md", "tree part"),
            (Family::VitePress, "./part.md", "tutorial part"),
            (Family::Myst, "/part.md", "tree part"),
            (Family::Learn, "~/part.md", "tree part"),
            (Family::Learn, "..\\part.md", "tree part"),
            (Family::MdBook, "../é x.md", "odd name"),
            (Family::MkDocs, "../../docs_src/first/x.py", "x = 1\n"),
            (Family::MkDocs, "../../../docs_src/first/x.py", "x = 1\n"),
            (
                Family::MkDocs,
                "../../../../../../../docs_src/first/x.py",
                "x = 1\n",
            ),
            (Family::MdBook, "first/x.py", "x = 1\n"),
            (Family::Learn, "~/../first/x.py", "x = 1\n"),
        ];
        for (family, path, expected) in cases {
            assert_eq!(read(&roots, family, path).as_deref(), Ok(expected), "{path}");
        }
    }

    #[test]
    fn snippet_folders_say_where_to_look_and_allow_nothing() {
        let repository = repository();
        let at = |path: &str| repository.path().join(path);
        let new = |allowed: &[PathBuf]| {
            IncludeRoots::new(&at("docs/en/docs"), None, &[at("docs/en/snippets")], allowed, 64).unwrap()
        };
        assert_eq!(
            read(&new(&[]), Family::MkDocs, "part.md").as_deref(),
            Ok("tree part")
        );
        let allowed = new(&[at("docs/en")]);
        assert_eq!(
            read(&allowed, Family::MkDocs, "part.md").as_deref(),
            Ok("snippet part")
        );
    }

    #[test]
    fn nothing_outside_the_roots_is_read() {
        let repository = repository();
        let roots = roots(&repository, &[]);
        let secret = repository.path().join("secret.txt");
        for path in [
            "../../../../secret.txt",
            "../../secret.txt",
            secret.to_str().unwrap(),
            "/etc/passwd",
        ] {
            for family in [Family::MkDocs, Family::MdBook] {
                assert_eq!(
                    read(&roots, family, path),
                    Err(IncludeFault::OutsideRoots),
                    "{path}"
                );
            }
        }
        for family in [Family::VitePress, Family::Myst, Family::Learn] {
            let found = read(&roots, family, "/etc/no/such/file");
            assert_eq!(found, Err(IncludeFault::NotFound), "{family:?}");
        }
        assert_eq!(
            read(&roots, Family::MkDocs, "../../docs_src/first/x.py"),
            Err(IncludeFault::OutsideRoots)
        );
        assert_eq!(
            read(&roots, Family::MkDocs, "nowhere.py"),
            Err(IncludeFault::NotFound)
        );
        assert_eq!(read(&roots, Family::MkDocs, "a\0b"), Err(IncludeFault::NotFound));
    }

    #[test]
    fn what_is_no_small_file_is_refused() {
        let repository = repository();
        let tree = repository.path().join("docs/en/docs");
        fs::write(tree.join("large.txt"), "x".repeat(65)).unwrap();
        fs::write(tree.join("fits.txt"), "x".repeat(64)).unwrap();
        fs::create_dir(tree.join("folder.d")).unwrap();
        fs::create_dir(tree.join(".git")).unwrap();
        fs::write(tree.join(".git/config"), "token").unwrap();
        let roots = roots(&repository, &[]);
        assert_eq!(
            read(&roots, Family::MkDocs, ".git/config"),
            Err(IncludeFault::GitsOwn)
        );
        let too_large = Err(IncludeFault::TooLarge { limit: 64 });
        assert_eq!(read(&roots, Family::MdBook, "../large.txt"), too_large);
        assert_eq!(read(&roots, Family::MdBook, "../fits.txt").unwrap().len(), 64);
        assert_eq!(
            read(&roots, Family::MdBook, "../folder.d"),
            Err(IncludeFault::NotAFile)
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_roots_and_pipes_are_refused() {
        use std::os::unix::fs::symlink;
        let repository = repository();
        let tree = repository.path().join("docs/en/docs");
        symlink(repository.path().join("secret.txt"), tree.join("link.txt")).unwrap();
        symlink(repository.path(), tree.join("up")).unwrap();
        symlink(tree.join("part.md"), tree.join("inside.md")).unwrap();
        symlink("loop.md", tree.join("loop.md")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(tree.join("pipe"))
            .status();
        let roots = roots(&repository, &[]);
        let outside = Err(IncludeFault::OutsideRoots);
        assert_eq!(read(&roots, Family::MdBook, "../link.txt"), outside);
        assert_eq!(read(&roots, Family::MdBook, "../up/secret.txt"), outside);
        assert_eq!(
            read(&roots, Family::MdBook, "../inside.md").as_deref(),
            Ok("tree part")
        );
        assert_eq!(
            read(&roots, Family::MdBook, "../loop.md"),
            Err(IncludeFault::NotFound)
        );
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(
                read(&roots, Family::MdBook, "../pipe"),
                Err(IncludeFault::NotAFile)
            );
        }
    }

    #[test]
    fn an_include_root_must_be_a_folder() {
        let repository = repository();
        for root in ["missing", "secret.txt"] {
            let root = repository.path().join(root);
            let error =
                IncludeRoots::new(repository.path(), None, &[], std::slice::from_ref(&root), 64).unwrap_err();
            assert_eq!(error.root, root);
        }
    }
}
