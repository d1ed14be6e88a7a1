//! Finds the document that a link names, among the paths of all documents.
//!
//! In: a link's path as it was written, the path of the document it stands in, and the paths of all documents. Out: the
//! document meant. A link is written for the source tree (`../b.md`), for the pages made of it (`../b/`, `b.html`), or
//! for the site (`/docs/b`), and seldom says which; so the readings are tried in a fixed order, the most literal first.
//! Case counts; only where nothing else is found is it passed over, for hosts that do so too. Spec chapter 10.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

/// Endings of documents, in the order in which a link without one is tried.
const ENDINGS: [&[u8]; 3] = [b".md", b".mdx", b".markdown"];
/// Endings of the pages made of documents.
const PAGE_ENDINGS: [&[u8]; 2] = [b".html", b".htm"];
/// Names of a folder's own page, in the order in which they are tried.
const FOLDER_PAGES: [&[u8]; 3] = [b"index", b"README", b"_index"];
/// First names of a site's path that often stand for the whole docs tree.
const SITE_ROOTS: [&[u8]; 3] = [b"docs", b"doc", b"documentation"];
/// Bytes of a path above which nothing is looked for: no file system has longer ones.
const LENGTH_LIMIT: usize = 4096;
/// Folders above a document that are tried as the site's root: bounds the work for one link.
const ROOT_LIMIT: usize = 16;
/// Names taken off the front of a site's path: a language and `docs`, in either order.
const TAKEN_OFF_LIMIT: usize = 2;

/// The documents that links can name.
///
/// Documents are told by their number in the order given.
#[derive(Debug, Clone)]
pub struct LinkTargets<'p> {
    paths: Vec<&'p [u8]>,
    /// By path without ending and folder page's name: the last document given with it.
    by_stem: FxHashMap<&'p [u8], u32>,
    /// For each document the one before it with the same stem.
    previous: Vec<Option<u32>>,
    /// By hash of the same in lower case: the only document with it, none where there are more.
    by_lower_case: FxHashMap<u64, Option<u32>>,
}

impl<'p> LinkTargets<'p> {
    /// Targets with these paths.
    pub fn new(paths: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let paths: Vec<&[u8]> = paths.into_iter().collect();
        let mut by_stem = FxHashMap::default();
        let previous = paths
            .iter()
            .zip(0..)
            .map(|(path, number)| by_stem.insert(folder_stem(without_ending(path)), number))
            .collect();
        let mut by_lower_case = FxHashMap::default();
        for (path, number) in paths.iter().zip(0..) {
            by_lower_case
                .entry(lower_case_hash(folder_stem(without_ending(path))))
                .and_modify(|only| *only = None)
                .or_insert(Some(number));
        }
        Self {
            paths,
            by_stem,
            previous,
            by_lower_case,
        }
    }

    /// The document that the path `written` names, seen from the document at `from`. `written` is without query and
    /// fragment, and percent-decoded; an empty one names `from` itself.
    pub fn find(&self, written: &[u8], from: &[u8]) -> Option<u32> {
        find_place(written, from, |place| self.at(place))
            .or_else(|| find_place(written, from, |place| self.in_other_case(place)))
    }

    /// The path of a document; empty for a number that none has.
    pub fn path(&self, number: u32) -> &'p [u8] {
        self.paths.get(number as usize).copied().unwrap_or_default()
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The document that stands at a place in the tree: as it is, else with another ending or none, else the page of
    /// the folder there.
    fn at(&self, place: &[u8]) -> Option<u32> {
        let place = place.strip_suffix(b"/").unwrap_or(place);
        let stem = without_page_ending(place);
        self.best(place, stem).or_else(|| {
            // A name may end in what looks like an ending: `page.html.md`, `v1.md/index.md`.
            if stem.len() < place.len() {
                self.best(place, place)
            } else {
                None
            }
        })
    }

    /// The only document at a place where case does not count.
    fn in_other_case(&self, place: &[u8]) -> Option<u32> {
        let place = place.strip_suffix(b"/").unwrap_or(place);
        let key = folder_stem(without_page_ending(place));
        let number = self.by_lower_case.get(&lower_case_hash(key)).copied()??;
        folder_stem(without_ending(self.path(number)))
            .eq_ignore_ascii_case(key)
            .then_some(number)
    }

