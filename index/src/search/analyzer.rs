//! Makes terms of tokens, the same for documents and queries.
//!
//! In: a [`Token`], and the [`Language`] of the document it stands in. Out: its terms in order. A plain word gives its stem. An identifier gives its parts,
//! stemmed, and then itself as a whole without punctuation, unstemmed, for every level that has more than one
//! part: `std::vec::with_capacity` gives `std`, `vec`, `with`, `capac`, `withcapacity`,
//! `stdvecwithcapacity`. Short runs of letters and digits (`utf8`, `k8s`, `oauth2`) stay whole. `C++`, `F#` and
//! `.NET` are terms beside their letters. CJK text gives each character and each pair of neighbours.
//!
//! Text is normalised to NFKC, accents are stripped (NFKD without combining marks), letters are lower-cased;
//! stems are those of the Snowball English stemmer (Porter 2). In a document of another language its own stemmer
//! sees the word with accents, which its endings may need, and they are stripped of the stem ([`super::folding`]).
//! An ASCII word in a language of another script is stemmed as English. Only parts and plain words are stemmed, and
//! CJK text is the same in every language. [`crate::format::layout::ANALYZER_VERSION`] is raised when any of this
//! changes.

use super::{
    folding, identifiers,
    language::Language,
    tokenizer::{Token, TokenKind},
};
use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};

/// A term in bytes: longer ones are no words.
const TERM_LIMIT: usize = 64;
/// A whole identifier is a term up to this many bytes and this many parts between its separators.
const WHOLE_LIMIT: usize = 40;
const WHOLE_PARTS: usize = 6;
/// A run of letters and digits up to this length stays whole.
const GLUED_LIMIT: usize = 8;

/// One term of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    /// How many of the terms directly before it this one is the whole of; 0: a part or a plain word.
    pub(crate) covers: usize,
}

/// Makes terms; cheap to create, not shared between threads.
pub(crate) struct Analyzer {
    language: Language,
    stemmer: Stemmer,
    /// Of the ASCII words of a language that is not written in Latin letters.
    latin: Option<Stemmer>,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Analyzer({:?})", self.language)
    }
}

impl Analyzer {
    pub(crate) fn new(language: Language) -> Self {
        Self {
            language,
            stemmer: Stemmer::create(language.algorithm()),
            latin: (!language.is_latin()).then(|| Stemmer::create(Algorithm::English)),
        }
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Appends the terms of `token`.
    pub(crate) fn terms(&self, token: &Token<'_>, out: &mut Vec<Term>) {
        match token.kind {
            TokenKind::Cjk => cjk_terms(token.text, out),
            TokenKind::Word => self.word_terms(token.text, out),
        }
    }

    /// A plain word without its stem taken: what it is as a whole identifier. None for any other token.
    pub(crate) fn unstemmed(&self, token: &Token<'_>) -> Option<String> {
        let text = self.normalized(token.text);
        let mut runs = text.split(|c: char| !is_run(c)).filter(|run| !run.is_empty());
        let run = runs.next().filter(|_| token.kind == TokenKind::Word)?;
        let is_plain = runs.next().is_none() && identifiers::parts(run).nth(1).is_none();
        let mut word = String::new();
        self.push_plain(run, &mut word);
        (is_plain && !word.is_empty() && word.len() <= TERM_LIMIT).then_some(word)
    }

    fn normalized<'t>(&self, token: &'t str) -> Cow<'t, str> {
        if self.language == Language::English {
            fold(token)
        } else {
            folding::normalize(token, self.language)
        }
    }

    fn word_terms(&self, token: &str, out: &mut Vec<Term>) {
        let text = self.normalized(token);
        let first = out.len();
        let (mut segments, mut runs_in_all) = (0_usize, 0_usize);
        let mut whole = String::new();
        for segment in segments_of(&text) {
            let segment_first = out.len();
            let mut segment_whole = String::new();
            let mut runs = 0_usize;
            for run in segment.split(|c: char| !is_run(c)).filter(|run| !run.is_empty()) {
                runs += 1;
                self.run_terms(run, out);
                self.push_plain(run, &mut segment_whole);
            }
            if runs > 1 && runs <= WHOLE_PARTS {
                push_whole(&segment_whole, segment_first, out);
            }
            segments += usize::from(runs > 0);
            runs_in_all += runs;
            whole.push_str(&segment_whole);
        }
        if segments > 1 && runs_in_all <= WHOLE_PARTS {
            push_whole(&whole, first, out);
        }
        if is_symbol(&text) {
            let mut symbol = String::new();
            self.push_plain(&text, &mut symbol);
            push_covering(symbol, first, out);
        }
    }

    /// Terms of a run of letters and digits.
    fn run_terms(&self, run: &str, out: &mut Vec<Term>) {
        let first = out.len();
        let mut parts = identifiers::parts(run);
        let Some(part) = parts.next() else { return };
        let is_glued = run.len() <= GLUED_LIMIT && run.contains(|c: char| c.is_numeric());
        if part.len() == run.len() || is_glued {
            self.push_stem(run, out);
            return;
        }
        self.push_stem(part, out);
        for part in parts {
            self.push_stem(part, out);
        }
        let mut whole = String::new();
        self.push_plain(run, &mut whole);
        if whole.len() <= TERM_LIMIT {
            push_covering(whole, first, out);
        }
    }

    fn push_stem(&self, word: &str, out: &mut Vec<Term>) {
        let mut lower = String::with_capacity(word.len());
        push_lowercase(word, &mut lower);
        if lower.len() > TERM_LIMIT {
            return;
        }
        let is_ascii = lower.is_ascii();
        let stemmer = match &self.latin {
            Some(latin) if is_ascii => latin,
            _ => &self.stemmer,
        };
        if self.language != Language::English {
            folding::spell_for_stemmer(&mut lower, self.language);
        }
        let text = match stemmer.stem(&lower) {
            Cow::Owned(stem) => stem,
            Cow::Borrowed(stem) if stem.len() == lower.len() => lower,
            Cow::Borrowed(stem) => stem.to_owned(),
        };
        let text = if text.is_ascii() || self.language == Language::English {
            text
        } else {
            folding::fold_letters(&text, self.language)
        };
        if !text.is_empty() {
            out.push(Term { text, covers: 0 });
        }
    }

    /// Appends the run in lower case and without accents.
    fn push_plain(&self, run: &str, out: &mut String) {
        if run.is_ascii() || self.language == Language::English {
            push_lowercase(run, out);
        } else {
            let mut lower = String::with_capacity(run.len());
            push_lowercase(run, &mut lower);
            out.push_str(&folding::fold_letters(&lower, self.language));
        }
    }
}

