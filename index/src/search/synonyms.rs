//! Lists of words that mean the same: read once at build, stored in the index.
//!
//! In: the text of a list, one group of words a line. Out: a [`SynonymList`], known to be sound, and for each of its
//! terms the terms that stand for it. `synonyms.txt` is the list that is used unless another one is given.

use super::{
    analyzer::{Analyzer, Term},
    language::{Language, LanguageSet},
    tokenizer::{TokenKind, tokens},
};
use crate::{error::SynonymError, format::expansions::TERMS_IN_LIST};
use std::collections::{BTreeMap, BTreeSet};

const BUILT_IN: &str = include_str!("synonyms.txt");

/// Groups there can be in a list.
const GROUP_LIMIT: usize = 10_000;
/// Words there can be in a group.
const WORD_LIMIT: usize = 64;

/// Groups of words that mean the same.
///
/// One group a line, its words separated by white space or commas; every word of a group stands for every other one.
/// `#` at the start of a word begins a comment; blank lines count for nothing.
///
/// ```
/// use docs_index::{SynonymError, SynonymList};
///
/// let list = SynonymList::parse("delete, remove, erase\ndb database  # short and long\n")?;
/// assert_eq!(list.as_str(), "delete remove erase\ndb database");
/// let wrong = SynonymList::parse("delete remove\nlonely");
/// assert_eq!(wrong, Err(SynonymError::OneWord { line: 2, word: "lonely".to_owned() }));
/// # Ok::<(), SynonymError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynonymList {
    /// One group a line, one space between its words.
    text: String,
}

impl Default for SynonymList {
    /// The list that comes with this crate.
    fn default() -> Self {
        let groups: Vec<String> = BUILT_IN
            .lines()
            .map(|line| words(line).collect::<Vec<_>>().join(" "))
            .filter(|group| !group.is_empty())
            .collect();
        Self {
            text: groups.join("\n"),
        }
    }
}

impl SynonymList {
    /// Bytes there can be in the text of a list.
    pub const BYTE_LIMIT: usize = 256 << 10;

    /// A list without groups.
    pub fn none() -> Self {
        Self { text: String::new() }
    }

    /// Reads the text of a list.
    ///
    /// # Errors
    ///
    /// [`SynonymError`] names the line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SynonymError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > Self::BYTE_LIMIT {
            return Err(SynonymError::TooLong {
                limit: Self::BYTE_LIMIT,
            });
        }
        let analyzer = Analyzer::new(Language::English);
        let mut groups = Vec::new();
        let mut synonyms = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            check_form(line, content)?;
            let group: Vec<&str> = words(content).collect();
            match *group {
                [] => continue,
                [word] => {
                    let word = word.to_owned();
                    return Err(SynonymError::OneWord { line, word });
                }
                _ if group.len() > WORD_LIMIT => {
                    let limit = WORD_LIMIT;
                    return Err(SynonymError::TooManyWords { line, limit });
                }
                _ if groups.len() == GROUP_LIMIT => {
                    let limit = GROUP_LIMIT;
                    return Err(SynonymError::TooManyGroups { line, limit });
                }
                _ => {}
            }
            let mut terms = Vec::with_capacity(group.len());
            for &word in &group {
                terms.push(term_of(word, &analyzer).ok_or_else(|| SynonymError::NoTerm {
                    line,
                    word: word.to_owned(),
                })?);
            }
            join(&terms, &mut synonyms);
            let is_full = |term: &String| {
                synonyms
                    .get(term)
                    .is_some_and(|others| others.len() > TERMS_IN_LIST)
            };
            if let Some(place) = terms.iter().position(is_full) {
                return Err(SynonymError::TooManySynonyms {
                    line,
                    word: group[place].to_owned(),
                    limit: TERMS_IN_LIST,
                });
            }
            groups.push(group.join(" "));
        }
        Ok(Self {
            text: groups.join("\n"),
        })
    }

    /// The groups, one a line, one space between their words.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// For each term of the list the terms of all groups that it is in, without itself; its words stemmed in each of the
    /// languages, which are those of an index.
    pub(crate) fn synonyms(&self, languages: LanguageSet) -> BTreeMap<String, BTreeSet<String>> {
        let mut synonyms = BTreeMap::new();
        for analyzer in languages.iter().map(Analyzer::new) {
            for group in self.text.lines() {
                let terms: Vec<String> = words(group).filter_map(|word| term_of(word, &analyzer)).collect();
                join(&terms, &mut synonyms);
            }
        }
        synonyms
    }
}

