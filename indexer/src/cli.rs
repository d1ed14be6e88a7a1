//! The command line: what can be asked, and how the answer ends.
//!
//! In: arguments and the environment. Out: a command run and an exit code: 0 done, 1 failed, 2 wrong usage. Flags beat
//! the environment (`DOCS_INDEXER_` and the option's name), the environment beats the default; a blank variable
//! is none.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::BoolishValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::build::{BuildOptions, Shard, Synonyms};
use crate::eval_command::Floor;
use crate::evaluation::metrics::{Metric, UnknownMetric};
use crate::flavour::Flavour;
use crate::output::{Output, is_closed_pipe};
use crate::walk::WalkOptions;
use crate::{build_command, eval_command, inspect, merge_command, search_command, verify_command};

/// Examples at the foot of `docs-indexer --help`.
const EXAMPLES: &str = "\
Examples:
  docs-indexer build ./docs -o docs.idx
  docs-indexer search docs.idx 'how do I upload a file'
  docs-indexer inspect docs.idx

Every option can also be given in the environment: --max-file-size 4M as
DOCS_INDEXER_MAX_FILE_SIZE=4M, a switch as DOCS_INDEXER_STRICT=1. Flags win.

Exit codes: 0 done (no hit is fine), 1 failed, 2 wrong usage.";

const BUILD_EXAMPLES: &str = "\
Examples:
  docs-indexer build ./docs -o docs.idx
  docs-indexer build . -o docs.idx --include 'docs/**' --exclude '**/drafts/**'
  docs-indexer build ./docs -o docs.idx --strict --json > report.json
  docs-indexer build docs/en/docs -o docs.idx --include-root docs_src --check-links
  docs-indexer build ./docs -o docs.idx --format sarif > docs.sarif
  docs-indexer build ./docs -o docs.idx --synonyms words.txt
  docs-indexer build ./docs -o 1.idx --shard 1/2

Globs know *, ?, [ab], {a,b} and **. A glob with a / is matched against the path in
the tree, one without against every name in it; one that matches a folder matches
all that is in it.

A list of synonyms has one group of words that mean the same on each line, such as
delete, remove, erase; # begins a comment. It takes the place of the built-in list.";

const INSPECT_EXAMPLES: &str = "\
Examples:
  docs-indexer inspect docs.idx
  docs-indexer inspect docs.idx --json | grep '\"level\":1'";

const SEARCH_EXAMPLES: &str = "\
Examples:
  docs-indexer search docs.idx 'how do I upload a file'
  docs-indexer search docs.idx --k 3 --path guide/ -- --strict
  docs-indexer search docs.idx --queries golden.jsonl --no-group > hits.jsonl
  docs-indexer search docs.idx --explain --k 1 'uplaod a file'

--explain shows below each hit the terms of the query with their scores, q (less than 1 for a
part of a name) and idf; where each was found, or what stands for it; then the sum S of the
scores, P of the whole page, M of the page's best section, and what path and heading change.";

const SEARCH_USAGE: &str = "\
docs-indexer search [OPTIONS] <FILE> <QUERY>...
       docs-indexer search [OPTIONS] <FILE> --queries <FILE>";

const EVAL_EXAMPLES: &str = "\
Examples:
  docs-indexer eval docs.idx --queries golden.jsonl
  docs-indexer eval docs.idx --queries golden.jsonl --min recall@5=0.8 --min ndcg@10=0.7
  docs-indexer eval docs.idx --queries golden.jsonl --json > before.json
  docs-indexer eval docs.idx --queries golden.jsonl --baseline before.json