/// Removes possessive endings and apostrophes, and folds compatibility forms and accents.
fn fold(token: &str) -> Cow<'_, str> {
    if token.is_ascii() && !token.contains('\'') {
        return Cow::Borrowed(token);
    }
    let folded: String = if token.is_ascii() {
        token.to_owned()
    } else {
        token
            .nfkd()
            .filter(|&c| canonical_combining_class(c) == 0)
            .map(|c| if c == '’' { '\'' } else { c })
            .nfkc()
            .collect()
    };
    Cow::Owned(without_apostrophes(&folded))
}

/// Bob's is Bob; don't is dont.
pub(super) fn without_apostrophes(folded: &str) -> String {
    let mut text = String::with_capacity(folded.len());
    let mut rest = folded;
    while let Some(at) = rest.find('\'') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let ends_word = |tail: &str| !tail.chars().next().is_some_and(|c| is_run(c) || c == '_');
        if let Some(tail) = rest.strip_prefix(['s', 'S']).filter(|tail| ends_word(tail)) {
            rest = tail;
        }
    }
    text.push_str(rest);
    text
}

/// A character of a run: what is not a separator.
pub(super) fn is_run(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric() || canonical_combining_class(c) != 0
    }
}

/// The names of a qualified name: cut at `.`, `::`, `/`, `:` and `@`.
fn segments_of(token: &str) -> impl Iterator<Item = &str> {
    token
        .split(['.', ':', '/', '@'])
        .filter(|segment| !segment.is_empty())
}

fn push_lowercase(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
}

fn push_whole(whole: &str, first: usize, out: &mut Vec<Term>) {
    if whole.len() <= WHOLE_LIMIT {
        push_covering(whole.to_owned(), first, out);
    }
}

/// Appends a term that is the whole of those from `first` on, unless it is the last of them anyway.
fn push_covering(text: String, first: usize, out: &mut Vec<Term>) {
    let covers = out.len() - first;
    if covers == 0 || out.last().is_some_and(|last| last.text == text) {
        return;
    }
    out.push(Term { text, covers });
}

/// `c++`, `f#`, `.net`: names that are nothing without their signs.
fn is_symbol(token: &str) -> bool {
    let has_sign = token.ends_with("++")
        || token.ends_with('#')
        || (token.starts_with('.') && !token[1..].contains(['.', '/', ':']));
    has_sign && token.len() <= TERM_LIMIT
}

