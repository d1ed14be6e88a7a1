//! Runs the program in a folder of its own that holds trees and index files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A tree with many kinds of Markdown, kept beside the tests.
pub(crate) fn handbook() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/handbook")
        .to_str()
        .unwrap()
        .to_owned()
}

/// A folder in which the program runs.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A place with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    /// A place with the handbook compiled to `docs.idx`.
    pub(crate) fn with_handbook() -> Self {
        let place = Self::new();
        place.run(&["build", &handbook(), "-o", "docs.idx"]).succeeds();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Names of the files at the top, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The program, not yet run, without what the surroundings would tell it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docs-indexer"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("DOCS_INDEXER_") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// The report of a build that must succeed.
    pub(crate) fn report(&self, arguments: &[&str]) -> Value {
        let line = [&["build", "-o", "docs.idx", "--json"], arguments].concat();
        self.run(&line).succeeds().json()
    }

    /// Paths of the documents in an index, in its order.
    pub(crate) fn documents(&self, index: &str) -> Vec<String> {
        let listed = self.run(&["inspect", index, "--json"]).succeeds();
        let mut paths: Vec<String> = listed
            .json_lines()
            .iter()
            .map(|line| line["path"].as_str().unwrap().to_owned())
            .collect();
        paths.dedup();
        paths
    }
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        self.exits(0)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The keys of an object as they stand in its text, in their order.
pub(crate) fn keys(line: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Keys(#[serde(deserialize_with = "in_order")] Vec<String>);

    fn in_order<'d, D: serde::Deserializer<'d>>(source: D) -> Result<Vec<String>, D::Error> {
        struct Visitor;
        impl<'d> serde::de::Visitor<'d> for Visitor {
            type Value = Vec<String>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<M: serde::de::MapAccess<'d>>(self, mut map: M) -> Result<Vec<String>, M::Error> {
                let mut keys = Vec::new();
                while let Some((key, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(keys)
            }
        }
        source.deserialize_map(Visitor)
    }

    serde_json::from_str::<Keys>(line).unwrap().0
}
