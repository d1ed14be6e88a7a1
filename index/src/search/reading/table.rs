//! Tables: pipe tables of Markdown and tables of HTML.
//!
//! In: the text where a table begins. Out: its rows as words of the reading, cells parted, and a [`Table`] that
//! says which words are which row. The delimiter row and the frame are left out.

use super::{Begins, CELL_BREAK, EMPTY_CELL, Reading, Table, inline, line_at, unquoted};

/// The table of HTML that is being read.
#[derive(Debug, Default)]
pub(super) struct HtmlTable {
    table: Option<Table>,
    /// Where its row begins.
    row: usize,
    /// The row has a cell.
    has_cell: bool,
    /// All cells of the row are heads.
    is_header: bool,
}

/// Whether a pipe table begins with the line at `at`.
pub(super) fn begins(body: &str, at: usize) -> bool {
    let line = line_at(body, at);
    line.contains('|') && {
        let next = at + line.len();
        next < body.len() && is_delimiter(unquoted(line_at(body, next)))
    }
}

/// `|---|:-:|`.
fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('|') && line.contains('-') && line.bytes().all(|byte| b"|-: \t".contains(&byte))
}

/// The cells of a row.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let mut start = 0;
    let mut is_escaped = false;
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && !is_escaped {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    if !row[start..].trim().is_empty() {
        cells.push(row[start..].trim());
    }
    while cells.last().is_some_and(|cell| cell.is_empty()) {
        cells.pop();
    }
    cells
}

impl Reading {
    /// Reads the pipe table at `at`; gives the place after it.
    pub(super) fn pipe_table(&mut self, body: &str, mut at: usize) -> usize {
        let mut table = Table::default();
        let mut number = 0_usize;
        self.row_starts();
        while at < body.len() {
            let line = line_at(body, at);
            let row = unquoted(line);
            if !row.contains('|') {
                break;
            }
            at += line.len();
            number += 1;
            if number == 2 {
                continue;
            }
            let first = self.words.len();
            for (place, cell) in cells(row).into_iter().enumerate() {
                if place > 0 {
                    self.cell_break();
                }
                if cell.is_empty() {
                    self.text.push_str(EMPTY_CELL);
                } else if cell.contains("\\|") {
                    // In a code span, too, the bar was escaped for the table's sake.
                    self.inline(&cell.replace("\\|", "|"), 1);
                } else {
                    self.inline(cell, 1);
                }
                self.has_open_emphasis = false;
            }
            self.line_break();
            let range = first..self.words.len();
            if number == 1 {
                table.header = (!range.is_empty()).then_some(range);
            } else if !range.is_empty() {
                table.rows.push(range);
            }
        }
        self.tables.push(table);
        at
    }

    /// A row stands apart from the prose before it.
    fn row_starts(&mut self) {
        self.close();
        if !self.words.is_empty() {
            self.line_break();
        }
    }

    fn cell_break(&mut self) {
        self.part(CELL_BREAK);
        self.next = Begins::Clause;
    }

    /// Takes a tag that parts words.
    pub(super) fn html_tag(&mut self, tag: &inline::Tag<'_>) {
        match (tag.name, tag.is_closing) {
            ("table", false) => {
                self.html_table_ends();
                self.row_starts();
                self.html = HtmlTable {
                    table: Some(Table::default()),
                    row: self.words.len(),
                    ..HtmlTable::default()
                };
            }
            ("tr", false) => self.html_row_ends(),
            ("table", true) => self.html_table_ends(),
            ("th" | "td", false) => {
                // An empty first cell has no words that a break could follow.
                if self.html.has_cell && self.words.len() > self.html.row {
                    self.cell_break();
                }
                if !self.html.has_cell {
                    self.html.is_header = true;
                }
                self.html.has_cell = true;
                self.html.is_header &= tag.name == "th";
            }
            ("th" | "td" | "tr" | "thead" | "tbody" | "br" | "img" | "wbr", _) => {}
            _ if self.html.table.is_some() => {}
            _ => self.begin(),
        }
    }

    fn html_row_ends(&mut self) {
        self.close();
        let row = self.html.row..self.words.len();
        if !row.is_empty() {
            let is_header = self.html.is_header;
            if let Some(table) = &mut self.html.table {
                if is_header && table.rows.is_empty() && table.header.is_none() {
                    table.header = Some(row);
                } else {
                    table.rows.push(row);
                }
            }
            self.line_break();
        }
        self.html.row = self.words.len();
        self.html.has_cell = false;
        self.html.is_header = false;
    }

    pub(super) fn html_table_ends(&mut self) {
        if self.html.table.is_some() {
            self.html_row_ends();
        }
        if let Some(table) = self.html.table.take() {
            self.tables.push(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_as_they_are_read() {
        for (body, text) in [
            (
                "Text\n\n| A | B |\n|---|:-:|\n| `x` | one two |\n| | y |\n\nafter",
                "Text ⏎ A | B ⏎ `x` | one two ⏎ - | y ⏎ after",
            ),
            ("a | b\n--- | ---\n1 | `x \\| y`", "a | b ⏎ 1 | `x | y`"),
            (
                "<table><thead><tr><th>A</th><th>B</th></tr></thead>\n<tr><td>1</td><td><p>x</p></td></tr>\n</table>\nend",
                "A | B ⏎ 1 | x ⏎ end",
            ),
            ("<table><tr><td></td><td>x</td></tr></table>", "x"),
            ("not | a table\nnext", "not | a table next"),
        ] {
            let reading = Reading::of(body);
            assert_eq!(reading.text.trim_end_matches([' ', '⏎']), text, "{body}");
        }
    }

    #[test]
    fn tables_know_their_rows() {
        for body in [
            "| A | B |\n|---|---|\n| 1 | x y |\n| 2 | z |\n",
            "<table><tr><th>A<th>B<tr><td>1<td>x y<tr><td>2<td>z</table>",
        ] {
            let reading = Reading::of(body);
            let table = &reading.tables[0];
            assert_eq!(reading.slice(table.header.clone().unwrap()), "A | B", "{body}");
            let rows: Vec<_> = table.rows.iter().map(|row| reading.slice(row.clone())).collect();
            assert_eq!(rows, ["1 | x y", "2 | z"], "{body}");
        }
    }
}