    fn best(&self, place: &[u8], stem: &[u8]) -> Option<u32> {
        let key = folder_stem(stem);
        let last = self.by_stem.get(key).copied();
        let same_stem = std::iter::successors(last, |&number| self.previous[number as usize]);
        same_stem.min_by_key(|&number| {
            let path = self.paths[number as usize];
            let own_stem = without_ending(path);
            (path != place, own_stem != stem, rank(path, key), number)
        })
    }
}

/// Goes through the places in the tree that the path `written` may mean, seen from the document at `from`, until
/// `found` gives something. Places have no `.`, `..` or empty names, but may end in `/`.
///
/// A relative path is read as it is, and then as a page would be that is made a folder: from `a/b.md`, whose page is
/// `a/b/`, the path `../c/` means `a/c/`; not so where it names a source file (`../c.md`). A path from the site's root is tried below the tree's root and below each
/// folder of `from`, from the outermost in; then as MDN's sites and trees are related (`/en-US/docs/Web/CSS/:is` stands
/// in `files/en-us/web/css/_colon_is`); then without a language or `docs` in front.
pub fn find_place<T>(written: &[u8], from: &[u8], mut found: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
    if written.len() > LENGTH_LIMIT {
        return None;
    }
    if written.is_empty() {
        return found(from);
    }
    let mut place = Vec::with_capacity(from.len() + written.len());
    let mut at = |folder: &[u8], path: &[u8]| {
        place.clear();
        place.extend_from_slice(folder);
        walk(&mut place, path).then(|| found(&place)).flatten()
    };
    let Some(site_path) = written.strip_prefix(b"/") else {
        return at(folder_of(from), written).or_else(|| {
            let page = without_ending(from);
            let is_folder_page = folder_stem(page).len() < page.len();
            if is_folder_page || without_ending(written).len() < written.len() {
                return None;
            }
            at(&[page, b"/"].concat(), written)
        });
    };
    let mut normal = Vec::with_capacity(site_path.len());
    if !walk(&mut normal, site_path) {
        return None;
    }
    let mut below_roots = |path: &[u8]| roots(from).find_map(|root| at(root, path));
    if let Some(found) = below_roots(&normal) {
        return Some(found);
    }
    if let Some((locale, rest)) = mdn_path(&normal) {
        let with_locale = [&locale[..], b"/", &rest[..]].concat();
        if let Some(found) = below_roots(&with_locale).or_else(|| below_roots(&rest)) {
            return Some(found);
        }
    }
    let mut path = normal.as_slice();
    for _ in 0..TAKEN_OFF_LIMIT {
        let (name, rest) = split_name(path)?;
        if rest.is_empty() || !(SITE_ROOTS.contains(&name) || is_language(name)) {
            return None;
        }
        if let Some(found) = below_roots(rest) {
            return Some(found);
        }
        path = rest;
    }
    None
}

/// Goes along `path` from the folder in `place`, which is empty or ends in `/`. False where it leaves the tree.
fn walk(place: &mut Vec<u8>, path: &[u8]) -> bool {
    let mut names = path.split(|&byte| byte == b'/').peekable();
    while let Some(name) = names.next() {
        match name {
            b"" | b"." => {}
            b".." => {
                if place.pop().is_none() {
                    return false;
                }
                place.truncate(folder_of(place).len());
            }
            name => {
                place.extend_from_slice(name);
                if names.peek().is_some() {
                    place.push(b'/');
                }
            }
        }
    }
    true
}

/// The folders that may be the site's root for a document: the tree's root, then its own folders.
fn roots(from: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = from.iter().zip(1..).filter(|&(&byte, _)| byte == b'/');
    let ends = std::iter::once(0).chain(slashes.map(|(_, end)| end));
    ends.take(ROOT_LIMIT).filter_map(|end| from.get(..end))
}