/// What stands between words.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// What stands before a comment.
fn without_comment(line: &str) -> &str {
    // C# and F# are words.
    let begins = |&(at, _): &(usize, &str)| at == 0 || line[..at].ends_with(is_blank);
    match line.match_indices('#').find(begins) {
        Some((at, _)) => &line[..at],
        None => line,
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    without_comment(line)
        .split(is_blank)
        .filter(|word| !word.is_empty())
}

/// Refuses what other programs' lists have and this form has not.
fn check_form(line: usize, content: &str) -> Result<(), SynonymError> {
    let content = without_comment(content);
    if content.contains("=>") {
        return Err(SynonymError::OneWay { line });
    }
    let several = |name: &&str| name.contains(char::is_whitespace);
    match content.split(',').map(str::trim).find(several) {
        Some(name) if content.contains(',') => Err(SynonymError::SeveralWords {
            line,
            name: name.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The term that stands for all of a word: the last one, if it covers the others.
fn term_of(word: &str, analyzer: &Analyzer) -> Option<String> {
    let mut tokens = tokens(word);
    let token = tokens.next()?;
    let mut terms: Vec<Term> = Vec::new();
    analyzer.terms(&token, &mut terms);
    let last = terms.pop()?;
    let is_whole = match token.kind {
        TokenKind::Word => last.covers == terms.len(),
        // Longer runs are found by their pairs, and no pair is all of them.
        TokenKind::Cjk => last.text.chars().count() == token.text.chars().count(),
    };
    (is_whole && tokens.next().is_none()).then_some(last.text)
}

/// Makes each term of a group stand for each other one.
fn join(terms: &[String], synonyms: &mut BTreeMap<String, BTreeSet<String>>) {
    for term in terms {
        let others = terms.iter().filter(|&other| other != term).cloned();
        let mut others = others.peekable();
        // Forms of one word are one term and need no help.
        if others.peek().is_some() {
            synonyms.entry(term.clone()).or_default().extend(others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english() -> LanguageSet {
        [Language::English].into_iter().collect()
    }
    use proptest::prelude::*;

    fn synonyms_of(list: &str, term: &str) -> Vec<String> {
        let list = SynonymList::parse(list).unwrap();
        list.synonyms(english())
            .remove(term)
            .unwrap_or_default()
            .into_iter()
            .collect()
    }

    #[test]
    fn the_built_in_list_is_sound() {
        let built_in = SynonymList::default();
        assert_eq!(SynonymList::parse(BUILT_IN).unwrap(), built_in);
        assert_eq!(SynonymList::parse(built_in.as_str()).unwrap(), built_in);
        assert_eq!(built_in.as_str().lines().count(), 299);
        let delete: Vec<String> = built_in
            .synonyms(english())
            .remove("delet")
            .unwrap()
            .into_iter()
            .collect();
        assert_eq!(delete, ["drop", "eras", "remov"]);
    }

    #[test]
    fn words_of_a_group_stand_for_each_other_and_groups_add_up() {
        let list =
            "delete, remove ,erase,\n\n# a comment\ndelete drop # and another\r\nretry retries\nC# csharp";
        assert_eq!(synonyms_of(list, "delet"), ["drop", "eras", "remov"]);
        assert_eq!(synonyms_of(list, "drop"), ["delet"]);
        assert_eq!(synonyms_of(list, "csharp"), ["c#"]);
        assert!(synonyms_of(list, "retri").is_empty());
        assert_eq!(synonyms_of("Node.js js_runtime", "nodejs"), ["jsruntime"]);
        assert_eq!(synonyms_of("検索 search", "search"), ["検索"]);
        assert_eq!(SynonymList::parse("\u{feff}a b").unwrap().as_str(), "a b");
        assert_eq!(SynonymList::parse("#\n \n").unwrap(), SynonymList::none());
    }

    #[test]
    fn what_is_no_list_is_refused_by_line() {
        let line = 2;
        let word = |word: &str| word.to_owned();
        for (text, expected) in [
            (
                "lonely",
                SynonymError::OneWord {
                    line,
                    word: word("lonely"),
                },
            ),
            ("a, b => c", SynonymError::OneWay { line }),
            (
                "k8s, container platform",
                SynonymError::SeveralWords {
                    line,
                    name: word("container platform"),
                },
            ),
            (
                "word ---",
                SynonymError::NoTerm {
                    line,
                    word: word("---"),
                },
            ),
            (
                "word one=two",
                SynonymError::NoTerm {
                    line,
                    word: word("one=two"),
                },
            ),
            (
                "word 全文検索",
                SynonymError::NoTerm {
                    line,
                    word: word("全文検索"),
                },
            ),
            (
                "word a_b_c_d_e_f_g",
                SynonymError::NoTerm {
                    line,
                    word: word("a_b_c_d_e_f_g"),
                },
            ),
        ] {
            let list = format!("first group\n{text}\nlast group");
            assert_eq!(SynonymList::parse(&list), Err(expected), "{text}");
        }
        let many = |count: usize| (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        assert!(SynonymList::parse(&many(WORD_LIMIT)).is_ok());
        assert_eq!(
            SynonymList::parse(&many(WORD_LIMIT + 1)),
            Err(SynonymError::TooManyWords {
                line: 1,
                limit: WORD_LIMIT
            })
        );
        let groups = (0..=TERMS_IN_LIST)
            .map(|n| format!("x w{n}"))
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(
            SynonymList::parse(&groups),
            Err(SynonymError::TooManySynonyms {
                line: TERMS_IN_LIST + 1,
                word: word("x"),
                limit: TERMS_IN_LIST
            })
        );
        assert_eq!(
            SynonymList::parse(&"a b\n".repeat(GROUP_LIMIT + 1)),
            Err(SynonymError::TooManyGroups {
                line: GROUP_LIMIT + 1,
                limit: GROUP_LIMIT
            })
        );
        assert_eq!(
            SynonymList::parse(&" ".repeat(SynonymList::BYTE_LIMIT + 1)),
            Err(SynonymError::TooLong {
                limit: SynonymList::BYTE_LIMIT
            })
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_read_is_read_back(text in "([a-zß検,#=> _-]{0,12}\n){0,4}") {
            if let Ok(list) = SynonymList::parse(&text) {
                prop_assert_eq!(SynonymList::parse(list.as_str()), Ok(list.clone()));
                for (term, others) in list.synonyms(english()) {
                    prop_assert!(!others.is_empty() && !others.contains(&term));
                }
            }
        }
    }

    #[test]
    fn words_are_stemmed_in_each_language() {
        let list = SynonymList::parse("Ordnern Verzeichnisse\nsettings options").unwrap();
        let languages = [Language::English, Language::German].into_iter().collect();
        let synonyms = list.synonyms(languages);
        assert!(synonyms["ordn"].contains("verzeichnis"));
        assert!(synonyms["set"].contains("option"));
        assert!(list.synonyms(LanguageSet::default()).is_empty());
    }
}
