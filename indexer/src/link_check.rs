//! Links that lead nowhere: to a page that is not in the tree, or to a heading that its page does not have.
//!
//! In: the paths of all documents, and of each document its anchors and its links as written ([`LinkFacts`]). Out:
//! warnings. Paths are resolved as soon as a document is read, by [`LinkTargets`] as everywhere; headings only when
//! all documents are known, so of each document no more is kept than its anchors and its links with a fragment.
//!
//! Only what is certain is a warning. Addresses elsewhere are passed over, and so are files that exist beside the
//! documents; what leads out of the folder that all documents share, what a template fills in, and paths from the root of a site whose address
//! is not known are counted as not checked.

use std::cmp::Reverse;
use std::collections::HashSet;

use docs_index::{LinkTargets, find_place};

use crate::link_facts::{LinkFacts, RULE_ANCHOR, is_rule_name};
use crate::links;
use crate::markdown::char_boundary;
use crate::mask::FILLER;
use crate::nearest::Nearest;
use crate::page_urls::SiteAddress;
use crate::report::{Warning, WarningKind, path_for_people};
use crate::walk::common_folder;

/// Cells of distance tables, for each page and for each page's headings, that finding what was meant may cost.
const NEAREST_BUDGET: usize = 10_000_000;
/// Documents of a folder that are looked through for one of a similar name.
const NEIGHBOURS: usize = 64;
/// Bytes of a destination that a message shows.
const SHOWN_LIMIT: usize = 200;
/// What template engines put into destinations; the parse buffer may have dashes in its place.
const TEMPLATES: [&str; 5] = ["{{", "{%", "${", "<%", "-----"];
/// Stands between the names of things in code, which some tools turn into links.
const CODE_PATH: &str = "::";
/// Beginnings of anchors that renderers make for what is no heading: footnotes, tabs, lines.
const MADE_BY_RENDERERS: [&str; 7] = [
    "fn:",
    "fnref:",
    "fn-",
    "fnref-",
    "user-content-fn",
    "__tabbed_",
    "__codelineno",
];

/// Checks the links of a tree.
pub struct LinkCheck<'w> {
    targets: &'w LinkTargets<'w>,
    /// Documents by the last name of their path, in lower case.
    by_name: Vec<(String, u32)>,
    addresses: Vec<SiteAddress>,
    /// The folder that all documents share.
    shared: Vec<u8>,
    exists: &'w (dyn Fn(&[u8]) -> bool + Sync),
}

/// What is left to check of a document when all are known.
#[derive(Debug)]
pub struct CheckedDocument {
    number: Option<u32>,
    path: String,
    anchors: String,
    with_fragment: Vec<FragmentLink>,
    /// Warnings that fall away if a rule has this name.
    unless_rule: Vec<(String, Warning)>,
    summary: LinkSummary,
}

#[derive(Debug)]
struct FragmentLink {
    line: u32,
    target: u32,
    destination: Box<str>,
}

/// What the check has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkSummary {
    /// Broken links, by path and line.
    pub warnings: Vec<Warning>,
    /// Links that lead to a page or file of the tree, and to a heading where they name one.
    pub sound: u64,
    /// Links of which nothing certain can be said.
    pub not_checked: u64,
}

/// Where a destination leads.
enum Verdict {
    Elsewhere,
    NotChecked,
    File,
    Document(u32),
    Nowhere(Vec<u8>),
}

impl std::fmt::Debug for LinkCheck<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LinkCheck({} documents)", self.targets.len())
    }
}

