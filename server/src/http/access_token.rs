//! OAuth access tokens: signed statements of an issuer (RFC 7519, RFC 9068) about who may ask.
//!
//! In: a token as it was presented. Out: who it stands for, or why it is refused. In this order: its length, its
//! header (an algorithm with a public key, nothing critical that is not understood, a type that access tokens have),
//! its key, its signature, its times, its audience, its issuer; then its scopes, as their lack alone means that the
//! one who asks is known and may ask for more.
//!
//! To check a signature is the dearest step of letting a request in, so a token that was found good is remembered, by
//! its digest, for a minute at most, and only while the keys are the same.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, AlgorithmFamily, Header, Validation, decode, decode_header};
use serde::Deserialize;

use crate::http::bearer_tokens::{MAX_TOKEN_BYTES, digest};
use crate::http::key_set::KeySet;
use crate::http::key_source::{KeySource, NoKey};

/// Clocks may differ by this much.
const LEEWAY_SECONDS: u64 = 60;
/// A token is believed for so long without another look.
const REMEMBERED: Duration = Duration::from_secs(60);
const MAX_REMEMBERED: usize = 4_096;
/// A name goes into each line of the access log.
const MAX_NAME_BYTES: usize = 96;

/// Why a token is refused. The texts are for the log and hold nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Not good: forged, expired, for somebody else.
    Invalid(&'static str),
    /// Good, but not for this.
    Scope,
    /// Nobody can tell now.
    Unavailable,
}

/// What makes a token good.
#[derive(Debug)]
pub(crate) struct AccessTokens {
    keys: KeySource,
    scopes: Vec<String>,
    validation: Validation,
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
}

#[derive(Debug)]
struct Remembered {
    name: Arc<str>,
    /// Since 1970.
    until: Duration,
    keys: Arc<KeySet>,
}

/// What is read of a token besides what the library checks.
#[derive(Deserialize)]
struct Claims {
    /// One issuer: the library alone would take a list of which one is known.
    iss: String,
    exp: f64,
    sub: Option<String>,
    client_id: Option<String>,
    scope: Option<Words>,
    scp: Option<Words>,
}

/// Scopes: words of one text, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

impl Words {
    fn contains(&self, scope: &str) -> bool {
        match self {
            Self::Text(text) => text.split(' ').any(|word| word == scope),
            Self::List(list) => list.iter().any(|word| word == scope),
        }
    }
}

impl AccessTokens {
    /// Tokens of one of the issuers, for one of the audiences, with all scopes.
    pub(crate) fn new(keys: KeySource, issuers: &[String], audiences: &[String], scopes: &[String]) -> Self {
        // The algorithm is set for each token, once its header has been found to have a key.
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.set_issuer(issuers);
        validation.set_audience(audiences);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        Self {
            keys,
            scopes: scopes.to_vec(),
            validation,
            remembered: Mutex::default(),
        }
    }

    /// Who a token stands for.
    ///
    /// # Errors
    ///
    /// When it is refused.
    pub(crate) async fn check(&self, token: &str) -> Result<Arc<str>, Refusal> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::Invalid("the token is too long"));
        }
        let digest = digest(token.as_bytes());
        let now = since_1970();
        if let Some(name) = self.recall(&digest, now) {
            return Ok(name);
        }
        let header = read_header(token)?;
        let keys = self
            .keys
            .with_key(header.kid.as_deref(), header.alg)
            .await
            .map_err(|no_key| match no_key {
                NoKey::Unknown => Refusal::Invalid("the issuer has no such key"),
                NoKey::Unavailable => Refusal::Unavailable,
            })?;
        let claims = self.verify(token, &header, &keys)?;
        let is_granted = |scope: &String| {
            [&claims.scope, &claims.scp]
                .into_iter()
                .flatten()
                .any(|words| words.contains(scope))
        };
        if !self.scopes.iter().all(is_granted) {
            return Err(Refusal::Scope);
        }
        let subject = claims.sub.or(claims.client_id).unwrap_or_default();
        let name: Arc<str> = name(&subject, &claims.iss).into();
        let expiry = Duration::try_from_secs_f64(claims.exp).unwrap_or_default();
        self.remember(
            digest,
            Remembered {
                name: Arc::clone(&name),
                until: expiry.min(now + REMEMBERED),
                keys,
            },
            now,
        );
        Ok(name)
    }

    /// Takes new keys, see [`KeySource::reload`].
    pub(crate) fn reload(&self, force: bool) {
        self.keys.reload(force);
    }

    fn verify(&self, token: &str, header: &Header, keys: &KeySet) -> Result<Claims, Refusal> {
        let Some(key) = keys.select(header.kid.as_deref(), header.alg) else {
            return Err(Refusal::Invalid("the issuer has no such key"));
        };
        let mut validation = self.validation.clone();
        validation.algorithms = vec![header.alg];
        decode::<Claims>(token, key, &validation)
            .map(|token| token.claims)
            .map_err(|error| Refusal::Invalid(reason(error.kind())))
    }

    fn recall(&self, digest: &[u8; 32], now: Duration) -> Option<Arc<str>> {
        let current = self.keys.current()?;
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered
            .get(digest)
            .filter(|known| now < known.until && Arc::ptr_eq(&known.keys, &current))
            .map(|known| Arc::clone(&known.name))
    }

    fn remember(&self, digest: [u8; 32], known: Remembered, now: Duration) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.retain(|_, known| now < known.until);
            // All of them were used within a minute: each is looked at once more.
            if remembered.len() >= MAX_REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(digest, known);
    }
}

