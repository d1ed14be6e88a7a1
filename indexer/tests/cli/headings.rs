//! What begins a section, what does not, and how sections are titled and named: inputs on which readers of Markdown
//! disagree.

use serde_json::Value;

use crate::program::Place;

/// A section as it is listed.
pub(crate) struct Listed {
    place: Place,
    lines: Vec<Value>,
}

impl Listed {
    /// Builds the files, which must succeed, and lists what is in them.
    #[track_caller]
    pub(crate) fn of<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Self {
        let place = Place::new();
        for (name, text) in files {
            place.write(&format!("docs/{name}"), text);
        }
        place.report(&["docs"]);
        let listed = place.run(&["inspect", "docs.idx", "--json", "--text"]).succeeds();
        let lines = listed.json_lines();
        Self { place, lines }
    }

    pub(crate) fn page(text: &str) -> Self {
        Self::of(&[("a.md", text)])
    }

    /// Level and heading of each section.
    pub(crate) fn outline(&self) -> Vec<(u64, &str)> {
        let outline = self.lines.iter();
        outline
            .map(|line| (line["level"].as_u64().unwrap(), line["heading"].as_str().unwrap()))
            .collect()
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.lines
            .iter()
            .map(|line| line["id"].as_str().unwrap())
            .collect()
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.lines
            .iter()
            .map(|line| line["text"].as_str().unwrap())
            .collect()
    }

    /// First and last line of each section.
    pub(crate) fn ranges(&self) -> Vec<(u64, u64)> {
        let ranges = self.lines.iter();
        ranges
            .map(|line| {
                (
                    line["line_start"].as_u64().unwrap(),
                    line["line_end"].as_u64().unwrap(),
                )
            })
            .collect()
    }