impl<'w> LinkCheck<'w> {
    /// A check among these documents, in the ascending order of their paths. `url_prefixes` are addresses of the site made of
    /// the tree (`/docs/`, `https://example.org/docs/`): what is below them has to be there. `exists` tells whether a
    /// file or folder stands at a path in the tree.
    pub fn new(
        targets: &'w LinkTargets<'w>,
        url_prefixes: &[String],
        exists: &'w (dyn Fn(&[u8]) -> bool + Sync),
    ) -> Self {
        let paths = || (0..).map(|number| targets.path(number)).take(targets.len());
        let mut by_name: Vec<(String, u32)> = paths().map(name_of).zip(0..).collect();
        by_name.sort();
        Self {
            targets,
            by_name,
            addresses: url_prefixes
                .iter()
                .map(|prefix| SiteAddress::read(prefix))
                .collect(),
            shared: common_folder(paths()),
            exists,
        }
    }

    /// Checks what can be checked of the document at `path` while others are not yet known.
    pub fn document(&self, path: &[u8], facts: LinkFacts) -> CheckedDocument {
        let mut nearest = Nearest::new(NEAREST_BUDGET);
        let mut summary = LinkSummary::default();
        let mut with_fragment = Vec::new();
        let mut unless_rule = Vec::new();
        let shown_path = path_for_people(path);
        for link in facts.links {
            match self.verdict(&link.destination, path) {
                Verdict::Elsewhere => {}
                Verdict::NotChecked => summary.not_checked += 1,
                Verdict::File => summary.sound += 1,
                Verdict::Document(_) if heading_named(&link.destination).is_none() => summary.sound += 1,
                Verdict::Document(target) => with_fragment.push(FragmentLink {
                    line: link.line,
                    target,
                    destination: link.destination.into(),
                }),
                Verdict::Nowhere(place) => {
                    let meant = self.nearest_page(&place, &mut nearest);
                    let warning = Warning {
                        path: shown_path.clone(),
                        line: Some(link.line),
                        kind: WarningKind::BrokenLink,
                        message: format!("no page or file for the link to {}", shown(&link.destination)),
                        advice: meant.map_or_else(
                            || "mend the link or remove it".to_owned(),
                            |meant| format!("perhaps {} is meant", path_for_people(meant)),
                        ),
                    };
                    if is_rule_name(&link.destination) {
                        unless_rule.push((link.destination, warning));
                    } else {
                        summary.warnings.push(warning);
                    }
                }
            }
        }
        CheckedDocument {
            number: self.targets.find(b"", path),
            path: shown_path,
            anchors: facts.anchors,
            with_fragment,
            unless_rule,
            summary,
        }
    }

    /// What is found, when all documents are known. Where a target is none of them (a draft, a file of another
    /// shard), its headings are not checked.
    pub fn finish(&self, documents: Vec<CheckedDocument>) -> LinkSummary {
        let mut summary = LinkSummary::default();
        let mut anchors: Vec<Option<String>> = vec![None; self.targets.len()];
        let mut pending = Vec::new();
        let mut paths = Vec::with_capacity(documents.len());
        let mut unless_rule = Vec::new();
        for document in documents {
            unless_rule.extend(document.unless_rule);
            summary.warnings.extend(document.summary.warnings);
            summary.sound += document.summary.sound;
            summary.not_checked += document.summary.not_checked;
            if let Some(own) = document
                .number
                .and_then(|number| anchors.get_mut(number as usize))
            {
                *own = Some(document.anchors);
            }
            let source = paths.len();
            pending.extend(document.with_fragment.into_iter().map(|link| (source, link)));
            paths.push(document.path);
        }
        if !unless_rule.is_empty() {
            let all = anchors.iter().flatten().flat_map(|known| known.lines());
            let rules: HashSet<&str> = all
                .filter_map(|anchor| anchor.strip_prefix(RULE_ANCHOR))
                .collect();
            for (name, warning) in unless_rule {
                if rules.contains(name.as_str()) {
                    summary.sound += 1;
                } else {
                    summary.warnings.push(warning);
                }
            }
        }
        // All links to one page are checked together.
        pending.sort_by(|(source, link), (other, after)| {
            (link.target, &paths[*source], link.line).cmp(&(after.target, &paths[*other], after.line))
        });
        for links in pending.chunk_by(|(_, link), (_, after)| link.target == after.target) {
            let Some((_, first)) = links.first() else {
                continue;
            };
            let Some(Some(known)) = anchors.get(first.target as usize) else {
                summary.not_checked += links.len() as u64;
                continue;
            };
            let ordered: Vec<&str> = known.lines().filter(|anchor| !anchor.is_empty()).collect();
            if ordered.is_empty() {
                // A page without any heading is filled by a program.
                summary.not_checked += links.len() as u64;
                continue;
            }
            let names: HashSet<&str> = ordered.iter().copied().collect();
            let mut nearest = Nearest::new(NEAREST_BUDGET);
            for (source, link) in links {
                let (raw, decoded) = heading_named(&link.destination).unwrap_or_default();
                if names.contains(decoded.as_str()) || names.contains(raw) {
                    summary.sound += 1;
                    continue;
                }
                let page = path_for_people(self.targets.path(link.target));
                let meant = nearest.choose(&decoded, ordered.iter().copied());
                summary.warnings.push(Warning {
                    path: paths[*source].clone(),
                    line: Some(link.line),
                    kind: WarningKind::MissingAnchor,
                    message: format!(
                        "{page} has no heading for the link to {}",
                        shown(&link.destination)
                    ),
                    advice: meant.map_or_else(
                        || "link to a heading that is there, or to the page".to_owned(),
                        |meant| format!("perhaps #{meant} is meant"),
                    ),
                });
            }
        }
        summary.warnings.sort();
        summary.warnings.dedup();
        summary
    }

