//! Splits a run of letters and digits where an identifier has its seams: `parseHTTPResponse` is parse, HTTP,
//! Response; `tutorial001` is tutorial, 001.
//!
//! A plural of capitals (`APIs`, `URLs`) is one word. Only ASCII capitals make a seam: other scripts do not
//! write identifiers this way.

/// The parts of `run` (letters and digits only), in order; a run without a seam is its own part.
pub(crate) fn parts(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let length = part_length(rest)?;
        let (part, tail) = rest.split_at(length);
        rest = tail;
        Some(part)
    })
}

/// Whether `run` is capitals with a plural s.
fn is_plural_of_capitals(run: &str) -> bool {
    run.strip_suffix('s')
        .is_some_and(|capitals| capitals.len() > 1 && capitals.bytes().all(|b| b.is_ascii_uppercase()))
}

fn part_length(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if is_plural_of_capitals(rest) {
        return Some(rest.len());
    }
    if first.is_numeric() {
        return Some(rest.find(|c: char| !c.is_numeric()).unwrap_or(rest.len()));
    }
    let capitals = rest.bytes().take_while(u8::is_ascii_uppercase).count();
    let is_lower = |c: char| !c.is_ascii_uppercase() && !c.is_numeric();
    let after = rest[capitals..].chars().next();
    match (capitals, after) {
        // Capitals up to the end or a digit: an acronym.
        (1.., None) => Some(capitals),
        (1.., Some(c)) if !is_lower(c) => Some(capitals),
        // The last capital begins the next part: HTTP, Response.
        (2.., Some(_)) => Some(capitals - 1),
        _ => {
            let tail = &rest[capitals..];
            Some(capitals + tail.find(|c| !is_lower(c)).unwrap_or(tail.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seams() {
        for (run, expected) in [
            ("", &[][..]),
            ("word", &["word"]),
            ("Word", &["Word"]),
            ("HTTP", &["HTTP"]),
            ("parseHTTPResponse", &["parse", "HTTP", "Response"]),
            ("getUserProfile", &["get", "User", "Profile"]),
            ("tutorial001", &["tutorial", "001"]),
            ("IPv4Address", &["I", "Pv", "4", "Address"]),
            ("APIs", &["APIs"]),
            ("useAPIs", &["use", "APIs"]),
            ("Is", &["Is"]),
            ("APIsets", &["AP", "Isets"]),
            ("ÜberÉtat", &["ÜberÉtat"]),
            ("2024", &["2024"]),
        ] {
            assert_eq!(parts(run).collect::<Vec<_>>(), expected, "{run}");
        }
    }

    proptest! {
        #[test]
        fn parts_joined_are_the_run(run in "[\\p{L}\\p{N}]{0,20}") {
            prop_assert_eq!(parts(&run).collect::<String>(), run.clone());
            prop_assert!(parts(&run).all(|part| !part.is_empty()));
        }
    }
}
