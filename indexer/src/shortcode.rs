//! Calls between braces: what a reader of the page sees of one.
//!
//! In: the text of a call, its outer braces left out. Out: the words it shows, or that its body is code or is
//! hidden, or that it is no call and stands as it is. Hugo's shortcodes (`{{< note >}}`), MDN's macros
//! (`{{domxref("X", "Y")}}` shows its second argument, or its first) and Liquid's tags (`{% raw %}`). Sites define
//! more of them than can be known: an unknown shortcode shows its visible argument if it has one, else nothing; an
//! unknown macro or tag is text.

use std::borrow::Cow;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call<'t> {
    /// Shows these words in its place.
    Words(Cow<'t, str>),
    /// Shows these words on a line of their own, as the label of what follows.
    Label(Cow<'t, str>),
    /// Shows the title that the site keeps under this key, see [`named_heading`].
    Heading(&'t str),
    /// Shows nothing, or nothing known.
    Nothing,
    /// Is no call: a reader sees it as it is written.
    Literal,
    /// Everything up to the call that closes it is code.
    CodeBody(CodeBody<'t>),
    /// Everything up to the call that closes it is not shown.
    HiddenBody(&'t str),
}

/// A call around code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeBody<'t> {
    /// The call's name.
    pub(crate) name: &'t str,
    /// The language of the code; may be empty.
    pub(crate) language: &'t str,
    /// A label shown with it; may be empty.
    pub(crate) label: &'t str,
}

/// Macros of which a reader sees an argument, by their names in lower case without `-` and `_`; besides, all whose
/// names end in `xref`.
const SHOWING_MACROS: [&str; 16] = [
    "ariarole",
    "ariaref",
    "csp",
    "glossary",
    "htmlelement",
    "httpheader",
    "httpmethod",
    "httpstatus",
    "livesamplelink",
    "mathmlelement",
    "svgattr",
    "svgelement",
    "webextapiref",
    "xsltref",
    "rfc",
    "bug",
];

/// Macros that are marks: what they say of the thing they stand at.
const MARKS: [(&str, &str); 6] = [
    ("deprecatedinline", "(deprecated)"),
    ("experimentalinline", "(experimental)"),
    ("nonstandardinline", "(non-standard)"),
    ("optionalinline", "(optional)"),
    ("readonlyinline", "(read only)"),
    ("securecontextinline", "(secure context)"),
];

/// Macros that are banners: what they say of the page or section.
const BANNERS: [(&str, &str); 5] = [
    ("availableinworkers", "Available in workers."),
    ("deprecatedheader", "Deprecated."),
    ("nonstandardheader", "Non-standard."),
    ("securecontextheader", "Secure context."),
    ("seecompattable", "Experimental."),
];

/// Headings that Hugo sites keep under a key, in each [`Language`], as the Kubernetes documentation words them.
const NAMED_HEADINGS: [(&str, [&str; 4]); 10] = [
    (
        "cleanup",
        ["Cleaning up", "清理现场", "クリーンアップ", "정리하기"],
    ),
    (
        "envvars",
        ["Environment variables", "环境变量", "環境変数", "환경 변수"],
    ),
    ("examples", ["Examples", "示例", "例", "예시"]),
    ("objectives", ["Objectives", "教程目标", "目標", "목적"]),
    ("options", ["Options", "选项", "オプション", "옵션"]),
    (
        "parentoptions",
        [
            "Options inherited",
            "继承的选项",
            "継承されたオプション",
            "상속된 옵션",
        ],
    ),
    (
        "prerequisites",
        ["Before you begin", "准备开始", "始める前に", "시작하기 전에"],
    ),
    ("seealso", ["See also", "另请参见", "関連項目", "참고"]),
    ("synopsis", ["Synopsis", "简介", "概要", "시놉시스"]),
    ("whatsnext", ["What's next", "接下来", "次の項目", "다음 내용"]),
];

/// A language that named headings are known in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    #[default]
    English,
    Chinese,
    Japanese,
    Korean,
}

impl Language {
    /// That of a document, by its front matter or by a folder of its path.
    pub(crate) fn of(front: &str, path: &[u8]) -> Self {
        let folders = path.split(|&byte| byte == b'/').map(<[u8]>::to_ascii_lowercase);
        let front = std::iter::once(front.to_ascii_lowercase().into_bytes());
        let named = front.chain(folders).find_map(|name| match name.as_slice() {
            b"zh" | b"zh-cn" | b"zh-tw" | b"zh-hans" => Some(Self::Chinese),
            b"ja" | b"ja-jp" | b"jp" => Some(Self::Japanese),
            b"ko" | b"ko-kr" | b"kr" => Some(Self::Korean),
            b"en" | b"en-us" => Some(Self::English),
            _ => None,
        });
        named.unwrap_or_default()
    }
}

/// The title of the heading under a key; the key itself where it is not known.
pub(crate) fn named_heading(key: &str, language: Language) -> &str {
    let known = NAMED_HEADINGS.iter().find(|(name, _)| *name == key);
    known.map_or(key, |(_, titles)| titles[language as usize])
}

/// Shortcodes that are labelled boxes.
const BOXES: [&str; 10] = [
    "note",
    "warning",
    "caution",
    "tip",
    "info",
    "important",
    "danger",
    "alert",
    "hint",
    "callout",
];

/// Tags of Liquid and of the sites that use it; no reader sees them.
const LIQUID_TAGS: [&str; 38] = [
    "assign",
    "break",
    "capture",
    "case",
    "code",
    "content-ref",
    "continue",
    "cycle",
    "data",
    "decrement",
    "else",
    "elsif",
    "embed",
    "file",
    "for",
    "if",
    "ifversion",
    "include",
    "include_relative",
    "increment",
    "indented_data_reference",
    "layout",
    "link",
    "note",
    "post_url",
    "raw",
    "render",
    "rowsandcolumns",
    "section",
    "seo",
    "stepper",
    "step",
    "swagger",
    "tabs",
    "tip",
    "unless",
    "warning",
    "when",
];

/// Reads the text between `{{` and `}}`. `alone` says that nothing else is on its line: a macro of an unknown name is
/// then a side bar, a live sample or a table, and its arguments are no words of the text. `is_mdn` says that all
/// names are macros.
pub(crate) fn read(inner: &str, alone: bool, is_mdn: bool) -> Call<'_> {
    for (open, close) in [('<', '>'), ('%', '%')] {
        if let Some(call) = inner.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            let call = call.trim();
            return if let Some(shown) = call.strip_prefix("/*").and_then(|rest| rest.strip_suffix("*/")) {
                // A shortcode shown as such.
                Call::Words(format!("{{{{{open} {} {close}}}}}", shown.trim()).into())
            } else if call.starts_with("/*") {
                Call::Literal
            } else {
                read_hugo(call.trim_end_matches('/').trim_end(), open == '<')
            };
        }
    }
    read_macro(inner.trim(), alone, is_mdn)
}

