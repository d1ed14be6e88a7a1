//! Who may ask, by the `Authorization` header alone.
//!
//! In: what the command line says about tokens, then each request's headers. Out: an [`Identity`], or a
//! [`Challenge`] that says in the words of RFC 6750 what is missing. Two ways can be on at once: static tokens
//! ([`super::bearer_tokens`]) and OAuth access tokens ([`super::access_token`]); what is no static token is judged as
//! an access token. With neither, everybody is let in.
//!
//! Only with OAuth does a challenge name the resource's metadata: a client that is told of it starts to look for an
//! issuer, which a static token does not have.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use thiserror::Error;

use crate::http::access_token::{AccessTokens, Refusal};
use crate::http::bearer_tokens::{MAX_TOKEN_BYTES, TokenLists, TokensError, is_token};
use crate::http::key_set::KeySetError;
use crate::http::key_source::{KeySource, KeySourceError};
use crate::http::protected_resource::ProtectedResource;
use crate::http::web_address::{AddressError, WebAddress};

/// The variable that static tokens can stand in.
const VARIABLE: &str = "DOCS_SERVER_TOKENS";
const CHALLENGE: &str = "Bearer realm=\"docs\"";

/// How those who ask are told apart.
#[derive(Clone, Default)]
pub struct AuthenticationOptions {
    /// File of static tokens.
    pub token_file: Option<PathBuf>,
    /// The value of the environment variable `DOCS_SERVER_TOKENS`: the same entries, separated by commas, blanks or
    /// line ends.
    pub tokens: Option<String>,
    /// OAuth access tokens.
    pub oauth: Option<OAuthOptions>,
}

impl fmt::Debug for AuthenticationOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuthenticationOptions")
            .field("token_file", &self.token_file)
            .field("tokens", &self.tokens.as_ref().map(|_| "(not shown)"))
            .field("oauth", &self.oauth)
            .finish()
    }
}

/// Which access tokens are good.
#[derive(Debug, Clone, Default)]
pub struct OAuthOptions {
    /// Public URL of the endpoint, as clients know it.
    pub resource: String,
    /// URLs of those who issue tokens, exactly as in `iss`.
    pub issuers: Vec<String>,
    /// File or URL of their public keys.
    pub key_set: String,
    /// What `aud` may be; the resource if empty.
    pub audiences: Vec<String>,
    /// Scopes that a token must have, all of them.
    pub scopes: Vec<String>,
}

/// Why the options can not be followed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuthenticationError {
    /// The static tokens are wrong.
    #[error("the bearer tokens cannot be used")]
    Tokens(#[source] TokensError),
    /// A URL is wrong.
    #[error("{name} {url:?} cannot be used")]
    Address {
        /// What it is the URL of.
        name: &'static str,
        /// As given, without a password.
        url: String,
        /// What is wrong with it.
        #[source]
        source: AddressError,
    },
    /// Nobody could issue a token.
    #[error("no issuer of access tokens is named")]
    NoIssuer,
    /// No scope of OAuth.
    #[error("{scope:?} cannot be a scope: one word of ASCII without quotes and backslashes is")]
    Scope {
        /// As given.
        scope: String,
    },
    /// The file of keys can not be read.
    #[error("cannot read the key set {}", path.display())]
    KeySetUnreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file of keys holds none.
    #[error("the key set {} cannot be used", path.display())]
    KeySet {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: KeySetError,
    },
    /// Nobody's certificate could be believed.
    #[error("the certificates that this machine trusts cannot be read")]
    Certificates(#[source] std::io::Error),
}

impl AuthenticationError {
    /// What to do about it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Tokens(_) => Some(
                "write one entry a line: a name, a blank and a token; `openssl rand -hex 32` makes a token",
            ),
            Self::Address { .. } => Some("give a full URL, as in https://docs.example.org/mcp"),
            Self::NoIssuer => Some("name the issuer as it stands in the tokens' iss"),
            Self::KeySet { .. } | Self::KeySetUnreadable { .. } => Some(
                "it is what the issuer's metadata calls jwks_uri: give that URL, or a file with its content",
            ),
            Self::Certificates(_) => {
                Some("install the package ca-certificates, or give the key set as a file")
            }
            Self::Scope { .. } => None,
        }
    }
}