    pub(crate) fn heading_paths(&self) -> Vec<String> {
        let paths = self.lines.iter();
        paths
            .map(|line| {
                let path = line["heading_path"].as_array().unwrap().iter();
                path.map(|title| title.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join(" > ")
            })
            .collect()
    }

    /// Ids of what a search finds, best first.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let hits = self.hits(query);
        hits.iter()
            .map(|hit| hit["id"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn hits(&self, query: &str) -> Vec<Value> {
        let line = ["search", "docs.idx", "--k", "10", "--json", "--", query];
        let answer = self.place.run(&line).succeeds().json();
        answer["hits"].as_array().unwrap().clone()
    }
}

#[test]
fn a_fence_is_opaque_to_comments_that_look_like_headings() {
    let listed = Listed::page(
        "# Backup\n\n```python\n# read the list\nitems = read()\n### and write it\n```\n\nReady.\n\n## Restore\n\nGo.\n",
    );
    assert_eq!(listed.outline(), [(1, "Backup"), (2, "Restore")]);
    assert!(listed.texts()[0].contains("# read the list\nitems = read()\n### and write it\n```\n\nReady."));
}

#[test]
fn a_fence_of_tildes_holds_backticks_and_headings() {
    let listed = Listed::page(
        "# Quoting\n\n~~~~ markdown\n# inner\n```js\n## deeper\n~~~\n### deepest\n~~~~\n\n## After\n\nx\n",
    );
    assert_eq!(listed.outline(), [(1, "Quoting"), (2, "After")]);
}

#[test]
fn a_closing_fence_is_long_enough_and_carries_nothing_else() {
    let listed = Listed::page(
        "# T\n\n````\n```\n# one\n```` sh\n# two\n    ````\n# three\n`````  \n\n## After\n\nx\n",
    );
    assert_eq!(listed.outline(), [(1, "T"), (2, "After")]);
}

#[test]
fn any_info_string_without_a_backtick_opens_a_fence() {
    for info in [
        "ts {2-4} filename=\"a b.ts\"",
        "{.python .fold hl_lines=\"1\"}",
        "{eval-rst}",
        " console [npm] ",
        "{{lang}}",
        "c++,ignore",
        "日本",
    ] {
        let listed = Listed::page(&format!("# A\n\n```{info}\n# no\n```\n\n## B\n\nx\n"));
        assert_eq!(listed.outline(), [(1, "A"), (2, "B")], "{info}");
    }
    let listed = Listed::page("# A\n\n``` not`a fence\n## B\n```\n# in a fence that stays open\n");
    assert_eq!(listed.outline(), [(1, "A"), (2, "B")]);
}

#[test]
fn a_fence_in_a_list_or_a_quote_stays_whole() {
    let listed = Listed::page(
        "# Steps\n\n1. Write:\n\n   ~~~toml\n   # workers\n   count = 4\n   ~~~\n\n   - then\n\n     > ```sh\n     > # go\n     > ```\n\n2. Look.\n\n## Next\n\ny\n",
    );
    assert_eq!(listed.outline(), [(1, "Steps"), (2, "Next")]);
    let text = listed.texts()[0];
    assert_eq!((text.matches("~~~").count(), text.matches("```").count()), (2, 2));
    // Where the quote or the list ends, its fence ends too.
    let listed = Listed::page("# A\n\n> ```\n> # no\n## B\n\n- ```\n  # no\n\n## C\n");
    assert_eq!(listed.outline(), [(1, "A"), (2, "B"), (2, "C")]);
}

#[test]
fn indented_code_makes_no_headings() {
    let listed = Listed::page(
        "# Doc\n\nBuild:\n\n    # first\n    make\n\n\t# second\n  \t## third\n\n   ## Real\n\nz\n",
    );
    assert_eq!(listed.outline(), [(1, "Doc"), (2, "Real")]);
}

#[test]
fn lines_of_an_underlined_heading_are_joined_with_one_space() {
    let listed =
        Listed::page("Field  \nguide\\\nfor *all*\n=====\n\nintro\n\nFirst `steps`\n   --\n\nbody\n");
    assert_eq!(listed.outline(), [(1, "Field guide for all"), (2, "First steps")]);
    assert_eq!(listed.ids(), ["a.md#field-guide-for-all", "a.md#first-steps"]);
    assert_eq!(listed.ranges(), [(1, 7), (8, 11)]);
}

#[test]
fn dashes_after_a_block_are_a_break_and_no_underline() {
    let listed = Listed::page(
        "# P\n\n1. one\n2. two\n---\n\n> wise\n---\n\n~~~\nx\n~~~\n---\n\n| a | b |\n|---|---|\n| c | d |\n---\n\n<div>\nx\n</div>\n\n---\n\n## Q\n---\n\nq\n",
    );
    assert_eq!(listed.outline(), [(1, "P"), (2, "Q")]);
}

#[test]
fn an_underline_cannot_lazily_continue_a_quote_or_an_item() {
    let listed = Listed::page(
        "# Base\n\n> said\nwho\n===\n\n- item\nmore\n===\n\n> inner\n> ===\n> text\n\n- inner\n  ---\n\n## Last\n\nl\n",
    );
    assert_eq!(listed.outline(), [(1, "Base"), (2, "Last")]);
    assert_eq!(listed.found("inner"), ["a.md#base"]);
}

#[test]
fn comments_make_no_sections_and_are_neither_found_nor_shown() {
    let listed = Listed::page(
        "# Pub\n\nseen <!-- quagga\n\n# quagga\n\n--> too\n\n<!--\n## Later quagga\n\n-- quagga --\n-->\n\n<!--> <!--->\n\n## Shown\n\n<!--[if quagga]>\n# quagga\n<![endif]-->\n\ns\n",
    );
    assert_eq!(listed.outline(), [(1, "Pub"), (2, "Shown")]);
    assert_eq!(listed.found("quagga"), [""; 0]);
    assert!(!listed.texts().concat().contains("quagga"));
    assert!(listed.texts()[0].starts_with("# Pub\n\nseen"));
}

#[test]
fn comments_and_tags_leave_a_title() {
    let listed = Listed::page(
        "# Guide <!-- owner: ops --> two<!-- x -->\n\nx\n\n## H<sub>2</sub>O <span class=\"a > b\">now</span>\n\n## One<br>two\n",
    );
    assert_eq!(
        listed.outline(),
        [(1, "Guide two"), (2, "H2O now"), (2, "One two")]
    );
    assert_eq!(listed.ids()[1..], ["a.md#h2o-now", "a.md#one-two"]);
}

#[test]
fn closing_hashes_stand_after_a_blank_and_are_not_escaped() {
    let listed = Listed::page(
        "# J#\n\na\n\n## K# #########\n\n## Flat ##   \n\n## Two \\#\\#\n\n## Three #\\##\n\n## A &#35;\n\n####### seven\n\n#none\n\n\\# none\n",
    );
    assert_eq!(
        listed.outline(),
        [
            (1, "J#"),
            (2, "K#"),
            (2, "Flat"),
            (2, "Two ##"),
            (2, "Three ###"),
            (2, "A #")
        ]
    );
    assert!(listed.texts()[5].ends_with("####### seven\n\n#none\n\n\\# none"));
}

#[test]
fn an_empty_heading_keeps_its_place_under_its_parents_title() {
    let listed = Listed::page(
        "# Root\n\n##\n\nabove mango\n\n### \t \n\nunder papaya\n\n## ##\n\nbeside guava\n\n## End\n\ne\n",
    );
    assert_eq!(
        listed.outline(),
        [(1, "Root"), (2, ""), (3, ""), (2, ""), (2, "End")]
    );
    assert_eq!(
        listed.ids()[1..4],
        ["a.md#section", "a.md#section-1", "a.md#section-2"]
    );
    let paths = listed.heading_paths();
    assert!(paths[1..4].iter().all(|path| path == "Root"), "{paths:?}");
    assert_eq!(listed.found("papaya"), ["a.md#section-1"]);
}

#[test]
fn a_title_of_signs_alone_keeps_them_and_gets_an_id() {
    let listed = Listed::page(
        "# Signs\n\n## &&\n\nand\n\n## ???\n\nwhat\n\n## =>\n\nto\n\n## 🎉\n\nyes\n\n## \u{200B}\n\nnone\n",
    );
    assert_eq!(
        listed.outline(),
        [(1, "Signs"), (2, "&&"), (2, "???"), (2, "=>"), (2, "🎉"), (2, "")]
    );
    let mut ids = listed.ids();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    assert!(ids.iter().all(|id| !id.ends_with('#')), "{ids:?}");
}

#[test]
fn the_same_heading_in_two_files_is_two_hits() {
    let listed = Listed::of(&[
        ("linux/setup.md", "# Requirements\n\nPerl 5.36\n"),
        ("mac/setup.md", "# Requirements\n\nPerl 5.40 by hand\n"),
    ]);
    let mut found = listed.found("requirements perl");
    found.sort_unstable();
    assert_eq!(
        found,
        ["linux/setup.md#requirements", "mac/setup.md#requirements"]
    );
}

#[test]
fn letters_of_every_script_stay_in_ids_and_lose_their_case() {
    let listed = Listed::page(
        "# 目次\n\nあ\n\n## 設定の手順\n\n## Краткий Обзор\n\n## Ça VA\n\n## ΑΒΓ δ\n\n## हिन्दी भाषा\n\n## 한국어 안내\n",
    );
    assert_eq!(
        listed.ids(),
        [
            "a.md#目次",
            "a.md#設定の手順",
            "a.md#краткий-обзор",
            "a.md#ça-va",
            "a.md#αβγ-δ",
            "a.md#हिन्दी-भाषा",
            "a.md#한국어-안내"
        ]
    );
}

#[test]
fn a_title_is_the_plain_text_of_all_that_stands_in_it() {
    let listed = Listed::page(
        "# [kit](https://example.org/kit)\n\na\n\n## Try `Box<T>` **or** ~~not~~\n\n## ![badge](b.png) Mark\n\n## See <a href=\"#y\">the tag</a> here\n\n## [by name][n]\n\n## [n]\n\n## A &amp; B &copy; C\n\n## Noted[^1]\n\n## <https://example.org>\n\n[n]: https://example.org\n[^1]: note\n",
    );
    assert_eq!(
        listed.outline(),
        [
            (1, "kit"),
            (2, "Try Box<T> or not"),
            (2, "badge Mark"),
            (2, "See the tag here"),
            (2, "by name"),
            (2, "n"),
            (2, "A & B © C"),
            (2, "Noted"),
            (2, "https://example.org")
        ]
    );
}

#[test]
fn an_id_in_braces_is_the_id_and_other_braces_are_text() {
    let listed = Listed::of(&[
        (
            "a.md",
            "# First {#start}\n\na\n\n## Second { #second-one .big data-y=2 }\n\nThird one {#third}\n---------\n\n## Set {b: 2}\n\n## Call f({})\n\n## Start\n\n## Again {#start}\n",
        ),
        ("b.mdx", "# Opening {/* #open-id */}\n\ne\n"),
    ]);
    assert_eq!(
        listed.outline(),
        [
            (1, "First"),
            (2, "Second"),
            (2, "Third one"),
            (2, "Set {b: 2}"),
            (2, "Call f({})"),
            (2, "Start"),
            (2, "Again"),
            (1, "Opening")
        ]
    );
    assert_eq!(
        listed.ids(),
        [
            "a.md#start",
            "a.md#second-one",
            "a.md#third",
            "a.md#set-b-2",
            "a.md#call-f",
            "a.md#start-1",
            "a.md#start-2",
            "b.mdx#open-id"
        ]
    );
    assert!(listed.found("third").contains(&"a.md#third".to_owned()));
}

#[test]
fn headings_between_blank_lines_in_details_are_sections_and_html_is_content() {
    let listed = Listed::page(
        "# Help\n\n<h2 id=\"prices\">Prices</h2>\n\npay kiwis\n\n<details>\n<summary><h3>Closer</h3></summary>\n\n<details>\n\ncard text\n\n### Returns\n\nsend back\n\n</details>\n\n</details>\n\n<div>\n## no\n</div>\n\n<pre>\n# no\n\n# no\n</pre>\n\n## Write\n\nmail\n",
    );
    assert_eq!(listed.outline(), [(1, "Help"), (3, "Returns"), (2, "Write")]);
    assert_eq!(listed.found("kiwis prices"), ["a.md#help"]);
    assert_eq!(listed.found("closer"), ["a.md#help"]);
    assert_eq!(listed.found("returns"), ["a.md#returns"]);
}

#[test]
fn what_hides_from_the_reader_makes_no_section() {
    for block in [
        "<script>\n# no\n\n## no\n</script>",
        "<style>\n\n# no\n\n</style>",
        "<![CDATA[\n# no\n]]>",
        "<?php\n# no\n?>",
        "<textarea>\n\n# no\n\n</textarea>",
        "{% comment %}\n# no\n{% endcomment %}",
    ] {
        let listed = Listed::page(&format!("# A\n\n{block}\n\n## B\n\nx\n"));
        assert_eq!(listed.outline(), [(1, "A"), (2, "B")], "{block}");
    }
    assert_eq!(Listed::page("<!DOCTYPE html>\n\n# A\n").outline(), [(1, "A")]);
}

#[test]
fn a_definition_without_a_destination_is_a_heading_over_its_underline() {
    let listed =
        Listed::page("# L\n\n[one try]:\n=\n\nx\n\n[fine]: https://example.org/b\n\n## N [fine]\n\nm\n");
    assert_eq!(listed.outline(), [(1, "L"), (1, "[one try]:"), (2, "N fine")]);
}

#[test]
fn the_parent_is_the_nearest_heading_before_of_a_lower_level() {
    let listed = Listed::page(
        "#### Low\n\na\n\n# Alpha\n\n##### Five\n\n### Three\n\n###### Six\n\n## Two\n\n# Beta\n\nf\n",
    );
    assert_eq!(
        listed.outline(),
        [
            (4, "Low"),
            (1, "Alpha"),
            (5, "Five"),
            (3, "Three"),
            (6, "Six"),
            (2, "Two"),
            (1, "Beta")
        ]
    );
    assert_eq!(
        listed.heading_paths(),
        [
            "Alpha > Low",
            "Alpha",
            "Alpha > Five",
            "Alpha > Three",
            "Alpha > Three > Six",
            "Alpha > Two",
            "Alpha > Beta"
        ]
    );
}

#[test]
fn statements_of_mdx_are_no_prose_and_texts_of_components_are() {
    let listed = Listed::of(&[(
        "a.mdx",
        "import Cards from '@site/cards'\nimport './wide.css'\nexport const page = {\n  name: 'ocelot',\n}\n\n# Fit\n\n<Note kind=\"tip\">\n  Bring the **wombat**.\n</Note>\n\n{page.name}\n\n```js\nimport stay from 'here'\n# no\n```\n\n<Cards>\n<Card value=\"a\">\n\n## Yarn way\n\nyarn add\n\n</Card>\n</Cards>\n",
    )]);
    assert_eq!(listed.outline(), [(1, "Fit"), (2, "Yarn way")]);
    assert_eq!(listed.found("wombat"), ["a.mdx#fit"]);
    for hidden in ["wide.css", "ocelot", "Cards"] {
        assert_eq!(listed.found(hidden), [""; 0], "{hidden}");
    }
    assert!(listed.texts()[0].contains("import stay from 'here'"));
}

#[test]
fn what_is_hidden_moves_no_section() {
    let source = "---\ntitle: R\n---\nimport M from './M'\nexport const a = `\n# no\n`\n\n# Show\n\n<M>in</M> {/* gone */}\n\n### Aim\n\nexact words\n\n### Then\n\nn\n";
    let listed = Listed::of(&[("a.mdx", source)]);
    assert_eq!(listed.outline(), [(1, "Show"), (3, "Aim"), (3, "Then")]);
    assert_eq!(listed.texts()[1], "### Aim\n\nexact words");
    let lines: Vec<&str> = source.lines().collect();
    let first_of = |(start, _): (u64, u64)| lines[usize::try_from(start).unwrap() - 1];
    let ranges = listed.ranges();
    assert_eq!(
        (first_of(ranges[1]), first_of(ranges[2])),
        ("### Aim", "### Then")
    );
    assert_eq!((ranges[0].0, ranges[2].1), (1, 19));
}

#[test]
fn bodies_of_admonitions_are_prose_under_their_label() {
    let listed = Listed::page(
        "# Care\n\n:::warning Mind this\nUse the tapir switch.\n:::\n\n!!! danger \"Hot\"\n    The marmot body.\n\n    ## not a section\n\n    ```sh\n    # inner\n    ```\n\n??? note \"Folded\"\n    The vole body.\n\n> [!NOTE]\n> The shrew note.\n> ## not a section\n\n## After\n\na\n",
    );
    assert_eq!(listed.outline(), [(1, "Care"), (2, "After")]);
    for word in ["tapir", "marmot", "vole", "shrew", "Mind", "Hot", "Folded"] {
        assert_eq!(listed.found(word), ["a.md#care"], "{word}");
    }
}

#[test]
fn a_line_that_opens_a_tab_is_no_underline_and_all_tabs_are_kept() {
    let listed = Listed::page(
        "# Start\n\nChoose one:\n=== \"Debian\"\n\n    ```sh\n    # no\n    apt puffin\n    ```\n\n=== \"Fedora\"\n\n    ## no\n\n    dnf heron\n\n===! \"Other\"\n\n    pkg ibis\n\n## End\n\ne\n",
    );
    assert_eq!(listed.outline(), [(1, "Start"), (2, "End")]);
    for word in ["puffin", "heron", "ibis", "Fedora"] {
        assert_eq!(listed.found(word), ["a.md#start"], "{word}");
    }
}

#[test]
fn maths_makes_no_section_and_prices_are_prose() {
    let listed = Listed::page(
        "# Sums\n\n$$\nA\n=\nB\n# c\n-\n$$\n\nPay $7 now or\n\n## Later\n\n$9 then, with $$ for the process.\n\n## End\n\nand $$ once more\n",
    );
    assert_eq!(listed.outline(), [(1, "Sums"), (2, "Later"), (2, "End")]);
    assert!(listed.found("pay").contains(&"a.md#sums".to_owned()));
    assert_eq!(listed.found("then process"), ["a.md#later"]);
}

#[test]
fn a_heading_in_a_container_is_content_and_leads_to_its_section() {
    let page = Listed::page(
        "# Top\n\n:::note\n\n## Inside\n\nwords\n\n:::\n\n!!! tip\n    ## Indented\n\n/// warning\n## Slashed\n///\n\n## After\n\n::: zone pivot=\"x\"\n\n## Zoned\n\n::: zone-end\n",
    );
    assert_eq!(page.outline(), [(1, "Top"), (2, "After"), (2, "Zoned")]);
    let aliases = &page.lines[0]["aliases"];
    assert_eq!(*aliases, serde_json::json!(["inside", "indented", "slashed"]));
    assert_eq!(
        Listed::page("# A\n\n:::note\n\n## B\n").outline(),
        [(1, "A"), (2, "B")]
    );
}

#[test]
fn code_between_colons_makes_no_sections() {
    let page =
        Listed::page("# A\n\n:::{code-block} python\n:caption: Run it\n# no heading\nrun()\n:::\n\n## B\n");
    assert_eq!(page.outline(), [(1, "A"), (2, "B")]);
    assert_eq!(
        page.texts()[0],
        "# A\n\n**Run it**\n\n```python\n# no heading\nrun()\n```"
    );
    assert_eq!(page.found("run()"), ["a.md#a"]);
}

#[test]
fn attributes_below_a_heading_are_its_own() {
    let page = Listed::page("# A\n{: #custom .wide }\n\ntext\n\nB\n---\n{: #second}\n");
    assert_eq!(page.ids(), ["a.md#custom", "a.md#second"]);
    assert_eq!(page.texts(), ["# A\n\ntext", "B\n---"]);
}

#[test]
fn a_closing_run_may_be_followed_by_a_tab() {
    assert_eq!(
        Listed::page("## Flat ##\t\n\n# C#\t\n").outline(),
        [(2, "Flat"), (1, "C#")]
    );
}

#[test]
fn a_heading_without_text_gives_way_to_one_called_section() {
    assert_eq!(
        Listed::page("##\n\n## Section\n").ids(),
        ["a.md#section-1", "a.md#section"]
    );
}

#[test]
fn a_paragraph_taken_for_a_heading_names_no_endless_id() {
    let page = Listed::page(&format!("# {}\n", "w".repeat(70_000)));
    assert!(page.ids()[0].len() < 600);
}

#[test]
fn in_mdx_names_of_places_are_aliases_and_texts_in_braces_are_no_markdown() {
    let page = Listed::of(&[(
        "a.mdx",
        "# A\n\n<a id=\"old\"></a>\n\n## B\n\n{`\n# no heading\n`}\n\nwords <span id=\"mid\">here</span>\n",
    )]);
    assert_eq!(page.outline(), [(1, "A"), (2, "B")]);
    assert_eq!(page.lines[1]["aliases"], serde_json::json!(["old", "mid"]));
    assert_eq!(page.texts()[1], "## B\n\n# no heading\n\nwords here");
}

#[test]
fn a_title_may_be_written_in_html() {
    let page = Listed::of(&[(
        "README.md",
        "<div align=\"center\">\n<h1>Lantern <b>2</b></h1>\n</div>\n\nWords.\n",
    )]);
    assert_eq!(page.heading_paths(), ["Lantern 2 > README"]);
}

#[test]
fn a_page_that_is_not_published_is_a_draft() {
    let page = Listed::of(&[
        ("a.md", "---\npublished: false\n---\n# A\n"),
        ("b.md", "---\npublished: true\n---\n# B\n"),
    ]);
    assert_eq!(page.ids(), ["b.md#b"]);
}

#[test]
fn many_runs_of_backticks_take_linear_time() {
    let runs: String = (1..600).map(|length| "`".repeat(length) + " ").collect();
    let begin = std::time::Instant::now();
    Listed::of(&[("a.mdx", runs)]);
    assert!(begin.elapsed().as_secs() < 20);
}
