//! The languages that words are stemmed in, and sets of them.
//!
//! In: a BCP 47 tag as documents carry it (`de`, `pt-BR`, `zh_cn`). Out: the [`Language`] whose stemmer its words
//! are for. Languages without a stemmer of their own, and documents without a tag, are read as English, since
//! that is what the technical words in them are: English endings are ASCII and change no word of another script.
//! The numbers are bits of META's *languages*. Spec chapters 4 and 11.

use rust_stemmers::Algorithm;

/// A language with a Snowball stemmer. The values are part of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub(crate) enum Language {
    #[default]
    English = 0,
    Arabic = 1,
    Danish = 2,
    Dutch = 3,
    Finnish = 4,
    French = 5,
    German = 6,
    Greek = 7,
    Hungarian = 8,
    Italian = 9,
    Norwegian = 10,
    Portuguese = 11,
    Romanian = 12,
    Russian = 13,
    Spanish = 14,
    Swedish = 15,
    Tamil = 16,
    Turkish = 17,
}

impl Language {
    pub(crate) const ALL: [Self; 18] = [
        Self::English,
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// Primary subtags of each language, in the order of the values; the first one is its own.
    pub(crate) const TAGS: [&'static [&'static str]; 18] = [
        &["en"],
        &["ar"],
        &["da"],
        &["nl"],
        &["fi"],
        &["fr"],
        &["de"],
        &["el"],
        &["hu"],
        &["it"],
        &["nb", "nn", "no"],
        &["pt"],
        &["ro", "mo"],
        &["ru"],
        &["es"],
        &["sv"],
        &["ta"],
        &["tr"],
    ];

    /// The language of a tag, by its primary subtag in any case; English where it has no stemmer or is none.
    pub(crate) fn of_tag(tag: &str) -> Self {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        Self::ALL
            .into_iter()
            .zip(Self::TAGS)
            .find(|(_, tags)| tags.iter().any(|tag| tag.eq_ignore_ascii_case(primary)))
            .map(|(language, _)| language)
            .unwrap_or_default()
    }

    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        }
    }

    /// Whether its words are written in Latin letters.
    pub(super) fn is_latin(self) -> bool {
        !matches!(self, Self::Arabic | Self::Greek | Self::Russian | Self::Tamil)
    }

    fn bit(self) -> u32 {
        1 << (self as u8)
    }
}

/// Which languages the documents of an index are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LanguageSet(u32);

impl LanguageSet {
    /// The set of these bits; none if one of them is no language.
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        (bits >> Language::ALL.len() == 0).then_some(Self(bits))
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn has(self, language: Language) -> bool {
        self.0 & language.bit() != 0
    }

    /// In the order of their values, so English first.
    pub(crate) fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL
            .into_iter()
            .filter(move |&language| self.has(language))
    }
}

impl FromIterator<Language> for LanguageSet {
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Self {
        Self(
            languages
                .into_iter()
                .fold(0, |bits, language| bits | language.bit()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_as_they_are_found() {
        for (tag, expected) in [
            ("", Language::English),
            ("en", Language::English),
            ("en-GB", Language::English),
            ("de", Language::German),
            ("de-DE", Language::German),
            (" DE_at ", Language::German),
            ("pt_BR", Language::Portuguese),
            ("es-419", Language::Spanish),
            ("no", Language::Norwegian),
            ("nb-NO", Language::Norwegian),
            ("nn", Language::Norwegian),
            ("zh-cn", Language::English),
            ("zh-Hans", Language::English),
            ("ja", Language::English),
            ("pl", Language::English),
            ("uk", Language::English),
            ("den", Language::English),
            ("German", Language::English),
            ("-", Language::English),
            ("☃", Language::English),
        ] {
            assert_eq!(Language::of_tag(tag), expected, "{tag:?}");
        }
        for (language, tags) in Language::ALL.into_iter().zip(Language::TAGS) {
            assert!(tags.iter().all(|tag| Language::of_tag(tag) == language));
        }
    }

    #[test]
    fn the_values_are_the_places() {
        for (place, language) in Language::ALL.into_iter().enumerate() {
            assert_eq!(language as usize, place);
        }
    }

    #[test]
    fn sets_are_bits() {
        let set: LanguageSet = [Language::Turkish, Language::English, Language::German]
            .into_iter()
            .collect();
        assert_eq!(set.bits(), 1 | 1 << 6 | 1 << 17);
        let list: Vec<_> = set.iter().collect();
        assert_eq!(list, [Language::English, Language::German, Language::Turkish]);
        assert!(set.has(Language::German) && !set.has(Language::French));
        assert_eq!(LanguageSet::from_bits(set.bits()), Some(set));
        assert_eq!(LanguageSet::from_bits(1 << 18), None);
        assert_eq!(LanguageSet::from_bits(u32::MAX), None);
        assert_eq!(LanguageSet::default().iter().count(), 0);
    }
}