A golden query is a line such as
  {\"id\": \"g1\", \"query\": \"rotate keys\", \"expect\": [{\"path\": \"ops/keys.md\", \"line\": 41}]}
An expectation names a section by a \"line\" of the file or by an \"anchor\", or without either
the page: then any section of it is right. Its \"grade\" is 1 if not given. Sections in
\"exclude\" count as if they were not there. Queries of one \"type\" are also judged by
themselves.

Metrics: ndcg@10, recall@5, recall@10, mrr@10, success@1. They judge the bare ranking, as
search --no-group --k 100 gives it. Costs are those of the server's answers, which are grouped;
tokens are counted by o200k_base. Intervals are of 95 %, by 10,000 bootstrap resamples; p is of
10,000 random sign flips. Random numbers have a fixed seed.";

const MERGE_EXAMPLES: &str = "\
Example:
  docs-indexer build ./docs -o 1.idx --shard 1/2
  docs-indexer build ./docs -o 2.idx --shard 2/2
  docs-indexer merge 1.idx 2.idx -o docs.idx";

/// Compile a docs tree into one index file, and look into it.
///
/// docs-server serves the file to AI agents over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "docs-indexer", version = version(), max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a docs tree into an index file
    #[command(after_help = BUILD_EXAMPLES)]
    Build(BuildArgs),
    /// Show what is in an index file
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(InspectArgs),
    /// Search an index file
    #[command(after_help = SEARCH_EXAMPLES, override_usage = SEARCH_USAGE)]
    Search(SearchArgs),
    /// Judge search by golden queries: the quality gate of a pipeline
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(EvalArgs),
    /// Check every checksum and every structure of an index file
    Verify(VerifyArgs),
    /// Merge the shards of one build; the result equals one build of the whole, byte for byte
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
}

/// How a build reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Lines for people, on stderr.
    Text,
    /// One JSON object on stdout.
    Json,
    /// One SARIF 2.1.0 log on stdout.
    Sarif,
}

/// Arguments of `build`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct BuildArgs {
    /// The docs tree: a folder with .md, .markdown or .mdx files
    #[arg(value_name = "DIR")]
    pub tree: PathBuf,
    /// Further trees, which one index cannot hold yet: taken in only to say so
    #[arg(hide = true)]
    pub further_trees: Vec<PathBuf>,
    /// The index file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Form of the report: text on stderr, or json or sarif (for code-review tools) on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text, hide_possible_values = true)]
    pub format: ReportFormat,
    /// Print the report as one JSON object on stdout: --format json
    #[arg(long)]
    pub json: bool,
    /// Fail where there are warnings, and write nothing
    #[arg(long)]
    pub strict: bool,
    /// List on stderr what is left out and why
    #[arg(short, long)]
    pub verbose: bool,
    /// Threads to use (default: one a core); the file is the same with any number
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Take only documents that match this glob (repeatable)
    #[arg(long, value_name = "GLOB", value_delimiter = '\n', help_heading = "Documents")]
    pub include: Vec<String>,
    /// Leave out documents and folders that match this glob (repeatable)
    #[arg(long, value_name = "GLOB", value_delimiter = '\n', help_heading = "Documents")]
    pub exclude: Vec<String>,
    /// Take hidden files and folders too
    #[arg(long, help_heading = "Documents")]
    pub hidden: bool,
    /// Pay no heed to .gitignore, .ignore and .docsignore
    #[arg(long, help_heading = "Documents")]
    pub no_ignore: bool,
    /// Leave out larger files, with a warning: bytes, or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = byte_count, help_heading = "Documents")]
    pub max_file_size: u64,

    /// Whose rules name the headings: auto, github, gitlab, mkdocs, docusaurus, vitepress, hugo, mdbook or mdn
    #[arg(long, value_name = "FLAVOUR", default_value = "auto", value_parser = anchors, help_heading = "Documents")]
    pub anchors: Anchors,
    /// A folder outside of the tree from which documents may include files (repeatable)
    #[arg(long, value_name = "DIR", help_heading = "Documents")]
    pub include_root: Vec<PathBuf>,
    /// Warn of links to pages and headings that are not there
    #[arg(long, help_heading = "Documents")]
    pub check_links: bool,
    /// Links below this address are links into the tree, for --check-links: /docs/ (repeatable)
    #[arg(
        long,
        value_name = "PREFIX",
        value_delimiter = '\n',
        help_heading = "Documents"
    )]
    pub url_prefix: Vec<String>,
    /// Address under which the tree is published: links and pages get their public addresses
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true, value_parser = base_url, help_heading = "Documents")]
    pub base_url: String,

    /// Title of the whole (default: the first page's)
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        help_heading = "Index"
    )]
    pub title: String,
    /// One sentence that says what the documents are about
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        help_heading = "Index"
    )]
    pub description: String,
    /// Do not index a section under the texts of links to it
    #[arg(long, help_heading = "Index")]
    pub no_incoming: bool,
    /// Words that mean the same, one group a line, instead of the built-in list
    #[arg(long, value_name = "FILE", help_heading = "Index")]
    pub synonyms: Option<PathBuf>,
    /// Take no words to mean the same
    #[arg(long, help_heading = "Index")]
    pub no_synonyms: bool,
    /// Cut longer sections into parts of at most so many bytes, where blocks allow
    #[arg(long, value_name = "BYTES", default_value_t = 6000, value_parser = clap::value_parser!(u32).range(500..=1_000_000), help_heading = "Index")]
    pub part_limit: u32,
    /// zstd level of the stored text
    #[arg(long, value_name = "N", default_value_t = docs_index::IndexOptions::default().compression_level, value_parser = clap::value_parser!(i32).range(1..=22), help_heading = "Index")]
    pub compression_level: i32,
    /// Store the text as it is
    #[arg(long, hide = true)]
    pub raw_text: bool,
    /// Build only the I-th of N shards, to be merged
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = "Index")]
    pub shard: Option<Shard>,
}