/// Who asks: the key of rate limits, and a word in the access log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Nobody has to say.
    Anyone,
    /// The name of a static token, or `subject@issuer`.
    Named(Arc<str>),
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// 400, 401, 403, or 503 while the issuer's keys can not be had.
    pub status: StatusCode,
    /// For the header of that name.
    pub www_authenticate: HeaderValue,
    /// For the log. Holds nothing of a token.
    pub reason: &'static str,
}

/// What is answered, made ready.
#[derive(Debug)]
struct Answers {
    missing: HeaderValue,
    malformed: HeaderValue,
    invalid: HeaderValue,
    scope: HeaderValue,
    unavailable: HeaderValue,
}

/// Judges requests.
#[derive(Debug)]
pub(crate) struct Authentication {
    tokens: TokenLists,
    oauth: Option<OAuth>,
    answers: Answers,
}

#[derive(Debug)]
struct OAuth {
    tokens: AccessTokens,
    metadata: ProtectedResource,
}

impl Authentication {
    /// Reads the tokens and key sets that the options name. A key set's URL is asked later.
    ///
    /// # Errors
    ///
    /// When something of it can not be read or is wrong.
    pub(crate) fn new(options: &AuthenticationOptions) -> Result<Self, AuthenticationError> {
        let variable = options.tokens.as_deref().map(|value| (VARIABLE, value));
        let tokens =
            TokenLists::new(options.token_file.as_deref(), variable).map_err(AuthenticationError::Tokens)?;
        let scopes = options.oauth.as_ref().map_or(&[][..], |oauth| &oauth.scopes);
        let oauth = options.oauth.as_ref().map(OAuth::new).transpose()?;
        let answers = Answers::new(oauth.as_ref().map(|oauth| oauth.metadata.url()), scopes);
        Ok(Self {
            tokens,
            oauth,
            answers,
        })
    }

    /// Whether anybody is asked for a token.
    pub(crate) fn is_required(&self) -> bool {
        self.oauth.is_some() || !self.tokens.is_empty()
    }

    /// Who asks. May be dropped while it waits for the issuer's keys.
    ///
    /// # Errors
    ///
    /// When the one who asks is to be sent away.
    pub(crate) async fn check(&self, headers: &HeaderMap) -> Result<Identity, Challenge> {
        if !self.is_required() {
            return Ok(Identity::Anyone);
        }
        let answers = &self.answers;
        let token = match presented(headers) {
            Presented::Nothing(reason) => {
                return Err(challenge(StatusCode::UNAUTHORIZED, &answers.missing, reason));
            }
            Presented::Malformed(reason) => {
                return Err(challenge(StatusCode::BAD_REQUEST, &answers.malformed, reason));
            }
            Presented::Token(token) => token,
        };
        let invalid = |reason| challenge(StatusCode::UNAUTHORIZED, &answers.invalid, reason);
        if token.len() > MAX_TOKEN_BYTES {
            return Err(invalid("the token is too long"));
        }
        if let Some(name) = self.tokens.find(token) {
            return Ok(Identity::Named(name));
        }
        let Some(oauth) = &self.oauth else {
            return Err(invalid("the token is unknown"));
        };
        match oauth.tokens.check(token).await {
            Ok(name) => Ok(Identity::Named(name)),
            Err(Refusal::Invalid(reason)) => Err(invalid(reason)),
            Err(Refusal::Scope) => Err(challenge(
                StatusCode::FORBIDDEN,
                &answers.scope,
                "the token lacks a scope",
            )),
            Err(Refusal::Unavailable) => Err(challenge(
                StatusCode::SERVICE_UNAVAILABLE,
                &answers.unavailable,
                "the issuer's keys cannot be had",
            )),
        }
    }

