//! The index is replaced while it is served: in process, and under the program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use docs_index::{Index, ReadError, SearchRequest};
use docs_server::{Corpus, CorpusSummary, Found, IndexFile, Lookup, OpenOptions, Reloader, Served};
use serde_json::{Value, json};

use crate::fixture;
use crate::in_process::{Client, modern_meta};
use crate::process::{Files, command, lines, wait_at_most};

/// How long a test waits for what takes a second or two.
const PATIENCE: Duration = Duration::from_secs(30);

fn edition(name: &str) -> Index {
    Index::from_bytes(fixture::edition(name).into_bytes()).unwrap()
}

/// Served by itself, it is replaced in the midst of the first call for a section.
#[derive(Debug)]
struct ReplacedMeanwhile {
    old: Index,
    new: Mutex<Option<Index>>,
    served: OnceLock<Arc<Served>>,
}

impl Corpus for ReplacedMeanwhile {
    fn summary(&self) -> CorpusSummary {
        Corpus::summary(&self.old)
    }

    fn search(&self, request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        Corpus::search(&self.old, request)
    }

    fn section(&self, id: &str) -> Result<Lookup, ReadError> {
        let new = self.new.lock().unwrap().take();
        self.served.get().unwrap().replace(Arc::new(new.unwrap()));
        Corpus::section(&self.old, id)
    }
}

#[tokio::test]
async fn a_call_ends_on_the_edition_on_which_it_began() {
    let corpus = Arc::new(ReplacedMeanwhile {
        old: edition("first"),
        new: Mutex::new(Some(edition("second"))),
        served: OnceLock::new(),
    });
    let served = Arc::new(Served::new(Arc::<ReplacedMeanwhile>::clone(&corpus)));
    corpus.served.set(Arc::clone(&served)).unwrap();
    let mut client = Client::of(Arc::clone(&served), docs_server::DEFAULT_MAX_RESULT_BYTES);
    client.initialize("2025-11-25").await;
    for want in ["first", "second"] {
        let text = client.answered("get_section", json!({"id": "page.md"})).await;
        assert!(text.contains(&format!("flywheel of the {want}")), "{text}");
        assert_eq!(served.swaps(), 1);
    }
    client.leave().await.unwrap();
}

#[tokio::test]
async fn a_hundred_swaps_between_calls_keep_nothing_of_what_was_replaced() {
    let files = Files::with(&fixture::edition("number 0"));
    let open = || Arc::new(docs_server::open(&files.index(), &OpenOptions::default()).unwrap());
    let served = Arc::new(Served::new(open()));
    let mut client = Client::of(Arc::clone(&served), docs_server::DEFAULT_MAX_RESULT_BYTES);
    client.initialize("2025-11-25").await;
    for number in 1..=100 {
        fixture::edition(&format!("number {number}"))
            .save(&files.index())
            .unwrap();
        served.replace(open());
        let text = client.answered("search_docs", json!({"query": "flywheel"})).await;
        assert!(text.contains(&format!("number {number}.")), "{text}");
    }
    assert_eq!((served.swaps(), served.current().number()), (100, 101));
    if let Some(held) = held_by("self", &files) {
        assert!(held <= 1, "{held} files are held open or mapped");
    }
    client.leave().await.unwrap();
}

#[tokio::test]
async fn a_file_that_took_the_place_before_the_watch_began_is_served() {
    let files = Files::with(&fixture::edition("first"));
    let (file, index) = IndexFile::open(&files.index(), &OpenOptions::default()).unwrap();
    fixture::edition("second").save(&files.index()).unwrap();
    let served = Arc::new(Served::new(Arc::new(index)));
    let reloading = tokio::spawn(Reloader::new(file, Arc::clone(&served)).run());
    let begin = Instant::now();
    while served.swaps() == 0 {
        assert!(begin.elapsed() < PATIENCE, "the new file was not noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let newest = served.current();
    assert_eq!(newest.summary().title, "Handbook of the second");
    assert_eq!(newest.summary().content_hash.len(), 64);
    assert_eq!(
        newest.summary().file_bytes,
        files.index().metadata().unwrap().len()
    );
    reloading.abort();
}

/// How many files of the folder a process holds open or mapped, where the system tells.
fn held_by(process: &str, files: &Files) -> Option<usize> {
    let folder = files.path("").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let mapped = maps
        .lines()
        .filter(|line| line.contains(folder) && line.contains(".idx"));
    let open = std::fs::read_dir(format!("/proc/{process}/fd"))
        .ok()?
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(folder) && target.to_string_lossy().contains(".idx"));
    Some(mapped.count() + open.count())
}

/// The program, serving `docs.idx` to us.
struct Session<'f> {
    files: &'f Files,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: i64,
}

