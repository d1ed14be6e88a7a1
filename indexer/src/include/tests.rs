//! Whole documents with their includes, against files held in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use proptest::prelude::*;

use super::*;
use crate::include::fault::IncludeFault;
use crate::include::roots::{IncludeRequest, IncludedFile};

/// A tree of files at `/t`; whatever is asked for outside is refused, as the file system's one does it.
#[derive(Default)]
struct Files {
    files: BTreeMap<&'static str, Vec<u8>>,
    read: RefCell<Vec<PathBuf>>,
}

impl Files {
    fn new(files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (*path, text.as_bytes().to_vec()));
        Self {
            files: files.collect(),
            read: RefCell::default(),
        }
    }
}

fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                folded.pop();
            }
            Component::CurDir => {}
            part => folded.push(part),
        }
    }
    folded
}

impl IncludeFiles for Files {
    fn document(&self, document: &[u8]) -> PathBuf {
        Path::new("/t").join(std::str::from_utf8(document).unwrap())
    }

    fn read(&self, request: &IncludeRequest<'_>) -> Result<IncludedFile, IncludeFault> {
        let from = match request.from {
            Including::Document(document) => self.document(document),
            Including::File(path) => path.to_owned(),
        };
        let path = request
            .path
            .strip_prefix("@/")
            .map(|path| Path::new("/t").join(path));
        let path = path.unwrap_or_else(|| from.parent().unwrap().join(request.path));
        let identity = folded(&path);
        let Ok(in_tree) = identity.strip_prefix("/t") else {
            return Err(IncludeFault::OutsideRoots);
        };
        let bytes = in_tree.to_str().and_then(|path| self.files.get(path));
        let bytes = bytes.ok_or(IncludeFault::NotFound)?.clone();
        self.read.borrow_mut().push(identity.clone());
        Ok(IncludedFile { identity, bytes })
    }
}

fn files() -> Files {
    Files::new(&[
        ("x.py", "import a\n\ndef f():\n    return 1\n\nf()\n"),
        ("sec.py", "a\n# --8<-- [start:one]\nb\n# --8<-- [end:one]\nc\n"),
        (
            "anchor.rs",
            "// ANCHOR: all\nfn main() {\n    // ANCHOR: in\n    go();\n    // ANCHOR_END: in\n}\n// ANCHOR_END: all\n",
        ),
        (
            "region.cs",
            "class A {\n    // #region x\n    int y;\n    // #endregion x\n}\n",
        ),
        (
            "snippet.cs",
            "class A {\n    //<S1>\n    int y;\n    //</S1>\n}\n",
        ),
        ("part.md", "---\ntitle: Part\n---\n\n# Part\n\nText.\n"),
        ("lines.md", "one\ntwo\nthree\n"),
        ("word.md", "the word\n"),
        ("ticks.md", "````\nx\n````\n"),
        ("empty.md", ""),
        ("d/outer.md", "before\n\n{{#include inner.md}}\n\nafter\n"),
        ("d/inner.md", "inner"),
        ("outer.txt", "a\n--8<-- \"word.md\"\n{* x.py *}\n"),
        ("a.md", "{{#include b.md}}\n"),
        ("b.md", "in b\n\n{{#include c.md}}\n"),
        ("c.md", "{{#include b.md}}\n"),
    ])
}

