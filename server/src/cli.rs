//! The command line.

#![expect(
    clippy::doc_markdown,
    reason = "doc comments are the help, read in a terminal"
)]

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};
use docs_server::http::{
    AccessLog, AuthenticationOptions, DEFAULT_ANSWER_CACHE_BYTES, HttpOptions, Limits, OAuthOptions,
};
use docs_server::{DEFAULT_MAX_RESULT_BYTES, MAX_RESULT_BYTES_RANGE, OpenOptions, StartError};
use ipnet::IpNet;

/// Serve an index of documentation to AI agents over the Model Context Protocol
#[derive(Debug, Parser)]
#[command(name = "docs-server", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Index file made by docs-indexer build
    #[arg(value_name = "INDEX", required = true)]
    indexes: Vec<PathBuf>,

    /// Longest answer, in bytes of text (1000 to 1000000)
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_RESULT_BYTES, value_parser = result_bytes)]
    pub(crate) max_result_bytes: usize,

    /// Read the index into memory instead of mapping it
    #[arg(long)]
    no_mmap: bool,

    /// Check the whole index before serving it
    #[arg(long)]
    verify: bool,

    #[command(flatten)]
    http: HttpArguments,
}

/// Streamable HTTP instead of standard input and output
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
struct HttpArguments {
    /// Serve streamable HTTP at http://ADDRESS/mcp, like 127.0.0.1:8765 (port 0: any free one)
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// Name this server goes by, HOST or HOST:PORT; localhost always is one
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// Origin whose web pages may call, like https://app.example.com; local ones always may
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// Tokens of those who may call: a file with a line NAME TOKEN for each
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// PEM file with the certificate and its chain
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_key"])]
    tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's private key
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_cert"])]
    tls_key: Option<PathBuf>,

    /// Log what was searched for and read, too
    #[arg(long, requires = "http", conflicts_with = "no_access_log")]
    log_queries: bool,

    /// Log no line for each request
    #[arg(long, requires = "http")]
    no_access_log: bool,

    #[command(flatten)]
    oauth: OAuthArguments,

    #[command(flatten)]
    limits: LimitArguments,
}

/// Access tokens of an authorization server
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the options")]
#[command(next_help_heading = "OAuth 2.1")]
struct OAuthArguments {
    /// Public URL of this server, like https://docs.example.com/mcp; turns OAuth on
    #[arg(long, value_name = "URL", requires_all = ["http", "oauth_issuer", "oauth_keys"])]
    oauth_resource: Option<String>,

    /// Authorization server whose tokens are accepted
    #[arg(long, value_name = "URL", requires = "oauth_resource")]
    oauth_issuer: Vec<String>,

    /// Its public keys, a JSON Web Key Set: a file, or an https URL
    #[arg(long, value_name = "FILE|URL", requires = "oauth_resource")]
    oauth_keys: Option<String>,

    /// Audience that a token must be meant for, instead of the resource's URL
    #[arg(long, value_name = "AUDIENCE", requires = "oauth_resource")]
    oauth_audience: Vec<String>,

    /// Scope that a token must have
    #[arg(long, value_name = "SCOPE", requires = "oauth_resource")]
    oauth_scope: Vec<String>,
}

/// What clients may take up
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP limits")]
struct LimitArguments {
    /// Bytes of a request's body
    #[arg(long, value_name = "BYTES", requires = "http", default_value_t = Limits::DEFAULT.body_bytes, value_parser = at_least(1_024))]
    max_body_bytes: usize,

    /// Seconds for the head of a request
    #[arg(long, value_name = "SECONDS", requires = "http", default_value = "10", value_parser = seconds)]
    header_timeout: Duration,

    /// Seconds that a connection may be silent
    #[arg(long, value_name = "SECONDS", requires = "http", default_value = "120", value_parser = seconds)]
    idle_timeout: Duration,

    /// Seconds for a request with its answer
    #[arg(long, value_name = "SECONDS", requires = "http", default_value = "30", value_parser = seconds)]
    request_timeout: Duration,

    /// Seconds that requests have to end when the server stops
    #[arg(long, value_name = "SECONDS", requires = "http", default_value = "30", value_parser = seconds)]
    shutdown_timeout: Duration,

    /// Requests answered at once
    #[arg(long, value_name = "NUMBER", requires = "http", default_value_t = Limits::DEFAULT.concurrent_requests, value_parser = at_least(1))]
    max_concurrent: usize,

