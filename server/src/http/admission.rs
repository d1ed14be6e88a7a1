//! Who is let in, in the order in which it is decided.
//!
//! In: the head of a request and where it comes from. Out: who it is, or the answer that turns it away. Name and origin
//! come first, since they cost nothing and protect a browser's user who holds a token; then the token; then the rate,
//! counted for the token's owner. What comes without a valid token is counted for its address, so that guessing is slow.
//! Nothing of the body has been read at that point.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, Response, StatusCode, Uri};
use ipnet::IpNet;

use super::allow_list::{AllowList, Denied};
use super::authentication::{Authentication, Identity};
use super::exchange::Exchange;
use super::rate::{Client, RateLimit};
use super::refusal::{challenge, refusal, try_again};

/// After how long keys may have come that were not there.
const KEYS_PAUSE_SECONDS: u64 = 5;

/// The rules of admission.
pub(super) struct Admission {
    pub(super) allow_list: Arc<AllowList>,
    pub(super) authentication: Authentication,
    pub(super) rate: RateLimit,
    pub(super) trusted_proxies: Vec<IpNet>,
}

impl Admission {
    /// The address that a request comes from: the peer's, or what proxies that are trusted say of it.
    ///
    /// Each proxy appends the address that it was called from to `X-Forwarded-For`, so the last one that is no trusted
    /// proxy is the client's; what stands before it is the client's own word.
    pub(super) fn address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let is_trusted = |address: &IpAddr| self.trusted_proxies.iter().any(|net| net.contains(address));
        let peer = peer.to_canonical();
        if !is_trusted(&peer) {
            return peer;
        }
        let hops: Vec<&str> = headers
            .get_all("x-forwarded-for")
            .iter()
            .flat_map(|value| value.to_str().unwrap_or_default().split(','))
            .collect();
        let mut address = peer;
        for hop in hops.iter().rev() {
            let Ok(before) = hop.trim().parse::<IpAddr>() else {
                break;
            };
            address = before.to_canonical();
            if !is_trusted(&address) {
                break;
            }
        }
        address
    }

    /// Turns away what is meant for another host, or comes from a page of another site.
    pub(super) fn check_place(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        exchange: &Exchange,
    ) -> Result<(), Box<Response<Body>>> {
        self.allow_list.check(uri, headers).map_err(|denied| {
            let (status, short) = match denied {
                Denied::HostUnreadable => (StatusCode::BAD_REQUEST, "host unreadable"),
                Denied::Host => (StatusCode::FORBIDDEN, "host"),
                Denied::Origin => (StatusCode::FORBIDDEN, "origin"),
            };
            exchange.note(|notes| notes.refusal = Some(short.to_owned()));
            Box::new(refusal(status, &denied.to_string()))
        })
    }

    /// Lets in who may call, as often as it may.
    pub(super) async fn admit(
        &self,
        headers: &HeaderMap,
        exchange: &Exchange,
    ) -> Result<(), Box<Response<Body>>> {
        let address = exchange.notes().address.map(Client::at);
        let (client, refused) = match self.authentication.check(headers).await {
            Ok(Identity::Named(name)) => {
                exchange.note(|notes| notes.identity = Some(Arc::clone(&name)));
                (Some(Client::Named(name)), None)
            }
            Ok(Identity::Anyone) => (address, None),
            Err(refused) => (address, Some(refused)),
        };
        if let Some(Err(wait)) = client.map(|client| self.rate.check(&client)) {
            exchange.note(|notes| notes.refusal = Some("rate".to_owned()));
            return Err(Box::new(try_again(
                StatusCode::TOO_MANY_REQUESTS,
                "Too Many Requests: slow down",
                whole_seconds(wait),
            )));
        }
        let Some(refused) = refused else { return Ok(()) };
        exchange.note(|notes| notes.refusal = Some(refused.reason.to_owned()));
        Err(Box::new(if refused.status == StatusCode::SERVICE_UNAVAILABLE {
            // The keys could not be had yet.
            try_again(refused.status, refused.reason, KEYS_PAUSE_SECONDS)
        } else {
            challenge(refused.status, refused.reason, refused.www_authenticate)
        }))
    }
}

fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}
