//! The public keys of an issuer of access tokens: a JSON Web Key Set (RFC 7517).
//!
//! In: its bytes. Out: a [`KeySet`] of the keys that can verify a signature here, and the one of them that a token's
//! header asks for. A key serves the algorithms of its own type only, whatever a token says: a public key is never
//! taken for a shared secret. Keys for encryption, of unknown types, and shared secrets are passed over.

use std::fmt;

use jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use serde::Deserialize;
use thiserror::Error;

/// More than any issuer has at one time.
const MAX_KEYS: usize = 200;
/// RFC 7518 section 3.3 asks for at least 2048; beyond the other one, a check costs milliseconds.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
const ED25519_BYTES: usize = 32;
/// A point of each curve: its two coordinates after the mark of an uncompressed one.
const P256_BYTES: usize = 1 + 2 * 32;
const P384_BYTES: usize = 1 + 2 * 48;

const RSA: [Algorithm; 6] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Why bytes are no key set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// No JSON, or no list of `keys` in it.
    #[error("it is no JSON Web Key Set")]
    Malformed(#[source] serde_json::Error),
    /// None of its keys can verify an access token.
    #[error(
        "none of its {count} keys can verify a signature (RSA of 2048 bits or more, P-256, P-384 or Ed25519)"
    )]
    NoUsableKey {
        /// How many keys there are.
        count: usize,
    },
    /// An issuer has a few.
    #[error("it has {count} keys, more than {MAX_KEYS}")]
    TooMany {
        /// How many keys there are.
        count: usize,
    },
}

/// Keys that verify signatures.
#[derive(Debug)]
pub(crate) struct KeySet {
    keys: Vec<Key>,
}

/// One of them.
pub(crate) struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    decoding: DecodingKey,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Key")
            .field("id", &self.id)
            .field("algorithms", &self.algorithms)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

impl KeySet {
    /// Reads a set.
    ///
    /// # Errors
    ///
    /// When it is none, or no key of it can be used.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, KeySetError> {
        let document: Document = serde_json::from_slice(bytes).map_err(KeySetError::Malformed)?;
        let count = document.keys.len();
        if count > MAX_KEYS {
            return Err(KeySetError::TooMany { count });
        }
        let keys: Vec<Key> = document
            .keys
            .into_iter()
            .filter_map(|key| usable(&serde_json::from_value(key).ok()?))
            .collect();
        if keys.is_empty() {
            return Err(KeySetError::NoUsableKey { count });
        }
        Ok(Self { keys })
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The key for a token's header: the one it names; without a name, the only one of its algorithm.
    pub(crate) fn select(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithms.contains(&algorithm) && (id.is_none() || key.id.as_deref() == id));
        let key = fitting.next()?;
        (id.is_some() || fitting.next().is_none()).then_some(&key.decoding)
    }
}

/// A key, if it can verify signatures.
fn usable(jwk: &Jwk) -> Option<Key> {
    let common = &jwk.common;
    if common
        .public_key_use
        .as_ref()
        .is_some_and(|use_| *use_ != PublicKeyUse::Signature)
    {
        return None;
    }
    if common
        .key_operations
        .as_ref()
        .is_some_and(|operations| !operations.contains(&KeyOperations::Verify))
    {
        return None;
    }
    let of_type: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &RSA,
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => &[Algorithm::ES256],
            EllipticCurve::P384 => &[Algorithm::ES384],
            _ => return None,
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        _ => return None,
    };
    let algorithms = match common.key_algorithm {
        Some(own) => {
            let own = Algorithm::try_from(own).ok()?;
            of_type.contains(&own).then(|| vec![own])?
        }
        None => of_type.to_vec(),
    };
    let decoding = DecodingKey::from_jwk(jwk).ok()?;
    // A key of a wrong length must not come to the verifier: one of Ed25519 that is too short makes it panic.
    let is_whole = match (decoding.kind(), of_type.first()?) {
        (DecodingKeyKind::RsaModulusExponent { n, .. }, _) => RSA_BITS.contains(&bits(n)),
        (DecodingKeyKind::SecretOrDer(point), Algorithm::ES256) => point.len() == P256_BYTES,
        (DecodingKeyKind::SecretOrDer(point), Algorithm::ES384) => point.len() == P384_BYTES,
        (DecodingKeyKind::SecretOrDer(point), _) => point.len() == ED25519_BYTES,
    };
    // Points that are not on their curve are refused by making a verifier; what is no RSA key only by using it.
    let works = is_whole
        && algorithms
            .iter()
            .all(|algorithm| (DEFAULT_PROVIDER.verifier_factory)(algorithm, &decoding).is_ok());
    works.then(|| Key {
        id: common.key_id.clone(),
        algorithms,
        decoding,
    })
}

