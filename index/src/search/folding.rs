//! Spelling of words in languages other than English: what is made even before a stemmer sees a word, and after.
//!
//! In: a token, a lower-cased word, or a stem. Out: the same as the language's stemmer expects it, or without the
//! accents that people leave out when they type. English has rules of its own in [`super::analyzer`]: its stemmer
//! needs no accents.

use super::{
    analyzer::{is_run, without_apostrophes},
    language::Language,
};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class, is_nfkc};

/// Words that lose their vowel before another: `l'API` is a form of `API`.
const FRENCH_ELISIONS: [&str; 13] = [
    "c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "quoiqu", "s", "t",
];
const ITALIAN_ELISIONS: [&str; 22] = [
    "agl", "all", "c", "coll", "d", "dagl", "dall", "degl", "dell", "gl", "l", "m", "negl", "nell", "quell",
    "quest", "s", "sugl", "sull", "t", "un", "v",
];

const CYRILLIC_CONSONANTS: &str = "бвгджзйклмнпрстфхцчшщ";

/// NFKC; apostrophes are gone, with what they part off in this language.
pub(super) fn normalize(token: &str, language: Language) -> Cow<'_, str> {
    let has_apostrophe = token.contains(['\'', '’']);
    if !has_apostrophe && (token.is_ascii() || is_nfkc(token)) && language != Language::Turkish {
        return Cow::Borrowed(token);
    }
    let text: String = without_elision(token, language)
        .nfkc()
        .map(|c| if c == '’' { '\'' } else { c })
        .collect();
    if language == Language::Turkish {
        let text = without_endings(&text).replace('İ', "i");
        return Cow::Owned(without_apostrophes(&text));
    }
    Cow::Owned(without_apostrophes(&text))
}

/// The token without a word that has lost its vowel in front of it.
pub(super) fn without_elision(token: &str, language: Language) -> &str {
    let elisions: &[&str] = match language {
        Language::French => &FRENCH_ELISIONS,
        Language::Italian => &ITALIAN_ELISIONS,
        _ => return token,
    };
    match token.split_once(['\'', '’']) {
        Some((head, tail))
            if !tail.is_empty() && elisions.iter().any(|elision| head.eq_ignore_ascii_case(elision)) =>
        {
            tail
        }
        _ => token,
    }
}

/// Turkish parts the endings of names by an apostrophe: `Docker'da`.
fn without_endings(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut pieces = text.split('\'');
    kept.extend(pieces.next());
    for piece in pieces {
        kept.push_str(piece.trim_start_matches(is_run));
    }
    kept
}

/// Writes the letters of a lower-cased word as the language's stemmer knows them.
pub(super) fn spell_for_stemmer(word: &mut String, language: Language) {
    if let Some((typed, ending)) = noun_ending(language, word) {
        word.truncate(word.len() - typed.len());
        word.push_str(ending);
    }
    if language == Language::Russian {
        spell_borrowed(word);
    }
    let spelling: &[(char, char)] = match language {
        Language::Russian => &[('ё', 'е')],
        // With a comma below, as today, or with a cedilla, as before Unicode had the comma.
        Language::Romanian => &[('ș', 'ş'), ('ț', 'ţ')],
        _ => return,
    };
    for &(from, to) in spelling {
        if word.contains(from) {
            *word = word.chars().map(|c| if c == from { to } else { c }).collect();
        }
    }
}

/// Words that Russian has borrowed are written with either letter after a consonant: `хэш` and `хеш`, `тэг` and `тег`.
fn spell_borrowed(word: &mut String) {
    if !word.contains('э') {
        return;
    }
    let mut before = None;
    *word = word
        .chars()
        .map(|c| {
            let is_after_consonant = before.is_some_and(|before| CYRILLIC_CONSONANTS.contains(before));
            before = Some(c);
            if c == 'э' && is_after_consonant { 'е' } else { c }
        })
        .collect();
}

/// Endings of many nouns that are often typed without their accents, and are no endings of other words; of Portuguese
/// also their plurals, which its stemmer does not join with them.
fn noun_ending(language: Language, word: &str) -> Option<(&'static str, &'static str)> {
    let endings: &[(&str, &str)] = match language {
        Language::Spanish => &[("cion", "ción"), ("sion", "sión")],
        Language::Portuguese => &[
            ("cao", "ção"),
            ("coes", "ção"),
            ("ções", "ção"),
            ("sao", "são"),
            ("soes", "são"),
            ("sões", "são"),
        ],
        _ => return None,
    };
    endings.iter().copied().find(|(typed, _)| word.ends_with(typed))
}

/// Without accents, and letters that have no accent but are typed without one too. Marks of Tamil are vowels and
/// stay.
pub(super) fn fold_letters(text: &str, language: Language) -> String {
    if language == Language::Tamil {
        return text.to_owned();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfd().filter(|&c| canonical_combining_class(c) == 0) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            _ => folded.push(c),
        }
    }
    folded.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_part_off_what_the_language_says() {
        for (language, token, expected) in [
            (Language::French, "l'API", "API"),
            (Language::French, "L’été", "été"),
            (Language::French, "jusqu'ici", "ici"),
            (Language::French, "aujourd'hui", "aujourdhui"),
            (Language::French, "don't", "dont"),
            (Language::Italian, "dell'utente", "utente"),
            (Language::Italian, "un’altra", "altra"),
            (Language::Turkish, "Docker'da", "Docker"),
            (Language::Turkish, "os'un.path'i", "os.path"),
            (Language::Turkish, "İstek", "istek"),
            (Language::German, "geht's", "geht"),
            (Language::German, "ﬁn", "fin"),
            (Language::German, "u\u{308}ber", "über"),
        ] {
            assert_eq!(normalize(token, language), expected, "{language:?}");
        }
    }

    #[test]
    fn words_are_spelled_as_the_stemmer_knows_them() {
        for (language, word, expected) in [
            (Language::Russian, "ещё", "еще"),
            (Language::Russian, "хэш", "хеш"),
            (Language::Russian, "бэкенд", "бекенд"),
            (Language::Russian, "эхо", "эхо"),
            (Language::Russian, "поэтому", "поэтому"),
            (Language::Romanian, "ștergeți", "ştergeţi"),
            (Language::Spanish, "configuracion", "configuración"),
            (Language::Portuguese, "configurações", "configuração"),
            (Language::German, "хэш", "хэш"),
        ] {
            let mut word = word.to_owned();
            spell_for_stemmer(&mut word, language);
            assert_eq!(word, expected, "{language:?}");
        }
    }

    #[test]
    fn letters_are_folded() {
        for (text, expected) in [
            ("straße", "strasse"),
            ("ærø", "aero"),
            ("cœur", "coeur"),
            ("ığdır", "igdir"),
            ("țară", "tara"),
            ("й", "и"),
            ("λόγος", "λογοσ"),
            ("أداة", "اداة"),
        ] {
            assert_eq!(fold_letters(text, Language::German), expected);
        }
        assert_eq!(fold_letters("கோப்பு", Language::Tamil), "கோப்பு");
    }
}
