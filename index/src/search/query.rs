//! Turns the text of a query into groups of weighted terms.
//!
//! In: any text; there is no query syntax, so none can be wrong. Out: [`Query`]: one group for each distinct
//! term, in the order of the text. Function words are left out unless nothing else is left. The parts of an
//! identifier count half where the index knows the whole.
//!
//! A group holds the query's own term and its synonyms; where the index does not know the term, its synonyms alone,
//! or else the one term that is spelled most like it. The members of a group share one inverse section frequency, that
//! of the own term, and one saturation, so that a record does not gain by having several. An acronym stands for each word
//! of its long form where the query has them all, and the words for the acronym.

use super::{
    clause::{Clauses, clauses},
    edit_distance::Spelling,
    language::LanguageSet,
    query_terms::{QueryAnalyzer, QueryTerm, meaningful},
    tokenizer::{Token, TokenKind, tokens},
};
use crate::{
    error::ReadError,
    format::{
        expansions::Expansions,
        term_dictionary::{Dictionary, TermEntry},
    },
    text::cut_at_boundary,
};
use rustc_hash::FxHashMap;

/// Terms of a query; what a longer one has beyond them is not searched for.
pub(crate) const TERM_LIMIT: usize = 64;
/// Words of a query that are looked up, known or not.
const WORD_LIMIT: usize = 256;
/// Bytes of a query that are looked at.
const TEXT_LIMIT: usize = 32 * 1024;
/// Phrases and excluded words of a query that are looked at.
const CLAUSE_LIMIT: usize = 16;
/// Unknown terms of a query for which the dictionary is searched for others spelled alike.
const CORRECTION_LIMIT: usize = 16;
/// Terms of a group.
const MEMBER_LIMIT: usize = 32;
/// Weight of an acronym, where the query has all words of its long form.
const ACRONYM_WEIGHT: f32 = 0.6;
/// Weight of the words of a long form, where the query has the acronym.
const LONG_FORM_WEIGHT: f32 = 0.3;
/// Terms offered for an unknown word.
const NEAREST_LIMIT: usize = 3;
/// Weight of an identifier's part where its whole is known.
const PART_WEIGHT: f32 = 0.5;
/// Weight of a term that means the same as the query's.
const SYNONYM_WEIGHT: f32 = 0.15;
/// Weight of a term that means the same as one that the index does not know: there is nothing better.
const SUBSTITUTE_WEIGHT: f32 = 0.5;
/// Weight of a term spelled like the query's, for each edit between them.
const EDIT_WEIGHT: f32 = 0.9;
/// What an edit costs a candidate, in units of ln(section frequency + 1): one edit is worth a term that is e³ times as
/// frequent.
const EDIT_COST: f32 = 3.0;

/// A query taken apart.
#[derive(Debug)]
pub(crate) struct Query<'i> {
    /// In the order of the text.
    pub(crate) groups: Vec<Group<'i>>,
    /// Phrases between quotation marks, as they were typed.
    pub(crate) phrases: Vec<String>,
    /// What must not stand in a record.
    pub(crate) exclusions: Vec<Exclusion<'i>>,
    /// Words no term of which the index has.
    pub(crate) unknown_words: Vec<Unknown>,
    /// Whether the text had more than the limit.
    pub(crate) is_truncated: bool,
}

/// A word that the index does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// As it was typed.
    pub(crate) word: String,
    /// The term that is searched for in its place.
    pub(crate) searched_as: Option<String>,
}

/// A term of the query with what stands for it.
#[derive(Debug)]
pub(crate) struct Group<'i> {
    /// The query's own term.
    pub(crate) text: String,
    /// 1, or less for a part of an identifier.
    pub(crate) weight: f32,
    /// The word it comes from looks like code, or is the whole query.
    pub(crate) is_code: bool,
    /// The term stands in a phrase, so a record without it is out.
    pub(crate) is_required: bool,
    /// What is looked for; the own terms first.
    pub(crate) members: Vec<Member<'i>>,
    /// Section frequency of the query's own term.
    pub(crate) section_frequency: u32,
}

/// A term that counts for a group.
#[derive(Debug, Clone)]
pub(crate) struct Member<'i> {
    pub(crate) text: String,
    pub(crate) entry: TermEntry<'i>,
    /// What a frequency of the term counts; 1 for the query's own.
    pub(crate) weight: f32,
    pub(crate) role: Role,
}