fn read_hugo(call: &str, raw: bool) -> Call<'_> {
    let (name, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let visible = || {
        let keys = ["title", "summary", "header", "caption", "label", "text", "alt"];
        keys.iter()
            .find_map(|key| named(arguments, key))
            .filter(|text| !text.trim().is_empty())
            .map(Cow::Borrowed)
    };
    match name {
        "" => Call::Literal,
        _ if name.starts_with('/') => Call::Nothing,
        "highlight" | "code" if raw => Call::CodeBody(CodeBody {
            name,
            language: first_word(arguments),
            label: "",
        }),
        "comment" => Call::HiddenBody(name),
        "mermaid" if raw => Call::CodeBody(CodeBody {
            name,
            language: "mermaid",
            label: "",
        }),
        "glossary_tooltip" => {
            let shown = named(arguments, "text").or_else(|| named(arguments, "term_id"));
            shown.map_or(Call::Nothing, |shown| Call::Words(shown.into()))
        }
        "heading" => quoted(arguments).map_or(Call::Nothing, Call::Heading),
        "feature-state" => {
            let version = named(arguments, "for_k8s_version").unwrap_or_default();
            let state = named(arguments, "state").or_else(|| named(arguments, "feature_gate_name"));
            let words = ["Feature state:", version, state.unwrap_or_default()];
            let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
            Call::Label(words.join(" ").into())
        }
        "code_sample" | "codenew" | "example" | "include" => named(arguments, "file")
            .or_else(|| quoted(arguments))
            .map_or(Call::Nothing, |file| Call::Words(file.into())),
        // The value is the site's; its name is what can be shown of it.
        "param" | "skew" | "version" | "var" | "latest-version" | "latest-semver" => {
            match last_argument(arguments) {
                Some(name) => Call::Words(format!("[{name}]").into()),
                // Around a name that is shown itself.
                None if name == "var" => Call::Nothing,
                None => Call::Words(format!("[{name}]").into()),
            }
        }
        "ref" | "relref" => quoted(arguments).map_or(Call::Nothing, |path| Call::Words(path.into())),
        _ if raw && named(arguments, "codelang").is_some() => Call::CodeBody(CodeBody {
            name,
            language: named(arguments, "codelang").unwrap_or_default(),
            label: named(arguments, "name").unwrap_or_default(),
        }),
        "figure" | "img" | "image" | "imgproc" => {
            let shown: Vec<&str> = ["title", "caption"]
                .iter()
                .filter_map(|key| named(arguments, key))
                .filter(|text| !text.trim().is_empty())
                .collect();
            match shown.as_slice() {
                [] => visible().map_or(Call::Nothing, Call::Label),
                [one] => Call::Label((*one).into()),
                [..] => Call::Label(shown.join(": ").into()),
            }
        }
        "tab" => named(arguments, "name")
            .or_else(|| named(arguments, "title"))
            .or_else(|| named(arguments, "header"))
            .or_else(|| quoted(arguments))
            .map_or(Call::Nothing, |label| Call::Label(label.into())),
        _ if BOXES.contains(&name) => {
            let kind = || {
                let kind = named(arguments, "type").or_else(|| quoted(arguments));
                let kind = kind.filter(|kind| BOXES.contains(kind));
                Cow::Owned(capitalized(kind.unwrap_or(name)))
            };
            Call::Label(visible().unwrap_or_else(kind))
        }
        _ => visible().map_or(Call::Nothing, Call::Label),
    }
}