    /// Takes what changed in the token file and the key-set file; with `force` reads them in any case, and has the key
    /// set's URL asked anew. What is broken is refused with a line in the log, and the old stays. Reads small files.
    pub(crate) fn reload(&self, force: bool) {
        self.tokens.reload(force);
        if let Some(oauth) = &self.oauth {
            oauth.tokens.reload(force);
        }
    }

    /// What to serve to clients that look for an issuer.
    pub(crate) fn metadata(&self) -> Option<&ProtectedResource> {
        self.oauth.as_ref().map(|oauth| &oauth.metadata)
    }
}

impl OAuth {
    fn new(options: &OAuthOptions) -> Result<Self, AuthenticationError> {
        let resource = address("the resource", &options.resource, WebAddress::parse_name)?;
        if options.issuers.is_empty() {
            return Err(AuthenticationError::NoIssuer);
        }
        for issuer in &options.issuers {
            address("the issuer", issuer, WebAddress::parse_name)?;
        }
        for scope in &options.scopes {
            // RFC 6749 section 3.3.
            let is_scope = !scope.is_empty()
                && scope
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
            if !is_scope {
                return Err(AuthenticationError::Scope { scope: scope.clone() });
            }
        }
        let keys = key_source(&options.key_set)?;
        let own = [options.resource.clone()];
        let audiences = match &options.audiences[..] {
            [] => &own[..],
            audiences => audiences,
        };
        Ok(Self {
            tokens: AccessTokens::new(keys, &options.issuers, audiences, &options.scopes),
            metadata: ProtectedResource::new(&resource, &options.issuers, &options.scopes),
        })
    }
}

fn address(
    name: &'static str,
    url: &str,
    parse: fn(&str) -> Result<WebAddress, AddressError>,
) -> Result<WebAddress, AuthenticationError> {
    parse(url).map_err(|source| AuthenticationError::Address {
        name,
        url: match (source, url.rsplit_once('@')) {
            (AddressError::Credentials, Some((_, rest))) => format!("...@{rest}"),
            _ => url.to_owned(),
        },
        source,
    })
}

fn key_source(place: &str) -> Result<KeySource, AuthenticationError> {
    if place.contains("://") {
        let address = address("the key set", place, WebAddress::parse)?;
        return KeySource::url(address).map_err(AuthenticationError::Certificates);
    }
    KeySource::file(Path::new(place)).map_err(|error| match error {
        KeySourceError::Unreadable(source) => AuthenticationError::KeySetUnreadable {
            path: place.into(),
            source,
        },
        KeySourceError::KeySet(source) => AuthenticationError::KeySet {
            path: place.into(),
            source,
        },
    })
}

/// What a request brings along.
enum Presented<'a> {
    /// No bearer token.
    Nothing(&'static str),
    /// What is no header of RFC 6750.
    Malformed(&'static str),
    /// Something to judge.
    Token(&'a str),
}

fn presented(headers: &HeaderMap) -> Presented<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Presented::Nothing("no token was sent");
    };
    if values.next().is_some() {
        return Presented::Malformed("there are two Authorization headers");
    }
    let Ok(value) = value.to_str() else {
        return Presented::Malformed("the Authorization header is not ASCII");
    };
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    if scheme.is_empty() {
        return Presented::Malformed("the Authorization header names no scheme");
    }
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Presented::Nothing("the Authorization header has another scheme than Bearer");
    }
    let token = rest.trim_matches(' ');
    if is_token(token) {
        Presented::Token(token)
    } else {
        Presented::Malformed("what follows Bearer is no token")
    }
}

fn challenge(status: StatusCode, www_authenticate: &HeaderValue, reason: &'static str) -> Challenge {
    Challenge {
        status,
        www_authenticate: www_authenticate.clone(),
        reason,
    }
}