/// Length of a number in bits.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    match number.get(zeros) {
        Some(first) => (number.len() - zeros) * 8 - first.leading_zeros() as usize,
        None => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use jsonwebtoken::EncodingKey;
    use serde_json::{Value, json};

    /// The private keys of the tests.
    pub(crate) fn private(name: &str) -> (EncodingKey, Algorithm) {
        let made = match name {
            "rsa" => (
                EncodingKey::from_rsa_pem(include_bytes!("../../tests/keys/rsa.pem")),
                Algorithm::RS256,
            ),
            "p256" => (
                EncodingKey::from_ec_pem(include_bytes!("../../tests/keys/p256.pem")),
                Algorithm::ES256,
            ),
            "p384" => (
                EncodingKey::from_ec_pem(include_bytes!("../../tests/keys/p384.pem")),
                Algorithm::ES384,
            ),
            "ed" => (
                EncodingKey::from_ed_pem(include_bytes!("../../tests/keys/ed.pem")),
                Algorithm::EdDSA,
            ),
            "ed-other" => (
                EncodingKey::from_ed_pem(include_bytes!("../../tests/keys/ed-other.pem")),
                Algorithm::EdDSA,
            ),
            _ => panic!("{name} is no test key"),
        };
        (made.0.unwrap(), made.1)
    }

    /// The public part of one of them, without `alg`, named as given.
    pub(crate) fn public(name: &str, id: Option<&str>) -> Value {
        let (key, algorithm) = private(name);
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&key, algorithm).unwrap()).unwrap();
        let members = jwk.as_object_mut().unwrap();
        members.remove("alg");
        if let Some(id) = id {
            members.insert("kid".to_owned(), id.into());
        }
        jwk
    }

    pub(crate) fn set(keys: &[Value]) -> Vec<u8> {
        json!({ "keys": keys }).to_string().into_bytes()
    }

    fn with(mut key: Value, name: &str, value: impl Into<Value>) -> Value {
        key.as_object_mut().unwrap().insert(name.to_owned(), value.into());
        key
    }

    #[test]
    fn a_header_selects_a_key_of_its_own_type() {
        let keys = KeySet::parse(&set(&[
            public("rsa", Some("r")),
            public("p256", Some("p")),
            public("p384", Some("q")),
            with(public("rsa", Some("only-ps")), "alg", "PS256"),
            public("ed", None),
            // One name may stand for keys of several types.
            with(public("ed-other", Some("p")), "use", "sig"),
        ]))
        .unwrap();
        assert_eq!(keys.len(), 6);
        for (id, algorithm, found) in [
            (Some("r"), Algorithm::RS256, true),
            (Some("r"), Algorithm::PS512, true),
            (Some("r"), Algorithm::ES256, false),
            (Some("r"), Algorithm::HS256, false),
            (Some("p"), Algorithm::ES256, true),
            (Some("p"), Algorithm::ES384, false),
            (Some("p"), Algorithm::EdDSA, true),
            (Some("q"), Algorithm::ES384, true),
            (Some("only-ps"), Algorithm::PS256, true),
            (Some("only-ps"), Algorithm::RS256, false),
            (Some("x"), Algorithm::RS256, false),
            (Some(""), Algorithm::EdDSA, false),
            // Without a name: the only one, or none.
            (None, Algorithm::ES256, true),
            (None, Algorithm::RS256, true),
            (None, Algorithm::PS256, false),
            (None, Algorithm::EdDSA, false),
            (None, Algorithm::HS512, false),
        ] {
            assert_eq!(
                keys.select(id, algorithm).is_some(),
                found,
                "{id:?} {algorithm:?}"
            );
        }
        assert!(!format!("{keys:?}").contains("decoding"));
    }

    #[test]
    fn keys_that_can_not_verify_are_passed_over() {
        let ed = public("ed", Some("a"));
        let unusable = [
            json!({"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQ", "kid": "a", "alg": "HS256"}),
            json!({"kty": "XYZ", "kid": "a"}),
            json!({"kty": "OKP", "crv": "X25519", "x": "AAAA"}),
            json!("no key"),
            json!({}),
            with(public("rsa", None), "use", "enc"),
            with(public("rsa", None), "key_ops", json!(["encrypt"])),
            with(public("rsa", None), "alg", "RSA-OAEP"),
            with(public("rsa", None), "alg", "HS256"),
            with(public("rsa", None), "alg", "ES256"),
            // 1024 bits, and none.
            with(public("rsa", None), "n", "_".repeat(170) + "8"),
            with(public("rsa", None), "n", ""),
            with(public("rsa", None), "n", "!"),
            // Too short, too long, and off the curve.
            with(ed.clone(), "x", "AAAA"),
            with(ed.clone(), "x", ""),
            with(ed.clone(), "x", "A".repeat(60)),
            with(public("p256", None), "x", "A".repeat(43)),
            with(public("p256", None), "x", "AAAA"),
            with(public("p256", None), "crv", "P-384"),
            with(public("p256", None), "crv", "P-521"),
        ];
        for key in &unusable {
            let error = KeySet::parse(&set(std::slice::from_ref(key))).unwrap_err();
            assert!(
                matches!(error, KeySetError::NoUsableKey { count: 1 }),
                "{key}: {error}"
            );
        }
        let mut keys = unusable.to_vec();
        keys.push(ed);
        let keys = KeySet::parse(&set(&keys)).unwrap();
        assert_eq!(keys.len(), 1);
        assert!(keys.select(Some("a"), Algorithm::EdDSA).is_some());
        assert!(keys.select(Some("a"), Algorithm::HS256).is_none());
    }

    #[test]
    fn what_is_no_key_set_is_refused() {
        for bytes in ["", "[]", "{}", "{\"keys\": 1}", "<html>", "{\"keys\": [}"] {
            assert!(
                matches!(KeySet::parse(bytes.as_bytes()), Err(KeySetError::Malformed(_))),
                "{bytes}"
            );
        }
        assert!(matches!(
            KeySet::parse(b"{\"keys\": []}"),
            Err(KeySetError::NoUsableKey { count: 0 })
        ));
        let many = vec![public("ed", None); MAX_KEYS + 1];
        assert!(matches!(
            KeySet::parse(&set(&many)),
            Err(KeySetError::TooMany { count: 201 })
        ));
        // Deep nesting ends in an error, not in an overflow of the stack.
        let deep = "[".repeat(100_000);
        assert!(KeySet::parse(format!("{{\"keys\": {deep}").as_bytes()).is_err());
    }

    #[test]
    fn numbers_are_measured_without_leading_zeros() {
        for (number, expected) in [
            (&[][..], 0),
            (&[0, 0], 0),
            (&[1], 1),
            (&[0, 0x80], 8),
            (&[0, 1, 0], 9),
            (&[255, 255], 16),
        ] {
            assert_eq!(bits(number), expected, "{number:?}");
        }
    }
}
