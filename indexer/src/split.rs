//! Splits one source file into a document of sections: the whole way from bytes to records.
//!
//! In: a path in the docs tree and the file's bytes. Out: a [`DocumentSource`] for the index, and warnings where the
//! file was read as well as could be. The way: bytes to text (`decode`, `scrub`), front matter
//! (`front_matter`), a buffer of the same lines in which only Markdown is left (`mask`), its
//! headings and texts (`markdown`), and from these sections with anchors, parts and fields
//! (`sections`). Pure: no file is read, nothing is printed, and no input panics.

use std::collections::HashMap;
use std::ops::Range;

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use docs_index::{DocumentSource, LinkTargets, PartSource, SectionSource};

use crate::decode::{self, Tally};
use crate::flavour::Flavour;
use crate::front_matter::{self, FrontMatter};
use crate::include::{self, Expansion, IncludeFiles};
use crate::language::TreeLanguages;
use crate::link_facts::LinkFacts;
use crate::markdown::{self, Outline};
use crate::mask::{self, Dialect, Style};
use crate::mdx;
use crate::page_url;
use crate::relink;
use crate::report::{Warning, WarningKind, counted, path_for_people};
use crate::scrub;
use crate::sections::Sectioning;
use crate::shortcode::Language;

/// What a document's splitting needs to know of the tree it stands in.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of the tree")]
pub struct Tree<'t> {
    /// Bytes of stored text beyond which a section is cut into parts.
    pub part_limit: usize,
    /// Whose rules name the headings.
    pub flavour: Flavour,
    /// Whether `.md` is read as MDX.
    pub markdown_is_mdx: bool,
    /// Whether it is a tree of `MyST`'s.
    pub is_myst: bool,
    /// Whether it is a vault of Obsidian's.
    pub is_obsidian: bool,
    /// Address under which the tree is published; may be empty.
    pub base_url: &'t str,
    /// Whether to note what a check of links needs.
    pub check_links: bool,
    /// Where included files come from; none leaves all directives as they are.
    pub(crate) includes: Option<&'t (dyn IncludeFiles + Sync)>,
    /// All documents of the tree.
    pub targets: &'t LinkTargets<'t>,
    /// The documents by their names without ending, in lower case, for links that name no path; only names that one
    /// document has.
    pub names: &'t HashMap<String, u32>,
    /// What the tree's paths and its site say of the languages that documents are in.
    pub(crate) languages: &'t TreeLanguages<'t>,
}

impl std::fmt::Debug for Tree<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "Tree({} documents, {})",
            self.targets.len(),
            self.flavour
        )
    }
}

impl<'t> Tree<'t> {
    /// The document that a link's path names, seen from the one at `from`.
    pub(crate) fn document(&self, from: &[u8], written: &[u8]) -> Option<&'t [u8]> {
        let number = self.targets.find(written, from)?;
        Some(self.targets.path(number))
    }

    /// The document that a wiki's link names: by its path, or by its name alone.
    pub(crate) fn wiki_page(&self, from: &[u8], page: &str) -> Option<&'t [u8]> {
        if page.is_empty() {
            return self.document(from, b"");
        }
        let by_path = self
            .document(from, page.as_bytes())
            .or_else(|| self.document(from, format!("/{page}").as_bytes()));
        by_path.or_else(|| {
            let number = self.names.get(&page.to_lowercase())?;
            Some(self.targets.path(*number))
        })
    }
}

/// A file taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What the index takes in.
    pub document: DocumentSource,
    /// What its author should know, by line.
    pub warnings: Vec<Warning>,
    /// For the check of links: its anchors, and its links as written; none unless asked for.
    pub link_facts: Option<LinkFacts>,
}

/// Why a file makes no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// It has no text.
    Empty,
    /// Its front matter says that it is a draft.
    Draft,
}

impl std::fmt::Display for Skip {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "no text",
            Self::Draft => "draft",
        })
    }
}