    /// Connections open at once
    #[arg(long, value_name = "NUMBER", requires = "http", default_value_t = Limits::DEFAULT.connections, value_parser = at_least(1))]
    max_connections: usize,

    /// Requests per second of one client, 0 for no limit
    #[arg(long, value_name = "NUMBER", requires = "http", default_value_t = Limits::DEFAULT.requests_per_second.map_or(0, NonZeroU32::get))]
    rate: u32,

    /// Requests that a client may send at once after a pause
    #[arg(long, value_name = "NUMBER", requires = "http", default_value_t = Limits::DEFAULT.burst)]
    burst: NonZeroU32,

    /// Bytes of answers kept to be given again, 0 for none
    #[arg(long, value_name = "BYTES", requires = "http", default_value_t = DEFAULT_ANSWER_CACHE_BYTES, value_parser = at_least(0))]
    answer_cache: usize,

    /// Proxy whose X-Forwarded-For is believed, an address or a network like 10.0.0.0/8
    #[arg(long, value_name = "NETWORK", requires = "http", value_parser = network)]
    trusted_proxy: Vec<IpNet>,
}

const EXAMPLES: &str = "\
Without --http the client speaks on standard input and output; agent hosts start the program themselves.

Examples:
  docs-indexer build ./docs -o docs.idx
  docs-server docs.idx
  claude mcp add docs -- docs-server /abs/docs.idx
  docs-server docs.idx --http 127.0.0.1:8765
  docs-server docs.idx --http 0.0.0.0:8443 --allow-host docs.example.com --token-file tokens \\
      --tls-cert chain.pem --tls-key key.pem

A new file under the index's name is served as soon as it is seen to be whole; SIGHUP makes the server look at once.
The variable DOCS_SERVER_TOKENS holds entries NAME TOKEN as --token-file does, separated by commas.
Logs go to standard error, at the level in RUST_LOG (default: warn; info with --http).";

/// How clients are served.
#[derive(Debug)]
pub(crate) enum Transport {
    /// One client, on the standard streams.
    Stdio,
    /// Many, at an address.
    Http {
        address: String,
        options: Box<HttpOptions>,
    },
}

impl Cli {
    /// The one index to serve.
    pub(crate) fn index(&self) -> Result<&PathBuf, StartError> {
        match self.indexes.as_slice() {
            [index] => Ok(index),
            several => Err(StartError::SeveralIndexes { count: several.len() }),
        }
    }

    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            in_memory: self.no_mmap,
            verify: self.verify,
        }
    }

    /// Where clients are, and what holds for them. Tokens in the environment are handed in as they stand there.
    pub(crate) fn transport(&self, tokens: Option<String>) -> Transport {
        let http = &self.http;
        let Some(address) = http.http.clone() else {
            return Transport::Stdio;
        };
        let oauth = http.oauth.oauth_resource.clone().map(|resource| OAuthOptions {
            resource,
            issuers: http.oauth.oauth_issuer.clone(),
            key_set: http.oauth.oauth_keys.clone().unwrap_or_default(),
            audiences: http.oauth.oauth_audience.clone(),
            scopes: http.oauth.oauth_scope.clone(),
        });
        let limits = Limits {
            body_bytes: http.limits.max_body_bytes,
            header_timeout: http.limits.header_timeout,
            idle_timeout: http.limits.idle_timeout,
            request_timeout: http.limits.request_timeout,
            shutdown_timeout: http.limits.shutdown_timeout,
            concurrent_requests: http.limits.max_concurrent,
            connections: http.limits.max_connections,
            requests_per_second: NonZeroU32::new(http.limits.rate),
            burst: http.limits.burst,
        };
        let options = HttpOptions {
            allowed_hosts: http.allow_host.clone(),
            allowed_origins: http.allow_origin.clone(),
            authentication: AuthenticationOptions {
                token_file: http.token_file.clone(),
                tokens,
                oauth,
            },
            tls: http.tls_cert.clone().zip(http.tls_key.clone()),
            trusted_proxies: http.limits.trusted_proxy.clone(),
            limits,
            access_log: match (http.no_access_log, http.log_queries) {
                (true, _) => AccessLog::Off,
                (false, true) => AccessLog::WithQueries,
                (false, false) => AccessLog::On,
            },
            max_result_bytes: self.max_result_bytes,
            answer_cache_bytes: http.limits.answer_cache,
        };
        Transport::Http {
            address,
            options: Box::new(options),
        }
    }
}