fn read_macro(call: &str, alone: bool, is_mdn: bool) -> Call<'_> {
    let (name, arguments) = match call.split_once('(') {
        Some((name, rest)) => match rest.trim_end().strip_suffix(')') {
            Some(arguments) => (name.trim(), Some(arguments)),
            None => return Call::Literal,
        },
        None => (call, None),
    };
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_name_byte) {
        return Call::Literal;
    }
    let plain: String = name
        .chars()
        .filter(|character| !matches!(character, '-' | '_'))
        .map(|character| character.to_ascii_lowercase())
        .collect();
    let listed = |list: &'static [(&'static str, &'static str)]| {
        list.iter()
            .find(|(known, _)| *known == plain)
            .map(|&(_, words)| words)
    };
    if let Some(mark) = listed(&MARKS) {
        return Call::Words(mark.into());
    }
    if let Some(banner) = listed(&BANNERS) {
        return if is_mdn || arguments.is_some() {
            Call::Words(banner.into())
        } else {
            Call::Literal
        };
    }
    let shows = plain.ends_with("xref") || SHOWING_MACROS.contains(&plain.as_str());
    match arguments {
        Some(arguments) if shows || is_mdn && !alone => shown_argument(&plain, arguments),
        _ if is_mdn => Call::Nothing,
        _ => Call::Literal,
    }
}

/// The words that a macro shows of its arguments.
fn shown_argument<'t>(name: &str, arguments: &'t str) -> Call<'t> {
    let number = arguments.split(',').next().unwrap_or_default().trim();
    let number = number.trim_matches(['"', '\'']);
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        match name {
            "rfc" => return Call::Words(format!("RFC {number}").into()),
            "bug" => return Call::Words(format!("bug {number}").into()),
            _ if string_argument(arguments).is_none() => return Call::Words(number.into()),
            _ => {}
        }
    }
    let Some((first, rest)) = string_argument(arguments) else {
        return Call::Nothing;
    };
    let second = rest
        .trim_start()
        .strip_prefix(',')
        .and_then(string_argument)
        .map(|(argument, _)| argument);
    let shown = second.filter(|second| !second.trim().is_empty()).unwrap_or(first);
    if shown.trim().is_empty() {
        Call::Nothing
    } else {
        Call::Words(shown.into())
    }
}