/// The folder of a path, with its final `/`; empty for the tree's root.
fn folder_of(path: &[u8]) -> &[u8] {
    let end = path
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    &path[..end]
}

fn without_ending(path: &[u8]) -> &[u8] {
    without_one_of(path, &ENDINGS)
}

fn without_page_ending(path: &[u8]) -> &[u8] {
    let stem = without_one_of(path, &PAGE_ENDINGS);
    if stem.len() < path.len() {
        stem
    } else {
        without_ending(path)
    }
}

fn without_one_of<'p>(path: &'p [u8], endings: &[&[u8]]) -> &'p [u8] {
    let stem = endings.iter().find_map(|ending| {
        let (stem, own) = path.split_at_checked(path.len().checked_sub(ending.len())?)?;
        own.eq_ignore_ascii_case(ending).then_some(stem)
    });
    stem.unwrap_or(path)
}

/// The folder, without its final `/`, where a path without ending names the folder's own page; else the path.
fn folder_stem(stem: &[u8]) -> &[u8] {
    let folder = folder_of(stem);
    if FOLDER_PAGES.contains(&&stem[folder.len()..]) {
        folder.strip_suffix(b"/").unwrap_or(folder)
    } else {
        stem
    }
}

/// Order among documents of one stem: a file of that name, then the folder's pages.
fn rank(path: &[u8], key: &[u8]) -> (usize, usize) {
    let stem = without_ending(path);
    let page = FOLDER_PAGES
        .iter()
        .position(|page| stem.len() > key.len() && stem.ends_with(page))
        .map_or(0, |position| position + 1);
    let ending = &path[stem.len()..];
    let ending = ENDINGS
        .iter()
        .position(|known| ending.eq_ignore_ascii_case(known));
    (page, ending.unwrap_or(ENDINGS.len()))
}

fn lower_case_hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    for byte in key {
        hasher.write_u8(byte.to_ascii_lowercase());
    }
    hasher.finish()
}