/// Each character, then each pair of neighbours.
fn cjk_terms(run: &str, out: &mut Vec<Term>) {
    let text: Cow<'_, str> = if unicode_normalization::is_nfkc(run) {
        Cow::Borrowed(run)
    } else {
        Cow::Owned(run.nfkc().collect())
    };
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for width in [1, 2] {
        for window in starts.windows(width + 1) {
            out.push(Term {
                text: text[window[0]..window[width]].to_owned(),
                covers: 0,
            });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::search::tokenizer::tokens;
    use proptest::prelude::*;

    pub(crate) fn terms_of(text: &str) -> Vec<String> {
        terms_in(Language::English, text)
    }

    pub(crate) fn terms_in(language: Language, text: &str) -> Vec<String> {
        let analyzer = Analyzer::new(language);
        let mut terms = Vec::new();
        for token in tokens(text) {
            analyzer.terms(&token, &mut terms);
        }
        terms.into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn terms_of_tokens() {
        for (text, expected) in [
            ("Running", &["run"][..]),
            ("the Files", &["the", "file"]),
            ("tool_call_id", &["tool", "call", "id", "toolcallid"]),
            (
                "SQLITE_CONFIG_URI",
                &["sqlite", "config", "uri", "sqliteconfiguri"],
            ),
            (
                "parseHTTPResponse",
                &["pars", "http", "respons", "parsehttpresponse"],
            ),
            (
                "std::vec::with_capacity",
                &[
                    "std",
                    "vec",
                    "with",
                    "capac",
                    "withcapacity",
                    "stdvecwithcapacity",
                ],
            ),
            (
                "fastapi.UploadFile",
                &["fastapi", "upload", "file", "uploadfile", "fastapiuploadfile"],
            ),
            ("utf8 k8s OAuth2 IPv4", &["utf8", "k8s", "oauth2", "ipv4"]),
            ("tutorial001", &["tutori", "001", "tutorial001"]),
            ("1.0.21", &["1", "0", "21", "1021"]),
            ("C++ C# .NET C", &["c", "c++", "c", "c#", "net", ".net", "c"]),
            ("--no-color", &["no", "color", "nocolor"]),
            ("@app.route", &["app", "rout", "approute"]),
            ("Bob's don't Bob’s", &["bob", "dont", "bob"]),
            ("APIs URLs", &["api", "url"]),
            ("Déjà CAFÉ ﬁle", &["deja", "cafe", "file"]),
            ("Быстрый", &["быстрыи"]),
            ("検索", &["検", "索", "検索"]),
            ("BM25検", &["bm25", "検"]),
            ("a_b_c_d_e_f_g", &["a", "b", "c", "d", "e", "f", "g"]),
            ("___", &[]),
        ] {
            assert_eq!(terms_of(text), expected, "{text}");
        }
    }

    #[test]
    fn absurd_words_are_no_terms() {
        assert!(terms_of(&"a".repeat(10_000)).is_empty());
        assert_eq!(terms_of(&"a".repeat(TERM_LIMIT)).len(), 1);
    }

    #[test]
    fn wholes_say_what_they_cover() {
        let analyzer = Analyzer::new(Language::English);
        let mut terms = Vec::new();
        for token in tokens("x std::tool_call") {
            analyzer.terms(&token, &mut terms);
        }
        let covers: Vec<_> = terms
            .iter()
            .map(|term| (term.text.as_str(), term.covers))
            .collect();
        assert_eq!(
            covers,
            [
                ("x", 0),
                ("std", 0),
                ("tool", 0),
                ("call", 0),
                ("toolcall", 2),
                ("stdtoolcall", 4)
            ]
        );
    }

    #[test]
    fn families_of_words_share_a_stem_in_their_language() {
        let mut apart = Vec::new();
        for (language, families) in [
            (
                Language::German,
                &[
                    "Datei Dateien",
                    "Anfrage Anfragen",
                    "Größe Größen Grösse",
                    "Einstellung Einstellungen",
                ][..],
            ),
            (
                Language::French,
                &[
                    "création creation creations",
                    "fichier fichiers l'fichier",
                    "l’utilisateur utilisateurs d'utilisateurs",
                    "déployer déployé",
                    "œuvre oeuvre",
                ],
            ),
            (
                Language::Spanish,
                &[
                    "archivo archivos",
                    "configuración configuracion configuraciones",
                    "instalar instalado",
                ],
            ),
            (
                Language::Portuguese,
                &[
                    "arquivo arquivos",
                    "requisição requisições requisicao requisicoes",
                    "instalar instalado",
                ],
            ),
            (
                Language::Italian,
                &[
                    "documento documenti",
                    "l'applicazione applicazioni dell’applicazione",
                    "file",
                ],
            ),
            (Language::Dutch, &["bestand bestanden", "server servers"]),
            (
                Language::Russian,
                &[
                    "файл файлы файлов файлами",
                    "быстрый быстрая быстрые",
                    "ещё еще",
                    "files file",
                ],
            ),
            (Language::Swedish, &["fil filer filerna", "användare användaren"]),
            (
                Language::Norwegian,
                &["fil filer filene", "innstilling innstillinger", "mappe mapper"],
            ),
            (Language::Danish, &["fil filer", "indstilling indstillinger"]),
            (Language::Finnish, &["tiedosto tiedostot tiedoston"]),
            (Language::Hungarian, &["fájl fájlok fájlokat"]),
            (
                Language::Romanian,
                &["fișier fișiere fişiere", "aplicație aplicații"],
            ),
            (
                Language::Turkish,
                &[
                    "dosya dosyalar",
                    "İstek istek istekler",
                    "Docker'da Docker Docker’ın",
                ],
            ),
            (Language::Greek, &["αρχείο αρχεία ΑΡΧΕΊΑ", "file files"]),
            (Language::Arabic, &["ملف الملف", "أداة اداة"]),
            (Language::Tamil, &["கோப்பு கோப்புகள்"]),
        ] {
            for family in families {
                let stems: Vec<_> = family
                    .split(' ')
                    .map(|word| terms_in(language, word).join(" "))
                    .collect();
                if stems.iter().any(|stem| *stem != stems[0] || stem.contains(' ')) {
                    apart.push(format!("{language:?} {family}: {stems:?}"));
                }
            }
        }
        assert!(apart.is_empty(), "{apart:#?}");
    }

    #[test]
    fn terms_of_other_languages() {
        for (language, text, expected) in [
            (
                Language::German,
                "die größten Dateien",
                &["die", "grosst", "datei"][..],
            ),
            (
                Language::German,
                "LeseDatei_Größe",
                &["les", "datei", "lesedatei", "gross", "lesedateigrosse"],
            ),
            (Language::German, "utf8 C++ Bob's", &["utf8", "c", "c++", "bob"]),
            (Language::Russian, "Быстрый старт", &["быстр", "старт"]),
            (
                Language::Russian,
                "running std::vec",
                &["run", "std", "vec", "stdvec"],
            ),
            (Language::French, "aujourd'hui", &["aujourdhui"]),
            (Language::French, "l'os.path", &["os", "path", "ospath"]),
            (Language::German, "検索", &["検", "索", "検索"]),
        ] {
            assert_eq!(terms_in(language, text), expected, "{language:?} {text}");
        }
    }

    #[test]
    fn plain_words_have_an_unstemmed_form() {
        for (language, text, expected) in [
            (Language::English, "Files", Some("files")),
            (Language::English, "Déjà", Some("deja")),
            (Language::German, "Größen", Some("grossen")),
            (Language::French, "l'Été", Some("ete")),
            (Language::English, "readFile", None),
            (Language::English, "read_file", None),
            (Language::English, "utf8", None),
            (Language::English, "検索", None),
        ] {
            let token = tokens(text).next().unwrap();
            let found = Analyzer::new(language).unstemmed(&token);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    fn language() -> impl Strategy<Value = Language> {
        prop::sample::select(&Language::ALL[..])
    }

    proptest! {
        #[test]
        fn any_text_has_bounded_terms(
            language in language(),
            text in "\\PC{0,80}|([a-zäöüßéèêçñãõåæøığşțăő'._]{1,12} ){0,8}|([Ͱ-Ͽ]{1,10} ){0,8}|([а-яё]{1,10} ){0,8}|([؀-ۿ]{1,9} ){0,8}|([஀-௿]{1,9} ){0,8}",
        ) {
            for term in terms_in(language, &text) {
                prop_assert!(!term.is_empty() && term.len() <= 4 * TERM_LIMIT, "{term:?}");
            }
        }

        #[test]
        fn letter_case_does_not_matter_for_words(word in "[a-z]{1,20}") {
            prop_assert_eq!(terms_of(&word), terms_of(&word.to_uppercase()));
        }
    }
}
