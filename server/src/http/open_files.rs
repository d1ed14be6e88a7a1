//! How many files, and so connections, the system lets this process have open.
//!
//! In: how many connections there may be. Out: a higher limit, where the system allows one; and a word to the operator
//! where it does not suffice. Shells and containers often set it to 1,024, below what they would allow.

/// Files that are open beside connections: index, log, listener, timers, keys being fetched.
const BESIDE_CONNECTIONS: u64 = 64;

/// Raises the limit as far as it is needed and allowed.
#[cfg(unix)]
pub(super) fn make_room_for(connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let needed = u64::try_from(connections)
        .unwrap_or(u64::MAX)
        .saturating_add(BESIDE_CONNECTIONS);
    let mut limit = getrlimit(Resource::Nofile);
    // None is no limit at all.
    let Some(allowed_now) = limit.current else { return };
    if allowed_now >= needed {
        return;
    }
    let wanted = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    limit.current = Some(wanted);
    let allowed = match setrlimit(Resource::Nofile, limit) {
        Ok(()) => wanted,
        Err(_) => allowed_now,
    };
    if allowed < needed {
        tracing::warn!(
            allowed,
            needed,
            "the system lets fewer files be open than --max-connections needs: raise its limit (ulimit -n)"
        );
    }
}

/// Other systems have no such limit, or none that can be asked for.
#[cfg(not(unix))]
pub(super) fn make_room_for(_connections: usize) {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_may() {
        let before = getrlimit(Resource::Nofile);
        let connections = usize::try_from(before.current.unwrap_or(1_024)).unwrap();
        make_room_for(connections);
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.maximum, before.maximum);
        let wanted = before.current.map(|current| current + BESIDE_CONNECTIONS);
        let possible = match (wanted, before.maximum) {
            (Some(wanted), Some(maximum)) => Some(wanted.min(maximum)),
            (wanted, None) => wanted,
            (None, _) => None,
        };
        assert!(after.current >= possible, "{before:?} {after:?}");
        make_room_for(1);
        assert_eq!(
            getrlimit(Resource::Nofile).current,
            after.current,
            "never lowered"
        );
    }
}