/// Splits the file at `path`, whose suffix tells its dialect.
///
/// # Errors
///
/// A file without any text, or a draft, is no document.
pub fn split_document(path: &[u8], source: &[u8], tree: &Tree<'_>) -> Result<Split, Skip> {
    let decoded = decode::decode(source);
    // Counted before anything is removed: a last line of invisible characters alone is a line of the file.
    let line_count = u32::try_from(decoded.text.lines().count().max(1)).unwrap_or(u32::MAX);
    let (text, invisible) = scrub::remove_invisible(scrub::shorten_data_uris(decoded.text));
    let front = front_matter::read(&text);
    if front.draft {
        return Err(Skip::Draft);
    }
    let expansion = match tree.includes {
        Some(files) => include::expand(&text, front.body, path, files),
        None => Expansion::unchanged(&text),
    };
    let text = expansion.text.as_ref();
    let is_mdx = has_suffix(path, b".mdx") || tree.markdown_is_mdx || mdx::has_components(text, front.body);
    let style = Style {
        dialect: if is_mdx { Dialect::Mdx } else { Dialect::Markdown },
        is_mdn: front.is_mdn,
        language: Language::of(&front.language, path),
        is_myst: tree.is_myst,
        is_obsidian: tree.is_obsidian,
    };
    let mut masked = mask::mask(text, front.body, style);
    masked.bodies.extend(expansion.included.iter().cloned());
    masked.bodies = apart(masked.bodies);
    let mut outline = markdown::read(&masked, text, style);
    relink::read_calls(text, &masked, &mut outline.links);
    let stem = stem(path);
    let url = page_url::page_url(tree.base_url, path, &front.slug, tree.flavour);
    let sectioning = Sectioning {
        path,
        source: text,
        body: front.body,
        masked: &masked,
        style,
        tree,
        url: &url,
        outline: &outline,
        title: if front.title.is_empty() {
            &stem
        } else {
            &front.title
        },
        lines: &expansion.lines,
        line_count,
    };
    let mut sections = sectioning.sections();
    if sections.is_empty() {
        sections.push(front_matter_alone(&front, sectioning.title, line_count).ok_or(Skip::Empty)?);
    }
    let mut warnings = warnings(path, &decoded.invalid, &decoded.nul, &invisible, &front);
    warnings.extend(expansion.warnings.iter().map(|warning| {
        let kind = WarningKind::UnresolvedInclude;
        Warning::new(
            kind,
            path_for_people(path),
            Some(warning.line),
            warning.message.clone(),
        )
        .with_advice(warning.advice)
    }));
    warnings.extend(masked.unclosed.iter().map(|&place| {
        let lines = text[..place].bytes().filter(|&byte| byte == b'\n').count();
        let line = expansion
            .lines
            .original(u32::try_from(lines + 1).unwrap_or(u32::MAX));
        let message = "the comment is never closed and hides all that follows".to_owned();
        Warning::new(
            WarningKind::UnclosedComment,
            path_for_people(path),
            Some(line),
            message,
        )
    }));
    warnings.sort_by_key(|warning| warning.line);
    let link_facts = tree
        .check_links
        .then(|| LinkFacts::of(text, &outline, &sections, &expansion.lines, tree.flavour));
    let document = DocumentSource {
        path: path.to_vec(),
        title: title(&front, &outline).unwrap_or(stem),
        description: front.description,
        tags: front.tags,
        url: url.clone(),
        language: tree.languages.of_document(&front.language, path, &sections),
        source_hash: source_hash(source, &expansion),
        source_bytes: u64::try_from(source.len()).unwrap_or(u64::MAX),
        sections,
    };
    Ok(Split {
        document,
        warnings,
        link_facts,
    })
}

/// Splits a document that is the only one of its tree, with nothing to include: for tests and fuzz targets, which
/// have no tree.
///
/// # Errors
///
/// As [`split_document`].
#[doc(hidden)]
pub fn split_alone(path: &[u8], source: &[u8], part_limit: usize, flavour: Flavour) -> Result<Split, Skip> {
    let tree = Tree {
        part_limit,
        flavour,
        markdown_is_mdx: false,
        is_myst: true,
        is_obsidian: true,
        check_links: true,
        includes: None,
        base_url: "",
        targets: &LinkTargets::new([path]),
        names: &HashMap::new(),
        languages: &TreeLanguages::default(),
    };
    split_document(path, source, &tree)
}

/// Of the file and of everything that it includes.
fn source_hash(source: &[u8], expansion: &Expansion<'_>) -> [u8; 32] {
    let mut hasher = Blake2b::<U32>::new();
    hasher.update(source);
    for included in &expansion.sources {
        hasher.update(included);
    }
    hasher.finalize().into()
}