impl Answers {
    fn new(metadata: Option<&str>, scopes: &[String]) -> Self {
        let mut hints = String::new();
        if let Some(url) = metadata {
            if !scopes.is_empty() {
                hints = format!(", scope=\"{}\"", scopes.join(" "));
            }
            hints = format!("{hints}, resource_metadata=\"{url}\"");
        }
        let answer = |error: &str, hints: &str| {
            // All of it was checked to be ASCII without quotes.
            HeaderValue::try_from(format!("{CHALLENGE}{error}{hints}"))
                .unwrap_or(HeaderValue::from_static(CHALLENGE))
        };
        Self {
            missing: answer("", &hints),
            malformed: answer(", error=\"invalid_request\"", ""),
            invalid: answer(", error=\"invalid_token\"", &hints),
            scope: answer(", error=\"insufficient_scope\"", &hints),
            unavailable: answer("", ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::error::chain;
    use crate::http::access_token::tests::{AUDIENCE, ISSUER, claims, signed};
    use crate::http::key_set::tests::{public, set};

    const STATIC: &str = "0123456789abcdef0123";
    const METADATA: &str = "https://docs.example.org/.well-known/oauth-protected-resource/mcp";

    fn static_options() -> AuthenticationOptions {
        AuthenticationOptions {
            tokens: Some(format!("ci {STATIC}")),
            ..AuthenticationOptions::default()
        }
    }

    fn oauth_options(key_set: &str) -> OAuthOptions {
        OAuthOptions {
            resource: AUDIENCE.to_owned(),
            issuers: vec![ISSUER.to_owned()],
            key_set: key_set.to_owned(),
            audiences: Vec::new(),
            scopes: vec!["docs:read".to_owned(), "docs:search".to_owned()],
        }
    }

    fn with_oauth(change: impl FnOnce(&mut AuthenticationOptions)) -> (tempfile::TempDir, Authentication) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        std::fs::write(
            &path,
            set(&[public("ed", Some("ed")), public("rsa", Some("rsa"))]),
        )
        .unwrap();
        let mut options = AuthenticationOptions {
            oauth: Some(oauth_options(path.to_str().unwrap())),
            ..AuthenticationOptions::default()
        };
        change(&mut options);
        (folder, Authentication::new(&options).unwrap())
    }

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    /// Status, challenge and name, as they would be seen from outside.
    fn answer(authentication: &Authentication, values: &[&[u8]]) -> (u16, String) {
        match futures::executor::block_on(authentication.check(&headers(values))) {
            Ok(Identity::Anyone) => (200, String::new()),
            Ok(Identity::Named(name)) => (200, name.to_string()),
            Err(challenge) => (
                challenge.status.as_u16(),
                challenge.www_authenticate.to_str().unwrap().to_owned(),
            ),
        }
    }

    fn bearer(token: &str) -> Vec<u8> {
        format!("Bearer {token}").into_bytes()
    }

    #[test]
    fn without_tokens_everybody_is_let_in() {
        let authentication = Authentication::new(&AuthenticationOptions::default()).unwrap();
        assert!(!authentication.is_required());
        assert!(authentication.metadata().is_none());
        let cases: [&[&[u8]]; 3] = [&[], &[b"Bearer x"], &[b"a", b"b"]];
        for values in cases {
            assert_eq!(answer(&authentication, values), (200, String::new()));
        }
    }

    #[test]
    fn static_tokens_are_asked_for_without_naming_an_issuer() {
        let authentication = Authentication::new(&static_options()).unwrap();
        assert!(authentication.is_required());
        assert!(authentication.metadata().is_none());
        let missing = "Bearer realm=\"docs\"";
        let invalid = "Bearer realm=\"docs\", error=\"invalid_token\"";
        let malformed = "Bearer realm=\"docs\", error=\"invalid_request\"";
        let good = bearer(STATIC);
        let long = bearer(&"a".repeat(MAX_TOKEN_BYTES + 1));
        let jwt = bearer(&signed("ed", &json!({})));
        let cases: [(&[&[u8]], u16, &str); 22] = [
            (&[&good], 200, "ci"),
            (&[b"bearer 0123456789abcdef0123"], 200, "ci"),
            (&[b"BEARER   0123456789abcdef0123 "], 200, "ci"),
            (&[], 401, missing),
            (&[b"Basic Y2k6MDEyMzQ1Njc4OWFiY2RlZg=="], 401, missing),
            (&[b"0123456789abcdef0123"], 401, missing),
            (&[b"BearerX 0123456789abcdef0123"], 401, missing),
            (&[b"Bearer 0123456789abcdef0124"], 401, invalid),
            (&[b"Bearer 0123456789abcdef012"], 401, invalid),
            (&[b"Bearer 0123456789abcdef0123="], 401, invalid),
            (&[b"Bearer ci"], 401, invalid),
            (&[&long], 401, invalid),
            (&[&jwt], 401, invalid),
            (&[&good, &good], 400, malformed),
            (&[b"Basic eA==", &good], 400, malformed),
            (&[b""], 400, malformed),
            (&[b"Bearer"], 400, malformed),
            (&[b"Bearer "], 400, malformed),
            (&[b"Bearer a b"], 400, malformed),
            (&[b"Bearer \"a\""], 400, malformed),
            (&[b"Bearer\t0123456789abcdef0123"], 401, missing),
            (&[b"Bearer \xc3\xa4"], 400, malformed),
        ];
        for (values, status, text) in cases {
            assert_eq!(
                answer(&authentication, values),
                (status, text.to_owned()),
                "{:?}",
                headers(values)
            );
        }
        let refused = futures::executor::block_on(authentication.check(&headers(&[&long]))).unwrap_err();
        assert_eq!(refused.reason, "the token is too long");
        // The token of a query is nobody's business here: only the header is looked at.
        let mut other = HeaderMap::new();
        other.insert("x-api-key", HeaderValue::from_static(STATIC));
        let refused = futures::executor::block_on(authentication.check(&other)).unwrap_err();
        assert_eq!(refused.reason, "no token was sent");
    }

    #[test]
    fn access_tokens_are_asked_for_by_naming_the_metadata() {
        let (_folder, authentication) = with_oauth(|_| {});
        assert!(authentication.is_required());
        let hints = format!("scope=\"docs:read docs:search\", resource_metadata=\"{METADATA}\"");
        let missing = format!("Bearer realm=\"docs\", {hints}");
        let invalid = format!("Bearer realm=\"docs\", error=\"invalid_token\", {hints}");
        let scope = format!("Bearer realm=\"docs\", error=\"insufficient_scope\", {hints}");
        let malformed = "Bearer realm=\"docs\", error=\"invalid_request\"".to_owned();
        let token = |changes: Value| bearer(&signed("ed", &changes));
        let confused = jsonwebtoken::encode(
            &jsonwebtoken::Header::new(jsonwebtoken::Algorithm::HS256),
            &claims(&json!({})),
            &jsonwebtoken::EncodingKey::from_secret(include_bytes!("../../tests/keys/rsa-public.pem"))
                .unwrap(),
        )
        .unwrap();
        for (value, status, text) in [
            (
                token(json!({})),
                200,
                "alice@id.example.org/realms/docs".to_owned(),
            ),
            (token(json!({"scope": "docs:read"})), 403, scope.clone()),
            (token(json!({"scope": null})), 403, scope.clone()),
            (token(json!({"exp": 1})), 401, invalid.clone()),
            (token(json!({"nbf": 99_999_999_999_u64})), 401, invalid.clone()),
            (
                token(json!({"aud": "https://elsewhere.example.org"})),
                401,
                invalid.clone(),
            ),
            (
                token(json!({"iss": "https://elsewhere.example.org"})),
                401,
                invalid.clone(),
            ),
            // Whose signature is wrong is not told of scopes.
            (
                bearer(&signed("ed-other", &json!({"scope": null}))),
                401,
                invalid.clone(),
            ),
            (bearer(&confused), 401, invalid.clone()),
            (bearer(STATIC), 401, invalid.clone()),
            (b"Basic eA==".to_vec(), 401, missing.clone()),
            (b"Bearer a b".to_vec(), 400, malformed),
        ] {
            assert_eq!(answer(&authentication, &[&value]), (status, text));
        }
        assert_eq!(answer(&authentication, &[]), (401, missing));
        let metadata = authentication.metadata().unwrap();
        assert_eq!(metadata.url(), METADATA);
        assert!(metadata.paths().iter().all(|path| METADATA.contains(path)));
    }

    #[test]
    fn both_ways_can_be_on() {
        let (_folder, authentication) = with_oauth(|options| {
            options.tokens = Some(format!("ci {STATIC}"));
            options.oauth.as_mut().unwrap().scopes.clear();
        });
        assert_eq!(
            answer(&authentication, &[&bearer(STATIC)]),
            (200, "ci".to_owned())
        );
        assert_eq!(
            answer(&authentication, &[&bearer(&signed("ed", &json!({})))]).0,
            200
        );
        // Without scopes none are named.
        assert_eq!(
            answer(&authentication, &[]),
            (
                401,
                format!("Bearer realm=\"docs\", resource_metadata=\"{METADATA}\"")
            )
        );
    }

    #[test]
    fn an_audience_takes_the_place_of_the_resource() {
        let (_folder, authentication) = with_oauth(|options| {
            options.oauth.as_mut().unwrap().audiences = vec!["api://docs".to_owned()];
        });
        let of = |audience: &str| bearer(&signed("ed", &json!({"aud": audience})));
        assert_eq!(answer(&authentication, &[&of("api://docs")]).0, 200);
        assert_eq!(answer(&authentication, &[&of(AUDIENCE)]).0, 401);
    }

    #[test]
    fn tokens_and_keys_are_exchanged_without_a_restart() {
        let (folder, authentication) = with_oauth(|options| {
            let path = Path::new(&options.oauth.as_ref().unwrap().key_set).with_file_name("tokens");
            std::fs::write(&path, format!("old {STATIC}")).unwrap();
            options.token_file = Some(path);
        });
        let jwt = bearer(&signed("ed-other", &json!({})));
        assert_eq!(answer(&authentication, &[&bearer(STATIC)]).0, 200);
        assert_eq!(answer(&authentication, &[&jwt]).0, 401);
        std::fs::write(folder.path().join("tokens"), "new aaaaaaaaaaaaaaaaaaaaaaaa").unwrap();
        let keys = set(&[public("ed-other", Some("ed-other"))]);
        std::fs::write(folder.path().join("keys.json"), keys).unwrap();
        authentication.reload(false);
        assert_eq!(answer(&authentication, &[&bearer(STATIC)]).0, 401);
        assert_eq!(answer(&authentication, &[&jwt]).0, 200);
    }

    #[test]
    fn options_that_can_not_be_followed_are_errors_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, empty) = (folder.path().join("keys.json"), folder.path().join("empty.json"));
        std::fs::write(&keys, set(&[public("ed", None)])).unwrap();
        std::fs::write(&empty, "{\"keys\": []}").unwrap();
        let mut lines = Vec::new();
        let mut try_oauth = |change: &dyn Fn(&mut OAuthOptions)| {
            let mut oauth = oauth_options(keys.to_str().unwrap());
            change(&mut oauth);
            let options = AuthenticationOptions {
                oauth: Some(oauth),
                ..AuthenticationOptions::default()
            };
            let error = Authentication::new(&options).unwrap_err();
            lines.push(format!("{} | {}", chain(&error), error.remedy().unwrap_or("-")));
        };
        try_oauth(&|oauth| oauth.resource = "http://docs.example.org/mcp".to_owned());
        try_oauth(&|oauth| oauth.resource = "https://user:Sesam@docs.example.org/mcp".to_owned());
        try_oauth(&|oauth| oauth.issuers.clear());
        try_oauth(&|oauth| oauth.issuers.push("id.example.org".to_owned()));
        try_oauth(&|oauth| oauth.scopes.push("a b".to_owned()));
        try_oauth(&|oauth| oauth.scopes.push("a\"".to_owned()));
        try_oauth(&|oauth| oauth.key_set = "http://id.example.org/keys".to_owned());
        try_oauth(&|oauth| oauth.key_set = empty.to_str().unwrap().to_owned());
        assert!(matches!(
            key_source(folder.path().join("none.json").to_str().unwrap()),
            Err(AuthenticationError::KeySetUnreadable { .. })
        ));
        let options = AuthenticationOptions {
            tokens: Some("ci Sesam".to_owned()),
            ..AuthenticationOptions::default()
        };
        let error = Authentication::new(&options).unwrap_err();
        lines.push(format!("{} | {}", chain(&error), error.remedy().unwrap_or("-")));
        let text = lines.join("\n").replace(folder.path().to_str().unwrap(), "");
        insta::assert_snapshot!(text, @r#"
        the resource "http://docs.example.org/mcp" cannot be used: it is not https (http is for localhost, 127.0.0.0/8 and [::1] only) | give a full URL, as in https://docs.example.org/mcp
        the resource "...@docs.example.org/mcp" cannot be used: it has a user name or password in it | give a full URL, as in https://docs.example.org/mcp
        no issuer of access tokens is named | name the issuer as it stands in the tokens' iss
        the issuer "id.example.org" cannot be used: it is no absolute URL | give a full URL, as in https://docs.example.org/mcp
        "a b" cannot be a scope: one word of ASCII without quotes and backslashes is | -
        "a\"" cannot be a scope: one word of ASCII without quotes and backslashes is | -
        the key set "http://id.example.org/keys" cannot be used: it is not https (http is for localhost, 127.0.0.0/8 and [::1] only) | give a full URL, as in https://docs.example.org/mcp
        the key set /empty.json cannot be used: none of its 0 keys can verify a signature (RSA of 2048 bits or more, P-256, P-384 or Ed25519) | it is what the issuer's metadata calls jwks_uri: give that URL, or a file with its content
        the bearer tokens cannot be used: DOCS_SERVER_TOKENS:1: the token has fewer than 16 characters | write one entry a line: a name, a blank and a token; `openssl rand -hex 32` makes a token
        "#);
        assert!(!text.contains("Sesam"));
    }

    #[test]
    fn options_do_not_show_tokens() {
        let shown = format!("{:?}", static_options());
        assert!(
            shown.contains("(not shown)") && !shown.contains(STATIC),
            "{shown}"
        );
    }

    proptest! {
        #[test]
        fn any_header_gets_an_answer(
            values in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..80),
                    "(?i:bearer) {0,2}[A-Za-z0-9._~+/-]{0,60}={0,3}".prop_map(String::into_bytes),
                    "Bearer [A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}".prop_map(String::into_bytes),
                    ("[ -~]{0,60}", "[ -~]{0,60}", "[ -~]{0,20}").prop_map(|(header, body, signature)| {
                        use base64::Engine as _;
                        let part = |text: String| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
                        let header = format!("{{\"alg\":\"EdDSA\",\"kid\":{header}}}");
                        format!("Bearer {}.{}.{}", part(header), part(body), part(signature)).into_bytes()
                    }),
                ],
                0..3,
            ),
        ) {
            static MADE: LazyLock<Authentication> = LazyLock::new(|| {
                with_oauth(|options| options.tokens = Some(format!("ci {STATIC}"))).1
            });
            let authentication = &*MADE;
            let mut headers = HeaderMap::new();
            for value in &values {
                if let Ok(value) = HeaderValue::from_bytes(value) {
                    headers.append(AUTHORIZATION, value);
                }
            }
            let challenge = futures::executor::block_on(authentication.check(&headers)).unwrap_err();
            prop_assert!([400, 401].contains(&challenge.status.as_u16()));
            prop_assert!(challenge.www_authenticate.to_str().unwrap().starts_with(CHALLENGE));
        }
    }
}