fn result_bytes(text: &str) -> Result<usize, String> {
    let (least, most) = (MAX_RESULT_BYTES_RANGE.start(), MAX_RESULT_BYTES_RANGE.end());
    match text.parse() {
        Ok(bytes) if MAX_RESULT_BYTES_RANGE.contains(&bytes) => Ok(bytes),
        _ => Err(format!("it must be an integer from {least} to {most}")),
    }
}

/// A number that is large enough to be of use, and small enough for the counters that hold it.
fn at_least(least: usize) -> impl Fn(&str) -> Result<usize, String> + Clone {
    const MOST: usize = 1 << 30;
    move |text| match text.parse() {
        Ok(number) if (least..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("it must be an integer from {least} to {MOST}")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=MOST).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("it must be a number of seconds from 0.1 to {MOST}")),
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    let address = text.parse().map(|address: std::net::IpAddr| address.into());
    text.parse()
        .or(address)
        .map_err(|_| "it must be an address like 10.0.0.1 or a network like 10.0.0.0/8".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from([&["docs-server", "a.idx"], arguments].concat())
    }

    fn http(arguments: &[&str]) -> HttpOptions {
        let cli = parse(&[&["--http", "127.0.0.1:0"], arguments].concat()).unwrap();
        match cli.transport(None) {
            Transport::Http { options, .. } => *options,
            Transport::Stdio => panic!("no HTTP"),
        }
    }

    #[test]
    fn the_command_line_is_consistent_and_its_help_stays() {
        Cli::command().debug_assert();
        insta::assert_snapshot!(Cli::command().term_width(100).render_help());
    }

    #[test]
    fn the_budget_has_a_range() {
        for (text, want) in [
            ("1000", Some(1_000)),
            ("1000000", Some(1_000_000)),
            ("999", None),
            ("1000001", None),
            ("x", None),
        ] {
            let cli = parse(&["--max-result-bytes", text]);
            assert_eq!(cli.ok().map(|cli| cli.max_result_bytes), want, "{text}");
        }
    }

    #[test]
    fn one_index_is_served() {
        let cli = parse(&[]).unwrap();
        assert_eq!(cli.index().unwrap(), &PathBuf::from("a.idx"));
        let cli = parse(&["b.idx"]).unwrap();
        assert!(matches!(
            cli.index(),
            Err(StartError::SeveralIndexes { count: 2 })
        ));
        assert!(Cli::try_parse_from(["docs-server"]).is_err());
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let options = http(&[]);
        let (given, library) = (options.limits, Limits::DEFAULT);
        assert_eq!(format!("{given:?}"), format!("{library:?}"));
        assert_eq!(options.access_log, AccessLog::On);
        assert!(options.authentication.oauth.is_none() && options.tls.is_none());
    }

    #[test]
    fn options_of_http_want_http_and_those_they_belong_to() {
        for arguments in [
            &["--token-file", "t"][..],
            &["--rate", "5"],
            &["--allow-host", "a"],
            &["--http", "a:1", "--tls-cert", "c"],
            &["--http", "a:1", "--oauth-resource", "https://a/mcp"],
            &["--http", "a:1", "--oauth-scope", "docs"],
            &["--http", "a:1", "--log-queries", "--no-access-log"],
            &["--http", "a:1", "--burst", "0"],
            &["--http", "a:1", "--max-concurrent", "0"],
            &["--http", "a:1", "--idle-timeout", "nan"],
            &["--http", "a:1", "--idle-timeout", "-1"],
            &["--http", "a:1", "--trusted-proxy", "proxy"],
        ] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn what_is_given_arrives() {
        let options = http(&[
            "--rate",
            "0",
            "--idle-timeout",
            "2.5",
            "--trusted-proxy",
            "10.0.0.1",
            "--trusted-proxy",
            "fd00::/8",
            "--log-queries",
            "--oauth-resource",
            "https://docs.example/mcp",
            "--oauth-issuer",
            "https://issuer.example",
            "--oauth-keys",
            "keys.json",
            "--oauth-scope",
            "docs.read",
        ]);
        assert_eq!(options.limits.requests_per_second, None);
        assert_eq!(options.limits.idle_timeout, Duration::from_millis(2_500));
        assert_eq!(options.trusted_proxies.len(), 2);
        assert_eq!(options.access_log, AccessLog::WithQueries);
        let oauth = options.authentication.oauth.unwrap();
        assert_eq!((oauth.key_set.as_str(), oauth.scopes.len()), ("keys.json", 1));
    }
}
