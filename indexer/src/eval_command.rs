//! `docs-indexer eval`: how well an index answers golden queries, and whether that is good enough.
//!
//! In: an index, golden queries, perhaps an earlier run and thresholds. Out: a table for people, or one JSON object that
//! can be the earlier run of a later one. A threshold that is not met is a failure.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::cli::EvalArgs;
use crate::evaluation::comparison::{Baseline, Comparison, compare};
use crate::evaluation::cost::Asking;
use crate::evaluation::golden;
use crate::evaluation::metrics::Metric;
use crate::evaluation::run::{Evaluation, evaluate};
use crate::evaluation::table;
use crate::output::Output;
use crate::report::counted;
use crate::search_command::{open_lines, open_whole};

/// Ids named in a complaint about queries that cannot be compared.
const NAMED_IDS: usize = 5;

/// The least that a metric may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Which one.
    pub metric: Metric,
    /// Its least mean over all queries.
    pub least: f64,
}

/// The object of `eval --json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    run: &'a Evaluation,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

/// Judges and prints.
///
/// # Errors
/// Where a file cannot be read or makes no sense, where the results cannot be printed, and where a threshold is not met.
pub fn run(arguments: &EvalArgs, output: &mut Output) -> Result<()> {
    let index = open_whole(&arguments.index)?;
    let file = arguments.queries.display().to_string();
    let queries = golden::read(&file, open_lines(&arguments.queries)?)?;
    let baseline = arguments.baseline.as_deref().map(read_baseline).transpose()?;
    let asking = Asking {
        k: arguments.k,
        snippet_chars: arguments.snippet_chars,
    };
    let run = evaluate(&index, &queries, asking).with_context(|| arguments.index.display().to_string())?;
    for missing in &run.missing {
        output.note(&format!(
            "warning: {file}:{}: {:?} expects {}, which is not in the index",
            missing.line, missing.id, missing.place
        ));
    }
    let compared = match (&arguments.baseline, &baseline) {
        (Some(path), Some(baseline)) => Some((path, compared(&run, baseline, path, output)?)),
        _ => None,
    };
    if arguments.json {
        let comparison = compared.as_ref().map(|(_, comparison)| comparison);
        output.json(&serde_json::to_string(&Report {
            run: &run,
            comparison,
        })?)?;
    } else {
        let mut lines = table::run_lines(&run, arguments.verbose);
        if let Some((path, comparison)) = &compared {
            lines.push(String::new());
            lines.extend(table::comparison_lines(
                comparison,
                &path.display().to_string(),
                arguments.verbose,
            ));
        }
        for line in lines {
            output.data(&line)?;
        }
    }
    enforce(arguments, &run, output)
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let shown = path.display();
    let text = fs::read(path).with_context(|| format!("{shown} cannot be read"))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{shown} is no run; it must be what docs-indexer eval --json printed"))
}

fn compared(run: &Evaluation, baseline: &Baseline, path: &Path, output: &mut Output) -> Result<Comparison> {
    let shown = path.display();
    let Some(comparison) = compare(run, baseline) else {
        bail!("{shown} has none of these queries: there is nothing to compare");
    };
    for (ids, what) in [
        (&comparison.only_before, "only in the earlier run"),
        (&comparison.only_now, "only in this run"),
        (&comparison.asked_otherwise, "worded otherwise in the earlier run"),
    ] {
        if ids.is_empty() {
            continue;
        }
        let named: Vec<&str> = ids.iter().take(NAMED_IDS).map(String::as_str).collect();
        let more = if ids.len() > NAMED_IDS { ", …" } else { "" };
        output.note(&format!(
            "warning: {shown}: {} not compared, {what}: {}{more}",
            table::queries(ids.len()),
            named.join(", ")
        ));
    }
    Ok(comparison)
}

/// A line for each threshold that is not met.
fn enforce(arguments: &EvalArgs, run: &Evaluation, output: &mut Output) -> Result<()> {
    /// Sums of the same numbers may differ in their last bits.
    const SLACK: f64 = 1e-9;
    let mut unmet = 0;
    for Floor { metric, least } in &arguments.min {
        let found = run.all.estimates.get(*metric).mean;
        if found < least - SLACK {
            output.note(&format!("not met: {metric} is {found:.4}, less than {least}"));
            unmet += 1;
        }
    }
    if let Some(most) = arguments.max_tokens {
        let found = run.cost.tokens_to_section.mean;
        if found > f64::from(most) {
            output.note(&format!(
                "not met: tokens to the right section are {found:.1}, more than {most}"
            ));
            unmet += 1;
        }
    }
    if unmet > 0 {
        let given = arguments.min.len() + usize::from(arguments.max_tokens.is_some());
        bail!("{unmet} of {} not met", counted(given, "threshold"));
    }
    Ok(())
}
