//! The name that was probably meant, among those there are.
//!
//! In: a name nobody has, and candidates. Out: the one that differs in case and punctuation only, else the one fewest
//! typing errors away, else the shortest that one continues or that continues it. The work is bounded by a budget.

use std::cmp::Reverse;

/// Characters of a name above which it is not compared.
const LENGTH_LIMIT: usize = 64;
/// Characters that a name must share with one that continues it.
const SHARED_LEAST: usize = 4;

/// Chooses names until its budget is used up.
#[derive(Debug)]
pub(crate) struct Nearest {
    /// Cells of distance tables that may still be computed.
    budget: usize,
}

impl Nearest {
    pub(crate) fn new(budget: usize) -> Self {
        Self { budget }
    }

    /// The candidate nearest to `wanted`, the first of equals; none where all are far.
    pub(crate) fn choose<'c>(
        &mut self,
        wanted: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        let wanted = folded(wanted)?;
        let mut best = None;
        for candidate in candidates {
            let Some(letters) = folded(candidate) else {
                continue;
            };
            self.budget = self.budget.checked_sub(cost(&wanted, &letters))?;
            let Some(rank) = rank(&wanted, &letters) else {
                continue;
            };
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }
}

/// Whether one name continues the other, and how far they are apart; the least is the nearest.
type Rank = (bool, usize, Reverse<usize>);

fn typing_errors_allowed(wanted: &[char], letters: &[char]) -> Option<usize> {
    let limit = wanted.len().max(letters.len()) / 3;
    (wanted.len().abs_diff(letters.len()) <= limit).then_some(limit)
}

fn cost(wanted: &[char], letters: &[char]) -> usize {
    let table = typing_errors_allowed(wanted, letters).map_or(0, |_| wanted.len() * letters.len());
    table + letters.len() + 1
}

/// How near two names are, if they are: by typing errors; or, after all of those, by how much one continues the other.
fn rank(wanted: &[char], letters: &[char]) -> Option<Rank> {
    if let Some(limit) = typing_errors_allowed(wanted, letters) {
        let distance = distance(wanted, letters);
        if distance <= limit {
            return Some((false, distance, Reverse(0)));
        }
    }
    let shared = wanted.len().min(letters.len());
    let continues = shared >= SHARED_LEAST && wanted[..shared] == letters[..shared];
    continues.then(|| (true, wanted.len().abs_diff(letters.len()), Reverse(shared)))
}

/// Letters and digits in lower case; none where there are none, or too many.
fn folded(name: &str) -> Option<Vec<char>> {
    let letters = name
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase);
    let letters: Vec<char> = letters.take(LENGTH_LIMIT + 1).collect();
    (1..=LENGTH_LIMIT).contains(&letters.len()).then_some(letters)
}

/// Letters to add, leave out or change.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, letter) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = place + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_chosen() {
        let cases: [(&str, &[&str], Option<&str>); 11] = [
            ("Install", &["instal", "install"], Some("install")),
            (
                "get_started",
                &["get-starter", "get-started"],
                Some("get-started"),
            ),
            ("instalation", &["setup", "installation"], Some("installation")),
            (
                "config",
                &["configuration-files", "configuration"],
                Some("configuration"),
            ),
            (
                "configuration-of-all",
                &["configuration", "other"],
                Some("configuration"),
            ),
            ("usage", &["api", "faq"], None),
            ("ab", &["abcdef"], None),
            ("安装", &["安装"], Some("安装")),
            ("", &["a"], None),
            ("--", &["-"], None),
            ("a", &[], None),
        ];
        for (wanted, candidates, expected) in cases {
            let found = Nearest::new(10_000).choose(wanted, candidates.iter().copied());
            assert_eq!(found, expected, "{wanted}");
        }
    }

    #[test]
    fn work_is_bounded() {
        let long = "a".repeat(LENGTH_LIMIT + 1);
        assert_eq!(Nearest::new(10_000).choose(&long, [long.as_str()]), None);
        let mut nearest = Nearest::new(100);
        assert_eq!(nearest.choose("names", ["name"]), Some("name"));
        assert_eq!(nearest.choose("names", std::iter::repeat_n("name", 1000)), None);
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        for (left, right, expected) in [
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abc", "axc", 1),
            ("kitten", "sitting", 3),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(left), &letters(right)), expected);
            assert_eq!(distance(&letters(right), &letters(left)), expected);
        }
    }
}