impl BuildArgs {
    /// What the library is asked to do.
    pub fn options(&self) -> BuildOptions {
        BuildOptions {
            tree: self.tree.clone(),
            walk: WalkOptions {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
                hidden: self.hidden,
                no_ignore: self.no_ignore,
                max_file_size: self.max_file_size,
            },
            title: self.title.clone(),
            description: self.description.clone(),
            incoming: !self.no_incoming,
            compression_level: self.compression_level,
            raw_text: self.raw_text,
            part_limit: self.part_limit,
            anchors: self.anchors,
            base_url: self.base_url.clone(),
            include_roots: self.include_root.clone(),
            check_links: self.check_links,
            url_prefixes: self.url_prefix.clone(),
            synonyms: match &self.synonyms {
                _ if self.no_synonyms => Synonyms::Off,
                Some(path) => Synonyms::File(path.clone()),
                None => Synonyms::BuiltIn,
            },
            shard: self.shard,
            threads: self.threads,
        }
    }
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The index file
    #[arg(value_name = "FILE")]
    pub index: PathBuf,
    /// Print one section a line as JSON
    #[arg(long)]
    pub json: bool,
    /// Print the sections as JSON, with their text
    #[arg(long)]
    pub text: bool,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["query", "queries"])))]
pub struct SearchArgs {
    /// The index file
    #[arg(value_name = "FILE")]
    pub index: PathBuf,
    /// Words to search for; any text is a query
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Answer every line of a file of {"id", "query"} objects, each with one line of JSON; - is stdin
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Hits to show, 1 to 1000
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = hit_count)]
    pub k: usize,
    /// Characters of a snippet, 0 to 2000
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = snippet_length)]
    pub snippet_chars: usize,
    /// Pass over so many hits first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: usize,
    /// Only sections whose id begins with this
    #[arg(long, value_name = "PREFIX")]
    pub path: Option<String>,
    /// The bare ranking: all sections of a document, the same text as often as it stands there
    #[arg(long)]
    pub no_group: bool,
    /// Show each hit's score by term, field and evidence
    #[arg(long)]
    pub explain: bool,
    /// Print the hits as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The index file
    #[arg(value_name = "FILE")]
    pub index: PathBuf,
    /// Golden queries, one JSON object a line; - is stdin
    #[arg(long, value_name = "FILE")]
    pub queries: PathBuf,
    /// Fail if the mean of a metric is less: recall@5=0.8 (repeatable)
    #[arg(long, value_name = "METRIC=VALUE", value_delimiter = '\n', value_parser = floor)]
    pub min: Vec<Floor>,
    /// Fail if it takes more tokens, in the mean, to the right section
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// Compare with an earlier run, query by query: a file that eval --json printed
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Hits of the answer whose cost is counted, 1 to 50
    #[arg(short, long, value_name = "N", default_value_t = 5, value_parser = answer_hits)]
    pub k: usize,
    /// Characters of a snippet in the answer whose cost is counted, 0 to 2000
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = snippet_length)]
    pub snippet_chars: usize,
    /// Show every query that failed or changed, not only ten
    #[arg(short, long)]
    pub verbose: bool,
    /// Print the run as one JSON object, with every query's result
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The index file
    #[arg(value_name = "FILE")]
    pub index: PathBuf,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// All shards of one build
    #[arg(value_name = "SHARD", required = true, num_args = 1..)]
    pub shards: Vec<PathBuf>,
    /// The index file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Runs the program: `arguments` begin with its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too. If nobody reads them, nothing is lost.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let mut output = Output::of_process();
    let done = match &cli.command {
        Command::Build(arguments) => build_command::run(arguments, &mut output),
        Command::Inspect(arguments) => inspect::run(arguments, &mut output),
        Command::Search(arguments) => search_command::run(arguments, &mut output),
        Command::Eval(arguments) => eval_command::run(arguments, &mut output),
        Command::Verify(arguments) => verify_command::run(arguments, &mut output),
        Command::Merge(arguments) => merge_command::run(arguments, &mut output),
    };
    let flushed = output.flush();
    match done.and(flushed.map_err(anyhow::Error::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output.note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Reads the command line and the environment.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command().mut_subcommands(|command| command.mut_args(with_environment));
    let matches = command.try_get_matches_from_mut(arguments)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    if let Command::Build(build) = &mut cli.command {
        if !build.further_trees.is_empty() {
            let message = "several docs trees in one index are not supported yet: give one DIR";
            return Err(command.error(ErrorKind::TooManyValues, message));
        }
        let given = |name| {
            matches
                .subcommand()
                .and_then(|(_, build)| build.value_source(name))
        };
        build.format = match format_of(build, given("json"), given("format")) {
            Some(format) => format,
            None => {
                return Err(command.error(
                    ErrorKind::ArgumentConflict,
                    "--json and --format disagree: give one",
                ));
            }
        };
        build.json = build.format == ReportFormat::Json;
        if build.no_synonyms && build.synonyms.is_some() {
            match strength(given("no_synonyms")).cmp(&strength(given("synonyms"))) {
                Ordering::Greater => build.synonyms = None,
                Ordering::Less => build.no_synonyms = false,
                Ordering::Equal => {
                    return Err(command.error(
                        ErrorKind::ArgumentConflict,
                        "--synonyms and --no-synonyms disagree: give one",
                    ));
                }
            }
        }
    }
    Ok(cli)
}

/// A flag beats the environment, the environment beats a default.
fn strength(source: Option<ValueSource>) -> u8 {
    match source {
        Some(ValueSource::CommandLine) => 2,
        Some(ValueSource::EnvVariable) => 1,
        _ => 0,
    }
}

/// The format that `--json` and `--format` ask for together, where they can be reconciled: a flag beats the environment.
fn format_of(
    build: &BuildArgs,
    json: Option<ValueSource>,
    format: Option<ValueSource>,
) -> Option<ReportFormat> {
    match strength(json).cmp(&strength(format)) {
        _ if !build.json || build.format == ReportFormat::Json => Some(build.format),
        Ordering::Greater => Some(ReportFormat::Json),
        Ordering::Less => Some(build.format),
        Ordering::Equal => None,
    }
}

/// Lets an option be given in the environment. clap takes a blank variable as a value, so only others are shown to it.
fn with_environment(argument: Arg) -> Arg {
    let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
    let is_option = is_switch || matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let name = match argument.get_long() {
        Some(long) if is_option => format!("DOCS_INDEXER_{}", long.to_uppercase().replace('-', "_")),
        _ => return argument,
    };
    let is_blank = |value: &OsStr| value.to_str().is_some_and(|value| value.trim().is_empty());
    if std::env::var_os(&name).is_none_or(|value| is_blank(&value)) {
        return argument;
    }
    let argument = if is_switch {
        argument.value_parser(BoolishValueParser::new())
    } else {
        argument
    };
    // clap keeps names for ever; there are as many as options.
    let name: &'static str = name.leak();
    argument.env(name).hide_env(true)
}

/// The version, with the commit where whoever compiles names it.
fn version() -> &'static str {
    match option_env!("DOCS_INDEX_COMMIT") {
        Some(commit) => format!("{} ({commit})", env!("CARGO_PKG_VERSION")).leak(),
        None => env!("CARGO_PKG_VERSION"),
    }
}

