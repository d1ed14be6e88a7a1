//! Chooses the passage of a section that answers a query best.
//!
//! In: the section's text without its heading, read ([`ReadBody`]), the weights of the query's terms, and a number of characters.
//! Out: a [`Snippet`]: the run of words that covers most of the query's weight, where possible from the start
//! of a sentence or a line, on one line, cut between words and never inside a code span. Of a table its header
//! and the rows that answer.
//!
//! A snippet is read, not rendered: see [`super::reading`]. It is `complete` only if nothing that matters was
//! left out.

mod read_body;
mod rows;
mod wanted;
mod window;

use self::window::Occurrences;
pub(crate) use self::{
    read_body::ReadBody,
    wanted::{Beginnings, Wanted},
};
use super::reading::{Reading, are_joined};
use std::ops::Range;

/// Stands where text was left out.
const CUT: char = '…';
/// Parts two pieces of a table.
const ROW_BREAK: &str = " ⏎ ";

/// A passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// The passage is all of the text, and nothing of use was left out of it.
    pub(crate) is_complete: bool,
}

/// The best passage of `body` of at most `limit` characters.
pub(crate) fn choose(body: &ReadBody, wanted: &mut Wanted, limit: usize) -> Snippet {
    let ReadBody {
        reading, is_lossless, ..
    } = body;
    let words = reading.words.len();
    let is_lossless = *is_lossless;
    if words == 0 || limit == 0 {
        return Snippet {
            text: String::new(),
            is_complete: words == 0 && is_lossless,
        };
    }
    if reading.chars() <= limit {
        return Snippet {
            text: reading.slice(0..words).to_owned(),
            is_complete: is_lossless,
        };
    }
    let found = Occurrences::of(body, wanted);
    let passage = window::best(reading, &found, wanted, 0..words, limit);
    let pieces = rows::of_table(reading, &found, wanted, &passage, limit).unwrap_or_else(|| vec![passage]);
    let text = joined(reading, &pieces);
    Snippet {
        text: if text.chars().count() > limit {
            // A single word longer than the passage may be.
            cut_word(&text, limit)
        } else {
            text
        },
        is_complete: false,
    }
}

/// The pieces with marks where something was left out.
fn joined(reading: &Reading, pieces: &[Range<usize>]) -> String {
    let mut text = String::new();
    let mut end = 0;
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            text.push_str(ROW_BREAK);
        }
        if piece.start > end {
            text.push(CUT);
            text.push(' ');
        }
        text.push_str(reading.slice(piece.clone()));
        end = piece.end;
    }
    if end < reading.words.len() {
        text.push(' ');
        text.push(CUT);
    }
    text
}