fn check(expansion: &Expansion<'_>, text: &str) {
    let originals: Vec<u32> = (1..=u32::try_from(expansion.text.lines().count()).unwrap())
        .map(|line| expansion.lines.original(line))
        .collect();
    let count = u32::try_from(text.lines().count()).unwrap();
    assert_eq!(originals.first().copied(), (count > 0).then_some(1), "{text:?}");
    assert_eq!(
        originals.last().copied(),
        (count > 0).then_some(count),
        "{text:?} {expansion:?}"
    );
    for pair in originals.windows(2) {
        assert!(
            pair[1] == pair[0] || pair[1] == pair[0] + 1,
            "{originals:?} {text:?}"
        );
    }
    let mut end = 0;
    for range in &expansion.included {
        assert!(end <= range.start && range.start <= range.end, "{expansion:?}");
        assert!(expansion.text.get(range.clone()).is_some());
        end = range.end;
    }
    let mut start = 0;
    for (index, line) in expansion.text.split_inclusive('\n').enumerate() {
        let is_further = index > 0 && originals[index] == originals[index - 1];
        let is_inside = || {
            expansion
                .included
                .iter()
                .any(|range| range.start <= start && start <= range.end)
        };
        assert!(!is_further || is_inside(), "line {index} of {expansion:?}");
        start += line.len();
    }
    for warning in &expansion.warnings {
        assert!((1..=count).contains(&warning.line), "{warning:?} {text:?}");
    }
}

fn expanded(text: &str) -> String {
    let files = files();
    let expansion = expand(text, 0, b"doc.md", &files);
    check(&expansion, text);
    assert_eq!(expansion.warnings, [], "{text}");
    expansion.text.into_owned()
}

#[test]
fn text_without_directives_is_borrowed() {
    let files = files();
    for text in [
        "",
        "# T\n\ntext {{ a }} [!NOTE] {# b}\n",
        "```\n{* x.py *}\n```\n",
        "`{{#include x.py}}`\n",
    ] {
        let expansion = expand(text, 0, b"doc.md", &files);
        assert!(matches!(expansion.text, Cow::Borrowed(_)), "{text}");
        assert_eq!(expansion.lines.original(3), 3);
    }
    assert!(files.read.borrow().is_empty());
}

