//! Blocks of maths: lines that a Markdown parser would take for headings, lists and emphasis.
//!
//! In: the scan, at `$$` or a backslash. Out: the end of the block, blank in the buffer and noted as code.

use super::InlineScan;
use crate::mask::blank;

impl InlineScan<'_> {
    /// A block of LaTeX: lines between `\[` and `\]`, or an environment for formulas.
    pub(super) fn latex(&mut self, position: usize) -> Option<usize> {
        let text = self.text;
        let indent = &text[self.line.start..position];
        if indent.len() > 3 || !indent.trim().is_empty() {
            return None;
        }
        let closer = latex_closer(text[position..self.line.end].trim_end())?;
        let body = self.line.end.min(text.len());
        let end = self.after(body, &format!("\n{closer}"))?;
        blank(&mut self.buffer, position..end);
        self.code.push(position..end);
        Some(end)
    }

    /// A block between `$$` at the start of a line and `$$` at the end of a later one.
    pub(super) fn maths(&mut self, position: usize) -> Option<usize> {
        let text = self.text;
        if !text[position..].starts_with("$$") {
            return None;
        }
        let indent = &text[self.line.start..position];
        if indent.len() > 3 || !indent.trim().is_empty() || position < self.no_maths_before {
            return Some(position + 2);
        }
        let mut lines = text[position..].split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let opener = first[2..].trim();
        let mut end = position + first.len();
        if opener.contains("$$") {
            return Some(end);
        }
        for line in lines {
            end += line.len();
            let trimmed = line.trim();
            if let Some(formula) = before_maths_end(line) {
                blank(&mut self.buffer, position..end);
                self.code.push(position + 2..end - line.len() + formula);
                return Some(end);
            }
            if trimmed.is_empty() && !opener.is_empty() {
                break;
            }
        }
        self.no_maths_before = end;
        Some(position + 2)
    }
}

/// What ends a block of LaTeX that a line begins; nothing where it begins none.
fn latex_closer(line: &str) -> Option<String> {
    if line == "\\[" {
        return Some("\\]".to_owned());
    }
    let environment = line.strip_prefix("\\begin{")?.split('}').next()?;
    let is_maths = [
        "align", "aligned", "alignat", "array", "cases", "eqnarray", "equation", "flalign", "gather",
        "matrix", "multline", "pmatrix", "bmatrix", "split",
    ]
    .contains(&environment.trim_end_matches('*'));
    is_maths.then(|| format!("\\end{{{environment}}}"))
}

/// Where a formula ends in a line that closes a block of maths with `$$`, or with `$$ (label)` as `MyST` does.
fn before_maths_end(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let formula = match line.strip_suffix(')') {
        Some(labelled) => {
            let (formula, label) = labelled.rsplit_once("$$")?;
            let label = label.trim_start().strip_prefix('(')?;
            (!label.contains(char::is_whitespace)).then_some(formula)
        }
        None => line.strip_suffix("$$"),
    };
    formula.map(str::len)
}