    fn verdict(&self, destination: &str, from: &[u8]) -> Verdict {
        let destination = destination.trim();
        let before_fragment = destination.split('#').next().unwrap_or_default();
        if TEMPLATES
            .iter()
            .any(|template| before_fragment.contains(template))
            || destination.contains(FILLER)
            || before_fragment.contains(CODE_PATH)
        {
            return Verdict::NotChecked;
        }
        if is_mail_address(destination) {
            return Verdict::Elsewhere;
        }
        let below = self
            .addresses
            .iter()
            .find_map(|address| address.below(destination));
        let is_below = below.is_some();
        let Some(link) = links::read(&below.unwrap_or_else(|| destination.to_owned()), String::new()) else {
            return Verdict::Elsewhere;
        };
        let is_site_path = link.path.starts_with(b"/");
        let as_written = || {
            // The tree may hold the folders of the prefix, too.
            let whole = links::read(destination, String::new()).filter(|_| is_below)?;
            self.targets.find(&whole.path, from)
        };
        if let Some(target) = self.targets.find(&link.path, from).or_else(as_written) {
            return Verdict::Document(target);
        }
        if is_site_path && !is_below {
            return Verdict::NotChecked;
        }
        let existing = find_place(&link.path, from, |place| (self.exists)(place).then_some(()));
        if existing.is_some() {
            return Verdict::File;
        }
        // The most literal reading.
        match find_place(&link.path, from, |place| Some(place.to_vec())) {
            Some(place) if is_site_path || place.starts_with(&self.shared) => Verdict::Nowhere(place),
            _ => Verdict::NotChecked,
        }
    }

