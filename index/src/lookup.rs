//! From an id to its record: exactly, with good will, and what to offer for an id that is not there.

use unicode_normalization::UnicodeNormalization as _;

use crate::{
    error::ReadError,
    format::section_table::lines,
    reader::{Document, Index, RecordNumber},
    section_id,
    text::cut_at_boundary,
};

impl Index {
    /// The record that an id names exactly; an alias names its section.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn find(&self, id: &str) -> Result<Option<RecordNumber>, ReadError> {
        let Some(id) = section_id::parse(id) else {
            return Ok(None);
        };
        let Some(document) = self.document_at(&id.path)? else {
            return Ok(None);
        };
        self.find_in(&document, &id.anchor, id.part)
    }

    /// The document with exactly this path.
    fn document_at(&self, path: &[u8]) -> Result<Option<Document<'_>>, ReadError> {
        let (mut low, mut high) = (0, self.metadata().documents);
        while low < high {
            let middle = low + (high - low) / 2;
            let document = self.document(middle)?;
            match document.path.cmp(path) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some(document)),
            }
        }
        Ok(None)
    }

    fn find_in(
        &self,
        document: &Document<'_>,
        anchor: &str,
        part: u32,
    ) -> Result<Option<RecordNumber>, ReadError> {
        let numbers = document.first_record..document.first_record + document.record_count;
        let mut alias = None;
        for number in numbers {
            let strings = self.record_strings(self.record_entry(number)?)?;
            if strings.part != part {
                continue;
            }
            if strings.anchor == anchor {
                return Ok(Some(number));
            }
            if alias.is_none() && !anchor.is_empty() && lines(strings.aliases).any(|name| name == anchor) {
                alias = Some(number);
            }
        }
        Ok(alias)
    }

    /// The record that an id in an unusual form can only mean: with other case, a leading `./` or `/`, without
    /// the extension, percent-encoded otherwise, or as the address of its page; none if there is not exactly
    /// one.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn find_leniently(&self, id: &str) -> Result<Option<RecordNumber>, ReadError> {
        if let Some(number) = self.find(id)? {
            return Ok(Some(number));
        }
        let Some(wanted) = LenientId::new(id) else {
            return Ok(None);
        };
        let mut found = None;
        for number in 0..self.metadata().documents {
            let document = self.document(number)?;
            if !wanted.names_document(&document) {
                continue;
            }
            if let Some(record) = self.find_leniently_in(&document, &wanted)? {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(record);
            }
        }
        Ok(found)
    }

    fn find_leniently_in(
        &self,
        document: &Document<'_>,
        wanted: &LenientId,
    ) -> Result<Option<RecordNumber>, ReadError> {
        if let Some(number) = self.find_in(document, &wanted.anchor, wanted.part)? {
            return Ok(Some(number));
        }
        let mut found = None;
        for number in document.first_record..document.first_record + document.record_count {
            let record = self.record(number)?;
            let names_it = if wanted.anchor.is_empty() {
                // A page without a preamble is named by its path: that is its first section.
                number == document.first_record
            } else {
                std::iter::once(record.anchor)
                    .chain(record.aliases())
                    .any(|name| folded(name) == folded(&wanted.anchor))
            };
            if names_it && record.part == wanted.part {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(number);
            }
        }
        Ok(found)
    }

    /// Up to `limit` ids that resemble one that is not there, best first.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn similar_ids(&self, id: &str, limit: usize) -> Result<Vec<String>, ReadError> {
        let words = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        // The cost grows with the words of the id, and what is longer is no id that was mistyped.
        let id = cut_at_boundary(id, SIMILAR_ID_BYTES);
        let decoded = String::from_utf8_lossy(&section_id::decode(id)).into_owned();
        let (path, anchor) = decoded.split_once('#').unwrap_or((&decoded, ""));
        let (path_words, anchor_words) = (words(path), words(anchor));
        let mut best: Vec<(f32, RecordNumber)> = Vec::new();
        let keep = 4 * limit.max(1);
        for number in 0..self.metadata().documents {
            let document = self.document(number)?;
            let own_path = document.path_lossy();
            // Of a page that is there, its own sections were meant.
            let path_score = if own_path == path {
                2.0
            } else {
                overlap(&path_words, &words(&own_path))
            };
            for record in document.first_record..document.first_record + document.record_count {
                let strings = self.record_strings(self.record_entry(record)?)?;
                if strings.part > 1 {
                    continue;
                }
                let anchor_score = overlap(&anchor_words, &words(strings.anchor));
                let score = path_score + anchor_score;
                if score > 0.4 {
                    best.push((score, record));
                }
            }
            if best.len() > 64 * keep {
                order_by_score(&mut best, keep);
            }
        }
        order_by_score(&mut best, limit);
        best.into_iter()
            .map(|(_, number)| self.record(number).map(|record| record.id()))
            .collect()
    }
}

fn order_by_score(best: &mut Vec<(f32, RecordNumber)>, limit: usize) {
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(limit);
}

/// Bytes of an unknown id that are looked at to find ids like it.
const SIMILAR_ID_BYTES: usize = 512;

