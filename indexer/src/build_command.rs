//! `docs-indexer build`: compiles a tree, saves the file, tells about it.
//!
//! The file is written last and at once, so a build that fails, or that `--strict` makes fail, leaves an
//! older file as it was.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use docs_index::FinishedIndex;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::build::{Build, Progress, build};
use crate::cli::{BuildArgs, ReportFormat};
use crate::output::Output;
use crate::report::{BuildReport, counted};
use crate::sarif::{Ending, SarifLog};

/// Builds the index file.
///
/// # Errors
/// Where the tree cannot be read or, under `--strict`, gave warnings; and where the file cannot be written.
pub fn run(arguments: &BuildArgs, output: &mut Output) -> Result<()> {
    let begin = Instant::now();
    check_output(&arguments.output)?;
    let bar = Bar::new(output.is_watched() && arguments.format == ReportFormat::Text);
    let Build { index, mut report } = build(&arguments.options(), &|step| bar.show(step))?;
    let (failure, ending) = match strictness(arguments, &report) {
        Some(failure) => (Some(failure), Ending::TooStrict),
        None => match save(&index, arguments, &mut report) {
            Ok(()) => (None, Ending::Done),
            Err(failure) => (Some(failure), Ending::Failed),
        },
    };
    bar.clear();
    report.seconds = rounded(begin.elapsed());

    if arguments.verbose {
        report.skipped_lines().iter().for_each(|line| output.note(line));
    }
    report.warning_lines().iter().for_each(|line| output.note(line));
    if failure.is_none() {
        output.note(&format!(
            "{}: {}",
            arguments.output.display(),
            report.summary_line(arguments.verbose)
        ));
    }
    let printed = match arguments.format {
        ReportFormat::Text => Ok(()),
        ReportFormat::Json => output.json(&serde_json::to_string(&report)?),
        ReportFormat::Sarif => output.json(&serde_json::to_string(&SarifLog::new(&report, ending))?),
    };
    match failure {
        Some(failure) => Err(failure),
        None => Ok(printed?),
    }
}

/// Says at once what would otherwise be found out after the work.
fn check_output(path: &Path) -> Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!(
            "{} cannot be written: there is no folder {}",
            path.display(),
            folder.display()
        );
    }
    if path.is_dir() {
        bail!(
            "{} is a folder; name the file to write, for example {0}/docs.idx",
            path.display()
        );
    }
    Ok(())
}

/// Why `--strict` lets nothing be saved, if so.
fn strictness(arguments: &BuildArgs, report: &BuildReport) -> Option<anyhow::Error> {
    let warnings = report.warnings.len();
    (arguments.strict && warnings > 0).then(|| {
        let count = counted(warnings, "warning");
        anyhow!(
            "{count}, and --strict allows none: {} is left as it was",
            arguments.output.display()
        )
    })
}

fn save(index: &FinishedIndex, arguments: &BuildArgs, report: &mut BuildReport) -> Result<()> {
    index.save(&arguments.output)?;
    report.bytes_out = index.file_bytes();
    Ok(())
}

/// Seconds to the millisecond.
fn rounded(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The progress bar, where somebody watches.
struct Bar {
    watched: bool,
    bar: OnceLock<ProgressBar>,
}

impl Bar {
    fn new(watched: bool) -> Self {
        Self {
            watched,
            bar: OnceLock::new(),
        }
    }

    fn show(&self, step: Progress) {
        match step {
            Progress::Walked { bytes, .. } if self.watched => {
                let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {msg}");
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                let _ = self.bar.set(bar);
            }
            Progress::Walked { .. } => {}
            Progress::Document { bytes } => self.with_bar(|bar| bar.inc(bytes)),
            Progress::Finishing => self.with_bar(|bar| bar.set_message("writing")),
        }
    }

    fn clear(&self) {
        self.with_bar(ProgressBar::finish_and_clear);
    }

    fn with_bar(&self, act: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = self.bar.get() {
            act(bar);
        }
    }
}
