//! Front matter: the block of metadata at the very start of a file.
//!
//! In: the decoded text. Out: where the body begins, the fields that the index uses, and the fault if the block's
//! own language refuses it. YAML between `---` and `---` or `...`, TOML between `+++`, a JSON object. A block between
//! dashes that is no YAML mapping is a banner and stays text; one that is plainly meant as a mapping but invalid is
//! left out of the body all the same, for its lines are no prose; its lines that hold one key and one plain value are
//! still read, so that neither a title nor a draft's mark is lost to a fault elsewhere.

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    /// Byte offset of the first line after the block; 0 without one.
    pub(crate) body: usize,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) language: String,
    pub(crate) draft: bool,
    /// Where the page is published: a name, a path, or the address after the site's root.
    pub(crate) slug: String,
    /// Whether its keys are those of an MDN page.
    pub(crate) is_mdn: bool,
    pub(crate) fault: Option<FrontMatterFault>,
}

/// Why a block could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatterFault {
    /// In the file, from 1.
    pub(crate) line: u32,
    pub(crate) reason: String,
    /// What became of the block: `is read line by line`.
    pub(crate) outcome: &'static str,
}

pub(crate) fn read(text: &str) -> FrontMatter {
    let first = first_line(text).trim_end();
    match first {
        "---" => fenced(text, &["---", "..."]).and_then(|block| read_yaml(&block)),
        "+++" => fenced(text, &["+++"]).and_then(|block| read_toml(&block)),
        _ if first.starts_with('{') => read_json(text),
        _ => None,
    }
    .unwrap_or_default()
}

struct Block<'t> {
    content: &'t str,
    /// Byte offset of the line after the closing one.
    end: usize,
}

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// The lines between the first one and the next that is one of `closers`.
fn fenced<'t>(text: &'t str, closers: &[&str]) -> Option<Block<'t>> {
    let start = first_line(text).len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if closers.contains(&line.trim_end()) {
            return Some(Block {
                content: &text[start..end],
                end: end + line.len(),
            });
        }
        end += line.len();
    }
    None
}

fn read_yaml(block: &Block<'_>) -> Option<FrontMatter> {
    if block.content.trim().is_empty() {
        return Some(FrontMatter {
            body: block.end,
            ..FrontMatter::default()
        });
    }
    match serde_norway::from_str::<serde_norway::Value>(block.content) {
        Ok(serde_norway::Value::Mapping(mapping)) => {
            let mut front = collect(block.end, yaml_pairs(mapping));
            front.title_as_written(block.content);
            Some(front)
        }
        Err(error) if is_meant_as_mapping(block.content) => {
            let mut front = match serde_norway::from_str::<Pairs>(block.content) {
                Ok(Pairs(pairs)) => FrontMatter {
                    fault: key_given_twice(block.content, &pairs),
                    ..collect(block.end, yaml_pairs(pairs))
                },
                Err(_) => collect(block.end, plain_pairs(block.content, ':')),
            };
            if front.fault.is_none() {
                let line = error.location().map_or(1, |location| location.line() + 1);
                front.fault = Some(fault(line, error.to_string(), "is read line by line"));
            }
            Some(front)
        }
        Ok(_) | Err(_) => None,
    }
}

