//! Analyzes the words of a query for the languages of an index.
//!
//! In: the [`LanguageSet`] of an index and the tokens of a query. Out: the tokens that say what is looked for, and
//! of each its [`QueryTerm`]s: the terms that stand for it in documents of each language. The words that people put
//! around what they look for stand in lists, one for each language.

use super::{
    analyzer::{Analyzer, Term},
    folding,
    language::{Language, LanguageSet},
    tokenizer::{Token, TokenKind},
};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Bytes of the longest function word that is looked up.
const LONGEST_WORD: usize = 48;

/// The terms that one part, word or whole of a query's token is in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    /// Distinct; that of the index's first language first, English before others.
    pub(crate) texts: Vec<String>,
    /// How many of the terms directly before it this one is the whole of; 0: a part or a plain word.
    pub(crate) covers: usize,
}

/// Makes terms of a query's tokens, as the documents of each language of an index have them.
#[derive(Debug)]
pub(crate) struct QueryAnalyzer {
    first: Analyzer,
    others: Vec<Analyzer>,
}

impl QueryAnalyzer {
    /// For these languages; English where there are none.
    pub(crate) fn new(languages: LanguageSet) -> Self {
        let mut languages = languages.iter();
        let first = Analyzer::new(languages.next().unwrap_or_default());
        Self {
            first,
            others: languages.map(Analyzer::new).collect(),
        }
    }

    /// Appends the terms of `token`, parts before the wholes that cover them.
    pub(crate) fn terms(&self, token: &Token<'_>, out: &mut Vec<QueryTerm>) {
        let start = out.len();
        let mut terms = Vec::new();
        let token = &self.without_elision(token);
        self.first.terms(token, &mut terms);
        out.extend(terms.drain(..).map(|term| QueryTerm {
            texts: vec![term.text],
            covers: term.covers,
        }));
        if token.kind == TokenKind::Cjk {
            return;
        }
        for analyzer in &self.others {
            analyzer.terms(token, &mut terms);
            join(&mut out[start..], terms.drain(..));
        }
        // An identifier that is written as one word stands in the index as a whole, and wholes have no stems.
        if let [word] = &mut out[start..] {
            for analyzer in std::iter::once(&self.first).chain(&self.others) {
                if let Some(text) = analyzer.unstemmed(token) {
                    add(&mut word.texts, text);
                }
            }
        }
    }

    /// Where one of the languages takes a word off the token's front (`l'API`), it is no part of the token in any:
    /// so the parts of one language stand beside those of another.
    fn without_elision<'t>(&self, token: &Token<'t>) -> Token<'t> {
        let analyzers = std::iter::once(&self.first).chain(&self.others);
        let texts = analyzers.map(|analyzer| folding::without_elision(token.text, analyzer.language()));
        let text = texts.min_by_key(|text| text.len()).unwrap_or(token.text);
        Token {
            text,
            start: token.end() - text.len(),
            ..*token
        }
    }
}

/// Adds the terms of another language to those that stand for the same part.
fn join(terms: &mut [QueryTerm], others: impl DoubleEndedIterator<Item = Term>) {
    for (term, other) in terms.iter_mut().rev().zip(others.rev()) {
        if (term.covers == 0) == (other.covers == 0) {
            add(&mut term.texts, other.text);
        }
    }
}