/// Dice coefficient of two bags of words, a word that begins like the other counting half.
#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn overlap(wanted: &[String], there: &[String]) -> f32 {
    if wanted.is_empty() || there.is_empty() {
        return 0.0;
    }
    let begins_alike = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count() >= 4;
    let shared: f32 = wanted
        .iter()
        .map(|word| {
            if there.contains(word) {
                1.0
            } else if there.iter().any(|other| begins_alike(word, other)) {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    2.0 * shared / (wanted.len() + there.len()) as f32
}

/// An id read with good will.
#[derive(Debug)]
struct LenientId {
    /// Lower-case path without scheme, host, `./` and ending.
    path: String,
    is_url: bool,
    anchor: String,
    part: u32,
}

impl LenientId {
    fn new(id: &str) -> Option<Self> {
        let id = id.trim().trim_matches(['[', ']', '`', '"', '\'']);
        let id = id.strip_prefix("docs://").unwrap_or(id);
        let (rest, is_url) = match id.split_once("://") {
            // Without scheme and host.
            Some((_, rest)) => (rest.split_once('/').map_or("", |(_, path)| path), true),
            // An address on the site.
            None => (id, id.starts_with('/')),
        };
        let parsed = section_id::parse(rest)
            .or_else(|| rest.split_once('~').and_then(|(rest, _)| section_id::parse(rest)))?;
        let path = String::from_utf8_lossy(&parsed.path).into_owned();
        let given = path.split('?').next().unwrap_or_default();
        let path = stem(&folded(given.trim_start_matches("./")));
        // The page at the root of the tree has no stem of its own: only its name says that it is meant.
        (!given.is_empty()).then_some(Self {
            path,
            is_url,
            anchor: parsed.anchor,
            part: parsed.part,
        })
    }

    /// Whether the path can mean this document. A public address has folders of the site in front that the tree
    /// has not, and the tree may have folders in front that the address has not.
    fn names_document(&self, document: &Document<'_>) -> bool {
        let path = stem(&folded(&document.path_lossy()));
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|front| front.is_empty() || front.ends_with('/'))
        };
        let url = document.url.split_once("://").map_or("", |(_, rest)| rest);
        let address = url.split_once('/').map_or("", |(_, path)| path);
        path == self.path
            || (self.is_url && !address.is_empty() && stem(&folded(address)) == self.path)
            || (!path.is_empty()
                && self.is_url
                && (ends_with(&self.path, &path) || ends_with(&path, &self.path)))
    }
}

/// Text without case, composed: some systems write the names of files with their accents apart.
fn folded(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).collect()
}

/// A path without its ending, the name of a folder's own page, and slashes at its ends.
fn stem(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = [".md", ".mdx", ".markdown", ".html"]
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .unwrap_or(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if ["index", "_index", "readme"].contains(&name) {
        folder.to_owned()
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn ids_in_unusual_forms_are_found_where_they_can_only_mean_one() {
        let mut documents = sample::documents();
        let mut root = documents[3].clone();
        root.path = b"index.md".to_vec();
        documents.push(root);
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        let index = sample::build(&documents, &sample::options()).open().unwrap();
        for (id, expected) in [
            ("docs/forms.md#fields", Some("docs/forms.md#fields")),
            ("docs/uploads.md#old-example", Some("docs/uploads.md#example")),
            ("./docs/forms.md#fields", Some("docs/forms.md#fields")),
            ("/docs/forms.md#Fields", Some("docs/forms.md#fields")),
            ("Docs/FORMS#fields", Some("docs/forms.md#fields")),
            ("[docs/forms.md#fields]", Some("docs/forms.md#fields")),
            ("docs/forms.html#fields", Some("docs/forms.md#fields")),
            ("docs/forms", Some("docs/forms.md#forms")),
            (
                "https://site.example/docs/forms/#fields",
                Some("docs/forms.md#fields"),
            ),
            (
                "https://site.example/handbook/docs/forms.html?x=1#fields",
                Some("docs/forms.md#fields"),
            ),
            (
                "https://docs.example/uploads/#example",
                Some("docs/uploads.md#example"),
            ),
            ("/forms/#fields", Some("docs/forms.md#fields")),
            ("docs/uploads#example~2", Some("docs/uploads.md#example~2")),
            ("docs/# odd [name] 100%.md#ä~b", None),
            (
                "docs/%23 odd %5bname%5d 100%.md#ä%7eb",
                Some("docs/%23%20odd%20%5Bname%5D%20100%25.md#ä%7Eb"),
            ),
            ("./index.md#the-handbook", Some("index.md#the-handbook")),
            ("docs/", Some("docs/index.md#the-handbook")),
            (
                "docs/%23 odd %5bname%5d 100%.md#a\u{308}%7eb",
                Some("docs/%23%20odd%20%5Bname%5D%20100%25.md#ä%7Eb"),
            ),
            ("docs/forms.md#nothing", None),
            ("nothing.md", None),
            ("", None),
        ] {
            let found = index
                .find_leniently(id)
                .unwrap()
                .map(|number| index.record(number).unwrap().id());
            assert_eq!(found.as_deref(), expected, "{id}");
        }
    }

    #[test]
    fn similar_ids_share_words_with_the_one_asked_for() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let ids = index.similar_ids("docs/form.md#field", 3).unwrap();
        assert_eq!(ids[0], "docs/forms.md#fields");
        // A heading that a page does not have: other headings of that page.
        let ids = index.similar_ids("docs/forms.md#example", 2).unwrap();
        assert!(ids.iter().all(|id| id.starts_with("docs/forms.md#")), "{ids:?}");
        assert!(index.similar_ids("zzz", 3).unwrap().is_empty());
        assert!(ids.iter().all(|id| index.find(id).unwrap().is_some()));
    }
}
