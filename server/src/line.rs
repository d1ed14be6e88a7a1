//! Lines of a byte stream, none longer than a limit.
//!
//! In: bytes. Out: lines without their end. A line over the limit is reported as soon as it is over, with the
//! beginning that was kept; its rest is read and thrown away, so memory is bounded whatever a peer sends.
//!
//! [`LineReader::next`] may be dropped half-way and called again without losing a byte: all that was read stands
//! in the reader, and reading and keeping happen without a wait in between.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Longest line that is read; a search request has some hundred bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 20;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line, without `\n` or `\r\n`. The last one may have had no end.
    Whole(&'a [u8]),
    /// The first bytes of a line that is over the limit.
    TooLong(&'a [u8]),
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    kept: Vec<u8>,
    /// `kept` was handed out and is cleared at the next call.
    delivered: bool,
    /// The rest of the current line is thrown away.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            limit,
            kept: Vec::new(),
            delivered: false,
            skipping: false,
        }
    }

    /// The next line, or none at the end of input.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        /// What one long line made us allocate is given back.
        const USUAL_CAPACITY: usize = 64 << 10;
        if self.delivered {
            self.kept.clear();
            self.kept.shrink_to(USUAL_CAPACITY);
            self.delivered = false;
        }
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                if self.kept.is_empty() {
                    return Ok(None);
                }
                self.delivered = true;
                return Ok(Some(Line::Whole(without_carriage_return(&self.kept))));
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            let consumed = piece.len() + usize::from(end.is_some());
            let over = !self.skipping && self.kept.len() + piece.len() > self.limit;
            if !self.skipping {
                let room = self.limit - self.kept.len();
                self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            self.reader.consume(consumed);
            if over {
                self.skipping = end.is_none();
                self.delivered = true;
                return Ok(Some(Line::TooLong(&self.kept)));
            }
            if end.is_some() {
                if self.skipping {
                    self.skipping = false;
                    continue;
                }
                self.delivered = true;
                return Ok(Some(Line::Whole(without_carriage_return(&self.kept))));
            }
        }
    }
}

fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt as _;

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(future)
    }

    /// All lines, those that are too long with a `!` in front.
    fn lines(input: &[u8], limit: usize) -> Vec<String> {
        block_on(async {
            let mut reader = LineReader::new(input, limit);
            let mut lines = Vec::new();
            while let Some(line) = reader.next().await.unwrap() {
                lines.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::TooLong(line) => format!("!{}", String::from_utf8_lossy(line)),
                });
            }
            lines
        })
    }

    #[test]
    fn lines_come_without_their_ends() {
        for (input, want) in [
            (&b""[..], &[][..]),
            (b"\n", &[""]),
            (b"a\nb\r\n\nc", &["a", "b", "", "c"]),
            (b"12345678\nx\n", &["12345678", "x"]),
            (b"123456789\nx\n", &["!12345678", "x"]),
            (b"123456789123456789", &["!12345678"]),
            (b"a\r\r\n", &["a\r"]),
        ] {
            assert_eq!(lines(input, 8), want, "{:?}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn a_long_line_is_reported_before_its_end_is_seen() {
        block_on(async {
            let (mut peer, ours) = tokio::io::duplex(64);
            let mut reader = LineReader::new(ours, 8);
            peer.write_all(b"123456789").await.unwrap();
            assert_eq!(reader.next().await.unwrap(), Some(Line::TooLong(b"12345678")));
            peer.write_all(b"more\nnext\n").await.unwrap();
            assert_eq!(reader.next().await.unwrap(), Some(Line::Whole(b"next")));
        });
    }

    #[test]
    fn a_call_that_is_dropped_loses_nothing() {
        block_on(async {
            let (mut peer, ours) = tokio::io::duplex(64);
            let mut reader = LineReader::new(ours, 100);
            for piece in [&b"one "[..], b"two ", b"three"] {
                peer.write_all(piece).await.unwrap();
                let dropped = tokio::time::timeout(Duration::from_millis(5), reader.next()).await;
                assert!(dropped.is_err());
            }
            peer.write_all(b"\n").await.unwrap();
            assert_eq!(reader.next().await.unwrap(), Some(Line::Whole(b"one two three")));
        });
    }
}