#[test]
fn fastapi_forms_become_fences() {
    for (text, expected) in [
        (
            "{* x.py ln[3:4] hl[3] *}\n",
            "```python\ndef f():\n    return 1\n```\n",
        ),
        (
            "a\n\n{* x.py ln[1,3:4,6] title[\"m.py\"] *}",
            "a\n\n```python title=\"m.py\"\nimport a\n…\ndef f():\n    return 1\n…\nf()\n```",
        ),
        (
            "- b\n\n    {* x.py ln[6:] *}\n",
            "- b\n\n    ```python\n    f()\n    ```\n",
        ),
        ("- {* x.py ln[:1] *}\n", "- ```python\n  import a\n  ```\n"),
        (
            "```Python hl_lines=\"1\"\n{!> x.py [ln:3-4]!}\n```\n",
            "```Python hl_lines=\"1\"\ndef f():\n    return 1\n```\n",
        ),
        ("{!word.md!} and {! word.md !}\n", "the word and the word\n"),
        ("{* ticks.md *}\n", "`````markdown\n````\nx\n````\n`````\n"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn snippets_resolve_everywhere() {
    for (text, expected) in [
        ("--8<-- \"part.md\"\n", "# Part\n\nText.\n"),
        ("```py\n--8<-- \"sec.py:one\"\n```\n", "```py\nb\n```\n"),
        ("--8<-- 'sec.py'\n", "a\nb\nc\n"),
        ("    -8<- \"lines.md:2:3\"\n", "    two\n    three\n"),
        ("--8<-- \"lines.md:-1\"\n", "three\n"),
        ("--8<-- \"lines.md:1:1,3\"\n", "one\nthree\n"),
        (";--8<-- \"part.md\"\n", "--8<-- \"part.md\"\n"),
        (
            "--8<--\nword.md\n\n; part.md\nlines.md::1\n--8<--\nz\n",
            "the word\n\none\n\n\n\nz\n",
        ),
        (
            "```\n--8<-- \"outer.txt\"\n```\n",
            "```\na\nthe word\n{* x.py *}\n```\n",
        ),
        ("--8<--\nno block\n", "--8<--\nno block\n"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn mdbook_forms_resolve_everywhere() {
    for (text, expected) in [
        (
            "```rust\n{{#include anchor.rs:in}}\n```\n",
            "```rust\n    go();\n```\n",
        ),
        (
            "```rust\n{{#rustdoc_include anchor.rs:all}}\n```\n",
            "```rust\nfn main() {\n    go();\n}\n```\n",
        ),
        (
            "{{#include lines.md:2}} {{#include lines.md:2:}}\n",
            "two two\nthree\n",
        ),
        ("> * {{#include lines.md::2}}\n", "> * one\n>   two\n"),
        ("{{#include d/outer.md}}", "before\n\ninner\n\nafter"),
        ("`\\{{#include x.py}}`\n", "`{{#include x.py}}`\n"),
        (
            "\\{{#include x.py}} {{#title t}}\n",
            "{{#include x.py}} {{#title t}}\n",
        ),
        (
            "{{#playground anchor.rs editable}}\n",
            "```rust\n// ANCHOR: all\nfn main() {\n    // ANCHOR: in\n    go();\n    // ANCHOR_END: in\n}\n// ANCHOR_END: all\n```\n",
        ),
        ("{{#include empty.md}}\nz\n", "\nz\n"),
        ("{{#include empty.md}}", "\n"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn vitepress_forms_include_code_and_text() {
    for (text, expected) in [
        (
            "<<< @/region.cs#x{1 c#} [t]\n",
            "```c# title=\"t\"\nint y;\n```\n",
        ),
        ("<<< ./word.md{1}\n", "```markdown\nthe word\n```\n"),
        ("a <!--@include: ./word.md--> b\n", "a the word b\n"),
        ("<!-- @include: ./lines.md{2,} -->\n", "two\nthree\n"),
        ("<!--@include: ./part.md{,5}-->\n", "# Part\n"),
        ("<!--@include: ./part.md-->\n", "# Part\n\nText.\n"),
        ("<<<<<<< HEAD\n", "<<<<<<< HEAD\n"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn myst_forms_include_code_and_text() {
    for (text, expected) in [
        (
            "```{literalinclude} x.py\n:pyobject: f\n```\nz\n",
            "```python\ndef f():\n    return 1\n```\nz\n",
        ),
        (
            "- :::{literalinclude} x.py\n  :start-at: return\n  :end-at: return\n  :dedent:\n  :language: py\n  :caption: C\n  :::\n",
            "- ```py title=\"C\"\n  return 1\n  ```\n\n\n\n\n",
        ),
        ("```{include} part.md\n```\n", "# Part\n\nText.\n"),
        (
            "```{eval-rst}\n.. note:: n\n\n.. literalinclude:: lines.md\n   :lines: 1,3\n```\n",
            "```{eval-rst}\n.. note:: n\n\n```\n```markdown\none\nthree\n```\n",
        ),
        (
            "````\n```{include} part.md\n```\n````\n",
            "````\n```{include} part.md\n```\n````\n",
        ),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn learn_forms_include_code_and_text() {
    for (text, expected) in [
        ("[!INCLUDE [t](part.md)]\n", "# Part\n\nText.\n"),
        ("Say [!include[](word.md)] now.\n", "Say the word now.\n"),
        (
            ":::code language=\"csharp\" source=\"snippet.cs\" id=\"S1\":::\n",
            "```csharp\nint y;\n```\n",
        ),
        (
            ":::code source=\"lines.md\" range=\"1,3\" :::\n",
            "```markdown\none\nthree\n```\n",
        ),
        (
            "[!code-csharp[n](snippet.cs?name=s1&highlight=1)]\n",
            "```csharp\nint y;\n```\n",
        ),
        (
            "[!code-a[](word.md)] [!code-b[](word.md)] # T\n",
            "```a\nthe word\n```\n```b\nthe word\n```\n# T\n",
        ),
        (
            "1. See [!code-text[n](word.md)] here.\n",
            "1. See \n   ```text\n   the word\n   ```\n   here.\n",
        ),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn comments_and_fences_keep_their_directives() {
    for text in [
        "<!--\n{* x.py *}\n{{#include x.py}}\n-->\n",
        "<!-- {{#include x.py}} -->\n",
        "~~~\n<<< ./x.py\n[!INCLUDE [t](part.md)]\n<!--@include: ./word.md-->\n~~~\n",
    ] {
        assert_eq!(expanded(text), text);
    }
    assert_eq!(
        expanded("<!-- a\n--> {{#include word.md}}\n"),
        "<!-- a\n--> the word\n"
    );
    assert_eq!(
        expanded("a <!-- never closed\n{{#include word.md}}\n"),
        "a <!-- never closed\nthe word\n"
    );
}

#[test]
fn unresolved_directives_stay_and_warn() {
    let cases = [
        ("{* no.py *}", "{* no.py *}", IncludeFault::NotFound),
        (
            "{{#include ../x}}",
            "{{#include ../x}}",
            IncludeFault::OutsideRoots,
        ),
        (
            "--8<-- \"https://a.b/c.md\"",
            "--8<-- \"https://a.b/c.md\"",
            IncludeFault::Remote,
        ),
        (
            "{{#include anchor.rs:no}}",
            "{{#include anchor.rs:no}}",
            IncludeFault::NoSuchSection {
                name: "no".to_owned(),
            },
        ),
        (
            "{* x.py ln[80:90] *}",
            "{* x.py ln[80:90] *}",
            IncludeFault::BadRange {
                range: "80-90".to_owned(),
            },
        ),
        ("{{#include doc.md}}", "{{#include doc.md}}", IncludeFault::Cycle),
        (
            "```{literalinclude} no.py\n:lines: 1\n```",
            "```{literalinclude} no.py",
            IncludeFault::NotFound,
        ),
        ("<<< ./no.js", "<<< ./no.js", IncludeFault::NotFound),
        (
            ":::code source=\"no.cs\":::",
            ":::code source=\"no.cs\":::",
            IncludeFault::NotFound,
        ),
    ];
    let files = Files {
        files: files()
            .files
            .into_iter()
            .chain([("doc.md", Vec::new())])
            .collect(),
        read: RefCell::default(),
    };
    for (directive, shown, fault) in cases {
        let text = format!("# T\n\n{directive}\n\nend\n");
        let expansion = expand(&text, 0, b"doc.md", &files);
        check(&expansion, &text);
        assert_eq!(expansion.text, text);
        let warning = IncludeWarning {
            line: 3,
            message: format!("{shown} is not resolved: {fault}"),
            advice: fault.advice(),
        };
        assert_eq!(expansion.warnings, [warning]);
        assert!(expansion.sources.is_empty() || matches!(fault, IncludeFault::Cycle));
    }
}

#[test]
fn cycles_end_where_they_close() {
    let files = files();
    let text = "{{#include a.md}}\n";
    let expansion = expand(text, 0, b"doc.md", &files);
    assert_eq!(expansion.text, "in b\n\n{{#include b.md}}\n");
    assert_eq!(expansion.warnings.len(), 1);
    let warning = &expansion.warnings[0];
    let message = "{{#include b.md}} in c.md is not resolved: the file includes itself";
    assert_eq!((warning.line, warning.message.as_str()), (1, message));
    let names: Vec<String> = (0..30).map(|number| format!("n{number}.md")).collect();
    let mut deep = Files::default();
    for (number, name) in names.iter().enumerate() {
        let text = format!("{{{{#include n{}.md}}}}", number + 1);
        deep.files.insert(name.clone().leak(), text.into_bytes());
    }
    let expansion = expand("{{#include n0.md}}", 0, b"doc.md", &deep);
    assert_eq!(expansion.text, "{{#include n16.md}}");
    assert!(expansion.warnings[0].message.contains("more than 16 deep"));
}

#[test]
fn what_comes_of_a_document_is_bounded() {
    let mut files = Files::default();
    let names = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"];
    for (number, name) in names.iter().enumerate() {
        let text = format!("{{{{#include b{}}}}}\n", number + 1).repeat(10);
        files.files.insert(name, text.into_bytes());
    }
    for leaf in ["", "leaf of some length"] {
        files.files.insert("b10", leaf.as_bytes().to_vec());
        files.read.borrow_mut().clear();
        let expansion = expand("{{#include b0}}", 0, b"doc.md", &files);
        assert!(expansion.text.len() < 64 << 20, "{}", expansion.text.len());
        assert!(files.read.borrow().len() < 40_000);
        let exhausted = expansion
            .warnings
            .iter()
            .filter(|warning| warning.message.contains("come to more"));
        assert_eq!(exhausted.count(), 1);
    }
    // Indentation counts: it stands before every line.
    files.files.insert("lines", "x\n".repeat(100_000).into_bytes());
    let text = format!("{}{{{{#include lines}}}}", " ".repeat(10_000));
    let expansion = expand(&text, 0, b"doc.md", &files);
    assert_eq!(expansion.warnings.len(), 1);
}

#[test]
fn included_stretches_lines_and_sources_are_told() {
    let files = files();
    let text = "---\nt: {{#include x.py}}\n---\n# T\n\n{{#include part.md}}\n\n{* x.py ln[1] *}\n\n## U\n";
    let expansion = expand(text, 29, b"doc.md", &files);
    check(&expansion, text);
    let expected =
        "---\nt: {{#include x.py}}\n---\n# T\n\n# Part\n\nText.\n\n```python\nimport a\n```\n\n## U\n";
    assert_eq!(expansion.text, expected);
    let included: Vec<&str> = expansion
        .included
        .iter()
        .map(|range| &expansion.text[range.clone()])
        .collect();
    assert_eq!(included, ["# Part\n\nText.", "```python\nimport a\n```"]);
    let originals: Vec<u32> = (1..=14).map(|line| expansion.lines.original(line)).collect();
    assert_eq!(originals, [1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 8, 8, 9, 10]);
    let digest = |path: &str| <[u8; 32]>::from(Blake2b::<U32>::digest(&files.files[path]));
    assert_eq!(expansion.sources, [digest("part.md"), digest("x.py")]);
}

#[test]
fn included_files_are_decoded_as_documents_are() {
    let mut files = Files::default();
    let utf16: Vec<u8> = "\u{FEFF}é\r\nb\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    files.files.insert("u.md", utf16);
    files.files.insert("bom.py", b"\xEF\xBB\xBFx\rz\xFF\r\n".to_vec());
    files
        .files
        .insert("hidden.md", "a\u{200B}b\u{E0041}".as_bytes().to_vec());
    let expansion = expand(
        "{{#include u.md}}\n{* bom.py *}\n{{#include hidden.md}}\n",
        0,
        b"doc.md",
        &files,
    );
    assert_eq!(expansion.text, "é\nb\n```python\nx\nz\u{FFFD}\n```\nab\n");
}

const PIECES: &[&str] = &[
    "{* x.py *}",
    "{* ",
    " *}",
    "ln[1:2]",
    "ln[9:]",
    " title[\"t\"]",
    "{! word.md !}",
    "{!> ",
    "!}",
    "--8<-- \"sec.py:one\"",
    "--8<--",
    ";--8<-- \"part.md\"",
    "--8<-- \"../../etc/passwd\"",
    "{{#include a.md}}",
    "{{#include ",
    "}}",
    "anchor.rs:in",
    "{{#playground anchor.rs}}",
    "\\",
    "<<< @/region.cs#x",
    "<<< ./no.js",
    "<!--@include: ./d/outer.md-->",
    "<!--",
    "-->",
    "```{literalinclude} x.py\n",
    ":lines: 1-2\n",
    ":pyobject: f\n",
    "```{include} part.md\n",
    "```{eval-rst}\n",
    ".. literalinclude:: x.py\n",
    "   :lines: 2\n",
    "[!INCLUDE [t](word.md)]",
    "[!INCLUDE [",
    "](",
    ")]",
    ":::code source=\"snippet.cs\" id=\"S1\":::",
    "[!code-cs[n](snippet.cs?range=1-2)]",
    "{{#include ../../../etc/passwd}}",
    "<<< /etc/passwd.x",
    "{{#include https://a.b/c}}",
    "{{#include empty.md}}",
    "{{#include doc.md}}",
    "```\n",
    "````\n",
    "~~~\n",
    "`",
    "``",
    "\n",
    "\n\n",
    "    ",
    "> ",
    "- ",
    "1. ",
    "text é ",
    "# T\n",
    "\t",
    "\r",
    "word.md\n",
    "; x\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_document_expands(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40), front in any::<bool>()) {
        let front = if front { "---\nt: {* x.py *}\n---\n" } else { "" };
        let text = format!("{front}{}", pieces.concat());
        let files = files();
        let expansion = expand(&text, front.len(), b"doc.md", &files);
        check(&expansion, &text);
        prop_assert!(files.read.borrow().iter().all(|path| path.starts_with("/t")));
        // A second pass over the same text gives the same: nothing is kept between documents.
        prop_assert_eq!(&expansion, &expand(&text, front.len(), b"doc.md", &files));
    }

    #[test]
    fn arbitrary_text_is_no_danger(text in "\\PC{0,100}", trigger in prop::sample::select(PIECES)) {
        let text = format!("{trigger}{text}");
        let expansion = expand(&text, 0, b"doc.md", &files());
        check(&expansion, &text);
    }
}

#[test]
fn repeated_pieces_take_linear_time() {
    let files = Files::default();
    let full = self::files();
    let begin = std::time::Instant::now();
    for piece in PIECES {
        let text = piece.repeat(100_000 / piece.len());
        check(&expand(&text, 0, b"doc.md", &files), &text);
        expand(&text, 0, b"doc.md", &full);
    }
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

/// The shape of `FastAPI`'s repository: the docs tree in `docs/en/docs`, code beside it in `docs_src`.
#[test]
fn a_real_repository_resolves_and_nothing_escapes() -> Result<(), roots::IncludeRootError> {
    let repository = tempfile::TempDir::new().unwrap();
    let at = |path: &str| repository.path().join(path);
    for folder in ["docs/en/docs/tutorial", "docs/en/snippets", "docs_src/first"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    std::fs::write(at("docs_src/first/a.py"), "app = 1\nrun(app)\n").unwrap();
    std::fs::write(at("docs/en/snippets/s.md"), "a snippet\n").unwrap();
    std::fs::write(at("docs/en/docs/part.md"), "part {!../../docs_src/first/a.py!}\n").unwrap();
    std::fs::write(at("secret.txt"), "secret").unwrap();
    let text = "{* ../../docs_src/first/a.py ln[2] *}\n\n--8<-- \"s.md\"\n\n{{#include ../part.md}}\n\n--8<-- \"../../secret.txt\"\n";
    let roots = IncludeRoots::new(
        &at("docs/en/docs"),
        Some(&at("docs/en")),
        &[at("docs/en/snippets")],
        &[at("docs_src"), at("docs/en/snippets")],
        1 << 20,
    )?;
    let expansion = expand(text, 0, b"tutorial/a.md", &roots);
    let expected =
        "```python\nrun(app)\n```\n\na snippet\n\npart app = 1\nrun(app)\n\n--8<-- \"../../secret.txt\"\n";
    assert_eq!(expansion.text, expected);
    let lines: Vec<u32> = expansion.warnings.iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [7]);
    assert!(expansion.warnings[0].advice.contains("--include-root FOLDER"));
    let closed = IncludeRoots::new(&at("docs/en/docs"), Some(&at("docs/en")), &[], &[], 1 << 20)?;
    let expansion = expand(text, 0, b"tutorial/a.md", &closed);
    assert_eq!(expansion.warnings.len(), 4);
    assert!(!expansion.text.contains("run(app)\n```") && !expansion.text.contains("secret\n"));
    Ok(())
}
