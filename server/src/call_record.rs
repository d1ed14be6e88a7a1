//! What a tool call came to, told to whoever carried the call here.
//!
//! A transport that counts or logs calls puts an empty record beside the request; the handler fills it in. Nothing of
//! what was asked or answered is in it, only names and sizes.

use std::sync::{Arc, OnceLock};

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, ContentBlock};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// With an answer.
    Answered,
    /// With an answer that says what was wrong with the call.
    Refused,
    /// There is no such tool.
    UnknownTool,
    /// By a panic, which was caught.
    Panicked,
}

impl Outcome {
    /// The word that stands for it in metrics and logs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "ok",
            Self::Refused => "error",
            Self::UnknownTool => "unknown_tool",
            Self::Panicked => "panic",
        }
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    /// The tool's name; none for one that does not exist, whose name is the client's.
    pub(crate) tool: Option<String>,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Bytes of the answer's text.
    pub(crate) text_bytes: usize,
}

impl Called {
    /// What came of a call of the tool `name`.
    pub(crate) fn of(name: &str, answered: &Result<CallToolResponse, ErrorData>, panicked: bool) -> Self {
        let mut call = Self {
            tool: Some(name.to_owned()),
            outcome: Outcome::Answered,
            text_bytes: 0,
        };
        match answered {
            Ok(CallToolResponse::Complete(result)) => {
                call.text_bytes = result.content.iter().map(text_bytes).sum();
                if result.is_error == Some(true) {
                    call.outcome = Outcome::Refused;
                }
            }
            Ok(_) => {}
            Err(_) => {
                call.tool = None;
                call.outcome = Outcome::UnknownTool;
            }
        }
        if panicked {
            call.outcome = Outcome::Panicked;
        }
        call
    }
}

fn text_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.text.len(),
        _ => 0,
    }
}

/// Where a call's outcome is written to, once.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallRecord(Arc<OnceLock<Called>>);

impl CallRecord {
    /// Writes the outcome down; only the first one counts.
    pub(crate) fn set(&self, call: Called) {
        // A record is made for one call, so a second outcome could only be a repetition.
        let _ = self.0.set(call);
    }

    /// The outcome, if a tool was called.
    pub(crate) fn get(&self) -> Option<&Called> {
        self.0.get()
    }
}
