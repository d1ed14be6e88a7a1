//! Where the program's words go: data to stdout, everything else to stderr.
//!
//! The one place that holds the two streams. A reader that closes stdout early (`| head`) is no failure: the error
//! travels up as it is and [`is_closed_pipe`] tells it apart at the top. Nothing depends on stderr being read.

use std::io::{self, BufWriter, IsTerminal as _, Write};

/// The two streams of a command.
pub struct Output {
    data: Box<dyn Write>,
    notes: Box<dyn Write>,
    notes_on_terminal: bool,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Output")
            .field("notes_on_terminal", &self.notes_on_terminal)
            .finish_non_exhaustive()
    }
}

impl Output {
    /// The process's own streams.
    pub fn of_process() -> Self {
        Self {
            data: Box::new(BufWriter::new(io::stdout().lock())),
            notes: Box::new(io::stderr()),
            notes_on_terminal: io::stderr().is_terminal(),
        }
    }

    /// A line of JSON: line ends of Unicode in it are escaped, so that no reader takes them for ends of the line.
    ///
    /// # Errors
    /// Where stdout cannot be written to.
    pub fn json(&mut self, value: &str) -> io::Result<()> {
        if value.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
            let escaped = value
                .replace('\u{85}', "\\u0085")
                .replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029");
            return self.data(&escaped);
        }
        self.data(value)
    }

    /// A line of data.
    ///
    /// # Errors
    /// Where stdout cannot be written to.
    pub fn data(&mut self, line: &str) -> io::Result<()> {
        self.data.write_all(line.as_bytes())?;
        self.data.write_all(b"\n")
    }

    /// Writes out what is still held back.
    ///
    /// # Errors
    /// Where stdout cannot be written to.
    pub fn flush(&mut self) -> io::Result<()> {
        self.data.flush()
    }

    /// A line for people. If nobody can read it, the work goes on.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.notes, "{line}");
    }

    /// Whether somebody watches the notes as they come.
    pub fn is_watched(&self) -> bool {
        self.notes_on_terminal
    }
}

/// Whether the cause is that the reader of stdout has gone.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}
