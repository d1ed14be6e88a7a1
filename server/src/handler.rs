//! The server as the protocol sees it.
//!
//! In: requests that the SDK has parsed, of either protocol generation. Out: what the server is, its tools, and
//! the way of a call: arguments read, tool run behind a net for panics, note on ignored arguments added.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use docs_index::answer::{Answer, ignored_note, quoted, short_line};
use futures::FutureExt as _;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{IntoCallToolResult as _, ToolCallContext};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::answer_cache::{AnswerCache, Call};
use crate::arguments::Parameters;
use crate::call_record::{CallRecord, Called};
use crate::served::Served;
use crate::tools::{Budget, ToolAnswer};

/// How long a client may keep the tools list, which never changes while we run, and the discovery result, of which
/// a new index changes no more than its name and counts.
const TTL_MS: u64 = 3_600_000;

/// Methods with typed parameters: a request for one of them that arrives as "custom" had ill-typed ones.
/// `initialize` is not among them: a client that fails at it must hear that the method is not there.
const TYPED_METHODS: &[&str] = &["tools/call", "tools/list", "server/discover", "ping"];

/// Serves what is the newest edition by the tools in `tools.rs`.
#[derive(Debug)]
pub(crate) struct DocsServer {
    served: Arc<Served>,
    budget: Budget,
    /// All but the instructions, which are the edition's.
    config: ServerConfig,
    // Built once: the SDK's macro would build it again for every request.
    router: ToolRouter<Self>,
    parameters: HashMap<String, Parameters>,
    answers: Option<AnswerCache>,
}

impl DocsServer {
    pub(crate) fn new(served: Arc<Served>, max_result_bytes: usize) -> Self {
        let mut router = Self::tool_router();
        let mut parameters = HashMap::with_capacity(router.map.len());
        for route in router.map.values_mut() {
            let mut schema = JsonObject::clone(&route.attr.input_schema);
            strip_noise(&mut schema);
            parameters.insert(
                route.attr.name.to_string(),
                Parameters::from_schema(&route.attr.name, &schema),
            );
            route.attr.input_schema = Arc::new(schema);
        }
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("docs-server", env!("CARGO_PKG_VERSION")).with_title("Documentation"),
            );
        Self {
            served,
            budget: Budget(max_result_bytes),
            config,
            router,
            parameters,
            answers: None,
        }
    }

    /// Gives answers again that it gave lately, as far as so many bytes hold them.
    pub(crate) fn with_answer_cache(self, bytes: usize) -> Self {
        Self {
            answers: AnswerCache::new(bytes),
            ..self
        }
    }

    /// How many answers were given again.
    pub(crate) fn answers_given_again(&self) -> u64 {
        self.answers.as_ref().map_or(0, AnswerCache::hits)
    }

    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let names: Vec<String> = self
            .router
            .list_all()
            .into_iter()
            .map(|tool| tool.name.into_owned())
            .collect();
        ErrorData::invalid_params(
            format!(
                "no tool is called {}; there are {}",
                quoted(name),
                names.join(", ")
            ),
            None,
        )
    }

    async fn answer_call(
        &self,
        mut request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(parameters) = self.parameters.get(request.name.as_ref()) else {
            return Err(self.unknown_tool(&request.name));
        };
        let read = match parameters.read(request.arguments.take().unwrap_or_default()) {
            Ok(read) => read,
            Err(error) => {
                return ToolAnswer(Answer::failed(&error.to_string(), self.budget.0)).into_call_tool_result();
            }
        };
        let note = ignored_note(&read.ignored);
        // A note takes room from its answer, so an answer with one is another answer.
        let cache = self.answers.as_ref().filter(|_| note.is_empty());
        let cached = cache.map(|cache| {
            let edition = self.served.current().number();
            (cache, Call::new(edition, &request.name, &read.arguments))
        });
        if let Some(text) = cached.as_ref().and_then(|(cache, call)| cache.get(call)) {
            let answer = Answer {
                text: text.as_ref().to_owned(),
                is_error: false,
            };
            return ToolAnswer(answer).into_call_tool_result();
        }
        request.arguments = Some(read.arguments);
        context.extensions.insert(self.budget.less(note.len()));
        let response = self
            .router
            .call(ToolCallContext::new(self, request, context))
            .await?;
        Ok(match response {
            CallToolResponse::Complete(mut result) => {
                append(&mut result, &note);
                if let (Some((cache, call)), Some(text)) = (cached, answered_text(&result)) {
                    cache.put(call, text);
                }
                CallToolResponse::Complete(result)
            }
            other => other,
        })
    }
}

impl ServerHandler for DocsServer {
    fn get_info(&self) -> ServerConfig {
        self.config
            .clone()
            .with_instructions(self.served.current().instructions())
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor).unwrap_or_default();
        if !cursor.is_empty() {
            return Err(ErrorData::invalid_params(
                "invalid cursor: all tools are on one page",
                None,
            ));
        }
        Ok(ListToolsResult::with_all_items(self.router.list_all())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let record = call_record(&context);
        // The SDK sends no answer for a handler that panics, and the client would wait for one. A damaged term
        // dictionary can panic, so this does happen. Nothing of ours is left half-changed: the index is read-only.
        let caught = AssertUnwindSafe(self.answer_call(request, context))
            .catch_unwind()
            .await;
        let panicked = caught.is_err();
        let answered = caught.unwrap_or_else(|_panic| {
            tracing::error!(tool = %name, "a tool panicked; the call was answered with an error");
            let text = format!(
                "{} failed inside. The server still runs: try another query or id.",
                quoted(&name)
            );
            ToolAnswer(Answer::failed(&text, self.budget.0)).into_call_tool_result()
        });
        if let Some(record) = record {
            record.set(Called::of(&name, &answered, panicked));
        }
        answered
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = short_line(&request.method, 100);
        if TYPED_METHODS.contains(&request.method.as_str()) {
            let hint = if method == "tools/call" {
                ": name is a string, arguments an object"
            } else {
                ""
            };
            return Err(ErrorData::invalid_params(
                format!("ill-typed params for {method}{hint}"),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }
}

/// Where a transport that counts calls wants to be told of this one.
fn call_record(context: &RequestContext<RoleServer>) -> Option<CallRecord> {
    let head = context.extensions.get::<http::request::Parts>()?;
    head.extensions.get::<CallRecord>().cloned()
}

/// The text of an answer that is no error.
fn answered_text(result: &CallToolResult) -> Option<&str> {
    match result.content.as_slice() {
        [ContentBlock::Text(block)] if result.is_error != Some(true) => Some(&block.text),
        _ => None,
    }
}

/// Adds a note to an answer's text block; room for it was kept in the budget.
fn append(result: &mut CallToolResult, note: &str) {
    if let Some(ContentBlock::Text(block)) = result.content.first_mut() {
        block.text.push_str(note);
    }
}

/// Leaves out what costs bytes in every conversation and tells a model nothing.
fn strip_noise(schema: &mut JsonObject) {
    for name in ["$schema", "title"] {
        schema.remove(name);
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        for name in ["format", "title"] {
            property.remove(name);
        }
        // An empty default says no more than that the parameter is not required.
        if property
            .get("default")
            .is_some_and(|default| default.is_null() || default == "")
        {
            property.remove("default");
        }
    }
}