/// Sorts ranges and joins those that touch.
fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The title of the page where it has one: front matter, else the first level-1 heading, else one written in HTML.
fn title(front: &FrontMatter, outline: &Outline) -> Option<String> {
    if !front.title.is_empty() {
        return Some(front.title.clone());
    }
    let first = outline
        .headings
        .iter()
        .find(|heading| heading.level == 1 && !heading.title.is_empty());
    let title = first.map_or(&outline.html_title, |heading| &heading.title);
    (!title.is_empty()).then(|| title.clone())
}

/// The one section of a page that is front matter alone.
fn front_matter_alone(front: &FrontMatter, title: &str, line_end: u32) -> Option<SectionSource> {
    let text = [&front.description, &front.title]
        .into_iter()
        .find(|text| !text.is_empty())?;
    Some(SectionSource {
        heading: title.to_owned(),
        line_start: 1,
        line_end,
        parts: vec![PartSource {
            text: text.clone(),
            ..PartSource::default()
        }],
        ..SectionSource::default()
    })
}

fn has_suffix(path: &[u8], suffix: &[u8]) -> bool {
    path.len() >= suffix.len() && path[path.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

/// The file's name without its suffix.
pub(crate) fn stem(path: &[u8]) -> String {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.into_owned(),
    }
}

fn warnings(
    path: &[u8],
    invalid: &Tally,
    nul: &Tally,
    invisible: &Tally,
    front: &FrontMatter,
) -> Vec<Warning> {
    let warning = |line: u32, kind, message: String, advice: &str| Warning {
        path: path_for_people(path),
        line: Some(line),
        kind,
        message,
        advice: advice.to_owned(),
    };
    let mut warnings = Vec::new();
    if let Some(fault) = &front.fault {
        let message = format!("invalid front matter {}: {}", fault.outcome, fault.reason);
        warnings.push(warning(
            fault.line,
            WarningKind::InvalidFrontMatter,
            message,
            "mend its syntax",
        ));
    }
    if invalid.count > 0 {
        let message = format!(
            "{} replaced by U+FFFD",
            counted(invalid.count, "invalid byte sequence")
        );
        warnings.push(warning(
            invalid.first_line,
            WarningKind::InvalidEncoding,
            message,
            "save the file as UTF-8",
        ));
    }
    if nul.count > 0 {
        let message = format!("{} replaced by U+FFFD", counted(nul.count, "NUL character"));
        warnings.push(warning(
            nul.first_line,
            WarningKind::NulCharacter,
            message,
            "remove them",
        ));
    }
    if invisible.count > 0 {
        let message = format!("{} removed", counted(invisible.count, "invisible character"));
        let advice = "remove zero-width, bidirectional-control and tag characters";
        warnings.push(warning(
            invisible.first_line,
            WarningKind::InvisibleCharacters,
            message,
            advice,
        ));
    }
    warnings.sort_by_key(|warning| warning.line);
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::{IncludeFault, IncludeRequest, IncludedFile};
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Splits a document as the only one of its tree.
    fn split_only(path: &[u8], source: &[u8], part_limit: usize) -> Result<Split, Skip> {
        split_in(&[path], Flavour::Github, "", path, source, part_limit)
    }

    fn split_in(
        paths: &[&[u8]],
        flavour: Flavour,
        base_url: &str,
        path: &[u8],
        source: &[u8],
        part_limit: usize,
    ) -> Result<Split, Skip> {
        let names = paths
            .iter()
            .zip(0..)
            .map(|(path, number)| (stem(path).to_lowercase(), number));
        let tree = Tree {
            part_limit,
            flavour,
            markdown_is_mdx: false,
            is_myst: false,
            is_obsidian: false,
            check_links: true,
            includes: Some(&Everywhere),
            base_url,
            targets: &LinkTargets::new(paths.iter().copied()),
            names: &names.collect(),
            languages: &TreeLanguages::default(),
        };
        split_document(path, source, &tree)
    }

    fn split(path: &str, source: &str) -> DocumentSource {
        let split = split_only(path.as_bytes(), source.as_bytes(), 6000).unwrap();
        check(&split.document, source.as_bytes());
        split.document
    }

    /// What holds for every document.
    fn check(document: &DocumentSource, source: &[u8]) {
        let text = decode::decode(source).text;
        let lines = u32::try_from(text.lines().count().max(1)).unwrap();
        let mut next_line = 1;
        let mut names = HashSet::new();
        for section in &document.sections {
            assert_eq!(section.line_start, next_line, "{document:#?}");
            assert!(section.line_end >= section.line_start);
            next_line = section.line_end + 1;
            assert_eq!(section.anchor.is_empty(), section.level == 0);
            assert!(!section.parts.is_empty());
            for name in section.aliases.iter().chain(std::iter::once(&section.anchor)) {
                assert!(names.insert(name.as_str()), "{name} twice");
            }
            for part in &section.parts {
                assert!(
                    part.text.len() > (part.repeated_head + part.repeated_tail) as usize,
                    "{part:?}"
                );
                assert!(part.text.is_char_boundary(part.repeated_head as usize));
            }
        }
        assert_eq!(next_line, lines + 1, "{document:#?}");
    }

    fn outline_of(document: &DocumentSource) -> Vec<(u8, &str, u32, u32)> {
        document
            .sections
            .iter()
            .map(|s| (s.level, s.heading.as_str(), s.line_start, s.line_end))
            .collect()
    }

    #[test]
    fn a_page_becomes_sections_with_their_lines() {
        let page = split(
            "guide/page.md",
            "---\ntitle: Page\n---\n\nIntro.\n\n# One {#first}\n\na\n\n<a id=\"old\"></a>\n\n## Two\n\nb\n",
        );
        assert_eq!(
            outline_of(&page),
            [(0, "Page", 1, 6), (1, "One", 7, 12), (2, "Two", 13, 15)]
        );
        assert_eq!(page.sections[1].anchor, "first");
        assert_eq!(page.sections[2].aliases, ["old"]);
        let texts: Vec<_> = page.sections.iter().map(|s| s.parts[0].text.as_str()).collect();
        assert_eq!(texts, ["Intro.", "# One\n\na", "## Two\n\nb"]);
        assert_eq!(page.title, "Page");
    }

    #[test]
    fn anchors_blanks_and_statements_alone_make_no_preamble() {
        for (path, source) in [
            ("a.md", "\n\n# T\n"),
            ("a.md", "---\nx: 1\n---\n\n# T\n"),
            ("a.md", "<a name=\"top\"></a>\n\n# T\n"),
            ("a.md", "<!-- c -->\n# T\n"),
            ("a.mdx", "import A from 'a'\nexport const x = 1\n\n# T\n"),
        ] {
            let page = split(path, source);
            assert_eq!(page.sections.len(), 1, "{source}");
            assert_eq!(
                (
                    page.sections[0].line_start,
                    page.sections[0].parts[0].text.as_str()
                ),
                (1, "# T")
            );
        }
        assert_eq!(
            split("a.md", "<a name=\"top\"></a>\n\n# T\n").sections[0].aliases,
            ["top"]
        );
    }

    #[test]
    fn files_without_headings_are_one_section_and_files_without_text_are_none() {
        assert_eq!(
            outline_of(&split("x/flat.md", "just prose\nno heading\n")),
            [(0, "flat", 1, 2)]
        );
        let meta = split("m.md", "---\ntitle: Only meta\ndescription: What it is.\n---\n");
        assert_eq!(outline_of(&meta), [(0, "Only meta", 1, 4)]);
        assert_eq!(meta.sections[0].parts[0].text, "What it is.");
        for source in [
            "",
            "\u{FEFF}",
            " \n\t\n",
            "<!-- only a comment -->\n",
            "---\nweight: 1\n---\n",
        ] {
            let found = split_only(b"a.md", source.as_bytes(), 6000);
            assert_eq!(found, Err(Skip::Empty), "{source:?}");
        }
        let draft = split_only(b"a.md", b"---\ndraft: true\n---\n# T\n", 6000);
        assert_eq!(draft, Err(Skip::Draft));
    }

    #[test]
    fn mdx_keeps_text_and_headings_of_components() {
        let page = split(
            "a.mdx",
            "import Tabs from 't'\n\n# Install\n\n<Callout type=\"warn\">\n  Mind the **meerkat** step.\n</Callout>\n\n```js\nimport keep from 'me'\n```\n\n<Tabs>\n    <TabItem>\n\n        ## Npm way\n\n        npm i\n\n    </TabItem>\n</Tabs>\n{/* gone */}\n",
        );
        assert_eq!(outline_of(&page), [(1, "Install", 1, 15), (2, "Npm way", 16, 22)]);
        assert_eq!(page.sections[0].parts[0].fields.prose, "Mind the meerkat step.");
        assert_eq!(page.sections[0].parts[0].fields.code, "import keep from 'me'");
        assert_eq!(page.sections[1].parts[0].fields.prose, "npm i");
        assert!(!page.sections[1].parts[0].text.contains("gone"));
    }

    #[test]
    fn fields_and_links_follow_the_parts() {
        let paragraph = |word: &str| {
            format!(
                "{word} `{word}_code` [{word} link]({word}.md) {}\n\n",
                "filler ".repeat(20)
            )
        };
        let source = format!("# T\n\n{}{}", paragraph("alpha"), paragraph("beta"));
        let split = split_only(b"d/a.md", source.as_bytes(), 250).unwrap();
        let parts = &split.document.sections[0].parts;
        assert_eq!(parts.len(), 2);
        for (part, word) in parts.iter().zip(["alpha", "beta"]) {
            assert!(part.fields.prose.starts_with(word));
            assert_eq!(part.fields.inline_code, format!("{word}_code"));
            assert_eq!(part.fields.link_text, format!("{word} link"));
            assert_eq!(part.links[0].path, format!("{word}.md").into_bytes());
        }
        let words = "word ".repeat(500);
        let split = split_only(b"a.md", words.as_bytes(), 250).unwrap();
        let prose: Vec<_> = split.document.sections[0]
            .parts
            .iter()
            .map(|p| p.fields.prose.as_str())
            .collect();
        assert_eq!(prose.join(" "), words.trim_end());
    }

    #[test]
    fn warnings_name_their_line() {
        let source = b"---\ntitle: a: b\n---\n# T\n\nx\xFF\n\0\n\xE2\x80\x8B\n";
        let split = split_only(b"d/a.md", source, 6000).unwrap();
        let found: Vec<_> = split.warnings.iter().map(|w| (w.line.unwrap(), w.kind)).collect();
        assert_eq!(
            found,
            [
                (2, WarningKind::InvalidFrontMatter),
                (6, WarningKind::InvalidEncoding),
                (7, WarningKind::NulCharacter),
                (8, WarningKind::InvisibleCharacters),
            ]
        );
        assert_eq!(
            split.document.sections[0].parts[0].text,
            "# T\n\nx\u{FFFD}\n\u{FFFD}"
        );
    }

    #[test]
    fn nested_openers_take_linear_time() {
        for opener in [
            "[",
            "![",
            "> ",
            "* ",
            "*",
            "_",
            "`",
            "<",
            "<a ",
            "[](",
            "[^",
            "{{",
            "&",
            "- ",
            "|",
            "$$\n",
            "{#",
            "\\",
            "[[",
            "[[a]] ",
            "[a][b] ",
            "[^1] ",
            "[^1]: a\n",
            "{ref}`a` ",
            "{ref}",
            ":::note\n",
            "```{note}\n",
            "(a)=\n",
            "{\"a\"}",
            "{a => ",
            "<div id=a>",
            "<div id=",
            "{%",
            "{% raw %}",
            "{{x(\"y\")}} ",
            "r[a]\n",
            "<a href=\"x\">",
            "<a href=",
            "[a](b) ",
            "[a](b",
            "&#65;",
            "<C title=\"x\">",
            "\\{{x",
            "[r]: a\n",
            "[r]: a\n[r] ",
            "{* a *}\n",
            "--8<-- \"a\"\n",
            "[x]({{< ref",
            "[x]({{< ref \"a\" >}}) ",
            "# T\n",
            "## T {#a}\n",
            "/// a\n",
        ] {
            let source = format!("# P\n\n{}", opener.repeat(10_000));
            let begin = std::time::Instant::now();
            for path in ["a.md", "a.mdx"] {
                split(path, &source);
            }
            assert!(begin.elapsed().as_secs() < 10, "{opener:?}");
        }
    }

    const PIECES: &[&str] = &[
        "# T\n",
        "## T {#id}\n",
        "T\n===\n",
        "text é ",
        "\n",
        "\n\n",
        "- item\n",
        "  ",
        "    ",
        "```\n",
        "~~~\n",
        "`",
        "``",
        "| a | b |\n|---|---|\n| c | d |\n",
        "> ",
        "<!-- ",
        " -->",
        "{/* ",
        " */}",
        "{{x(\"y\")}}",
        "{{",
        "}}",
        "{{< highlight a >}}",
        "{{< /highlight >}}",
        "$$",
        "$$\n",
        "<a id=\"x\"></a>\n",
        "<A>\n",
        "</A>\n",
        "<b",
        ">",
        "import x from 'y'\n",
        "export const a = {\n",
        "}\n",
        "<script>",
        "</script>",
        "---\n",
        "+++\n",
        "title: x\n",
        "[l](a.md)",
        "![i](b)",
        "[r]: c\n",
        "[^1]",
        "[^1]: n\n",
        "!!! note\n",
        "=== \"T\"\n",
        "\r",
        "\r\n",
        "\0",
        "\u{200B}",
        "\u{FEFF}",
        "👩\u{200D}👧",
        "<style>",
        "\t",
        "\\",
        "*",
        "_",
        "1. ",
        "[l][r]",
        "[r]",
        "[[a]]",
        "[[a#T|x]]",
        "<a href=\"b.md#x\">",
        "[x]({{< ref \"a\" >}})",
        "{{Deprecated_Inline}}",
        "{{HTMLElement(\"b\")}}",
        "\\{{x(\"y\")}}",
        "```css hidden\n",
        "{% raw %}",
        "{% highlight c %}",
        "{% endhighlight %}",
        "{% comment %}",
        "{% endcomment %}",
        "{{< note >}}\n",
        "{{% heading \"whatsnext\" %}}",
        ":::note[T]\n",
        ":::\n",
        "::: zone x\n",
        ":::image alt-text=\"ä\" source=\"b\":::\n",
        "/// tip | T\n",
        "///\n",
        "```{note} T\n",
        ":class: x\n",
        "(label)=\n",
        "{ref}`t <a>`",
        "r[rule]\n",
        "<Card title=\"T\" href=\"/x\">",
        "</Card>",
        "<B c={`d`} />",
        "{\"text\"}",
        "{x => (\n",
        "&#123;",
        "<div id=\"d\">",
        "</div>",
        "    ",
        "{* a.py *}\n",
        "--8<-- \"a.md\"\n",
        "{{#include a.md:1:2}}",
        "<<< @/a.py{1}\n",
        "<!--@include: ./a.md-->",
        "```{literalinclude} a.py\n",
        "[!INCLUDE [x](a.md)]",
    ];

    /// Every file is there, and says the same.
    #[derive(Debug)]
    struct Everywhere;

    impl IncludeFiles for Everywhere {
        fn document(&self, path: &[u8]) -> std::path::PathBuf {
            std::path::PathBuf::from(String::from_utf8_lossy(path).into_owned())
        }

        fn read(&self, request: &IncludeRequest<'_>) -> Result<IncludedFile, IncludeFault> {
            Ok(IncludedFile {
                identity: request.path.into(),
                bytes: b"# Included\n\n```\ncode\n```\n\n[l](b.md) and [^1].\n".to_vec(),
            })
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn every_document_is_whole(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
            mdx in any::<bool>(),
            mdn in any::<bool>(),
            part_limit in 0_usize..200,
        ) {
            let front = if mdn { "---\npage-type: guide\n---\n" } else { "" };
            whole(format!("{front}{}", pieces.concat()).as_bytes(), mdx, part_limit);
        }

        #[test]
        fn arbitrary_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300), mdx in any::<bool>()) {
            whole(&bytes, mdx, 50);
        }

        #[test]
        fn arbitrary_text_is_no_danger(text in "\\PC{0,200}", mdx in any::<bool>()) {
            whole(text.as_bytes(), mdx, 50);
        }
    }

    fn whole(source: &[u8], mdx: bool, part_limit: usize) {
        let path: &[u8] = if mdx { b"a.mdx" } else { b"a.md" };
        let Ok(split) = split_only(path, source, part_limit) else {
            return;
        };
        check(&split.document, source);
        // Parts without what they repeat are the section, whatever the limit.
        let uncut = split_only(path, source, usize::MAX).unwrap();
        for (section, uncut) in split.document.sections.iter().zip(&uncut.document.sections) {
            let own = |part: &PartSource| {
                let (head, tail) = (part.repeated_head as usize, part.repeated_tail as usize);
                part.text[head..part.text.len() - tail].to_owned()
            };
            let joined: String = section.parts.iter().map(own).collect();
            assert_eq!(joined, uncut.parts[0].text);
        }
    }
}