/// Reads the text between `{%` and `%}`.
pub(crate) fn read_liquid(inner: &str) -> Call<'_> {
    let call = inner.trim().trim_matches('-').trim();
    let (name, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    match name {
        "highlight" => Call::CodeBody(CodeBody {
            name,
            language: first_word(arguments),
            label: "",
        }),
        "comment" => Call::HiddenBody(name),
        "code" | "tab" | "hint" | "file" if named(arguments, "title").is_some() => {
            Call::Label(named(arguments, "title").unwrap_or_default().into())
        }
        "hint" => {
            named(arguments, "style").map_or(Call::Nothing, |style| Call::Label(capitalized(style).into()))
        }
        "note" | "tip" | "warning" if arguments.is_empty() => Call::Label(capitalized(name).into()),
        "tab" => Call::Nothing,
        _ => {
            let opened = name.strip_prefix("end").unwrap_or(name);
            let known = LIQUID_TAGS.contains(&name)
                || LIQUID_TAGS.contains(&opened)
                || name != opened && ["comment", "highlight", "tab", "hint"].contains(&opened);
            if known { Call::Nothing } else { Call::Literal }
        }
    }
}

/// A word with its first letter as a capital, where that is one of ASCII.
pub(crate) fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn first_word(arguments: &str) -> &str {
    let word = arguments.split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches('"');
    if word.contains('=') { "" } else { word }
}

/// The last argument without a name, quotes left out.
fn last_argument(arguments: &str) -> Option<&str> {
    arguments
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']))
        .rfind(|word| !word.contains('=') && !word.is_empty())
}

/// The quoted argument that `text` begins with, and what follows it.
fn string_argument(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    text[1..].split_once(quote)
}

/// The value of `name="…"`.
fn named<'t>(arguments: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = arguments;
    loop {
        let (before, after) = rest.split_once('=')?;
        let key = before.split_whitespace().next_back().unwrap_or_default();
        let after = after.trim_start();
        let (value, next) = match string_argument(after) {
            Some(found) => found,
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        if key == name {
            return Some(value);
        }
        rest = next;
    }
}