fn add(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

/// The words without function words; all of them where nothing else is left.
///
/// Always left out are those of English. Of the index's other languages the one counts that has most function words
/// among these: so `die` is dropped from a German question, and kept in an English one.
pub(crate) fn meaningful(words: Vec<Token<'_>>, languages: LanguageSet) -> Vec<Token<'_>> {
    let plain: Vec<Option<String>> = words.iter().map(plain_word).collect();
    let is_one_of = |language: Language, word: &Option<String>| {
        let list = function_words(language);
        word.as_ref().is_some_and(|word| list.contains(word.as_str()))
    };
    let count = |language| plain.iter().filter(|word| is_one_of(language, word)).count();
    let english = count(Language::English);
    let mut second = None;
    let mut most = 0;
    for language in languages.iter().filter(|&language| language != Language::English) {
        let found = count(language);
        if found > most {
            (second, most) = (Some(language), found);
        }
    }
    // Words that look alike in both are no sign of the other language.
    let second = second.filter(|&language| {
        most > english
            || (most == english && !languages.has(Language::English))
            || plain
                .iter()
                .filter(|word| is_one_of(language, word) && !is_one_of(Language::English, word))
                .count()
                > 1
    });
    let mut kept = Vec::with_capacity(words.len());
    for (word, plain) in words.iter().zip(&plain) {
        let is_function_word =
            is_one_of(Language::English, plain) || second.is_some_and(|language| is_one_of(language, plain));
        if !is_function_word {
            push_without_phrases(*word, &mut kept);
        }
    }
    if kept.is_empty() { words } else { kept }
}

/// As the lists write words: lower case, without accents and apostrophes.
fn plain_word(token: &Token<'_>) -> Option<String> {
    if token.kind == TokenKind::Cjk || token.text.len() > LONGEST_WORD {
        return None;
    }
    Some(plain(token.text))
}

fn plain(word: &str) -> String {
    let lower = word.to_lowercase();
    if lower.is_ascii() && !lower.contains('\'') {
        return lower;
    }
    let bare: String = lower.chars().filter(|&c| c != '\'' && c != '’').collect();
    folding::fold_letters(&bare, Language::English)
}

/// Appends the pieces of a run of CJK text between the phrases that only ask. Other tokens are appended as they are.
fn push_without_phrases<'q>(token: Token<'q>, out: &mut Vec<Token<'q>>) {
    if token.kind != TokenKind::Cjk {
        out.push(token);
        return;
    }
    let (mut from, mut at) = (0, 0);
    let mut push = |from: usize, end: usize| {
        if from < end {
            out.push(Token {
                text: &token.text[from..end],
                start: token.start + from,
                ..token
            });
        }
    };
    while let Some(c) = token.text[at..].chars().next() {
        let rest = &token.text[at..];
        if let Some(phrase) = CJK_PHRASES.iter().find(|phrase| rest.starts_with(**phrase)) {
            push(from, at);
            at += phrase.len();
            from = at;
        } else {
            at += c.len_utf8();
        }
    }
    push(from, token.text.len());
}

fn function_words(language: Language) -> &'static FxHashSet<String> {
    &FUNCTION_WORDS[language as usize]
}

/// The lists, in the order of [`Language::ALL`].
const LISTS: [&str; Language::ALL.len()] = [
    include_str!("question_words.txt"),
    include_str!("function_words/ar.txt"),
    include_str!("function_words/da.txt"),
    include_str!("function_words/nl.txt"),
    include_str!("function_words/fi.txt"),
    include_str!("function_words/fr.txt"),
    include_str!("function_words/de.txt"),
    include_str!("function_words/el.txt"),
    include_str!("function_words/hu.txt"),
    include_str!("function_words/it.txt"),
    include_str!("function_words/nb.txt"),
    include_str!("function_words/pt.txt"),
    include_str!("function_words/ro.txt"),
    include_str!("function_words/ru.txt"),
    include_str!("function_words/es.txt"),
    include_str!("function_words/sv.txt"),
    include_str!("function_words/ta.txt"),
    include_str!("function_words/tr.txt"),
];

fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

static FUNCTION_WORDS: [LazyLock<FxHashSet<String>>; Language::ALL.len()] = {
    macro_rules! sets {
        ($($place:literal)*) => {
            [$(LazyLock::new(|| entries(LISTS[$place]).map(plain).collect())),*]
        };
    }
    sets!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
};

