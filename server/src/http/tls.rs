//! TLS: which certificate is shown, and the next one when its files were replaced.
//!
//! In: a file of certificates and one of the key, both PEM. Out: an acceptor for accepted connections. A pair is read
//! whole and checked, key against certificate, before any client sees it; [`Tls::reload`] looks whether the files were
//! replaced, and a pair that is not in order never takes the place of one that is. Connections that are open keep
//! what they began with.
//!
//! The cryptography is named here and not taken from the process, so that no other library can choose it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

use crate::error::chain;
use crate::fingerprint::Fingerprint;
use crate::http::watched_file;

/// Longest file that is read: a chain is a few KB, and anything this long is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The one protocol that is spoken inside.
const HTTP_1_1: &[u8] = b"http/1.1";

/// Why a certificate and its key can not be served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file is not there or may not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file is far too long for what it should be.
    #[error("{} is longer than {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// How long it may be.
        limit: u64,
    },
    /// A block of a file has no end.
    #[error("a block of {} has no END line", path.display())]
    Unended {
        /// The file.
        path: PathBuf,
    },
    /// A block of a file is not base64, or begins in an odd way.
    #[error("{} is damaged", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong with the block.
        #[source]
        source: pem::Error,
    },
    /// The file of certificates has none.
    #[error("{} holds no certificate", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The first certificate is none.
    #[error("the first certificate in {} can not be read", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: rustls::Error,
    },
    /// The file of the key has none.
    #[error("{} holds no private key", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The key needs a passphrase, which nobody is there to give.
    #[error("the private key in {} is encrypted", path.display())]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// The key is of a kind that is not known, or damaged.
    #[error("the private key in {} can not be used", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: rustls::Error,
    },
    /// Certificate and key are not of one pair.
    #[error("the private key in {} is not that of the first certificate in {}", key.display(), certificates.display())]
    Mismatch {
        /// The file of certificates.
        certificates: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The protocol versions can not be set up.
    #[error("cannot set up TLS")]
    Setup(#[source] rustls::Error),
}

impl TlsError {
    /// What to do about it; none where there is nothing to say.
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Self::Read { .. } => "name a file that this user may read",
            Self::TooLong { .. } | Self::Unended { .. } | Self::Pem { .. } => {
                "it must be a PEM file: blocks between BEGIN and END lines"
            }
            Self::NoCertificate { .. } | Self::Certificate { .. } => {
                "it must hold the server's certificate first, then those that signed it, as PEM"
            }
            Self::NoKey { .. } | Self::Key { .. } => {
                "it must hold an RSA, ECDSA or Ed25519 key as PEM (PKCS#8, PKCS#1 or SEC1)"
            }
            Self::EncryptedKey { path } => {
                return Some(format!(
                    "decrypt it first: openssl pkey -in {} -out FILE",
                    path.display()
                ));
            }
            Self::Mismatch { .. } => {
                "name the key that the certificate was made for, and put its certificate first"
            }
            Self::Setup(_) => return None,
        };
        Some(text.to_owned())
    }
}

/// A certificate with its key, for all connections of a server.
#[derive(Debug)]
pub(crate) struct Tls {
    certificates: PathBuf,
    key: PathBuf,
    config: Arc<ServerConfig>,
    shown: Arc<Shown>,
    last_look: Mutex<Look>,
}