/// The header, if this server could believe such a token.
fn read_header(token: &str) -> Result<Header, Refusal> {
    // An algorithm that the library does not know, "none" among them, is an error here.
    let header = decode_header(token)
        .map_err(|_| Refusal::Invalid("it is no signed token (JWT) of a known algorithm"))?;
    if header.alg.family() == AlgorithmFamily::Hmac {
        return Err(Refusal::Invalid("the algorithm has no public key"));
    }
    if header.crit.is_some() {
        return Err(Refusal::Invalid("the token has a critical header"));
    }
    let is_access_token = header.typ.as_deref().is_none_or(|typ| {
        ["JWT", "at+jwt", "application/at+jwt"]
            .iter()
            .any(|known| typ.eq_ignore_ascii_case(known))
    });
    if !is_access_token {
        return Err(Refusal::Invalid(
            "the token's type is not that of an access token",
        ));
    }
    Ok(header)
}

fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidSignature => "the signature is not the issuer's",
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidAudience => "the token is for another audience",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks exp, iss or aud",
        _ => "the token is malformed",
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A short name for a subject of an issuer, fit for a line of a log. It is no static token's, since those have no
/// `@`; what had to be changed or cut ends with a digest of the whole.
fn name(subject: &str, issuer: &str) -> String {
    let host = issuer.split_once("://").map_or(issuer, |(_, rest)| rest);
    let whole = format!("{subject}@{host}");
    let mut name: String = whole
        .chars()
        .map(|char| if char.is_ascii_graphic() { char } else { '_' })
        .take(MAX_NAME_BYTES)
        .collect();
    if name != whole {
        name.push('~');
        for byte in digest(whole.as_bytes()).iter().take(8) {
            // Writing to a string does not fail.
            let _ = write!(name, "{byte:02x}");
        }
    }
    name
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use jsonwebtoken::{EncodingKey, encode};
    use serde_json::{Value, json};

    use super::*;
    use crate::http::key_set::tests::{private, public, set};

    pub(crate) const ISSUER: &str = "https://id.example.org/realms/docs";
    pub(crate) const AUDIENCE: &str = "https://docs.example.org/mcp";

    /// Claims that are good, with some changed; null takes one away.
    pub(crate) fn claims(changes: &Value) -> Value {
        let now = since_1970().as_secs();
        let mut claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 3600,
            "scope": "openid docs:read docs:search",
        });
        let members = claims.as_object_mut().unwrap();
        for (name, value) in changes.as_object().unwrap() {
            members.insert(name.clone(), value.clone());
        }
        members.retain(|_, value| !value.is_null());
        claims
    }

    /// A token signed with a test key, named by its own name.
    pub(crate) fn signed(key: &str, changes: &Value) -> String {
        let (private, algorithm) = private(key);
        let mut header = Header::new(algorithm);
        header.kid = Some(key.to_owned());
        encode(&header, &claims(changes), &private).unwrap()
    }

    fn with_header(change: impl FnOnce(&mut Header)) -> String {
        let (private, algorithm) = private("ed");
        let mut header = Header::new(algorithm);
        header.kid = Some("ed".to_owned());
        change(&mut header);
        encode(&header, &claims(&json!({})), &private).unwrap()
    }

    fn unsigned(header: &Value, claims: &Value, signature: &str) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.{signature}", part(header), part(claims))
    }

    fn of_file(keys: &[Value], scopes: &[&str]) -> (tempfile::TempDir, AccessTokens) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        std::fs::write(&path, set(keys)).unwrap();
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let tokens = AccessTokens::new(
            KeySource::file(&path).unwrap(),
            &[ISSUER.to_owned(), "https://other.example.org".to_owned()],
            &[AUDIENCE.to_owned(), "docs".to_owned()],
            &scopes,
        );
        (folder, tokens)
    }

    fn keys() -> Vec<Value> {
        ["rsa", "p256", "p384", "ed"]
            .map(|name| public(name, Some(name)))
            .into()
    }

    fn check(tokens: &AccessTokens, token: &str) -> Result<String, Refusal> {
        // From a file, nothing is waited for.
        futures::executor::block_on(tokens.check(token)).map(|name| name.to_string())
    }

    #[test]
    fn each_algorithm_with_a_public_key_is_taken() {
        let (_folder, tokens) = of_file(&keys(), &["docs:read"]);
        for key in ["rsa", "p256", "p384", "ed"] {
            let token = signed(key, &json!({}));
            for _ in 0..2 {
                assert_eq!(
                    check(&tokens, &token).as_deref(),
                    Ok("alice@id.example.org/realms/docs"),
                    "{key}"
                );
            }
        }
        let (private, _) = private("rsa");
        for algorithm in [
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ] {
            // Without a key's name there is one that fits.
            let token = encode(&Header::new(algorithm), &claims(&json!({})), &private).unwrap();
            assert!(check(&tokens, &token).is_ok(), "{algorithm:?}");
        }
    }

    #[test]
    fn claims_decide() {
        let (_folder, tokens) = of_file(&keys(), &["docs:read", "docs:search"]);
        let now = since_1970().as_secs();
        let audience = Err(Refusal::Invalid("the token is for another audience"));
        let issuer = Err(Refusal::Invalid("the token is of another issuer"));
        let lacking = Err(Refusal::Invalid("the token lacks exp, iss or aud"));
        let malformed = Err(Refusal::Invalid("the token is malformed"));
        let expired = Err(Refusal::Invalid("the token has expired"));
        let early = Err(Refusal::Invalid("the token is not valid yet"));
        for (changes, expected) in [
            (json!({}), Ok(())),
            (json!({"exp": now - 30}), Ok(())),
            (json!({"exp": now - 90}), expired),
            (json!({"exp": 0}), expired),
            (json!({"exp": null}), malformed),
            (json!({"exp": "tomorrow"}), malformed),
            (json!({"exp": -1}), lacking),
            (json!({"exp": 1e300}), lacking),
            (json!({"exp": u64::MAX}), Ok(())),
            (json!({"nbf": now - 10}), Ok(())),
            (json!({"nbf": now + 30}), Ok(())),
            (json!({"nbf": now + 90}), early),
            (json!({"nbf": "now"}), malformed),
            (json!({"aud": "docs"}), Ok(())),
            (
                json!({"aud": ["https://elsewhere.example.org", AUDIENCE]}),
                Ok(()),
            ),
            (json!({"aud": "https://elsewhere.example.org"}), audience),
            (json!({"aud": "https://docs.example.org/mcp/"}), audience),
            (json!({"aud": []}), audience),
            (json!({"aud": null}), lacking),
            (json!({"aud": 1}), lacking),
            (json!({"iss": "https://other.example.org"}), Ok(())),
            (json!({"iss": "https://id.example.org/realms/docs/"}), issuer),
            (json!({"iss": "https://id.example.org/realms"}), issuer),
            (json!({"iss": [ISSUER]}), malformed),
            (json!({"iss": null}), malformed),
            (json!({"sub": null}), Ok(())),
            (json!({"sub": 7}), malformed),
            (json!({"scope": "docs:search docs:read"}), Ok(())),
            (
                json!({"scope": null, "scp": ["docs:read", "docs:search"]}),
                Ok(()),
            ),
            (json!({"scope": null, "scp": "docs:read docs:search"}), Ok(())),
            (json!({"scope": "docs:read", "scp": ["docs:search"]}), Ok(())),
            (json!({"scope": "docs:read"}), Err(Refusal::Scope)),
            (json!({"scope": "docs:readdocs:search"}), Err(Refusal::Scope)),
            (json!({"scope": "DOCS:READ docs:search"}), Err(Refusal::Scope)),
            (json!({"scope": ""}), Err(Refusal::Scope)),
            (json!({"scope": null}), Err(Refusal::Scope)),
            (json!({"scope": 1}), malformed),
        ] {
            let found = check(&tokens, &signed("ed", &changes)).map(|_| ());
            assert_eq!(found, expected, "{changes}");
        }
    }

    #[test]
    fn forged_tokens_are_refused() {
        let (_folder, tokens) = of_file(&keys(), &[]);
        let good = signed("ed", &json!({}));
        assert!(check(&tokens, &good).is_ok());
        let parts: Vec<&str> = good.split('.').collect();
        let [header, body, signature] = parts[..] else {
            panic!("a token has three parts")
        };
        let not_signed = Err(Refusal::Invalid(
            "it is no signed token (JWT) of a known algorithm",
        ));
        let signature_wrong = Err(Refusal::Invalid("the signature is not the issuer's"));
        let malformed = Err(Refusal::Invalid("the token is malformed"));
        let secret = Err(Refusal::Invalid("the algorithm has no public key"));
        let no_key = Err(Refusal::Invalid("the issuer has no such key"));

        let other_body = URL_SAFE_NO_PAD.encode(claims(&json!({"sub": "root"})).to_string());
        let rsa_public = include_bytes!("../../tests/keys/rsa-public.pem");
        let mut confused = Header::new(Algorithm::HS256);
        confused.kid = Some("rsa".to_owned());
        let confused = encode(
            &confused,
            &claims(&json!({})),
            &EncodingKey::from_secret(rsa_public).unwrap(),
        )
        .unwrap();
        let mut foreign = Header::new(Algorithm::EdDSA);
        foreign.kid = Some("ed".to_owned());
        let foreign = encode(&foreign, &claims(&json!({})), &private("ed-other").0).unwrap();
        let long = format!("{header}.{body}{}.{signature}", "A".repeat(MAX_TOKEN_BYTES));

        for (token, expected) in [
            (format!("{header}.{other_body}.{signature}"), signature_wrong),
            (foreign, signature_wrong),
            (format!("{header}.{body}."), signature_wrong),
            (format!("{header}.{body}.AAAA"), signature_wrong),
            (format!("{header}.{body}.!"), malformed),
            (format!("{header}.{body}"), not_signed),
            (format!("{good}.{signature}"), not_signed),
            (format!(".{body}.{signature}"), not_signed),
            ("..".to_owned(), not_signed),
            ("a.b.c".to_owned(), not_signed),
            (String::new(), not_signed),
            (long, Err(Refusal::Invalid("the token is too long"))),
            (
                unsigned(&json!({"alg": "none"}), &claims(&json!({})), ""),
                not_signed,
            ),
            (
                unsigned(
                    &json!({"alg": "None", "kid": "ed"}),
                    &claims(&json!({})),
                    signature,
                ),
                not_signed,
            ),
            (
                unsigned(&json!({"kid": "ed"}), &claims(&json!({})), signature),
                not_signed,
            ),
            (
                unsigned(&json!({"alg": "ES512"}), &claims(&json!({})), signature),
                not_signed,
            ),
            (confused, secret),
            (
                unsigned(
                    &json!({"alg": "RS256", "kid": "ed"}),
                    &claims(&json!({})),
                    signature,
                ),
                no_key,
            ),
            (
                unsigned(
                    &json!({"alg": "RS256", "kid": "rsa"}),
                    &claims(&json!({})),
                    signature,
                ),
                signature_wrong,
            ),
            (
                unsigned(
                    &json!({"alg": "ES256", "kid": "p256"}),
                    &claims(&json!({})),
                    signature,
                ),
                signature_wrong,
            ),
            (
                with_header(|header| header.kid = Some("unknown".to_owned())),
                no_key,
            ),
            (
                with_header(|header| header.typ = Some("logout+jwt".to_owned())),
                Err(Refusal::Invalid(
                    "the token's type is not that of an access token",
                )),
            ),
            (
                with_header(|header| {
                    header.crit = Some(vec!["b64".to_owned()]);
                    header.extras.insert("b64", true);
                }),
                Err(Refusal::Invalid("the token has a critical header")),
            ),
            (
                with_header(|header| header.crit = Some(vec!["exp".to_owned()])),
                Err(Refusal::Invalid("the token has a critical header")),
            ),
        ] {
            assert_eq!(check(&tokens, &token).map(|_| ()), expected, "{token}");
        }
        for typ in [None, Some("at+jwt"), Some("AT+JWT"), Some("application/at+jwt")] {
            let token = with_header(|header| header.typ = typ.map(str::to_owned));
            assert!(check(&tokens, &token).is_ok(), "{typ:?}");
        }
        // The key that a token brings along is not asked.
        let own = with_header(|header| {
            let (other, algorithm) = private("ed-other");
            header.jwk = Some(jsonwebtoken::jwk::Jwk::from_encoding_key(&other, algorithm).unwrap());
        });
        assert!(check(&tokens, &own).is_ok());
    }

    #[test]
    fn without_a_name_the_key_must_be_the_only_one() {
        let token = with_header(|header| header.kid = None);
        let (_folder, tokens) = of_file(&keys(), &[]);
        assert!(check(&tokens, &token).is_ok());
        let mut two = keys();
        two.push(public("ed-other", Some("second")));
        let (_folder, tokens) = of_file(&two, &[]);
        assert_eq!(
            check(&tokens, &token),
            Err(Refusal::Invalid("the issuer has no such key"))
        );
    }

    #[test]
    fn keys_are_exchanged_without_a_restart_and_a_broken_set_refused() {
        let (folder, tokens) = of_file(&[public("ed", Some("ed"))], &[]);
        let path = folder.path().join("keys.json");
        let (old, new) = (signed("ed", &json!({})), signed("ed-other", &json!({})));
        assert!(check(&tokens, &old).is_ok());
        assert!(check(&tokens, &new).is_err());

        std::fs::write(&path, "{}").unwrap();
        tokens.reload(false);
        assert!(check(&tokens, &old).is_ok());

        std::fs::write(&path, set(&[public("ed-other", Some("ed-other"))])).unwrap();
        tokens.reload(false);
        // Though it was found good a moment ago.
        assert_eq!(
            check(&tokens, &old),
            Err(Refusal::Invalid("the issuer has no such key"))
        );
        assert!(check(&tokens, &new).is_ok());
    }

    #[test]
    fn little_is_remembered_and_not_for_long() {
        let (_folder, tokens) = of_file(&[public("ed", Some("ed"))], &[]);
        let now = since_1970();
        let entry = |until| Remembered {
            name: "a".into(),
            until,
            keys: tokens.keys.current().unwrap(),
        };
        let key = |number: usize| digest(&number.to_le_bytes());
        for number in 0..3 * MAX_REMEMBERED {
            tokens.remember(key(number), entry(now + REMEMBERED), now);
            assert!(tokens.remembered.lock().unwrap().len() <= MAX_REMEMBERED);
        }
        let last = key(3 * MAX_REMEMBERED - 1);
        assert!(tokens.recall(&last, now).is_some());
        assert!(tokens.recall(&last, now + REMEMBERED).is_none());
        assert!(tokens.recall(&key(0), now).is_none());
        // One that expired within the leeway is good, but looked at each time.
        let late = signed("ed", &json!({"exp": now.as_secs() - 20}));
        assert!(check(&tokens, &late).is_ok());
        assert!(tokens.recall(&digest(late.as_bytes()), now).is_none());
    }

    #[test]
    fn names_are_short_and_clean() {
        for (subject, issuer, expected) in [
            ("alice", "https://id.example.org", "alice@id.example.org"),
            ("auth0|7f", "https://id.example.org/", "auth0|7f@id.example.org/"),
            ("", "https://id.example.org", "@id.example.org"),
        ] {
            assert_eq!(name(subject, issuer), expected);
        }
        let long = "x".repeat(5_000);
        let cases = ["a\nb", "a b", "a\u{202e}b", "ä", "a\u{1b}[0m", long.as_str()];
        let names: std::collections::HashSet<String> = cases
            .iter()
            .map(|subject| name(subject, "https://id.example.org"))
            .collect();
        assert_eq!(names.len(), cases.len());
        for name in names {
            assert!(name.len() <= MAX_NAME_BYTES + 17, "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_graphic()), "{name}");
        }
    }
}
