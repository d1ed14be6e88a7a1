//! The program itself, over HTTP: what it says on standard error, and how it is stopped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::Request;
use crate::fixture;

const PATIENCE: Duration = Duration::from_secs(20);

struct Program {
    child: Child,
    url: String,
    address: String,
    log: Arc<Mutex<Vec<String>>>,
    reading: Option<std::thread::JoinHandle<()>>,
}

impl Program {
    fn start(index: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_docs-server"))
            .arg(index)
            .args(["--http", "127.0.0.1:0"])
            .args(arguments)
            .env_remove("RUST_LOG")
            .env("DOCS_SERVER_TOKENS", "ci s3cret-token-of-the-test")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(first["message"], "serving", "{first}");
        let url = first["url"].as_str().unwrap().to_owned();
        let address = url
            .split("://")
            .nth(1)
            .unwrap()
            .trim_end_matches("/mcp")
            .to_owned();
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&log);
        let reading = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                written.lock().unwrap().push(line);
            }
        });
        Self {
            child,
            url,
            address,
            log,
            reading: Some(reading),
        }
    }

    fn send(&self, request: &Request) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = request.clone().header("Connection", "close");
        stream.write_all(&request.bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &process])
            .status();
        assert!(sent.unwrap().success());
    }

    /// The exit code, once it has ended, and all lines of its log.
    fn ended(mut self) -> (Option<i32>, Vec<String>) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it goes on: {:?}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        };
        self.reading.take().unwrap().join().unwrap();
        let mut stdout = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut stdout)
            .unwrap();
        assert_eq!(stdout, "", "standard output is the protocol's");
        (status.code(), self.log())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Ended already in most tests.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn index() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.idx");
    fixture::finished().save(&path).unwrap();
    (folder, path)
}

fn search(token: &str) -> Request {
    Request::search("turbine Geheimnis").header("Authorization", &format!("Bearer {token}"))
}

#[cfg(unix)]
#[test]
fn the_log_has_a_line_for_each_request_and_no_secrets() {
    let (_folder, index) = index();
    let program = Program::start(&index, &[]);
    assert!(program.url.starts_with("http://127.0.0.1:") && !program.url.contains(":0/"));
    assert!(
        program
            .send(&search("s3cret-token-of-the-test"))
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        program
            .send(&search("gu3ssed-token-of-the-test"))
            .starts_with("HTTP/1.1 401")
    );
    let misplaced = search("x").line("POST /mcp?access_token=s3cret-token-of-the-test HTTP/1.1");
    assert!(program.send(&misplaced).starts_with("HTTP/1.1 401"));
    let foreign = search("s3cret-token-of-the-test").header("Origin", "https://evil.example");
    assert!(program.send(&foreign).starts_with("HTTP/1.1 403"));
    let broken = Request::post("{Geheimnis").header("Authorization", "Bearer s3cret-token-of-the-test");
    assert!(program.send(&broken).starts_with("HTTP/1.1 400"));
    assert!(
        program
            .send(&Request::get("/healthz"))
            .starts_with("HTTP/1.1 200")
    );
    program.signal("TERM");
    let (code, log) = program.ended();
    assert_eq!(code, Some(0), "{log:?}");
    let lines: Vec<Value> = log
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    let requests: Vec<&Value> = lines.iter().filter(|line| line["target"] == "access").collect();
    let statuses: Vec<i64> = requests
        .iter()
        .map(|line| line["status"].as_i64().unwrap())
        .collect();
    assert_eq!(
        statuses,
        [200, 401, 401, 403, 400],
        "probes are left out: {log:?}"
    );
    let first = requests[0];
    assert_eq!(
        (
            &first["client"],
            &first["identity"],
            &first["tool"],
            &first["outcome"],
            &first["rpc"],
            &first["path"]
        ),
        (
            &"127.0.0.1".into(),
            &"ci".into(),
            &"search_docs".into(),
            &"ok".into(),
            &"tools/call".into(),
            &"/mcp".into()
        ),
    );
    assert!(first["milliseconds"].as_f64().unwrap() > 0.0);
    assert_eq!(requests[3]["refusal"], "origin");
    for secret in [
        "s3cret",
        "gu3ssed",
        "Geheimnis",
        "turbine",
        "access_token",
        "evil",
    ] {
        assert!(
            !log.iter().any(|line| line.contains(secret)),
            "{secret} in {log:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn queries_are_logged_if_asked_and_nothing_if_not_wanted() {
    let (_folder, index) = index();
    for (argument, wanted) in [("--log-queries", true), ("--no-access-log", false)] {
        let program = Program::start(&index, &[argument]);
        assert!(
            program
                .send(&search("s3cret-token-of-the-test"))
                .starts_with("HTTP/1.1 200")
        );
        program.signal("INT");
        let (code, log) = program.ended();
        assert_eq!(code, Some(0));
        let told = log
            .iter()
            .any(|line| line.contains("\"query\":\"turbine Geheimnis\""));
        assert_eq!(told, wanted, "{log:?}");
        assert_eq!(log.iter().any(|line| line.contains("\"access\"")), wanted);
        assert!(!log.iter().any(|line| line.contains("s3cret")), "{log:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_second_signal_does_not_wait_for_requests() {
    let (_folder, index) = index();
    let program = Program::start(&index, &["--request-timeout", "600", "--shutdown-timeout", "600"]);
    let mut stream = TcpStream::connect(&program.address).unwrap();
    let request = search("s3cret-token-of-the-test").header("Content-Length", "10000");
    stream.write_all(&request.bytes()).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let authorized = Request::get("/metrics").header("Authorization", "Bearer s3cret-token-of-the-test");
    while !program.send(&authorized).contains("connections_open 2\n") {
        assert!(Instant::now() < deadline);
    }
    program.signal("TERM");
    while !program.log().iter().any(|line| line.contains("\"stopping\"")) {
        assert!(Instant::now() < deadline, "{:?}", program.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    program.signal("TERM");
    let (code, log) = program.ended();
    assert_eq!(code, Some(0));
    assert!(log.iter().any(|line| line.contains("again")), "{log:?}");
}

#[test]
fn an_open_address_without_tokens_is_refused_with_what_to_add() {
    let (_folder, index) = index();
    let output = Command::new(env!("CARGO_BIN_EXE_docs-server"))
        .arg(&index)
        .args(["--http", "0.0.0.0:0"])
        .env_remove("DOCS_SERVER_TOKENS")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("can be reached from other machines; add --token-file"),
        "{said}"
    );
    assert!(said.contains("--allow-host"), "{said}");
}

#[test]
fn a_log_that_nobody_reads_holds_up_no_answer() {
    let (_folder, index) = index();
    let mut child = Command::new(env!("CARGO_BIN_EXE_docs-server"))
        .arg(&index)
        .args(["--http", "127.0.0.1:0", "--rate", "0"])
        .env_remove("RUST_LOG")
        .env_remove("DOCS_SERVER_TOKENS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut unread = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    unread.read_line(&mut first).unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    let url = first["url"].as_str().unwrap();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Far more lines than a pipe holds.
    let request = Request::get(&format!("/{}", "x".repeat(100))).bytes();
    for _ in 0..3_000 {
        stream.write_all(&request).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert!(status.ends_with(b"404"));
        // The rest of the reply ends with the only brace after its error.
        let mut byte = [0];
        let mut depth = 0;
        loop {
            stream.read_exact(&mut byte).unwrap();
            match byte[0] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                break;
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