/// The pair that new connections get.
#[derive(Debug)]
struct Shown(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

/// What was found when the files were last looked at.
#[derive(Debug)]
struct Look {
    states: [Option<Fingerprint>; 2],
    /// The pair was not in order, and nothing was said of it yet.
    doubtful: bool,
}

impl Tls {
    /// Reads a chain of certificates and the key of the first of them.
    ///
    /// # Errors
    ///
    /// When one of the files can not be read, lacks what it should hold, or they are not of one pair.
    pub(crate) fn load(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        // Asked before the files are read: what is replaced meanwhile is then seen as new at the next look.
        let states = [certificates, key].map(|path| Fingerprint::of(path).ok());
        let provider = Arc::new(ring::default_provider());
        let pair = read_pair(&provider, certificates, key)?;
        let shown = Arc::new(Shown(ArcSwap::from_pointee(pair)));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(TlsError::Setup)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(Self {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
            config: Arc::new(config),
            shown,
            last_look: Mutex::new(Look {
                states,
                doubtful: false,
            }),
        })
    }

    /// What makes a TLS stream of an accepted connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// Reads the pair anew if one of the files is another than at the last look, or in any case with `force`.
    /// Whether a pair was read, which all new connections then get.
    ///
    /// A pair that is not in order is refused, and the one before stays. The two files are replaced one after the
    /// other, so this is said only if it is still so at the next look; and once, until a file changes again.
    pub(crate) fn reload(&self, force: bool) -> bool {
        let states = [&self.certificates, &self.key].map(|path| Fingerprint::of(path).ok());
        let mut look = self.last_look.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = states != look.states;
        if !changed && !look.doubtful && !force {
            return false;
        }
        let second_look = look.doubtful && !changed;
        look.states = states;
        look.doubtful = false;
        match read_pair(self.config.crypto_provider(), &self.certificates, &self.key) {
            Ok(pair) => {
                self.shown.0.store(Arc::new(pair));
                tracing::info!(certificate = %self.certificates.display(), "the certificate was read anew");
                true
            }
            Err(error) => {
                if second_look || force {
                    tracing::error!(
                        error = chain(&error),
                        remedy = error.remedy(),
                        "the new certificate is refused; the one before is still served"
                    );
                } else {
                    look.doubtful = true;
                }
                false
            }
        }
    }
}

fn read_pair(provider: &CryptoProvider, certificates: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let chain = CertificateDer::pem_slice_iter(&read_file(certificates)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| damaged(certificates, source))?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate {
            path: certificates.to_owned(),
        });
    }
    let private = provider
        .key_provider
        .load_private_key(read_key(key)?)
        .map_err(|source| TlsError::Key {
            path: key.to_owned(),
            source,
        })?;
    let pair = CertifiedKey::new(chain, private);
    match pair.keys_match() {
        // Unknown: a kind of key that can not tell its public half.
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(pair),
        Err(rustls::Error::InconsistentKeys(_)) => Err(TlsError::Mismatch {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
        }),
        Err(source) => Err(TlsError::Certificate {
            path: certificates.to_owned(),
            source,
        }),
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = read_file(path)?;
    warn_if_readable_by_others(path);
    if is_encrypted(&bytes) {
        return Err(TlsError::EncryptedKey {
            path: path.to_owned(),
        });
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsError::NoKey {
            path: path.to_owned(),
        },
        source => damaged(path, source),
    })
}

fn damaged(path: &Path, source: pem::Error) -> TlsError {
    let path = path.to_owned();
    match source {
        // Its own text shows the marker as a list of numbers.
        pem::Error::MissingSectionEnd { .. } => TlsError::Unended { path },
        source => TlsError::Pem { path, source },
    }
}

/// Both forms of it: a block of its own name (PKCS#8), and a header within a block (as OpenSSL once wrote them).
fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.split(|&byte| byte == b'\n').any(|line| {
        line.starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY") || line.starts_with(b"Proc-Type: 4,ENCRYPTED")
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>, TlsError> {
    watched_file::read(path, MAX_FILE_BYTES).map_err(|source| {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::FileTooLarge {
            TlsError::TooLong {
                path,
                limit: MAX_FILE_BYTES,
            }
        } else {
            TlsError::Read { path, source }
        }
    })
}

/// Of others, not of the group: a key is often shared with a group made for that.
#[cfg(unix)]
fn warn_if_readable_by_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0) {
        tracing::warn!(key = %path.display(), "every user of this machine can read the private key; chmod o-r it");
    }
}