/// Longest first, so that no phrase is cut by a shorter one.
static CJK_PHRASES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut phrases: Vec<_> = entries(include_str!("function_words/cjk.txt")).collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    phrases
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tokenizer::{is_cjk, tokens};
    use proptest::prelude::*;

    fn set(languages: &[Language]) -> LanguageSet {
        languages.iter().copied().collect()
    }

    fn terms(languages: &[Language], text: &str) -> Vec<(String, usize)> {
        let analyzer = QueryAnalyzer::new(set(languages));
        let mut terms = Vec::new();
        for token in tokens(text) {
            analyzer.terms(&token, &mut terms);
        }
        terms
            .into_iter()
            .map(|term| (term.texts.join(" "), term.covers))
            .collect()
    }

    fn texts(languages: &[Language], text: &str) -> Vec<String> {
        terms(languages, text).into_iter().map(|(text, _)| text).collect()
    }

    fn kept(languages: &[Language], text: &str) -> String {
        let words = meaningful(tokens(text).collect(), set(languages));
        words.iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
    }

    use Language::{English, French, German, Russian, Spanish, Turkish};

    #[test]
    fn words_have_the_terms_of_every_language() {
        assert_eq!(texts(&[], "Running files"), ["run running", "file files"]);
        assert_eq!(texts(&[English, German], "Dateien"), ["dateien datei"]);
        assert_eq!(texts(&[German], "Dateien"), ["datei dateien"]);
        assert_eq!(texts(&[English, German], "Größe"), ["große gross grosse"]);
        assert_eq!(texts(&[English, Russian], "files"), ["file files"]);
        assert_eq!(texts(&[English, French], "l'API"), ["api"]);
        assert_eq!(texts(&[English, Turkish], "Docker'da"), ["dockerda docker"]);
        assert_eq!(texts(&[English, German], "検索"), ["検", "索", "検索"]);
        // A plain word can be how a whole identifier is typed.
        assert_eq!(
            texts(&[English], "readconfigfile"),
            ["readconfigfil readconfigfile"]
        );
    }

    #[test]
    fn wholes_cover_the_parts_before_them() {
        let whole = |text: &str, covers| (text.to_owned(), covers);
        assert_eq!(
            terms(&[English, German], "readFiles"),
            [whole("read", 0), whole("file fil", 0), whole("readfiles", 2)]
        );
        assert_eq!(
            terms(&[English, French], "d'AlphaBeta"),
            [whole("alpha", 0), whole("beta bet", 0), whole("alphabeta", 2)]
        );
    }

    #[test]
    fn function_words_are_left_out() {
        for (languages, text, expected) in [
            (&[English][..], "How do I upload a file?", "upload file"),
            (&[English], "why don't the workers die", "workers die"),
            (&[English], "for if", "for if"),
            (&[English, German], "why don't the workers die", "workers die"),
            (
                &[English, German],
                "wie kann ich die Datei hochladen",
                "Datei hochladen",
            ),
            (
                &[English, German, French],
                "die Datei für den Upload",
                "Datei Upload",
            ),
            (
                &[English, German, French],
                "comment déployer l'API avec un fichier",
                "déployer l'API fichier",
            ),
            (&[English, German], "was in the file", "file"),
            (&[German], "die Datei", "Datei"),
            (&[English, Russian], "Как загрузить файл?", "загрузить файл"),
            // What comes before and after says what is looked for, as it does in English.
            (
                &[French],
                "lancer une tâche après la réponse",
                "lancer tâche après réponse",
            ),
            (
                &[Spanish],
                "otros errores antes de los tests",
                "errores antes tests",
            ),
            (&[Russian], "файл после того, как который", "файл после"),
            (&[French], "où est-ce", "où est-ce"),
            (&[English], "wie kann ich die Datei", "wie kann ich die Datei"),
            (&[English], "", ""),
        ] {
            assert_eq!(kept(languages, text), expected, "{text}");
        }
    }

    #[test]
    fn phrases_that_ask_are_left_out_of_cjk_text() {
        for (text, expected) in [
            ("如何上传文件", "上传文件"),
            ("怎么配置数据库？", "配置数据库"),
            ("ファイルをアップロードする方法", "ファイルをアップロード"),
            ("ファイルをアップロードするには", "ファイルをアップロード"),
            ("파일을 업로드하려면 어떻게", "파일을 업로드하려면"),
            ("什么是 Pod", "Pod"),
            ("如何", "如何"),
            ("方法", "方法"),
        ] {
            assert_eq!(kept(&[English], text), expected, "{text}");
        }
    }

    #[test]
    fn lists_are_as_their_heads_say() {
        for (language, list) in Language::ALL.into_iter().zip(LISTS) {
            assert!(list.starts_with("# "), "{language:?}");
            let words: Vec<_> = entries(list).collect();
            assert!((50..=200).contains(&words.len()), "{language:?} {}", words.len());
            let mut seen = FxHashSet::default();
            for word in words {
                assert_eq!(word, word.to_lowercase(), "{language:?}");
                assert!(!word.contains([' ', '\'', '’']), "{language:?} {word}");
                assert!(word.len() <= LONGEST_WORD, "{language:?} {word}");
                assert!(seen.insert(plain(word)), "{language:?} {word} twice");
            }
        }
        for phrase in CJK_PHRASES.iter() {
            assert!(phrase.chars().all(is_cjk), "{phrase}");
        }
    }

    proptest! {
        #[test]
        fn some_words_of_any_text_are_kept(text in "\\PC{0,80}|[如何怎么文件 a方法するには]{0,20}") {
            let all = set(&Language::ALL);
            let words: Vec<_> = tokens(&text).collect();
            let kept = meaningful(words.clone(), all);
            prop_assert_eq!(kept.is_empty(), words.is_empty());
            let analyzer = QueryAnalyzer::new(all);
            let mut terms = Vec::new();
            for word in &kept {
                prop_assert_eq!(&text[word.start..word.end()], word.text);
                analyzer.terms(word, &mut terms);
            }
            prop_assert!(terms.iter().all(|term| !term.texts.is_empty() && term.texts.iter().all(|t| !t.is_empty())));
        }

        #[test]
        fn an_english_index_is_asked_for_its_documents_terms(text in "\\PC{0,60}") {
            let (analyzer, query) = (Analyzer::new(English), QueryAnalyzer::new(set(&[English])));
            let (mut terms, mut asked) = (Vec::new(), Vec::new());
            for token in tokens(&text) {
                analyzer.terms(&token, &mut terms);
                query.terms(&token, &mut asked);
            }
            prop_assert_eq!(terms.len(), asked.len());
            for (term, asked) in terms.iter().zip(&asked) {
                prop_assert_eq!(&term.text, &asked.texts[0]);
                prop_assert_eq!(term.covers, asked.covers);
            }
        }
    }
}