/// Why a term counts for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is the query's own.
    Own,
    /// It means the same.
    Synonym,
    /// It is spelled alike, and the query's own is unknown.
    Spelling,
    /// It is the acronym of words of the query, or one of the words of an acronym.
    Acronym,
}

/// A word that must not stand in a record: each of these terms together, one of the variants of each.
#[derive(Debug)]
pub(crate) struct Exclusion<'i> {
    /// As it was typed, without the sign.
    pub(crate) word: String,
    pub(crate) terms: Vec<Vec<TermEntry<'i>>>,
}

/// What an index knows of words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary<'i> {
    pub(crate) dictionary: Dictionary<'i>,
    pub(crate) expansions: Expansions<'i>,
    /// Of its documents.
    pub(crate) languages: LanguageSet,
}

/// Takes a query apart against the words of an index.
pub(crate) fn parse<'i>(text: &str, vocabulary: &Vocabulary<'i>) -> Result<Query<'i>, ReadError> {
    let whole = text;
    let text = cut_at_boundary(whole, TEXT_LIMIT);
    let Clauses {
        words,
        excluded,
        phrases,
    } = clauses(text);
    let phrase_of = |token: &Token<'_>| {
        let place = words.partition_point(|(word, _)| word.start <= token.start);
        words.get(place.checked_sub(1)?).and_then(|(_, phrase)| *phrase)
    };
    let languages = vocabulary.languages;
    let searched = meaningful(words.iter().map(|(token, _)| *token).collect(), languages);
    let mut builder = Builder {
        vocabulary,
        analyzer: QueryAnalyzer::new(languages),
        places: FxHashMap::default(),
        groups: Vec::new(),
        corrections: 0,
        is_truncated: false,
    };
    let is_single = searched.len() == 1;
    let mut unknown_words: Vec<Unknown> = Vec::new();
    let is_long = searched.len() > WORD_LIMIT;
    for word in searched.iter().take(WORD_LIMIT) {
        let is_required = phrase_of(word).is_some();
        let unknown = builder.add(word, is_single || looks_like_code(word), is_required)?;
        if let Some(unknown) = unknown.filter(|unknown| !unknown_words.contains(unknown)) {
            unknown_words.push(unknown);
        }
        if builder.is_truncated {
            break;
        }
    }
    builder.add_acronyms()?;
    let exclusions = excluded
        .iter()
        .take(CLAUSE_LIMIT)
        .map(|token| builder.exclusion(token))
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    Ok(Query {
        groups: builder.groups,
        phrases: phrases
            .iter()
            .take(CLAUSE_LIMIT)
            .map(|&phrase| phrase.to_owned())
            .collect(),
        exclusions,
        unknown_words,
        is_truncated: builder.is_truncated || is_long || text.len() < whole.len(),
    })
}

/// Terms that are spelled like an unknown word, best first: one edit away, two from seven letters on. Also such as begin
/// with another letter: these are shown, not searched for.
pub(crate) fn nearest(word: &str, vocabulary: &Vocabulary<'_>) -> Result<Vec<String>, ReadError> {
    let mut terms = Vec::new();
    let analyzer = QueryAnalyzer::new(vocabulary.languages);
    for token in tokens(word) {
        analyzer.terms(&token, &mut terms);
    }
    let Some(term) = terms.first().filter(|_| terms.len() == 1) else {
        return Ok(Vec::new());
    };
    let candidates = spelled_alike(&term.texts[0], false, &vocabulary.dictionary)?;
    Ok(candidates
        .into_iter()
        .take(NEAREST_LIMIT)
        .map(|candidate| candidate.text)
        .collect())
}

/// A term of the dictionary that is spelled like another.
struct Candidate {
    text: String,
    edits: u8,
    worth: f32,
}

/// The terms spelled like one that the dictionary does not have, best first.
#[expect(
    clippy::cast_precision_loss,
    reason = "a score does not need more than 24 bits"
)]
fn spelled_alike(
    term: &str,
    keeps_first: bool,
    dictionary: &Dictionary<'_>,
) -> Result<Vec<Candidate>, ReadError> {
    let limit = match term.len() {
        0..4 => return Ok(Vec::new()),
        4..7 => 1,
        _ => 2,
    };
    // Numbers are not mistyped words: 404 is not 403.
    if term.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    let Some(mut spelling) = Spelling::new(term, limit) else {
        return Ok(Vec::new());
    };
    if !keeps_first {
        spelling = spelling.with_any_first_letter();
    }
    let mut candidates: Vec<Candidate> = dictionary
        .accepted_by(spelling)?
        .into_iter()
        .filter(|(text, frequency)| *frequency > 0 && !text.bytes().any(|byte| byte.is_ascii_digit()))
        .map(|(text, frequency)| {
            let edits = spelling.distance(&text);
            Candidate {
                worth: (frequency as f32 + 1.0).ln() - EDIT_COST * f32::from(edits),
                edits,
                text,
            }
        })
        .collect();
    candidates.sort_unstable_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.text.cmp(&b.text)));
    Ok(candidates)
}

