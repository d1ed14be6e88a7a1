//! The tools: one typed function each.
//!
//! A tool is a function of [`DocsServer`] under `#[tool]`. The fields of its parameter type give the schema, with
//! descriptions, defaults and ranges; its doc comment gives the description that the model reads. Both are paid
//! for in every conversation, so they are short. By the time a function runs, its arguments have been read
//! leniently and checked against that very schema (`arguments.rs`), a panic in it becomes an error answer, and
//! its answer obeys the budget it was handed: adding a tool is writing one function.
//!
//! This is one of the files that know the SDK (`handler.rs`, `stdio.rs`, `streams.rs` and the session in `lib.rs` are the others).

use std::sync::Arc;

use docs_index::answer::{self, Answer, Lookup, bare_id};
use docs_index::{ReadError, SearchRequest};
use rmcp::ErrorData;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::{IntoCallToolResult, ToolCallContext};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::chain;
use crate::handler::DocsServer;
use crate::served::Edition;

/// Bytes that an answer's text may have; the SDK hands it to a tool beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) usize);

impl Budget {
    /// The same budget with room kept for a line that is added later.
    pub(crate) fn less(self, bytes: usize) -> Self {
        Self(self.0.saturating_sub(bytes))
    }
}

/// The edition that a call works on to its end: the newest one when the call began.
#[derive(Debug)]
pub(crate) struct Reading(Arc<Edition>);

/// An answer on its way to the SDK.
#[derive(Debug)]
pub(crate) struct ToolAnswer(pub(crate) Answer);

impl From<Answer> for ToolAnswer {
    fn from(answer: Answer) -> Self {
        Self(answer)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchDocs {
    /// Plain words or a question
    query: String,
    /// Number of hits
    #[serde(default = "default_k")]
    #[schemars(range(min = 1, max = 50))]
    k: u16,
    /// Characters of a snippet, 0 for none
    #[serde(default = "default_snippet_chars")]
    #[schemars(range(min = 0, max = 2000))]
    snippet_chars: u16,
    /// Hits to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    offset: u16,
    /// Only ids that begin with this, like guide/
    #[serde(default)]
    path: String,
}

fn default_k() -> u16 {
    5
}

fn default_snippet_chars() -> u16 {
    200
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(clippy::doc_markdown, reason = "read by models, not rendered")]
struct GetSection {
    /// Section id from search_docs
    id: String,
    /// Byte to start at, if an answer was cut
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    offset: u32,
}

#[tool_router(vis = "pub(crate)")]
impl DocsServer {
    // Attributes stand above the doc comment: the SDK's macro forgets a description that another one follows.
    #[expect(clippy::doc_markdown, reason = "read by models, not rendered")]
    /// Search the documentation. Each hit is `[id] heading path (score)` and a snippet; get_section reads an id in full.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn search_docs(
        &self,
        Parameters(asked): Parameters<SearchDocs>,
        budget: Budget,
        reading: Reading,
    ) -> ToolAnswer {
        if asked.query.trim().is_empty() {
            return Answer::failed("query is empty: say what to look for, in plain words", budget.0).into();
        }
        let path = id_prefix(&asked.path);
        let request = SearchRequest {
            query: &asked.query,
            limit: usize::from(asked.k),
            offset: usize::from(asked.offset),
            grouped: true,
            snippet_chars: usize::from(asked.snippet_chars),
            path_prefix: (!path.is_empty()).then_some(&path),
        };
        match reading.0.corpus().search(&request) {
            Ok(found) => answer::search(&found, &request, budget.0),
            Err(error) => unreadable(&error, budget),
        }
        .into()
    }

    /// Read a section in full, or one part of a long one.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn get_section(
        &self,
        Parameters(asked): Parameters<GetSection>,
        budget: Budget,
        reading: Reading,
    ) -> ToolAnswer {
        match reading.0.corpus().section(&asked.id) {
            Ok(Lookup::Found(section)) => answer::section(
                &section,
                usize::try_from(asked.offset).unwrap_or(usize::MAX),
                budget.0,
            ),
            Ok(Lookup::Unknown { similar }) => answer::unknown_id(&asked.id, &similar, budget.0),
            Err(error) => unreadable(&error, budget),
        }
        .into()
    }
}

/// A path as ids begin: without what is pasted around it, a leading `./` or `/`, or a glob's stars at its end;
/// blanks encoded as ids have them.
fn id_prefix(path: &str) -> String {
    let path = bare_id(path).trim_end_matches('*');
    let path = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
    path.replace(' ', "%20")
}

fn unreadable(error: &ReadError, budget: Budget) -> Answer {
    let cause = chain(error);
    tracing::error!(%cause, "the index could not be read");
    Answer::failed(
        &format!("The index is damaged here ({cause}). Other queries and ids may still work."),
        budget.0,
    )
}

/// A tool asks for its budget like for its arguments; the handler has put it beside the request.
impl FromContextPart<ToolCallContext<'_, DocsServer>> for Budget {
    fn from_context_part(context: &mut ToolCallContext<'_, DocsServer>) -> Result<Self, ErrorData> {
        let beside = context.request_context.extensions.get::<Self>().copied();
        Ok(beside.unwrap_or(context.service.budget()))
    }
}

impl FromContextPart<ToolCallContext<'_, DocsServer>> for Reading {
    fn from_context_part(context: &mut ToolCallContext<'_, DocsServer>) -> Result<Self, ErrorData> {
        Ok(Self(context.service.served().current()))
    }
}

/// One text block and nothing beside it: hosts that are given a structured copy as well show the model that
/// copy, or both.
impl IntoCallToolResult for ToolAnswer {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let Self(answer) = self;
        let content = vec![ContentBlock::text(answer.text)];
        let result = if answer.is_error {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        Ok(result.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_brought_to_the_form_of_ids() {
        for (given, want) in [
            ("", ""),
            ("guide/", "guide/"),
            ("./guide", "guide"),
            ("/guide", "guide"),
            (" my docs/a ", "my%20docs/a"),
            ("guide/**", "guide/"),
            ("[guide/a.md]", "guide/a.md"),
        ] {
            assert_eq!(id_prefix(given), want, "{given:?}");
        }
    }
}