    /// The document that a path to nowhere probably means: one of the same name elsewhere, the one with the most
    /// folders in common; else one of a similar name in the folder.
    fn nearest_page(&self, place: &[u8], nearest: &mut Nearest) -> Option<&'w [u8]> {
        let name = name_of(place);
        let first = self.by_name.partition_point(|(other, _)| *other < name);
        let same_name = self.by_name[first..]
            .iter()
            .take_while(|(other, _)| *other == name)
            .take(NEIGHBOURS)
            .map(|&(_, number)| self.targets.path(number));
        let in_common = |path: &[u8]| {
            let from_front = path.iter().zip(place).take_while(|(a, b)| a == b).count();
            let from_back = path
                .iter()
                .rev()
                .zip(place.iter().rev())
                .take_while(|(a, b)| a == b);
            from_front + from_back.count()
        };
        let same_name: Vec<&[u8]> = same_name.filter(|_| !name.is_empty()).collect();
        // Of several, one is meant only if it stands near.
        let is_near = |path: &[u8]| same_name.len() == 1 || in_common(path) * 2 > place.len() + name.len();
        let best = same_name.iter().copied().filter(|path| is_near(path));
        if let Some(best) = best.min_by_key(|path| (Reverse(in_common(path)), *path)) {
            return Some(best);
        }
        let trimmed = place.strip_suffix(b"/").unwrap_or(place);
        let slash = trimmed.iter().rposition(|&byte| byte == b'/');
        let folder = &trimmed[..slash.map_or(0, |slash| slash + 1)];
        let all = self.targets.len();
        let is_before = |number: u32| self.targets.path(number) < folder;
        let (mut low, mut high) = (0, u32::try_from(all).unwrap_or(u32::MAX));
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if is_before(middle) {
                (middle + 1, high)
            } else {
                (low, middle)
            };
        }
        let neighbours: Vec<(String, &[u8])> = (low..u32::try_from(all).unwrap_or(u32::MAX))
            .map(|number| self.targets.path(number))
            .take_while(|path| path.starts_with(folder))
            .take(NEIGHBOURS)
            .map(|path| (name_of(path), path))
            .collect();
        let chosen = nearest.choose(&name, neighbours.iter().map(|(name, _)| name.as_str()))?;
        neighbours
            .iter()
            .find(|(name, _)| name == chosen)
            .map(|&(_, path)| path)
    }
}

/// The fragment of a destination as written and decoded, if it can only be a heading's or another anchor's.
fn heading_named(destination: &str) -> Option<(&str, String)> {
    let (_, fragment) = destination.trim().split_once('#')?;
    // A text fragment may follow an ordinary one.
    let raw = fragment.split(":~:").next().unwrap_or_default();
    let raw = raw.strip_prefix("user-content-").unwrap_or(raw);
    let is_line = raw.strip_prefix('L').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, 'L' | '-' | 'C'))
    });
    let is_other = raw.is_empty()
        || raw.eq_ignore_ascii_case("top")
        || raw.starts_with(['/', '!'])
        || MADE_BY_RENDERERS.iter().any(|start| fragment.starts_with(start));
    if is_line || is_other {
        return None;
    }
    let decoded = links::read(&format!("#{raw}"), String::new())?.fragment;
    Some((raw, decoded))
}