/// `tool_call_id`, `std::vec`, `os.path`, `--flag`, `camelCase`, `sha256`, `JSONResponse`.
fn looks_like_code(token: &Token<'_>) -> bool {
    if token.kind == TokenKind::Cjk {
        return false;
    }
    let bytes = token.text.as_bytes();
    let capitals = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    bytes.iter().any(|byte| b"_@$#".contains(byte))
        || token.text.contains("::")
        || bytes.first() == Some(&b'-')
        || bytes
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        || bytes.windows(3).any(|three| {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
            (is_word(three[0]) && three[1] == b'.' && is_word(three[2]))
                || (three[0].is_ascii_alphabetic()
                    && three[1].is_ascii_alphabetic()
                    && three[2].is_ascii_digit())
        })
        || (capitals >= 2 && bytes.get(capitals).is_some_and(u8::is_ascii_lowercase))
}

struct Builder<'v, 'i> {
    vocabulary: &'v Vocabulary<'i>,
    analyzer: QueryAnalyzer,
    /// Place in `groups` of each term that a group has as its own.
    places: FxHashMap<String, usize>,
    groups: Vec<Group<'i>>,
    corrections: usize,
    is_truncated: bool,
}

impl<'i> Builder<'_, 'i> {
    /// Adds the terms of one word; gives the word if the index has none of them.
    fn add(
        &mut self,
        word: &Token<'_>,
        is_code: bool,
        is_required: bool,
    ) -> Result<Option<Unknown>, ReadError> {
        let mut terms = Vec::new();
        self.analyzer.terms(word, &mut terms);
        let entries = terms
            .iter()
            .map(|term| self.own_members(term))
            .collect::<Result<Vec<_>, _>>()?;
        let mut weights = vec![1.0; terms.len()];
        for (place, (term, members)) in terms.iter().zip(&entries).enumerate() {
            if !members.is_empty() {
                weights[place - term.covers..place].fill(PART_WEIGHT);
            }
        }
        let is_known = entries.iter().any(|members| !members.is_empty());
        let mut searched_as = None;
        for ((term, mut members), weight) in terms.iter().zip(entries).zip(weights) {
            let is_own = !members.is_empty();
            if !is_own {
                members = self.substitutes(term, word.kind)?;
                searched_as = searched_as.or_else(|| members.first().map(|member| member.text.clone()));
            }
            let Some(own) = members.first() else { continue };
            if let Some(&place) = self.places.get(&own.text) {
                let group = &mut self.groups[place];
                group.weight = group.weight.max(weight);
                group.is_code |= is_code;
                group.is_required |= is_required && is_own;
                continue;
            }
            if self.groups.len() == TERM_LIMIT {
                self.is_truncated = true;
                break;
            }
            let section_frequency = members.iter().fold(0, |sum: u32, member| {
                sum.saturating_add(member.entry.section_frequency)
            });
            for member in &members {
                self.places.insert(member.text.clone(), self.groups.len());
            }
            if is_own {
                self.add_synonyms(term, SYNONYM_WEIGHT, &mut members)?;
            }
            self.groups.push(Group {
                text: term.texts[0].clone(),
                weight,
                is_code,
                is_required: is_required && is_own,
                members,
                section_frequency,
            });
        }
        Ok((!is_known && !terms.is_empty()).then(|| Unknown {
            word: word.text.to_owned(),
            searched_as,
        }))
    }

    /// The forms of a term that the dictionary has.
    fn own_members(&self, term: &QueryTerm) -> Result<Vec<Member<'i>>, ReadError> {
        let mut members = Vec::new();
        for text in &term.texts {
            if let Some(entry) = self.vocabulary.dictionary.find(text)? {
                members.push(Member {
                    text: text.clone(),
                    entry,
                    weight: 1.0,
                    role: Role::Own,
                });
            }
        }
        Ok(members)
    }

    /// What is looked for in the place of a term that the dictionary does not have: what means the same, or else the
    /// term that is spelled most like it.
    fn substitutes(&mut self, term: &QueryTerm, kind: TokenKind) -> Result<Vec<Member<'i>>, ReadError> {
        let mut members = Vec::new();
        self.add_synonyms(term, SUBSTITUTE_WEIGHT, &mut members)?;
        if !members.is_empty() || kind == TokenKind::Cjk {
            return Ok(members);
        }
        for text in &term.texts {
            if self.corrections == CORRECTION_LIMIT {
                break;
            }
            self.corrections += 1;
            let Some(best) = spelled_alike(text, true, &self.vocabulary.dictionary)?
                .into_iter()
                .next()
            else {
                continue;
            };
            if let Some(entry) = self.vocabulary.dictionary.find(&best.text)? {
                members.push(Member {
                    weight: EDIT_WEIGHT.powi(i32::from(best.edits)),
                    text: best.text,
                    entry,
                    role: Role::Spelling,
                });
                break;
            }
        }
        Ok(members)
    }

    fn add_synonyms(
        &self,
        term: &QueryTerm,
        weight: f32,
        members: &mut Vec<Member<'i>>,
    ) -> Result<(), ReadError> {
        for form in &term.texts {
            for text in self.vocabulary.expansions.synonyms(form)? {
                self.join(text, weight, Role::Synonym, members)?;
            }
        }
        Ok(())
    }

    /// Lets the acronym of a long form stand for each of its words, where the query has them all, and the words of an
    /// acronym's long form stand for it.
    fn add_acronyms(&mut self) -> Result<(), ReadError> {
        let expansions = self.vocabulary.expansions;
        let mut found: Vec<(usize, &str, f32)> = Vec::new();
        for (place, group) in self.groups.iter().enumerate() {
            for (acronym, words) in expansions.acronyms_of(&group.text)? {
                let places: Option<Vec<usize>> =
                    words.iter().map(|&word| self.places.get(word).copied()).collect();
                if self.places.contains_key(acronym) {
                    continue;
                }
                for place in places.unwrap_or_default() {
                    found.push((place, acronym, ACRONYM_WEIGHT));
                }
            }
            // Of several long forms the most frequent one is meant.
            let long_form = expansions.long_forms(&group.text)?.into_iter().next();
            for word in long_form.unwrap_or_default() {
                if !self.places.contains_key(word) {
                    found.push((place, word, LONG_FORM_WEIGHT));
                }
            }
        }
        for (place, text, weight) in found {
            let mut members = std::mem::take(&mut self.groups[place].members);
            self.join(text, weight, Role::Acronym, &mut members)?;
            self.groups[place].members = members;
        }
        Ok(())
    }

    /// Adds a term to the members of a group, unless it is there, they are full, or the dictionary does not have it.
    fn join(
        &self,
        text: &str,
        weight: f32,
        role: Role,
        members: &mut Vec<Member<'i>>,
    ) -> Result<(), ReadError> {
        let is_new = members.len() < MEMBER_LIMIT && members.iter().all(|member| member.text != text);
        if let Some(entry) = self.vocabulary.dictionary.find(text)?.filter(|_| is_new) {
            members.push(Member {
                text: text.to_owned(),
                entry,
                weight,
                role,
            });
        }
        Ok(())
    }

    /// What a record must not have; none if the index does not know the word. An identifier is excluded as a
    /// whole, not by its parts.
    fn exclusion(&self, word: &Token<'_>) -> Result<Option<Exclusion<'i>>, ReadError> {
        let mut terms = Vec::new();
        self.analyzer.terms(word, &mut terms);
        if word.kind == TokenKind::Word {
            terms = terms.pop().into_iter().collect();
        }
        let mut needed = Vec::new();
        for term in &terms {
            let forms: Vec<_> = self
                .own_members(term)?
                .into_iter()
                .map(|member| member.entry)
                .collect();
            if forms.is_empty() {
                return Ok(None);
            }
            needed.push(forms);
        }
        Ok((!needed.is_empty()).then(|| Exclusion {
            word: word.text.trim_start_matches('-').to_owned(),
            terms: needed,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::term_dictionary::DictionaryWriter;
    use proptest::prelude::*;

    fn dictionary(terms: &[&str]) -> (Vec<u8>, Vec<u8>) {
        let mut terms = terms.to_vec();
        terms.sort_unstable();
        let mut writer = DictionaryWriter::new();
        for (frequency, term) in (1..).zip(terms) {
            writer
                .add(term.as_bytes(), frequency, (0, &[]), (0, &[]))
                .unwrap();
        }
        let (terms, postings, _) = writer.finish().unwrap();
        (terms, postings)
    }

    fn vocabulary<'i>(terms: &'i [u8], postings: &'i [u8]) -> Vocabulary<'i> {
        Vocabulary {
            dictionary: Dictionary::new(terms, postings, 1, 1),
            expansions: Expansions::none(),
            languages: LanguageSet::default(),
        }
    }

    fn groups(text: &str, known: &[&str]) -> Vec<(String, f32, bool)> {
        let (terms, postings) = dictionary(known);
        let query = parse(text, &vocabulary(&terms, &postings)).unwrap();
        query
            .groups
            .into_iter()
            .map(|group| (group.text, group.weight, group.is_code))
            .collect()
    }

    fn group(text: &str, weight: f32, is_code: bool) -> (String, f32, bool) {
        (text.to_owned(), weight, is_code)
    }

    #[test]
    fn question_words_are_left_out_unless_nothing_is_left() {
        let known = ["how", "do", "i", "upload", "file", "for", "if"];
        assert_eq!(
            groups("How do I upload a file, a file?", &known),
            [group("upload", 1.0, false), group("file", 1.0, false)]
        );
        assert_eq!(
            groups("for if", &known),
            [group("for", 1.0, false), group("if", 1.0, false)]
        );
        assert_eq!(groups("for", &known), [group("for", 1.0, true)]);
        assert!(groups("", &known).is_empty());
    }

    #[test]
    fn parts_count_half_where_the_whole_is_known() {
        assert_eq!(
            groups("see tool_call_id", &["see", "tool", "call", "id", "toolcallid"]),
            [
                group("see", 1.0, false),
                group("tool", 0.5, true),
                group("call", 0.5, true),
                group("id", 0.5, true),
                group("toolcallid", 1.0, true)
            ]
        );
        assert_eq!(
            groups("see tool_call", &["see", "tool", "call"]),
            [
                group("see", 1.0, false),
                group("tool", 1.0, true),
                group("call", 1.0, true)
            ]
        );
        // A term met again with its full weight keeps it.
        assert_eq!(
            groups("see C++ C", &["see", "c", "c++"]),
            [
                group("see", 1.0, false),
                group("c", 1.0, false),
                group("c++", 1.0, false)
            ]
        );
    }

    #[test]
    fn code_is_told_from_words() {
        for (text, expected) in [
            ("word", false),
            ("Word", false),
            ("HTTP", false),
            ("don't", false),
            ("well-known", false),
            ("snake_case", true),
            ("std::vec", true),
            ("os.path", true),
            ("--flag", true),
            ("camelCase", true),
            ("sha256", true),
            ("JSONResponse", true),
            ("@app", true),
            ("検索", false),
        ] {
            assert_eq!(looks_like_code(&tokens(text).next().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn unknown_words_are_named_as_typed() {
        let (terms, postings) = dictionary(&["file"]);
        let query = parse("Uplaod Files uplaod Uplaod", &vocabulary(&terms, &postings)).unwrap();
        let words: Vec<_> = query
            .unknown_words
            .iter()
            .map(|unknown| unknown.word.as_str())
            .collect();
        assert_eq!(words, ["Uplaod", "uplaod"]);
        assert!(!query.is_truncated);
    }

    #[test]
    fn long_queries_are_cut_and_say_so() {
        let words: Vec<String> = (0..500).map(|i| format!("w{i}")).collect();
        let known: Vec<&str> = words.iter().map(String::as_str).collect();
        let (terms, postings) = dictionary(&known);
        let vocabulary = vocabulary(&terms, &postings);
        let query = parse(&words.join(" "), &vocabulary).unwrap();
        assert_eq!(query.groups.len(), TERM_LIMIT);
        assert!(query.is_truncated);
        assert!(!parse("w1 w2", &vocabulary).unwrap().is_truncated);
        let unknown = (0..5000).map(|i| format!("z{i}")).collect::<Vec<_>>().join(" ");
        let query = parse(&unknown, &vocabulary).unwrap();
        assert_eq!(
            (query.unknown_words.len(), query.is_truncated),
            (WORD_LIMIT, true)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,200}") {
            let (terms, postings) = dictionary(&["a"]);
            prop_assert!(parse(&text, &vocabulary(&terms, &postings)).is_ok());
        }
    }
}