/// `4096`, `64K`, `16M`, `1G`, by powers of 1,024.
fn byte_count(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let digits = upper.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor: u64 = match upper.get(digits.len()..).unwrap_or_default() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err("write bytes, or a number with K, M or G".to_owned()),
    };
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "write bytes, or a number with K, M or G".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

/// `I/N` with I from 1 to N.
fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text
        .split_once('/')
        .and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match parsed {
        Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
        _ => Err("write I/N with I from 1 to N, for example 1/4".to_owned()),
    }
}

/// A flavour, or none for `auto`.
type Anchors = Option<Flavour>;

fn anchors(text: &str) -> Result<Anchors, String> {
    if text == "auto" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let names: Vec<_> = Flavour::ALL.iter().map(|flavour| flavour.name()).collect();
        format!("write auto or one of {}", names.join(", "))
    })
}

fn base_url(text: &str) -> Result<String, String> {
    let host = text.split_once("://").map(|(_, host)| host);
    match host {
        None if text.is_empty() => Ok(String::new()),
        Some(host) if !host.is_empty() && !text.contains(char::is_whitespace) => Ok(text.to_owned()),
        _ => Err("write an address such as https://example.com/docs/".to_owned()),
    }
}

fn hit_count(text: &str) -> Result<usize, String> {
    in_range(text, 1, 1000)
}