#[cfg(not(unix))]
fn warn_if_readable_by_others(_path: &Path) {}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, CertifiedIssuer, Issuer, KeyPair};
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion};
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio_rustls::TlsConnector;

    use super::*;

    // Made with openssl: forms of keys that no crate of the tests can make.
    const EC_CERTIFICATE: &str = include_str!("../../tests/tls/ec.crt");
    const EC_SEC1: &str = include_str!("../../tests/tls/ec-sec1.key");
    const EC_ENCRYPTED: &str = include_str!("../../tests/tls/ec-encrypted.key");
    const RSA_CERTIFICATE: &str = include_str!("../../tests/tls/rsa.crt");
    const RSA_PKCS1: &str = include_str!("../../tests/tls/rsa-pkcs1.key");
    const RSA_ENCRYPTED: &str = include_str!("../../tests/tls/rsa-encrypted.key");

    /// An authority of the tests, and a folder for the files of a server.
    struct Authority {
        issuer: CertifiedIssuer<'static, KeyPair>,
        folder: TempDir,
    }

    impl Authority {
        fn new() -> Self {
            let mut parameters = CertificateParams::new(Vec::new()).unwrap();
            parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            Self {
                issuer: CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap(),
                folder: tempfile::tempdir().unwrap(),
            }
        }

        /// A certificate for localhost and its key, as PEM.
        fn issue(&self) -> (String, String) {
            let key = KeyPair::generate().unwrap();
            let issuer: &Issuer<'_, KeyPair> = &self.issuer;
            let certificate = CertificateParams::new(vec!["localhost".to_owned()])
                .unwrap()
                .signed_by(&key, issuer)
                .unwrap();
            (certificate.pem(), key.serialize_pem())
        }

        fn certificates(&self) -> PathBuf {
            self.folder.path().join("server.crt")
        }

        fn key(&self) -> PathBuf {
            self.folder.path().join("server.key")
        }

        /// Puts a text in the place of a file, as tools that renew certificates do.
        fn put(&self, path: &Path, text: impl AsRef<[u8]>) {
            let aside = self.folder.path().join("aside");
            fs::write(&aside, text).unwrap();
            #[cfg(unix)]
            fs::set_permissions(&aside, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            fs::rename(&aside, path).unwrap();
        }

        fn load(&self) -> Result<Tls, TlsError> {
            Tls::load(&self.certificates(), &self.key())
        }

        fn serve(&self) -> Tls {
            let (certificate, key) = self.issue();
            self.put(&self.certificates(), certificate);
            self.put(&self.key(), key);
            self.load().unwrap()
        }

        /// Shakes hands as a client that trusts this authority, and says a word to the server and back.
        async fn shake_hands(
            &self,
            acceptor: TlsAcceptor,
            versions: &[&'static SupportedProtocolVersion],
            protocols: &[&[u8]],
        ) -> io::Result<Shaken> {
            let mut trusted = RootCertStore::empty();
            trusted.add(self.issuer.der().clone()).unwrap();
            let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_protocol_versions(versions)
                .unwrap()
                .with_root_certificates(trusted)
                .with_no_client_auth();
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            let (near, far) = tokio::io::duplex(1 << 14);
            let server = async move {
                let mut stream = acceptor.accept(far).await?;
                let mut word = [0; 5];
                stream.read_exact(&mut word).await?;
                stream.write_all(&word).await?;
                stream.shutdown().await
            };
            let client = async move {
                let connector = TlsConnector::from(Arc::new(config));
                let mut stream = connector
                    .connect(ServerName::try_from("localhost").unwrap(), near)
                    .await?;
                stream.write_all(b"hello").await?;
                let mut word = String::new();
                stream.read_to_string(&mut word).await?;
                assert_eq!(word, "hello");
                let (_, connection) = stream.get_ref();
                Ok::<_, io::Error>(Shaken {
                    version: connection.protocol_version().unwrap(),
                    protocol: connection.alpn_protocol().map(<[u8]>::to_vec),
                    certificate: connection.peer_certificates().unwrap()[0].to_vec(),
                })
            };
            let (served, shaken) = tokio::join!(server, client);
            let shaken = shaken?;
            served?;
            Ok(shaken)
        }

        async fn shown(&self, tls: &Tls) -> Vec<u8> {
            let versions = [&rustls::version::TLS13];
            self.shake_hands(tls.acceptor(), &versions, &[])
                .await
                .unwrap()
                .certificate
        }
    }

    struct Shaken {
        version: ProtocolVersion,
        protocol: Option<Vec<u8>>,
        certificate: Vec<u8>,
    }

    fn der_of(pem: &str) -> Vec<u8> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
    }

    #[tokio::test]
    async fn both_versions_are_spoken_and_http_1_1_alone_within() {
        let authority = Authority::new();
        let tls = authority.serve();
        let (old, new) = (&rustls::version::TLS12, &rustls::version::TLS13);
        for (versions, offered, version, protocol) in [
            (vec![old], vec![], ProtocolVersion::TLSv1_2, None),
            (vec![new], vec![], ProtocolVersion::TLSv1_3, None),
            (
                vec![new, old],
                vec![HTTP_1_1],
                ProtocolVersion::TLSv1_3,
                Some(HTTP_1_1),
            ),
            (
                vec![new, old],
                vec![b"h2".as_slice(), HTTP_1_1],
                ProtocolVersion::TLSv1_3,
                Some(HTTP_1_1),
            ),
        ] {
            let shaken = authority
                .shake_hands(tls.acceptor(), &versions, &offered)
                .await
                .unwrap();
            assert_eq!(shaken.version, version);
            assert_eq!(shaken.protocol.as_deref(), protocol);
        }
        let only_h2: [&[u8]; 1] = [b"h2"];
        assert!(
            authority
                .shake_hands(tls.acceptor(), &[new], &only_h2)
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_replaced_pair_is_shown_to_new_connections_once_both_files_are_there() {
        let authority = Authority::new();
        let tls = authority.serve();
        let first = authority.shown(&tls).await;
        assert!(!tls.reload(false), "nothing changed");

        let (certificate, key) = authority.issue();
        authority.put(&authority.certificates(), &certificate);
        assert!(!tls.reload(false), "its key is still to come");
        assert_eq!(authority.shown(&tls).await, first);
        authority.put(&authority.key(), &key);
        assert!(tls.reload(false));
        assert_eq!(authority.shown(&tls).await, der_of(&certificate));
        assert!(!tls.reload(false), "read once");
        assert!(tls.reload(true), "and again when told to");
    }

    #[tokio::test]
    async fn an_acceptor_made_before_shows_what_is_shown_now() {
        let authority = Authority::new();
        let tls = authority.serve();
        let acceptor = tls.acceptor();
        let (certificate, key) = authority.issue();
        authority.put(&authority.certificates(), &certificate);
        authority.put(&authority.key(), &key);
        assert!(tls.reload(false));
        let shaken = authority
            .shake_hands(acceptor, &[&rustls::version::TLS12], &[])
            .await;
        assert_eq!(shaken.unwrap().certificate, der_of(&certificate));
    }

    #[tokio::test]
    async fn a_broken_pair_is_refused_said_once_and_the_old_one_stays() {
        let authority = Authority::new();
        let tls = authority.serve();
        let first = authority.shown(&tls).await;
        let (certificate, _) = authority.issue();
        let said = Said::default();
        let refused =
            |force| tracing::subscriber::with_default(said.subscriber(), || assert!(!tls.reload(force)));

        authority.put(&authority.certificates(), &certificate);
        refused(false);
        assert_eq!(said.lines(), 0, "the key may be on its way");
        refused(false);
        assert_eq!(said.lines(), 1);
        assert!(
            said.text().contains("is not that of the first certificate"),
            "{}",
            said.text()
        );
        refused(false);
        refused(false);
        assert_eq!(said.lines(), 1, "once for a state of the files");
        refused(true);
        assert_eq!(said.lines(), 2, "and when asked for it");
        fs::remove_file(authority.key()).unwrap();
        refused(false);
        refused(false);
        assert_eq!(said.lines(), 3, "another state");
        assert!(said.text().contains("cannot read"), "{}", said.text());
        assert_eq!(authority.shown(&tls).await, first);

        let (certificate, key) = authority.issue();
        authority.put(&authority.certificates(), &certificate);
        authority.put(&authority.key(), key);
        assert!(tls.reload(false), "what was refused can be set right");
        assert_eq!(authority.shown(&tls).await, der_of(&certificate));
    }

    #[test]
    fn keys_are_read_in_all_their_forms() {
        let authority = Authority::new();
        let (certificate, key) = authority.issue();
        let with_chain = format!("a note\n{certificate}{}", authority.issuer.pem());
        let both = format!("{EC_SEC1}{EC_CERTIFICATE}");
        for (certificates, key, count) in [
            (certificate.as_str(), key.as_str(), 1),
            (&with_chain, &key.replace('\n', "\r\n"), 2),
            (RSA_CERTIFICATE, RSA_PKCS1, 1),
            (EC_CERTIFICATE, EC_SEC1, 1),
            (&both, &both, 1),
        ] {
            authority.put(&authority.certificates(), certificates);
            authority.put(&authority.key(), key);
            let tls = authority.load().unwrap();
            assert_eq!(tls.shown.0.load().cert.len(), count);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file_and_what_to_do() {
        let authority = Authority::new();
        let (certificate, key) = authority.issue();
        let (_, other_key) = authority.issue();
        let no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let no_base64 = "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n";
        let no_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        let too_long = "#".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() + 1);
        let mut lines = Vec::new();
        for (certificates, key) in [
            ("", key.as_str()),
            ("-----BEGIN CERTIFICATE-----\nnever ended", &key),
            (no_certificate, &key),
            (no_base64, &key),
            (&too_long, &key),
            (&certificate, ""),
            (&certificate, &certificate),
            (&certificate, no_key),
            (&certificate, "-----BEGIN PRIVATE KEY-----\nnever ended"),
            (&certificate, EC_ENCRYPTED),
            (&certificate, RSA_ENCRYPTED),
            (&certificate, &other_key),
        ] {
            authority.put(&authority.certificates(), certificates);
            authority.put(&authority.key(), key);
            lines.push(line_of(&authority, &authority.load().unwrap_err()));
        }
        fs::remove_file(authority.key()).unwrap();
        lines.push(line_of(&authority, &authority.load().unwrap_err()));
        insta::assert_snapshot!(lines.join("\n"), @r"
        server.crt holds no certificate | it must hold the server's certificate first, then those that signed it, as PEM
        a block of server.crt has no END line | it must be a PEM file: blocks between BEGIN and END lines
        the first certificate in server.crt can not be read: invalid peer certificate: BadEncoding | it must hold the server's certificate first, then those that signed it, as PEM
        server.crt is damaged: base64 decode error: InvalidCharacter(63) | it must be a PEM file: blocks between BEGIN and END lines
        server.crt is longer than 1048576 bytes | it must be a PEM file: blocks between BEGIN and END lines
        server.key holds no private key | it must hold an RSA, ECDSA or Ed25519 key as PEM (PKCS#8, PKCS#1 or SEC1)
        server.key holds no private key | it must hold an RSA, ECDSA or Ed25519 key as PEM (PKCS#8, PKCS#1 or SEC1)
        the private key in server.key can not be used: unexpected error: failed to parse private key as RSA, ECDSA, or EdDSA | it must hold an RSA, ECDSA or Ed25519 key as PEM (PKCS#8, PKCS#1 or SEC1)
        a block of server.key has no END line | it must be a PEM file: blocks between BEGIN and END lines
        the private key in server.key is encrypted | decrypt it first: openssl pkey -in server.key -out FILE
        the private key in server.key is encrypted | decrypt it first: openssl pkey -in server.key -out FILE
        the private key in server.key is not that of the first certificate in server.crt | name the key that the certificate was made for, and put its certificate first
        cannot read server.key: No such file or directory (os error 2) | name a file that this user may read
        ");
    }

    fn line_of(authority: &Authority, error: &TlsError) -> String {
        let folder = format!("{}/", authority.folder.path().display());
        let text = format!("{} | {}", chain(error), error.remedy().unwrap_or_default());
        text.replace(&folder, "")
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_everybody_can_read_is_warned_of() {
        use std::os::unix::fs::PermissionsExt as _;
        let authority = Authority::new();
        authority.serve();
        for (mode, lines) in [(0o600, 0), (0o640, 0), (0o644, 1)] {
            fs::set_permissions(authority.key(), fs::Permissions::from_mode(mode)).unwrap();
            let said = Said::default();
            tracing::subscriber::with_default(said.subscriber(), || authority.load().unwrap());
            assert_eq!(said.lines(), lines, "{mode:o}: {}", said.text());
        }
    }

    /// Log lines of at least a warning, kept.
    #[derive(Clone, Default)]
    struct Said(Arc<Mutex<Vec<u8>>>);

    impl Said {
        fn subscriber(&self) -> impl tracing::Subscriber + use<> {
            let said = self.clone();
            tracing_subscriber::fmt()
                .with_ansi(false)
                .with_max_level(tracing::Level::WARN)
                .with_writer(move || said.clone())
                .finish()
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }

        fn lines(&self) -> usize {
            self.text().lines().count()
        }
    }

    impl io::Write for Said {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