/// The first `limit` characters of a word; a code span that is cut open loses its marks, and no character its
/// accents.
fn cut_word(word: &str, limit: usize) -> String {
    let plain = word
        .replace('`', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut cut: String = plain.chars().take(limit.saturating_sub(1)).collect();
    let mut next = plain[cut.len()..].chars().next();
    while let (Some(last), Some(after)) = (cut.chars().next_back(), next) {
        if !are_joined(last, after) {
            break;
        }
        cut.pop();
        next = Some(last);
    }
    cut.truncate(cut.trim_end().len());
    cut.push(CUT);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::language::Language;
    use crate::search::{analyzer::Analyzer, tokenizer::tokens};
    use proptest::prelude::*;

    fn wanted(words: &[&str]) -> Wanted {
        let analyzer = Analyzer::new(Language::English);
        let mut terms = Vec::new();
        for word in words {
            for token in tokens(word) {
                analyzer.terms(&token, &mut terms);
            }
        }
        Wanted::new(
            terms
                .into_iter()
                .enumerate()
                .map(|(group, term)| (term.text, group, 1.0)),
        )
    }

    fn snippet(body: &str, words: &[&str], limit: usize) -> (String, bool) {
        let snippet = choose(&ReadBody::of(body), &mut wanted(words), limit);
        (snippet.text, snippet.is_complete)
    }

    #[test]
    fn short_texts_are_whole() {
        for (body, text, is_complete) in [
            ("", "", true),
            ("\n \n", "", true),
            ("One  two\nthree.\n", "One two three.", true),
            ("> [!NOTE]\n> A *note*.", "Note: A note.", true),
            ("See [the guide](guide.md) now", "See the guide now", false),
            ("![Logo](l.png) Text", "Logo Text", false),
            (
                "<div class=\"a\">in</div> <https://a.example/b>",
                "in https://a.example/b",
                false,
            ),
            (
                "Run:\n\n```sh\nmake  all\n```\n\nDone",
                "Run: make all ⏎ Done",
                false,
            ),
            ("| A | B |\n|---|---|\n| 1 | 2 |", "A | B ⏎ 1 | 2", true),
            ("{* ../a.py *}\n\nText", "Text", false),
            ("卷快照。\n使用", "卷快照。使用", true),
        ] {
            assert_eq!(
                snippet(body, &["x"], 200),
                (text.to_owned(), is_complete),
                "{body:?}"
            );
        }
    }

    #[test]
    fn the_passage_that_covers_the_query_is_chosen() {
        let filler = "Nothing of interest is said here at all. ".repeat(10);
        let body =
            format!("{filler}Cookies are small. A session cookie expires when the browser closes. {filler}");
        let (text, is_complete) = snippet(&body, &["session", "cookie"], 80);
        assert_eq!(
            text,
            "… Cookies are small. A session cookie expires when the browser closes. …"
        );
        assert!(!is_complete);
    }

    #[test]
    fn rare_terms_weigh_more_and_a_group_counts_once() {
        let filler = "Nothing is said here. ".repeat(10);
        let body =
            format!("{filler}The login of a user. {filler}Here auth or login. {filler}A token.{filler}");
        let terms = [
            ("login", 0, 1.0),
            ("auth", 0, 1.0),
            ("user", 1, 0.5),
            ("token", 2, 3.0),
        ];
        for (count, expected) in [(3, "The login of a user."), (4, "A token.")] {
            let terms = terms
                .iter()
                .take(count)
                .map(|&(term, group, weight)| (term.to_owned(), group, weight));
            let text = choose(&ReadBody::of(&body), &mut Wanted::new(terms), 60).text;
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn of_like_passages_prose_is_shown_and_terms_that_stand_together() {
        let filler = "Nothing of interest is said here at all, as before. ".repeat(8);
        let links = "- [Upload files](u.md)\n- [Other things](o.md)\n- [Further things](f.md)\n\n".repeat(2);
        let body = format!("{links}{filler}\n\nYou upload files in a form with a field.\n\n{filler}");
        let (text, _) = snippet(&body, &["upload", "files"], 80);
        assert!(text.contains("You upload files"), "{text}");
        let body = format!(
            "{filler}\n\nUpload one two three four five six files. {filler}\n\nUpload files one two three. {filler}"
        );
        let (text, _) = snippet(&body, &["upload", "files"], 80);
        assert!(text.contains("Upload files one"), "{text}");
    }

    #[test]
    fn passages_at_the_end_are_filled_up_by_sentences() {
        let body = format!("{}the zebra.", "one two three four five. ".repeat(20));
        let (text, _) = snippet(&body, &["zebra"], 60);
        assert_eq!(text, "… one two three four five. the zebra.");
        let body = format!("{} the zebra.", "one two three four five".repeat(20));
        let (text, _) = snippet(&body, &["zebra"], 60);
        assert!(
            text.ends_with("the zebra.") && text.chars().count() > 50,
            "{text}"
        );
    }

    #[test]
    fn code_is_cut_between_lines() {
        let body = format!(
            "Text before. {}\n\n```yaml\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  restartPolicy: Never\n```\n",
            "Filler words stand here. ".repeat(10)
        );
        let (text, _) = snippet(&body, &["kind", "pod"], 50);
        assert_eq!(text, "… kind: Pod ⏎ metadata: ⏎ name: web ⏎ spec: …");
        let body = format!(
            "```sh\n# List all pods\nkubectl get pods\n{}```\n",
            "ls -l some/path\n".repeat(20)
        );
        let (text, _) = snippet(&body, &["kubectl"], 60);
        assert!(text.contains("kubectl get pods ⏎ ls -l some/path"), "{text}");
    }

    #[test]
    fn tables_show_their_header_and_the_rows_that_answer() {
        let row = |n: usize| format!("| `--option-{n}` | Does thing number {n} |\n");
        let rows: String = (1..40).map(row).collect();
        let body = format!(
            "Options:\n\n| Option | Meaning |\n|:---|---|\n{rows}| `--zebra` | Shows a zebra |\n{rows}\n"
        );
        for (words, expected) in [
            (
                &["zebra"][..],
                "… Option | Meaning ⏎ … `--zebra` | Shows a zebra …",
            ),
            (
                &["option-1", "7"],
                "… Option | Meaning ⏎ `--option-1` | Does thing number 1 ⏎ … `--option-7` | Does thing number 7 …",
            ),
        ] {
            let (text, is_complete) = snippet(&body, words, 110);
            assert_eq!((text.as_str(), is_complete), (expected, false));
        }
        let long = format!(
            "| Option | Meaning |\n|---|---|\n| `--zebra` | {}Shows a zebra to all. {} |\n",
            "Many words stand here. ".repeat(20),
            "More words stand here. ".repeat(20)
        );
        let (text, _) = snippet(&long, &["shows", "zebra"], 100);
        assert!(
            text.starts_with("Option | Meaning ⏎ … ") && text.contains("Shows a zebra to all."),
            "{text}"
        );
        let html = format!(
            "<table><tr><th>Code</th><th>Meaning</th></tr>{}<tr><td>404</td><td>Not found</td></tr></table>",
            "<tr><td>200</td><td>All is well</td></tr>".repeat(20)
        );
        assert_eq!(
            snippet(&html, &["found"], 80).0,
            "Code | Meaning ⏎ … 404 | Not found"
        );
    }

    #[test]
    fn text_without_spaces_is_cut_between_its_characters() {
        let filler = "这里没有说任何有用的事情，只是为了占用空间而写的文字。".repeat(8);
        let body = format!("{filler}卷快照是存储系统上卷的快照。{filler}");
        let (text, _) = snippet(&body, &["卷快照"], 40);
        assert!(
            text.starts_with("… 卷快照是存储系统上卷的快照。") && text.chars().count() <= 40,
            "{text}"
        );
        let run = format!("{}検索{}", "あ".repeat(300), "い".repeat(300));
        let (text, _) = snippet(&run, &["検索"], 40);
        assert!(text.contains("検索") && text.chars().count() == 40, "{text}");
    }

    #[test]
    fn long_words_are_cut_and_no_character_in_two() {
        let (text, is_complete) = snippet(&"x".repeat(500), &["y"], 20);
        assert_eq!(text, format!("{}…", "x".repeat(19)));
        assert!(!is_complete);
        let (text, _) = snippet(&format!("`{}`", "long code ".repeat(50)), &["y"], 20);
        assert!(!text.contains('`') && text.chars().count() <= 20, "{text}");
        let family = "👩\u{200d}👧\u{200d}👦";
        assert_eq!(snippet(&family.repeat(9), &["y"], 9).0, format!("{family}…"));
        assert_eq!(
            snippet(&"e\u{302}\u{301}".repeat(9), &["y"], 6).0,
            "e\u{302}\u{301}…"
        );
    }

    proptest! {
        #[test]
        fn passages_keep_the_limit_and_close_their_code(
            body in "([a-z]{1,9}|`[a-z ]{1,12}`|\\[a\\]\\(b\\)|é|検索。|e\u{301}|👩\u{200d}👧|[.\n*]|\n```\nx `y\n`z y`\n```\n|<b>|<td>|<tr>|\n\\| a \\| b \\|\n\\|---\\|---\\|\n\\| c `d` \\| e \\|\n|\\\\`| ){0,120}",
            limit in 0_usize..120,
        ) {
            let (text, is_complete) = snippet(&body, &["a", "b", "検索"], limit);
            prop_assert!(text.chars().count() <= limit, "{text}");
            prop_assert!(!text.contains('\n') && !text.contains("  "), "{text:?}");
            prop_assert_eq!(text.matches('`').count() % 2, 0, "{}", text);
            prop_assert!(!text.contains("---"), "{}", text);
            prop_assert!(!text.ends_with(['\u{200d}', '👩']) && !text.contains("\u{200d}…"), "{}", text);
            prop_assert!(!is_complete || !text.contains('…'), "{}", text);
        }

        #[test]
        fn any_text_has_a_snippet(body in "(\\PC|[\n`|*<>#{}\\[\\]-]){0,300}", limit in 0_usize..300) {
            let (text, _) = snippet(&body, &["a"], limit);
            prop_assert!(text.chars().count() <= limit);
        }
    }
}
