//! The program itself, on real pipes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use docs_index::FinishedIndex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture;
use crate::in_process::modern_meta;

pub(crate) struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self::with(&fixture::finished())
    }

    pub(crate) fn with(index: &FinishedIndex) -> Self {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        index.save(&files.index()).unwrap();
        files
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path("docs.idx")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

pub(crate) fn command(index: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
    command.arg(index).env_remove("RUST_LOG");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Sends all input, closes it, and reads what comes: every line of standard output as JSON, the standard error,
/// the exit code.
fn converse(mut command: Command, input: &[u8]) -> (Vec<Value>, String, i32) {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = std::thread::spawn(move || {
        // A program that ends early leaves a broken pipe behind; what it answered is judged elsewhere.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.is_empty() || stdout.ends_with('\n'), "{stdout:?}");
    let lines = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line:?}")));
    let lines: Vec<Value> = lines.collect();
    assert!(lines.iter().all(|line| line["jsonrpc"] == "2.0"));
    (
        lines,
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

pub(crate) fn lines(messages: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        bytes.extend_from_slice(message.to_string().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn initialize() -> Vec<Value> {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

fn search(id: i64, query: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "search_docs", "arguments": {"query": query}}})
}

fn replies_to(lines: &[Value], id: &Value) -> usize {
    lines.iter().filter(|line| line["id"] == *id).count()
}

#[test]
fn broken_lines_do_not_end_the_session() {
    let files = Files::new();
    let input = b"not json\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\xff\xfe\n{\"jsonrpc\":\"2.0\",\"id\":2\n[]\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n";
    let (replies, stderr, code) = converse(command(&files.index()), input);
    assert_eq!(code, 0, "{stderr}");
    let codes: Vec<i64> = replies
        .iter()
        .filter_map(|reply| reply["error"]["code"].as_i64())
        .collect();
    assert_eq!(codes, [-32_700, -32_700, -32_700, -32_600]);
    assert_eq!(
        (replies_to(&replies, &json!(1)), replies_to(&replies, &json!(3))),
        (1, 1)
    );
    assert_eq!(replies_to(&replies, &Value::Null), 4);
    assert_eq!(stderr.lines().count(), 4, "a line of log for each: {stderr}");
}

#[test]
fn line_ends_of_any_system_and_a_missing_last_one_are_understood() {
    let files = Files::new();
    let mut messages = initialize();
    messages.push(search(1, "turbine"));
    let input = String::from_utf8(lines(&messages))
        .unwrap()
        .replace('\n', "\r\n\r\n");
    let (replies, stderr, code) = converse(command(&files.index()), input.trim_end().as_bytes());
    assert_eq!((replies.len(), stderr.as_str(), code), (2, "", 0));
    assert!(
        replies[1]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("[guide/long.md#steps")
    );
}

#[test]
fn the_end_of_input_ends_the_program_at_once() {
    let files = Files::new();
    for messages in [vec![], initialize()] {
        let begin = Instant::now();
        let (_, stderr, code) = converse(command(&files.index()), &lines(&messages));
        assert_eq!((stderr.as_str(), code), ("", 0));
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_client_that_leaves_without_reading_does_not_hold_us() {
    let files = Files::new();
    let mut child = command(&files.index()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut messages = initialize();
    messages.extend((1..=100).map(|id| search(id, "flywheel")));
    stdin.write_all(&lines(&messages)).unwrap();
    drop(stdin);
    // The pipe is full, and its reader does nothing.
    let code = wait_at_most(&mut child, Duration::from_secs(10));
    assert_eq!(code, Some(0));
}

#[test]
fn a_client_that_takes_no_answers_any_more_ends_us_quietly() {
    let files = Files::new();
    for said_hello in [false, true] {
        let mut child = command(&files.index()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        if said_hello {
            stdin.write_all(&lines(&initialize())).unwrap();
            stdout.read_line(&mut String::new()).unwrap();
        }
        drop(stdout);
        stdin.write_all(&lines(&initialize())).unwrap();
        // Input stays open, yet there is nobody to serve.
        assert_eq!(wait_at_most(&mut child, Duration::from_secs(10)), Some(0));
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(stderr, "");
        drop(stdin);
    }
}

#[test]
fn an_error_answer_is_logged_only_when_asked_for() {
    let files = Files::new();
    let mut messages = initialize();
    messages.push(json!({"jsonrpc": "2.0", "id": 1, "method": "no/such"}));
    for (level, is_logged) in [
        (None, false),
        (Some(" "), false),
        (Some("warn"), true),
        (Some("rmcp=error"), false),
    ] {
        let mut command = command(&files.index());
        command.envs(level.map(|level| ("RUST_LOG", level)));
        let (replies, stderr, code) = converse(command, &lines(&messages));
        assert_eq!((replies.len(), code), (2, 0));
        assert_eq!(!stderr.is_empty(), is_logged, "{level:?}: {stderr}");
    }
}

pub(crate) fn wait_at_most(child: &mut Child, patience: Duration) -> Option<i32> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    None
}

#[test]
fn two_hundred_requests_at_once_are_all_answered() {
    let files = Files::new();
    let mut messages = initialize();
    messages.extend((1..=200).map(|id| search(id, if id % 2 == 0 { "flywheel" } else { "turbine" })));
    let (replies, stderr, code) = converse(command(&files.index()), &lines(&messages));
    assert_eq!((stderr.as_str(), code), ("", 0));
    assert_eq!(replies.len(), 201);
    for id in 0..=200 {
        assert_eq!(replies_to(&replies, &json!(id)), 1, "{id}");
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_by_its_id() {
    let files = Files::new();
    let mut messages = initialize();
    messages.push(search(1, &"x".repeat((1 << 20) + 1)));
    messages.push(search(2, "turbine"));
    let long_query = "turbine ".repeat(100_000);
    messages.push(search(3, &long_query));
    let (replies, _, code) = converse(command(&files.index()), &lines(&messages));
    assert_eq!(code, 0);
    assert_eq!(replies.len(), 4, "{replies:?}");
    for reply in &replies {
        // Map keys are written in order, so `id` stands before `params`.
        assert_eq!(reply.get("error").is_some(), reply["id"] == 1, "{reply}");
    }
    assert_eq!(
        replies.iter().find(|reply| reply["id"] == 1).unwrap()["error"]["code"],
        -32_600
    );
}

#[test]
fn standard_output_carries_nothing_but_the_protocol() {
    let files = Files::new();
    let mut messages = initialize();
    messages.push(search(1, "flywheel"));
    messages.push(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nope"}}));
    let mut input = lines(&messages);
    input.extend_from_slice(b"garbage\n");
    for level in ["trace", "off", "", "nonsense=="] {
        let mut command = command(&files.index());
        command.env("RUST_LOG", level);
        // `converse` takes every line apart.
        let (replies, stderr, code) = converse(command, &input);
        assert_eq!((replies.len(), code), (4, 0), "{level}");
        assert_eq!(level == "trace", stderr.contains("TRACE"), "{level}");
        assert_eq!(level == "off", stderr.is_empty(), "{level}: {stderr}");
    }
}

#[test]
fn both_generations_are_served_by_the_program() {
    let files = Files::new();
    let mut call = search(1, "turbine");
    call["params"]["_meta"] = modern_meta();
    for arguments in [
        &[][..],
        &["--no-mmap"],
        &["--verify"],
        &["--max-result-bytes", "1000"],
    ] {
        let mut command = command(&files.index());
        command.args(arguments);
        let (replies, stderr, code) = converse(command, &lines(&[call.clone()]));
        assert_eq!((stderr.as_str(), code), ("", 0), "{arguments:?}");
        assert!(
            replies[0]["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("[guide/long.md#steps")
        );
    }
}

#[test]
fn answers_come_while_input_stays_open() {
    let files = Files::new();
    let mut child = command(&files.index()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(&lines(&initialize())).unwrap();
    for id in 1..4 {
        stdin.write_all(&lines(&[search(id, "turbine")])).unwrap();
        let reply = loop {
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            let reply: Value = serde_json::from_str(&line).unwrap();
            if reply["id"] != 0 {
                break reply;
            }
        };
        assert_eq!(reply["id"], id);
    }
    drop(stdin);
    assert_eq!(wait_at_most(&mut child, Duration::from_secs(10)), Some(0));
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

/// Hosts written in JavaScript start their servers on sockets.
#[cfg(unix)]
#[test]
fn sockets_serve_as_standard_streams_too() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let files = Files::new();
    let (mut ours_in, theirs_in) = UnixStream::pair().unwrap();
    let (ours_out, theirs_out) = UnixStream::pair().unwrap();
    let mut command = command(&files.index());
    command
        .stdin(OwnedFd::from(theirs_in))
        .stdout(OwnedFd::from(theirs_out));
    let mut child = command.spawn().unwrap();
    // The command keeps its copies of the program's ends, and input would never end.
    drop(command);
    let mut stdout = BufReader::new(ours_out);
    let mut messages = initialize();
    messages.extend((1..=50).map(|id| search(id, "flywheel")));
    ours_in.write_all(&lines(&messages)).unwrap();
    for _ in 0..=50 {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap();
    }
    drop(ours_in);
    assert_eq!(wait_at_most(&mut child, Duration::from_secs(10)), Some(0));
}

#[test]
fn files_serve_as_standard_streams_too() {
    let files = Files::new();
    let mut messages = initialize();
    messages.push(search(1, "turbine"));
    std::fs::write(files.path("in.jsonl"), lines(&messages)).unwrap();
    let mut command = command(&files.index());
    command.stdin(std::fs::File::open(files.path("in.jsonl")).unwrap());
    command.stdout(std::fs::File::create(files.path("out.jsonl")).unwrap());
    let mut child = command.spawn().unwrap();
    assert_eq!(wait_at_most(&mut child, Duration::from_secs(10)), Some(0));
    assert_eq!(
        std::fs::read_to_string(files.path("out.jsonl"))
            .unwrap()
            .lines()
            .count(),
        2
    );
}

#[test]
fn a_file_that_can_not_be_served_is_one_line_on_standard_error() {
    let files = Files::new();
    std::fs::write(files.path("foreign.idx"), "# no index at all\n".repeat(100)).unwrap();
    std::fs::write(files.path("empty.idx"), "").unwrap();
    let whole = std::fs::read(files.index()).unwrap();
    std::fs::write(files.path("short.idx"), &whole[..whole.len() / 2]).unwrap();
    fixture::shard().save(&files.path("shard.idx")).unwrap();
    for (name, fact, remedy) in [
        ("missing.idx", "cannot serve ", "docs-indexer build"),
        ("foreign.idx", "cannot serve ", "docs-indexer build"),
        ("empty.idx", "cannot serve ", "docs-indexer build"),
        ("short.idx", "cannot serve ", "docs-indexer build"),
        ("shard.idx", " is shard 1 of 2", "docs-indexer merge"),
    ] {
        for mode in [&[][..], &["--no-mmap"]] {
            let mut command = command(&files.path(name));
            command.args(mode);
            let (replies, stderr, code) = converse(command, b"");
            assert_eq!((replies.len(), code), (0, 1), "{name}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
            assert!(
                stderr.starts_with("docs-server: ") && stderr.contains(fact) && stderr.contains(remedy),
                "{stderr}"
            );
            assert!(stderr.contains(name), "{stderr}");
        }
    }
}

#[test]
fn damage_is_found_when_asked_for() {
    let files = Files::new();
    let mut bytes = std::fs::read(files.index()).unwrap();
    let middle = bytes.len() * 3 / 4;
    bytes[middle] ^= 0x10;
    std::fs::write(files.path("bad.idx"), bytes).unwrap();
    let mut command = command(&files.path("bad.idx"));
    command.arg("--verify");
    let (_, stderr, code) = converse(command, b"");
    assert_eq!((stderr.lines().count(), code), (1, 1), "{stderr}");
    assert!(stderr.contains("docs-indexer build"), "{stderr}");
}

#[test]
fn wrong_usage_is_told_by_its_own_exit_code() {
    let files = Files::new();
    let index = files.index();
    let index = index.to_str().unwrap();
    for arguments in [
        &[][..],
        &[index, index],
        &[index, "--max-result-bytes", "5"],
        &[index, "--nope"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_docs-server"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
    for (flag, want) in [
        ("--version", env!("CARGO_PKG_VERSION")),
        ("--help", "claude mcp add docs -- docs-server /abs/docs.idx"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_docs-server"))
            .arg(flag)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8(output.stdout).unwrap().contains(want));
    }
}