/// `a@b.c`, as `<a@b.c>` has it.
fn is_mail_address(destination: &str) -> bool {
    let is_page = [".md", ".mdx", ".markdown", ".html"]
        .iter()
        .any(|ending| destination.ends_with(ending));
    !is_page
        && !destination.contains(['/', '#', '?'])
        && destination
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// The last name of a path in lower case, without ending; of a folder's page the folder's name.
fn name_of(path: &[u8]) -> String {
    let path = String::from_utf8_lossy(path).to_lowercase();
    let mut names = path.trim_end_matches('/').rsplit('/');
    let name = names.next().unwrap_or_default();
    let stem = [".md", ".mdx", ".markdown", ".html", ".htm"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    match stem {
        "index" | "_index" | "readme" => names.next().unwrap_or_default().to_owned(),
        stem => stem.to_owned(),
    }
}

fn shown(destination: &str) -> &str {
    let destination = destination.trim();
    &destination[..char_boundary(destination, SHOWN_LIMIT)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavour::Flavour;
    use crate::split::{Tree, split_document};

    const FILES: [&[u8]; 2] = [b"docs/img/a.png", b"docs/data"];

    /// The check of a tree of documents, with each finding as `path:line kind advice`.
    fn check(documents: &[(&str, &str)], url_prefixes: &[&str]) -> (Vec<String>, u64, u64) {
        let paths: Vec<&[u8]> = documents.iter().map(|(path, _)| path.as_bytes()).collect();
        let exists = |place: &[u8]| FILES.contains(&place.strip_suffix(b"/").unwrap_or(place));
        let prefixes: Vec<String> = url_prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
        let targets = LinkTargets::new(paths.iter().copied());
        let check = LinkCheck::new(&targets, &prefixes, &exists);
        let tree = Tree {
            part_limit: 6000,
            flavour: Flavour::Github,
            markdown_is_mdx: false,
            is_myst: false,
            is_obsidian: false,
            check_links: true,
            includes: None,
            base_url: "",
            targets: &targets,
            names: &std::collections::HashMap::new(),
            languages: &crate::language::TreeLanguages::default(),
        };
        let checked = documents.iter().filter_map(|(path, source)| {
            let split = split_document(path.as_bytes(), source.as_bytes(), &tree).ok()?;
            Some(check.document(path.as_bytes(), split.link_facts?))
        });
        // The order in which documents come does not matter.
        let mut checked: Vec<_> = checked.collect();
        checked.reverse();
        let summary = check.finish(checked);
        let line = |warning: &Warning| {
            let kind = if warning.kind == WarningKind::BrokenLink {
                "page"
            } else {
                "anchor"
            };
            format!(
                "{}:{} {kind}: {}",
                warning.path,
                warning.line.unwrap(),
                warning.advice
            )
        };
        (
            summary.warnings.iter().map(line).collect(),
            summary.sound,
            summary.not_checked,
        )
    }

    /// What becomes of one link in `docs/guide/a.md`, beside some other documents.
    fn outcome(link: &str, url_prefixes: &[&str]) -> &'static str {
        let source = format!("# A\n\n[x]({link})\n");
        let documents = [
            ("docs/guide/a.md", source.as_str()),
            (
                "docs/guide/b.md",
                "# B\n\n## Set up {#setup}\n\n> ### In a quote\n\n<span id='far'></span> r\n\nr[b.rule]\n",
            ),
            ("docs/index.md", "# Start\n"),
            ("docs/empty.md", "text alone\n"),
            ("docs/draft.md", "---\ndraft: true\n---\n# D\n"),
        ];
        let (warnings, sound, not_checked) = check(&documents, url_prefixes);
        match (warnings.first(), sound, not_checked) {
            (None, 1, 0) => "sound",
            (None, 0, 1) => "not checked",
            (None, 0, 0) => "elsewhere",
            (Some(warning), 0, 0) if warning.contains(" page: ") => "no page",
            (Some(warning), 0, 0) if warning.contains(" anchor: ") => "no anchor",
            other => panic!("{link}: {other:?}"),
        }
    }

    #[test]
    fn each_kind_of_link_is_judged() {
        for (link, expected) in [
            ("b.md", "sound"),
            ("b.html#setup", "sound"),
            ("../b/#setup", "sound"),
            ("/guide/b#setup", "sound"),
            ("#a", "sound"),
            ("#top", "sound"),
            ("#", "sound"),
            ("b.md#b", "sound"),
            ("b.md#user-content-b", "sound"),
            ("b.md#in-a-quote", "sound"),
            ("b.md#far", "sound"),
            ("b.md#r-b.rule", "sound"),
            ("b.rule", "sound"),
            ("b.md#L10-L20", "sound"),
            ("b.md#fn:1", "sound"),
            ("b.md#:~:text=word", "sound"),
            ("b.md#setup:~:text=word", "sound"),
            ("../img/a.png", "sound"),
            ("../../img/a.png", "sound"),
            ("../data/", "sound"),
            ("b.md#gone", "no anchor"),
            ("#gone", "no anchor"),
            ("b.md#gone:~:text=word", "no anchor"),
            ("gone.md", "no page"),
            ("gone.md#b", "no page"),
            ("../img/gone.png", "no page"),
            ("gone.rule", "no page"),
            ("../empty.md#x", "not checked"),
            ("../draft.md#x", "not checked"),
            ("../draft.md", "sound"),
            ("../../std/x.html", "not checked"),
            ("../../../src/x.rs", "not checked"),
            ("/other/page", "not checked"),
            ("{{base}}/x", "not checked"),
            ("{{< ref x >}}", "no page"),
            ("{{< ref b >}}", "sound"),
            ("std::fs::File", "not checked"),
            ("a@example.org", "elsewhere"),
            ("mailto:a@example.org", "elsewhere"),
            ("https://example.org/docs/gone", "elsewhere"),
            ("//example.org/docs/gone", "elsewhere"),
        ] {
            assert_eq!(outcome(link, &[]), expected, "{link}");
        }
    }

    #[test]
    fn what_is_below_the_address_of_the_site_has_to_be_there() {
        let prefixes = ["/docs", "https://example.org/manual/"];
        for (link, expected) in [
            ("/docs/guide/b/", "sound"),
            ("/docs/guide/b#setup", "sound"),
            ("/docs/guide/b#gone", "no anchor"),
            ("/docs/guide/gone", "no page"),
            ("/docs", "sound"),
            ("/docs?x#start", "sound"),
            ("/docs/img/a.png", "sound"),
            ("/docs-old/gone", "not checked"),
            ("/blog/gone", "not checked"),
            ("/manual/gone", "no page"),
            ("https://example.org/manual/guide/b", "sound"),
            ("http://EXAMPLE.org/manual/guide/gone", "no page"),
            ("https://example.org/manual#start", "sound"),
            ("https://example.org/other", "elsewhere"),
            ("https://example.com/docs/gone", "elsewhere"),
        ] {
            assert_eq!(outcome(link, &prefixes), expected, "{link}");
        }
        assert_eq!(outcome("/gone", &["/"]), "no page");
        assert_eq!(outcome("https://example.org", &["https://example.org"]), "sound");
    }

    #[test]
    fn findings_stand_in_order_and_say_what_was_probably_meant() {
        let documents = [
            (
                "a/a.md",
                "# A\n\n[x](b.md#set-upp) [x](#aa)\n[y](instal.md)\n\n[y](instal.md) [y](instal.md)\n",
            ),
            (
                "a/b.md",
                "# B\n\n## Set up\n\n[z](moved.md) [z](xyz.md)\n\n[q](#nothing-like-it)\n",
            ),
            ("a/install.md", "# I\n"),
            ("c/moved.md", "# M\n"),
        ];
        let (warnings, sound, not_checked) = check(&documents, &[]);
        assert_eq!(
            warnings,
            [
                "a/a.md:3 anchor: link to a heading that is there, or to the page",
                "a/a.md:3 anchor: perhaps #set-up is meant",
                "a/a.md:4 page: perhaps a/install.md is meant",
                "a/a.md:6 page: perhaps a/install.md is meant",
                "a/b.md:5 page: perhaps c/moved.md is meant",
                "a/b.md:5 page: mend the link or remove it",
                "a/b.md:7 anchor: link to a heading that is there, or to the page",
            ]
        );
        assert_eq!((sound, not_checked), (0, 0));
    }

    #[test]
    fn many_broken_links_take_linear_time() {
        let headings: Vec<String> = (0..5000)
            .map(|number| format!("## Heading number {number}\n\n"))
            .collect();
        let links: Vec<String> = (0..5000)
            .map(|number| format!("[x](#heading-nomber-{number}) [y](page{number}.md)\n"))
            .collect();
        let source = headings.concat() + &links.concat();
        let begin = std::time::Instant::now();
        let (warnings, ..) = check(&[("a/a.md", &source), ("a/page.md", "# P\n")], &[]);
        assert_eq!(warnings.len(), 10_000);
        assert!(begin.elapsed().as_secs() < 20);
    }
}