impl<'f> Session<'f> {
    fn start(files: &'f Files, arguments: &[&str], log_level: &str) -> Self {
        let mut command = command(&files.index());
        command.args(arguments).env("RUST_LOG", log_level);
        command.stderr(std::fs::File::create(files.path("log")).unwrap());
        let mut child = command.spawn().unwrap();
        Self {
            files,
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            last_id: 0,
        }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.last_id += 1;
        params["_meta"] = modern_meta();
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.stdin.write_all(&lines(&[request])).unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply["id"], self.last_id, "{reply}");
        reply["result"].clone()
    }

    /// The edition that a search is answered from.
    fn edition(&mut self) -> String {
        let call = json!({"name": "search_docs", "arguments": {"query": "flywheel"}});
        let result = self.request("tools/call", call);
        let text = result["content"][0]["text"].as_str().unwrap();
        let (_, rest) = text.split_once("the flywheel of the ").unwrap();
        rest.split_once('.').unwrap().0.to_owned()
    }

    #[track_caller]
    fn wait_for_edition(&mut self, name: &str) {
        let begin = Instant::now();
        while self.edition() != name {
            assert!(begin.elapsed() < PATIENCE, "{name} is not served: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.files.path("log")).unwrap()
    }

    fn logged(&self, what: &str) -> usize {
        self.log().lines().filter(|line| line.contains(what)).count()
    }

    #[track_caller]
    fn wait_for_log(&self, what: &str, times: usize) {
        let begin = Instant::now();
        while self.logged(what) < times {
            assert!(
                begin.elapsed() < PATIENCE,
                "not logged {times} times: {what}: {}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[cfg(unix)]
    fn hang_up(&self) {
        let kill = Command::new("kill")
            .args(["-HUP", &self.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
    }

    #[track_caller]
    fn end(self) {
        let Self { stdin, mut child, .. } = self;
        drop(stdin);
        assert_eq!(wait_at_most(&mut child, Duration::from_secs(10)), Some(0));
    }
}

/// Other bytes under the index's name, as a finished file that is renamed into place.
fn put(files: &Files, bytes: &[u8]) {
    std::fs::write(files.path("new"), bytes).unwrap();
    std::fs::rename(files.path("new"), files.index()).unwrap();
}

#[test]
fn the_program_serves_the_file_that_stands_under_the_name() {
    let files = Files::with(&fixture::edition("first"));
    let mut session = Session::start(&files, &[], "docs_server=info");
    assert_eq!(session.edition(), "first");
    fixture::edition("second").save(&files.index()).unwrap();
    session.wait_for_edition("second");
    let discovered = session.request("server/discover", json!({}));
    let instructions = discovered["instructions"].as_str().unwrap();
    assert!(
        instructions.starts_with("Documentation of Handbook of the second: 1 pages"),
        "{instructions}"
    );
    std::fs::remove_file(files.index()).unwrap();
    session.wait_for_log("is not there any more", 1);
    assert_eq!(session.edition(), "second");
    fixture::edition("third").save(&files.index()).unwrap();
    session.wait_for_edition("third");
    let log = session.log();
    assert_eq!(session.logged("a new index is served"), 2, "{log}");
    assert_eq!(session.logged("is not there any more"), 1, "{log}");
    let hash = edition("third").summary().content_hash;
    assert_eq!(session.logged(&hash), 1, "{log}");
    assert_eq!(log.lines().count(), 3, "{log}");
    session.end();
}

#[test]
fn what_is_no_good_index_is_refused_once_and_the_old_one_serves_on() {
    let files = Files::with(&fixture::edition("first"));
    let whole = fixture::edition("second").into_bytes();
    let mut flipped = whole.clone();
    let middle = flipped.len() * 3 / 4;
    flipped[middle] ^= 0x10;
    let mut other_version = whole.clone();
    other_version[8] ^= 0x40;
    let unfit: &[(&str, &[u8], &str)] = &[
        ("truncated", &whole[..whole.len() / 2], "its header says"),
        ("foreign", b"# no index at all\n", "not an index file"),
        ("bit-flipped", &flipped, "is damaged"),
        ("of another version", &other_version, "cannot serve"),
        ("a shard", &fixture::shard().into_bytes(), "is shard 1 of 2"),
        ("empty", b"", "cannot serve"),
    ];
    let mut session = Session::start(&files, &[], "warn");
    assert_eq!(session.edition(), "first");
    for (count, (name, bytes, fact)) in unfit.iter().enumerate() {
        put(&files, bytes);
        session.wait_for_log("was refused", count + 1);
        assert_eq!(session.edition(), "first", "{name}");
        let log = session.log();
        let line = log.lines().last().unwrap();
        assert!(
            line.contains(fact) && line.contains("docs.idx") && line.contains("docs-indexer "),
            "{name}: {line}"
        );
    }
    // Nothing of what was refused is held.
    if let Some(held) = held_by(&session.child.id().to_string(), &files) {
        assert!(held <= 1, "{held} files are held open or mapped");
    }
    put(&files, &whole);
    session.wait_for_edition("second");
    assert_eq!(session.log().lines().count(), unfit.len(), "{}", session.log());
    session.end();
}

#[test]
fn an_index_in_memory_is_replaced_too() {
    let files = Files::with(&fixture::edition("first"));
    let mut session = Session::start(&files, &["--no-mmap"], "warn");
    assert_eq!(session.edition(), "first");
    // Written in place, which no index that is read into memory minds.
    std::fs::write(files.index(), fixture::edition("second").into_bytes()).unwrap();
    session.wait_for_edition("second");
    std::fs::File::create(files.index()).unwrap();
    session.wait_for_log("was refused", 1);
    assert_eq!(session.edition(), "second");
    assert_eq!(held_by(&session.child.id().to_string(), &files).unwrap_or(0), 0);
    session.end();
}

#[cfg(unix)]
#[test]
fn a_link_that_is_switched_is_a_new_file() {
    let files = Files::with(&fixture::edition("unused"));
    let link = |target: &Path| {
        std::os::unix::fs::symlink(target, files.path("link")).unwrap();
        std::fs::rename(files.path("link"), files.index()).unwrap();
    };
    for name in ["first", "second"] {
        fixture::edition(name).save(&files.path(name)).unwrap();
    }
    link(Path::new("first"));
    let mut session = Session::start(&files, &[], "warn");
    assert_eq!(session.edition(), "first");
    link(Path::new("second"));
    session.wait_for_edition("second");
    session.end();
}

#[cfg(unix)]
#[test]
fn a_hundred_swaps_on_request_leave_no_descriptor_or_map_behind() {
    let files = Files::with(&fixture::edition("number 0"));
    let mut session = Session::start(&files, &[], "warn");
    assert_eq!(session.edition(), "number 0");
    let descriptors = |session: &Session<'_>| {
        std::fs::read_dir(format!("/proc/{}/fd", session.child.id()))
            .ok()
            .map(Iterator::count)
    };
    let before = descriptors(&session);
    for number in 1..=100 {
        let name = format!("number {number}");
        fixture::edition(&name).save(&files.index()).unwrap();
        session.hang_up();
        session.wait_for_edition(&name);
    }
    assert_eq!(descriptors(&session), before);
    if let Some(held) = held_by(&session.child.id().to_string(), &files) {
        assert_eq!(held, 1, "files held open or mapped");
    }
    assert_eq!(session.log(), "");
    session.end();
}