fn answer_hits(text: &str) -> Result<usize, String> {
    in_range(text, 1, 50)
}

fn floor(text: &str) -> Result<Floor, String> {
    let names = || Metric::ALL.map(Metric::name).join(", ");
    let Some((name, value)) = text.split_once('=') else {
        return Err("write METRIC=VALUE, such as recall@5=0.8".to_owned());
    };
    let metric = name
        .trim()
        .parse()
        .map_err(|error: UnknownMetric| format!("{error}; there are {}", names()))?;
    match value.trim().parse() {
        Ok(least) if (0.0..=1.0).contains(&least) => Ok(Floor { metric, least }),
        _ => Err("write a value from 0 to 1".to_owned()),
    }
}

fn snippet_length(text: &str) -> Result<usize, String> {
    in_range(text, 0, 2000)
}

fn in_range(text: &str, least: usize, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("write a number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_is_a_format_and_the_command_line_beats_the_environment() {
        use ReportFormat::{Json, Sarif, Text};
        use ValueSource::{CommandLine, DefaultValue, EnvVariable};
        let line = ["docs-indexer", "build", "docs", "-o", "docs.idx"].map(OsString::from);
        let Command::Build(mut build) = parse(line).unwrap().command else {
            panic!("no build");
        };
        for (json, json_from, format, format_from, expected) in [
            (false, DefaultValue, Text, DefaultValue, Some(Text)),
            (true, CommandLine, Text, DefaultValue, Some(Json)),
            (true, EnvVariable, Text, DefaultValue, Some(Json)),
            (true, CommandLine, Json, CommandLine, Some(Json)),
            (true, CommandLine, Sarif, EnvVariable, Some(Json)),
            (true, EnvVariable, Sarif, CommandLine, Some(Sarif)),
            (true, EnvVariable, Text, CommandLine, Some(Text)),
            (false, EnvVariable, Sarif, EnvVariable, Some(Sarif)),
            (true, CommandLine, Text, CommandLine, None),
            (true, CommandLine, Sarif, CommandLine, None),
            (true, EnvVariable, Sarif, EnvVariable, None),
        ] {
            (build.json, build.format) = (json, format);
            let found = format_of(&build, Some(json_from), Some(format_from));
            assert_eq!(found, expected, "{json} {json_from:?} {format:?} {format_from:?}");
        }
    }

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1000", Some(1000)),
            ("64K", Some(65_536)),
            ("16M", Some(16 << 20)),
            ("16 MiB", Some(16 << 20)),
            ("1g", Some(1 << 30)),
            ("", None),
            ("M", None),
            ("-1", None),
            ("1.5M", None),
            ("1T", None),
            ("99999999999999999999", None),
            ("99999999999G", None),
        ] {
            assert_eq!(byte_count(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_floor_is_a_metric_and_a_share() {
        let metric = Metric::Recall5;
        assert_eq!(floor("recall@5=0.8"), Ok(Floor { metric, least: 0.8 }));
        assert_eq!(floor(" Recall@5 = 1 "), Ok(Floor { metric, least: 1.0 }));
        for text in [
            "",
            "recall@5",
            "recall@5=",
            "recall@5=80",
            "recall@5=-1",
            "recall@5=nan",
            "=0.5",
        ] {
            assert!(floor(text).is_err(), "{text:?}");
        }
        assert_eq!(
            floor("recall=0.5").unwrap_err(),
            "no metric is called \"recall\"; there are ndcg@10, recall@5, recall@10, mrr@10, success@1"
        );
    }

    #[test]
    fn a_shard_is_one_of_a_number() {
        assert_eq!(shard("1/1"), Ok(Shard { number: 1, count: 1 }));
        assert_eq!(shard("3/64"), Ok(Shard { number: 3, count: 64 }));
        for text in ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(shard(text).is_err(), "{text:?}");
        }
    }
}