fn split_name(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().position(|&byte| byte == b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

/// `en`, `pt-BR`, `zh-Hans`. Languages of three letters look like any other short name.
fn is_language(name: &[u8]) -> bool {
    let mut subtags = name.split(|&byte| byte == b'-' || byte == b'_');
    let language = subtags.next().unwrap_or_default();
    language.len() == 2
        && language.iter().all(u8::is_ascii_lowercase)
        && subtags.next().is_none_or(|region| {
            (2..=4).contains(&region.len()) && region.iter().all(u8::is_ascii_alphanumeric)
        })
        && subtags.next().is_none()
}

/// Language and path in the tree of `LANGUAGE/docs/PATH`, as MDN names its folders.
fn mdn_path(path: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (language, rest) = split_name(path)?;
    let rest = rest.strip_prefix(b"docs/")?;
    if rest.is_empty() || !is_language(language) {
        return None;
    }
    let mut coded = Vec::with_capacity(rest.len());
    let mut bytes = rest.iter().peekable();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'*' => coded.extend_from_slice(b"_star_"),
            b'?' => coded.extend_from_slice(b"_question_"),
            b':' if bytes.next_if_eq(&&b':').is_some() => coded.extend_from_slice(b"_doublecolon_"),
            b':' => coded.extend_from_slice(b"_colon_"),
            _ => coded.push(byte.to_ascii_lowercase()),
        }
    }
    Some((language.to_ascii_lowercase(), coded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `(written, from, expected)`, an empty expectation for none.
    fn check(paths: &[&str], cases: &[(&str, &str, &str)]) {
        let targets = LinkTargets::new(paths.iter().map(|path| path.as_bytes()));
        for &(written, from, expected) in cases {
            let found = targets.find(written.as_bytes(), from.as_bytes());
            let found = found.map_or("", |number| paths[number as usize]);
            assert_eq!(found, expected, "{written} from {from}");
        }
    }

    #[test]
    fn relative_links_name_sources_and_their_pages() {
        check(
            &[
                "index.md",
                "a.md",
                "b/index.mdx",
                "b/c.markdown",
                "b/README.md",
                "d/README.md",
                "e/_index.md",
                "f.md",
                "f/index.md",
                "g.html.md",
                "h.mdx",
                "my file.md",
                "UPPER.MD",
            ],
            &[
                ("a.md", "f.md", "a.md"),
                ("./a.md", "f.md", "a.md"),
                ("../a.md", "b/c.markdown", "a.md"),
                ("../b/../a", "b/c.markdown", "a.md"),
                ("a", "f.md", "a.md"),
                ("a/", "f.md", "a.md"),
                ("a.html", "f.md", "a.md"),
                ("a.htm", "f.md", "a.md"),
                ("a/index.html", "f.md", "a.md"),
                ("h.md", "f.md", "h.mdx"),
                ("b", "f.md", "b/index.mdx"),
                ("b/", "f.md", "b/index.mdx"),
                ("b/index", "f.md", "b/index.mdx"),
                ("b/index.md", "f.md", "b/index.mdx"),
                ("b/README.md", "f.md", "b/README.md"),
                ("b/README", "f.md", "b/README.md"),
                ("d/index.html", "f.md", "d/README.md"),
                ("e/", "f.md", "e/_index.md"),
                ("f", "a.md", "f.md"),
                ("f/", "a.md", "f.md"),
                ("f/index", "a.md", "f/index.md"),
                ("g.html", "a.md", "g.html.md"),
                (".", "a.md", "index.md"),
                ("..", "b/c.markdown", "index.md"),
                ("../index.html", "b/c.markdown", "index.md"),
                ("my file.md", "a.md", "my file.md"),
                ("UPPER", "a.md", "UPPER.MD"),
                ("", "b/c.markdown", "b/c.markdown"),
                ("gone.md", "a.md", ""),
                ("A.md", "f.md", "a.md"),
                ("../B/C/", "e/_index.md", "b/c.markdown"),
                ("../../a.md", "b/c.markdown", ""),
                ("../../a", "b/c.markdown", "a.md"),
                ("c/a.md", "b/index.mdx", ""),
            ],
        );
    }

    #[test]
    fn case_is_passed_over_where_one_document_alone_is_meant() {
        check(
            &["a.md", "A.md", "About/b_C.md", "x.md", "x/Index.md"],
            &[
                ("a.md", "x.md", "a.md"),
                ("A", "x.md", "A.md"),
                ("about/B_c", "x.md", "About/b_C.md"),
                ("/ABOUT/b_c/", "x.md", "About/b_C.md"),
                ("X.md", "a.md", "x.md"),
            ],
        );
        check(&["ab.md", "aB.md"], &[("AB", "ab.md", "")]);
    }

    #[test]
    fn relative_links_may_be_written_for_pages_that_are_folders() {
        check(
            &[
                "a/b.md",
                "a/c.md",
                "a/b/d.md",
                "c.md",
                "top.md",
                "e/index.md",
                "e/f.md",
            ],
            &[
                // The page of a/b.md is a/b/; what the source tree says comes first.
                ("../c/", "a/b.md", "c.md"),
                ("../../c/", "a/b.md", "c.md"),
                ("../b/d/", "a/c.md", "a/b/d.md"),
                ("d/", "a/b.md", "a/b/d.md"),
                ("../c/", "top.md", "c.md"),
                ("../a/b/", "top.md", "a/b.md"),
                ("../f/", "e/index.md", ""),
                ("../a/c/", "e/f.md", "a/c.md"),
                ("../../a/c/", "e/f.md", "a/c.md"),
                ("../../../a/c/", "e/f.md", ""),
            ],
        );
    }

    #[test]
    fn links_from_the_root_of_a_site_find_its_folder() {
        check(
            &[
                "content/en/docs/x.md",
                "content/zh-cn/docs/x.md",
                "content/zh-cn/docs/y.md",
                "docs/guide/z.md",
                "src/content/docs/en/guides/w.mdx",
                "intro.md",
                "de/v.md",
            ],
            &[
                ("/docs/x/", "content/en/docs/x.md", "content/en/docs/x.md"),
                ("/docs/x/", "content/zh-cn/docs/y.md", "content/zh-cn/docs/x.md"),
                ("/zh-cn/docs/y", "content/en/docs/x.md", "content/zh-cn/docs/y.md"),
                ("/docs/y/", "content/en/docs/x.md", ""),
                ("/guide/z", "docs/guide/z.md", "docs/guide/z.md"),
                ("/guide/z.html", "docs/other/q.md", "docs/guide/z.md"),
                (
                    "/en/guides/w/",
                    "src/content/docs/en/u.mdx",
                    "src/content/docs/en/guides/w.mdx",
                ),
                (
                    "/guides/w",
                    "src/content/docs/en/u.mdx",
                    "src/content/docs/en/guides/w.mdx",
                ),
                ("/docs/intro", "a.md", "intro.md"),
                ("/docs/de/v", "a.md", "de/v.md"),
                ("/fr/docs/intro/", "a.md", "intro.md"),
                ("/blog/intro", "a.md", ""),
                ("/docs/", "a.md", ""),
                ("/../intro", "a.md", ""),
                // A relative path is no path from the root.
                ("guide/z.md", "docs/other/q.md", ""),
                ("docs/intro", "a.md", ""),
            ],
        );
        check(
            &["docs/index.md", "docs/a.md"],
            &[("/", "docs/a.md", "docs/index.md")],
        );
    }

    #[test]
    fn links_of_mdn_find_their_lower_case_folders() {
        let cases = [
            ("/en-US/docs/Web/API/Window/open", "web/api/window/open/index.md"),
            ("/en-US/docs/Web/CSS/:is", "web/css/_colon_is/index.md"),
            (
                "/en-US/docs/Web/CSS/::after",
                "web/css/_doublecolon_after/index.md",
            ),
            (
                "/en-US/docs/Web/JS/Operators/Function*",
                "web/js/operators/function_star_/index.md",
            ),
            ("/en-US/docs/Web/X?", "web/x_question_/index.md"),
        ];
        for root in ["files/en-us/", "en-us/", ""] {
            for (written, path) in cases {
                let path = format!("{root}{path}");
                let from = format!("{root}web/index.md");
                check(&[&from, &path], &[(written, &from, &path)]);
            }
        }
        check(
            &["a.md", "web/x.md"],
            &[("/en-US/other/Web/X", "a.md", ""), ("/en-US/docs/", "a.md", "")],
        );
    }

    #[test]
    fn a_path_out_of_the_tree_is_told_from_one_that_is_not_there() {
        for (written, from, expected) in [
            ("../x.md", "a.md", true),
            ("../x.md", "b/a.md", false),
            ("../../src/x.rs", "b/a.md", true),
            ("b/../../x", "a.md", true),
            ("x", "a.md", false),
            ("/x", "a.md", false),
        ] {
            let mut place = folder_of(from.as_bytes()).to_vec();
            assert_eq!(!walk(&mut place, written.as_bytes()), expected, "{written}");
        }
    }

    proptest! {
        #[test]
        fn places_are_clean_and_few(written in "/?([a-c./]|docs/|en/|\\.\\./){0,30}", from in "([a-c]/){0,30}[a-c].md") {
            let mut count = 0;
            let found: Option<()> = find_place(written.as_bytes(), from.as_bytes(), |place| {
                count += 1;
                let place = place.strip_suffix(b"/").unwrap_or(place);
                for name in place.split(|&byte| byte == b'/') {
                    assert!(place.is_empty() || !matches!(name, b"" | b"." | b".."), "{place:?}");
                }
                None
            });
            prop_assert!(found.is_none() && count <= 5 * ROOT_LIMIT);
        }

        #[test]
        fn every_document_is_found_by_its_own_path(paths in prop::collection::btree_set("([ab]/){0,2}(a|b|index|README)\\.(md|mdx)", 1..9)) {
            let targets = LinkTargets::new(paths.iter().map(String::as_bytes));
            for (path, number) in paths.iter().zip(0..) {
                let written = [b"/", path.as_bytes()].concat();
                prop_assert_eq!(targets.find(&written, b"z.md"), Some(number));
            }
        }
    }
}
