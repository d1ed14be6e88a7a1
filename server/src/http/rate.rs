//! How often one client may ask.
//!
//! In: who asks. Out: yes, or how long to wait. A client is an identity where tokens are required, else an address; of
//! an address of version 6 only the network counts, since one machine has as many addresses in it as it likes. The
//! algorithm is the generic cell rate algorithm of the crate governor: a steady rate, and a burst on top.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// Somebody whose token says who.
    Named(Arc<str>),
    /// Anybody at an address.
    At(IpAddr),
}

impl Client {
    /// The client at an address.
    pub(crate) fn at(address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            IpAddr::V4(address) => IpAddr::V4(address),
        };
        Self::At(address)
    }
}

/// The limit for all clients, each counted apart.
pub(crate) struct RateLimit {
    limiter: Option<DefaultKeyedRateLimiter<Client>>,
    clock: DefaultClock,
}

impl RateLimit {
    /// Requests per second and client, and how many may come at once after a pause. Without a rate there is no limit.
    pub(crate) fn new(per_second: Option<NonZeroU32>, burst: NonZeroU32) -> Self {
        let limiter = per_second.map(|rate| RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst)));
        Self {
            limiter,
            clock: DefaultClock::default(),
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// When it is one too many: after which time there is room for another.
    pub(crate) fn check(&self, client: &Client) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else {
            return Ok(());
        };
        limiter
            .check_key(client)
            .map_err(|refused| refused.wait_time_from(self.clock.now()))
    }

    /// Forgets clients that have not asked for so long that nothing is held against them.
    pub(crate) fn forget_idle(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
    }

    #[cfg(test)]
    fn remembered(&self) -> usize {
        self.limiter.as_ref().map_or(0, DefaultKeyedRateLimiter::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn address(text: &str) -> Client {
        Client::at(text.parse().unwrap())
    }

    #[test]
    fn each_client_has_its_burst_and_then_waits() {
        let limit = RateLimit::new(Some(number(1)), number(3));
        for client in [address("10.0.0.1"), Client::Named("ci".into())] {
            for _ in 0..3 {
                assert_eq!(limit.check(&client), Ok(()));
            }
            let wait = limit.check(&client).unwrap_err();
            assert!(
                wait > Duration::ZERO && wait <= Duration::from_secs(1),
                "{wait:?}"
            );
        }
        assert_eq!(limit.check(&address("10.0.0.2")), Ok(()));
    }

    #[test]
    fn a_network_of_version_six_is_one_client() {
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
    }

    #[test]
    fn without_a_rate_there_is_no_limit() {
        let limit = RateLimit::new(None, number(1));
        for _ in 0..1_000 {
            assert_eq!(limit.check(&address("10.0.0.1")), Ok(()));
        }
        assert_eq!(limit.remembered(), 0);
    }

    #[test]
    fn clients_of_long_ago_are_forgotten() {
        let limit = RateLimit::new(Some(number(1_000_000)), number(1));
        for last in 0..200 {
            limit.check(&address(&format!("10.0.0.{last}"))).unwrap();
        }
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while limit.remembered() > 0 && std::time::Instant::now() < deadline {
            limit.forget_idle();
        }
        assert_eq!(limit.remembered(), 0);
    }
}