/// A YAML mapping whose keys may repeat.
struct Pairs(Vec<(serde_norway::Value, serde_norway::Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

fn yaml_pairs(
    pairs: impl IntoIterator<Item = (serde_norway::Value, serde_norway::Value)>,
) -> impl Iterator<Item = (String, Value)> {
    pairs.into_iter().filter_map(|(key, value)| {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        Some((key.as_str()?.to_owned(), value))
    })
}

fn key_given_twice(
    content: &str,
    pairs: &[(serde_norway::Value, serde_norway::Value)],
) -> Option<FrontMatterFault> {
    let twice = pairs
        .iter()
        .enumerate()
        .find(|(index, (key, _))| pairs[..*index].iter().any(|(before, _)| before == key));
    let key = twice?.1.0.as_str()?;
    let lines = content.lines().enumerate();
    let second = lines
        .filter(|(_, line)| {
            line.split(':')
                .next()
                .is_some_and(|start| start.trim_end() == key)
        })
        .nth(1);
    let line = second.map_or(1, |(index, _)| index + 2);
    let reason = format!("the key {key:?} is given twice");
    Some(fault(line, reason, "is read with each key's last value"))
}

impl FrontMatter {
    /// A title that YAML takes for a number is shown as it stands: `1.10` is a version and not `1.1`.
    fn title_as_written(&mut self, content: &str) {
        #[derive(Deserialize)]
        struct Titled {
            title: String,
        }
        if self.title.parse::<f64>().is_ok()
            && let Ok(Titled { title }) = serde_norway::from_str(content)
        {
            self.title = title;
        }
    }
}

/// The unindented lines that hold a key, the separator and a plain or quoted value.
fn plain_pairs(content: &str, separator: char) -> impl Iterator<Item = (String, Value)> {
    let lines = content.lines().filter(|line| !line.starts_with([' ', '\t', '#']));
    lines.filter_map(move |line| {
        let (key, value) = line.split_once(separator)?;
        let key = key.trim().trim_matches(['"', '\'']);
        let value = value.trim();
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
        let value = unquoted.unwrap_or(value);
        // `[Draft] A page` begins like a list, but is none.
        let is_words = value.starts_with('[') && value.contains(']') && !value.ends_with(']');
        let is_plain = unquoted.is_some()
            || is_words
            || !value.starts_with(['|', '>', '&', '*', '!', '[', '{', '"', '\'']);
        (is_plain && is_key(key)).then(|| (key.to_owned(), Value::String(value.to_owned())))
    })
}

fn read_toml(block: &Block<'_>) -> Option<FrontMatter> {
    match toml::from_str::<toml::Table>(block.content) {
        Ok(table) => {
            let pairs = table.into_iter().map(|(key, value)| {
                let value = serde_json::to_value(value).unwrap_or(Value::Null);
                (key, value)
            });
            Some(collect(block.end, pairs))
        }
        Err(error) => {
            let meant = block
                .content
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty() && !line.starts_with('#'));
            if !meant.is_some_and(|line| line.contains('=') || line.starts_with('[')) {
                return None;
            }
            let before = error.span().map_or(0, |span| {
                block
                    .content
                    .as_bytes()
                    .iter()
                    .take(span.start)
                    .filter(|&&byte| byte == b'\n')
                    .count()
            });
            // The tables after the first lines have keys of their own.
            let own = block.content.split("\n[").next().unwrap_or_default();
            Some(FrontMatter {
                fault: Some(fault(
                    before + 2,
                    error.message().to_owned(),
                    "is read line by line",
                )),
                ..collect(block.end, plain_pairs(own, '='))
            })
        }
    }
}

fn read_json(text: &str) -> Option<FrontMatter> {
    if !text[1..].trim_start().starts_with(['"', '}']) {
        return None;
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Map<String, Value>>();
    match stream.next()? {
        Ok(map) => {
            let end = stream.byte_offset();
            let rest = first_line(&text[end..]);
            rest.trim().is_empty().then(|| collect(end + rest.len(), map))
        }
        Err(error) => {
            let block = fenced(text, &["}"])?;
            let meant = block.content.trim_start().starts_with('"') && first_line(text).trim_end() == "{";
            let lines = block
                .content
                .lines()
                .map(|line| line.trim().trim_end_matches(','));
            let lines = lines.collect::<Vec<_>>().join("\n");
            meant.then(|| FrontMatter {
                fault: Some(fault(error.line(), error.to_string(), "is read line by line")),
                ..collect(block.end, plain_pairs(&lines, ':'))
            })
        }
    }
}

fn fault(line: usize, reason: String, outcome: &'static str) -> FrontMatterFault {
    FrontMatterFault {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        reason,
        outcome,
    }
}

/// Whether the block's unindented lines are nearly all `key: value`, list items and comments.
fn is_meant_as_mapping(content: &str) -> bool {
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    if !lines
        .clone()
        .find(|line| !line.starts_with('#'))
        .is_some_and(is_key_line)
    {
        return false;
    }
    let (mut like, mut unlike) = (0_usize, 0_usize);
    for line in lines.by_ref() {
        let fits = line.starts_with([' ', '\t', '-', '#', '}', ']']) || is_key_line(line);
        *if fits { &mut like } else { &mut unlike } += 1;
    }
    unlike * 3 <= like
}

fn is_key_line(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else {
        return false;
    };
    is_key(key.trim_end().trim_matches(['"', '\''])) && (value.is_empty() || value.starts_with([' ', '\t']))
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.split(' ').count() <= 3
        && key
            .chars()
            .all(|character| character.is_alphanumeric() || "_-. ".contains(character))
}

fn collect(body: usize, pairs: impl IntoIterator<Item = (String, Value)>) -> FrontMatter {
    let mut front = FrontMatter {
        body,
        ..FrontMatter::default()
    };
    let (mut link_title, mut summary) = (String::new(), String::new());
    let mut home = Vec::new();
    for (key, value) in pairs {
        match key.as_str() {
            "title" | "Title" => front.title = scalar(&value),
            "linkTitle" | "linktitle" => link_title = scalar(&value),
            "description" => front.description = scalar(&value),
            "summary" => summary = scalar(&value),
            "tags" | "keywords" => {
                for tag in list(&value) {
                    if !front.tags.contains(&tag) {
                        front.tags.push(tag);
                    }
                }
            }
            "slug" | "permalink" | "url" if front.slug.is_empty() => front.slug = scalar(&value),
            "page-type" => front.is_mdn = true,
            "lang" | "language" => front.language = scalar(&value),
            // The home pages of VitePress and Starlight have their words here.
            "hero" | "features" => texts(&value, &mut home),
            "published" if scalar(&value).eq_ignore_ascii_case("false") => front.draft = true,
            "draft" if !front.draft => front.draft = scalar(&value).eq_ignore_ascii_case("true"),
            _ => {}
        }
    }
    if front.title.is_empty() {
        front.title = link_title;
    }
    if summary.is_empty() {
        summary = home.join("\n");
    }
    if front.description.is_empty() {
        front.description = summary;
    } else if !summary.is_empty() && summary != front.description {
        front.description.push('\n');
        front.description.push_str(&summary);
    }
    front
}

/// Collects the texts of a home page: names, titles, taglines, details.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let keys = ["name", "title", "text", "tagline", "details"];
            found.extend(
                keys.iter()
                    .filter_map(|key| members.get(*key))
                    .map(scalar)
                    .filter(|text| !text.is_empty()),
            );
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// A scalar as text, white space folded.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// A list of scalars, or one text with commas.
fn list(value: &Value) -> Vec<String> {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().map(scalar).collect(),
        Value::String(text) => text.split(',').map(|item| item.trim().to_owned()).collect(),
        other => vec![scalar(other)],
    };
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_each_language() {
        let cases = [
            "---\ntitle: A  page\nsummary: S\ntags: [x, y]\nkeywords: y, z\nlang: de\n---\nbody",
            "---\ntitle: A page\ndescription: S\ntags:\n  - x\n  - y\n  - z\nlanguage: de\n...\nbody",
            "+++\ntitle = \"A page\"\ndescription = \"S\"\ntags = [\"x\", \"y\", \"z\"]\nlang = \"de\"\n+++\nbody",
            "{\n  \"title\": \"A page\", \"description\": \"S\",\n \"tags\": \"x,y,z\", \"lang\": \"de\"\n}\nbody",
            "{\"linkTitle\": \"A page\", \"description\": \"S\", \"tags\": [\"x\", \"y\", \"z\"], \"lang\": \"de\"}\nbody",
        ];
        for text in cases {
            let front = read(text);
            assert_eq!(&text[front.body..], "body", "{text}");
            assert_eq!(
                (
                    front.title.as_str(),
                    front.description.as_str(),
                    front.language.as_str()
                ),
                ("A page", "S", "de")
            );
            assert_eq!(front.tags, ["x", "y", "z"]);
            assert_eq!(front.fault, None);
        }
        assert!(read("---\ndraft: true\n---\n").draft);
        assert!(!read("---\ndraft: false\n---\n").draft);
        for title in ["404", "1.10", "0x1F", "1e3", "007"] {
            assert_eq!(read(&format!("---\ntitle: {title}\n---\n")).title, title);
        }
        let dated = read("+++\ntitle = \"T\"\ndate = 2024-01-02T03:04:05Z\nday = 2024-01-02\n+++\nbody");
        assert_eq!((dated.title.as_str(), dated.fault), ("T", None));
        let shared = read("---\nbase: &b {x: &t Shared}\ntitle: *t\nuse: *b\n---\nbody");
        assert_eq!((shared.title.as_str(), shared.fault), ("Shared", None));
        assert_eq!(read("---\n---\nbody").body, 8);
    }

    #[test]
    fn the_words_of_a_home_page_are_its_description() {
        let page = "---\nlayout: home\nhero:\n  name: Kite\n  tagline: Flies high\n  actions: [{text: Go}]\nfeatures:\n  - title: Light\n    details: Weighs nothing\n---\n";
        assert_eq!(read(page).description, "Kite\nFlies high\nLight\nWeighs nothing");
    }

    #[test]
    fn what_is_no_mapping_stays_text() {
        let cases = [
            "",
            "text",
            "---\n**ACME MARINE LTD**\nHarbour Road 9\n---\n",
            "---\nACME MARINE LTD\n---\n",
            "---\ntitle: never closed\n",
            "\n---\ntitle: not at the start\n---\n",
            "---\n- a\n- b\n---\n",
            "---\nNote: this: is prose\nand goes on here.\nIt has several lines.\n---\n",
            "{% include x %}\n",
            "{\"a\": 1} and text\n",
            "{meta.title}\n",
            "+++\nplus\n+++\n",
        ];
        for text in cases {
            assert_eq!(read(text), FrontMatter::default(), "{text:?}");
        }
    }

    #[test]
    fn a_faulty_block_keeps_what_can_be_read() {
        let cases = [
            (
                "+++\ntitle = \"One\"\ndescription = 'D'\ndraft = true\nbad = = 1\n[params]\ntitle = 'x'\n+++\n# H",
                ("One", "D", true),
                (5, "is read line by line"),
            ),
            (
                "{\n  \"title\": \"One\",\n  \"description\": \"D\",\n  \"draft\": true,\n}\n# H",
                ("One", "D", true),
                (5, "is read line by line"),
            ),
            (
                "---\ntitle: [WIP] A page\ndescription: D\n---\n# H",
                ("[WIP] A page", "D", false),
                (2, "is read line by line"),
            ),
            (
                "---\ntitle: One\ntags: [a]\ntitle: Two\ndescription: D\n---\n# H",
                ("Two", "D", false),
                (4, "is read with each key's last value"),
            ),
            (
                "---\ntitle: Step 2: the cutover\ndescription: 'D'\ndraft: true\nsummary: |\n  x\n---\n# H",
                ("Step 2: the cutover", "D", true),
                (2, "is read line by line"),
            ),
        ];
        for (text, fields, (line, outcome)) in cases {
            let front = read(text);
            assert_eq!(&text[front.body..], "# H");
            assert_eq!(
                (front.title.as_str(), front.description.as_str(), front.draft),
                fields
            );
            let fault = front.fault.unwrap();
            assert_eq!((fault.line, fault.outcome), (line, outcome), "{}", fault.reason);
        }
    }

    #[test]
    fn an_invalid_block_is_left_out_with_its_line() {
        let cases = [
            (
                "---\ntitle: Step 2: the cutover\ndepends: - base\n\tbad: tab\n---\n# H",
                2,
            ),
            ("+++\ntitle = \"x\"\nbad = = 1\n+++\n# H", 3),
            ("{\n\"title\": \"x\",\n\"bad\" 1\n}\n# H", 3),
        ];
        for (text, line) in cases {
            let front = read(text);
            assert_eq!(&text[front.body..], "# H");
            assert_eq!(front.fault.map(|fault| fault.line), Some(line), "{text}");
        }
    }
}
