//! Shortcodes and macros between double braces: what a reader sees of one.
//!
//! In: the text between `{{` and `}}`, delimiters left out. Out: the words it shows, or that its body is code or is
//! hidden. `{{domxref("X", "Y")}}` shows its second argument or its first; `glossary_tooltip` its text; the rest
//! shows nothing that could be known here.

/// What becomes of a shortcode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shortcode<'t> {
    /// Shows this text in its place.
    Shows(&'t str),
    /// Shows nothing, or nothing known.
    Silent,
    /// Everything up to the closing shortcode of this name is code.
    CodeBody(&'t str),
    /// Everything up to the closing shortcode of this name is not shown.
    HiddenBody(&'t str),
}

/// `inner` is the text between the braces. A macro that stands alone on its line is a block: a side bar, a live
/// sample, a table; its arguments are no words of the text.
pub(crate) fn read(inner: &str, alone_on_line: bool) -> Shortcode<'_> {
    let hugo = inner
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .or_else(|| inner.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')));
    match hugo {
        Some(call) => read_hugo(call.trim(), inner.starts_with('<')),
        None if alone_on_line => Shortcode::Silent,
        None => read_macro(inner.trim()),
    }
}

fn read_hugo(call: &str, raw: bool) -> Shortcode<'_> {
    let (name, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    match name {
        "highlight" if raw => Shortcode::CodeBody(name),
        "comment" => Shortcode::HiddenBody(name),
        "glossary_tooltip" => {
            let shown = named(arguments, "text").or_else(|| named(arguments, "term_id"));
            shown.map_or(Shortcode::Silent, Shortcode::Shows)
        }
        "heading" => quoted(arguments).map_or(Shortcode::Silent, Shortcode::Shows),
        _ if raw && !name.starts_with('/') && named(arguments, "codelang").is_some() => {
            Shortcode::CodeBody(name)
        }
        _ => Shortcode::Silent,
    }
}

fn read_macro(call: &str) -> Shortcode<'_> {
    let Some((name, arguments)) = call.split_once('(') else {
        return Shortcode::Silent;
    };
    let name = name.trim();
    let Some(arguments) = arguments.trim_end().strip_suffix(')') else {
        return Shortcode::Silent;
    };
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    {
        return Shortcode::Silent;
    }
    let Some((first, rest)) = string_argument(arguments) else {
        return Shortcode::Silent;
    };
    let second = rest
        .trim_start()
        .strip_prefix(',')
        .and_then(string_argument)
        .map(|(argument, _)| argument);
    let shown = second.filter(|second| !second.trim().is_empty()).unwrap_or(first);
    if shown.trim().is_empty() {
        Shortcode::Silent
    } else {
        Shortcode::Shows(shown)
    }
}

/// The quoted argument that `text` begins with, and what follows it.
fn string_argument(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
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

    #[test]
    fn a_shortcode_shows_its_words() {
        use Shortcode::{CodeBody, HiddenBody, Shows, Silent};
        let cases = [
            (r#"domxref("Window")"#, Shows("Window")),
            (r#" domxref( 'Window.open()', "open()" ) "#, Shows("open()")),
            (r#"jsxref("Statements/for", "", "", 1)"#, Shows("Statements/for")),
            ("Deprecated_Inline", Silent),
            ("Compat()", Silent),
            ("name | filter", Silent),
            (r#"< glossary_tooltip text="Pods" term_id="pod" >"#, Shows("Pods")),
            (r#"< glossary_tooltip term_id="pod" >"#, Shows("pod")),
            (r#"% heading "whatsnext" %"#, Shows("whatsnext")),
            ("< highlight go >", CodeBody("highlight")),
            (r#"<highlight go "linenos=table">"#, CodeBody("highlight")),
            (r#"< tab name="A" codelang="bash" >"#, CodeBody("tab")),
            (r#"< tab name="A" >"#, Silent),
            ("< comment >", HiddenBody("comment")),
            ("< /highlight >", Silent),
            ("", Silent),
            ("<>", Silent),
        ];
        for (inner, expected) in cases {
            assert_eq!(read(inner, false), expected, "{inner}");
        }
        assert_eq!(read(r#"EmbedLiveSample("Examples", "100%")"#, true), Silent);
    }
}