fn quoted(arguments: &str) -> Option<&str> {
    string_argument(arguments).map(|(argument, _)| argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Call<'_> {
        Call::Words(text.into())
    }

    fn label(text: &str) -> Call<'_> {
        Call::Label(text.into())
    }

    fn code<'t>(name: &'t str, language: &'t str, label: &'t str) -> Call<'t> {
        Call::CodeBody(CodeBody {
            name,
            language,
            label,
        })
    }

    #[test]
    fn a_shortcode_shows_its_words() {
        use Call::{HiddenBody, Literal, Nothing};
        let cases = [
            (r#"< glossary_tooltip text="Pods" term_id="pod" >"#, words("Pods")),
            (r#"< glossary_tooltip term_id="pod" >"#, words("pod")),
            (r#"% heading "whatsnext" %"#, Call::Heading("whatsnext")),
            ("< highlight go >", code("highlight", "go", "")),
            (r#"<highlight go "linenos=table">"#, code("highlight", "go", "")),
            (r#"< tab name="A" codelang="bash" >"#, code("tab", "bash", "A")),
            (r#"< tab name="A" >"#, label("A")),
            (r#"< tabs name="group" >"#, Nothing),
            ("< comment >", HiddenBody("comment")),
            ("< /highlight >", Nothing),
            ("< note >", label("Note")),
            (r#"% alert title="Mind" color="warning" %"#, label("Mind")),
            (r#"< figure src="a.png" caption="A cat" >"#, label("A cat")),
            (
                r#"< feature-state for_k8s_version="v1.2" state="beta" >"#,
                label("Feature state: v1.2 beta"),
            ),
            (r#"% code_sample file="pods/a.yaml" %"#, words("pods/a.yaml")),
            ("< skew currentVersion >", words("[currentVersion]")),
            ("< youtube abc >", Nothing),
            (
                r#"< figure title="Cats" caption="Two" alt="x" >"#,
                label("Cats: Two"),
            ),
            (r#"< alert type="warning" >"#, label("Warning")),
            (r#"< hint "info" >"#, label("Info")),
            (r#"< callout "x" >"#, label("Callout")),
            (r#"< tab header="One" >"#, label("One")),
            ("< var >", Nothing),
            ("</* note */>", words("{{< note >}}")),
            ("%/* note */%", words("{{% note %}}")),
            ("</* note", Literal),
            ("<>", Literal),
        ];
        for (inner, expected) in cases {
            assert_eq!(read(inner, false, false), expected, "{inner}");
        }
    }

    #[test]
    fn named_headings_are_worded_in_the_language_of_the_page() {
        for (front, path, title) in [
            ("", "content/en/docs/a.md", "What's next"),
            ("", "content/zh-cn/docs/a.md", "接下来"),
            ("ja", "docs/a.md", "次の項目"),
            ("", "ko/a.md", "다음 내용"),
            ("de", "a.md", "What's next"),
        ] {
            assert_eq!(
                named_heading("whatsnext", Language::of(front, path.as_bytes())),
                title
            );
        }
        assert_eq!(named_heading("steps", Language::Korean), "steps");
        // A title stands in the place of its call, which has to be long enough for it.
        for (key, titles) in NAMED_HEADINGS {
            assert!(
                titles
                    .iter()
                    .all(|title| title.len() <= key.len() + "{{% heading \"\" %}}".len()),
                "{key}"
            );
        }
    }

    #[test]
    fn a_macro_shows_its_words() {
        use Call::{Literal, Nothing};
        let cases = [
            (r#"domxref("Window")"#, words("Window"), words("Window")),
            (
                r#" domxref( 'Window.open()', "open()" ) "#,
                words("open()"),
                words("open()"),
            ),
            (
                r#"jsxref("Statements/for", "", "", 1)"#,
                words("Statements/for"),
                words("Statements/for"),
            ),
            ("RFC(9110)", words("RFC 9110"), words("RFC 9110")),
            (r#"rfc(9110, "HTTP", "4")"#, words("RFC 9110"), words("RFC 9110")),
            ("HTTPStatus(404)", words("404"), words("404")),
            ("Deprecated_Inline", words("(deprecated)"), words("(deprecated)")),
            ("SeeCompatTable", words("Experimental."), Literal),
            ("Compat", Nothing, Literal),
            ("Compat()", Nothing, Literal),
            (r#"APIRef("DOM")"#, words("DOM"), Literal),
            ("name | filter", Literal, Literal),
            ("user.name", Literal, Literal),
            ("", Literal, Literal),
        ];
        for (inner, mdn, other) in cases {
            assert_eq!(read(inner, false, true), mdn, "{inner}");
            assert_eq!(read(inner, false, false), other, "{inner}");
        }
        assert_eq!(
            read(r#"EmbedLiveSample("Examples", "100%")"#, true, true),
            Nothing
        );
        assert_eq!(read(r#"cssxref("<length>")"#, true, true), words("<length>"));
    }

    #[test]
    fn a_liquid_tag_shows_its_words() {
        use Call::{HiddenBody, Literal, Nothing};
        let cases = [
            (" raw ", Nothing),
            ("- endraw -", Nothing),
            (" highlight ruby ", code("highlight", "ruby", "")),
            (" comment ", HiddenBody("comment")),
            (r#" tab title="macOS" "#, label("macOS")),
            (r#" hint style="info" "#, label("Info")),
            (" endhint ", Nothing),
            (" note ", label("Note")),
            (" include warning.html ", Nothing),
            (" 50 ", Literal),
            (" macro x() ", Literal),
        ];
        for (inner, expected) in cases {
            assert_eq!(read_liquid(inner), expected, "{inner}");
        }
    }
}
