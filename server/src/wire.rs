//! One line of input as a JSON-RPC message, or the answer that refuses it.
//!
//! In: the bytes of a line. Out: a JSON object that has the shape of a JSON-RPC 2.0 message, nothing for a line
//! that needs no answer, or a [`Refusal`]: `-32700` for what is no JSON, `-32600` for JSON that is no message,
//! `-32602` for parameters that are no object. The SDK drops the first without a word and answers the others
//! without an id; a client would wait for ever.

use std::cell::RefCell;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use docs_index::answer::short_line;

/// A message as far as its shape goes.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// A call that wants an answer.
    Request(Value),
    /// A call that wants none.
    Notification(Value),
    /// An answer to a call of ours; as we make none, nobody waits for it.
    Response,
}

/// Why a line is refused, as the peer is told.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    code: i32,
    id: Value,
    message: String,
}

/// The code for JSON that is no request.
pub(crate) const INVALID_REQUEST: i32 = -32_600;

impl Refusal {
    const PARSE_ERROR: i32 = -32_700;
    const INVALID_PARAMS: i32 = -32_602;

    /// A request whose shape was right but whose content the SDK could not read.
    pub(crate) fn invalid(id: Value, reason: impl Into<String>) -> Self {
        Self {
            code: INVALID_REQUEST,
            id,
            message: format!("Invalid request: {}", reason.into()),
        }
    }

    /// A line over the limit, of which `beginning` is known.
    pub(crate) fn too_long(beginning: &[u8], limit: usize) -> Self {
        Self::invalid(
            id_in_beginning(beginning),
            format!("the line is longer than {limit} bytes"),
        )
    }

    fn no_json(error: &serde_json::Error) -> Self {
        // The error's text repeats no input, but it is kept short in any case.
        let reason = short_line(&error.to_string(), 200);
        Self {
            code: Self::PARSE_ERROR,
            id: Value::Null,
            message: format!("Parse error: {reason}"),
        }
    }

    /// Nothing at all where a message was expected.
    pub(crate) fn empty() -> Self {
        Self {
            code: Self::PARSE_ERROR,
            id: Value::Null,
            message: "Parse error: there is no message".to_owned(),
        }
    }

    /// The reply without an id where none is known. MCP's schema has no null for it, JSON-RPC has nothing else; a
    /// transport that pairs replies with requests by other means can do as MCP says.
    pub(crate) fn without_id(self) -> Vec<u8> {
        let mut reply = json!({"jsonrpc": "2.0", "error": {"code": self.code, "message": self.message}});
        if !self.id.is_null() {
            reply["id"] = self.id;
        }
        reply.to_string().into_bytes()
    }

    /// The line to send, with its end.
    pub(crate) fn into_line(self) -> Vec<u8> {
        let reply =
            json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.message}});
        let mut line = reply.to_string().into_bytes();
        line.push(b'\n');
        line
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Reads a line; none if it is blank.
pub(crate) fn read(line: &[u8]) -> Result<Option<Message>, Refusal> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let mut value: Value = serde_json::from_slice(line).or_else(|error| {
        let mended = whole_characters(line).and_then(|line| serde_json::from_slice(&line).ok());
        mended.ok_or_else(|| Refusal::no_json(&error))
    })?;
    let object = match &mut value {
        Value::Object(object) => object,
        Value::Array(_) => return Err(Refusal::invalid(Value::Null, "batches are not supported")),
        _ => return Err(Refusal::invalid(Value::Null, "a message is a JSON object")),
    };
    // Some clients say null for no parameters.
    if object.get("params").is_some_and(Value::is_null) {
        object.remove("params");
    }
    let id = object.get("id");
    let reply_to = id.filter(|id| is_id(id)).cloned().unwrap_or(Value::Null);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refusal::invalid(reply_to, "jsonrpc must be \"2.0\""));
    }
    let answers = object.contains_key("result") || object.contains_key("error");
    match object.get("method") {
        None if answers => Ok(Some(Message::Response)),
        None => Err(Refusal::invalid(reply_to, "there is no method")),
        Some(_) if answers => Err(Refusal::invalid(
            reply_to,
            "a message is either a call or an answer",
        )),
        Some(Value::String(_)) => match id {
            None => Ok(Some(Message::Notification(value))),
            Some(id) if is_id(id) && object.get("params").is_some_and(|params| !params.is_object()) => {
                let message = "Invalid params: they must be an object".to_owned();
                Err(Refusal {
                    code: Refusal::INVALID_PARAMS,
                    id: reply_to,
                    message,
                })
            }
            Some(id) if is_id(id) => Ok(Some(Message::Request(value))),
            Some(_) => Err(Refusal::invalid(Value::Null, "id must be a string or an integer")),
        },
        Some(_) => Err(Refusal::invalid(reply_to, "method must be a string")),
    }
}

/// The line with `\ufffd` for each escape that is half a character (`"\ud83d"`); none if it has no such.
///
/// JSON's grammar allows them, and JavaScript writes them where it cut a string through an emoji. Refusing the
/// line would leave the client waiting, as its id can not be read.
fn whole_characters(line: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = line.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut mended = Vec::with_capacity(line.len());
    let (mut at, mut halves) = (0, 0);
    while at < line.len() {
        let length = match (line[at], unit(at)) {
            (b'\\', Some(0xd800..=0xdbff)) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            (b'\\', Some(0xd800..=0xdfff)) => {
                mended.extend_from_slice(br"\ufffd");
                halves += 1;
                at += 6;
                continue;
            }
            // An escaped backslash must not be taken for the beginning of the next escape.
            (b'\\', _) => 2,
            _ => 1,
        };
        let end = line.len().min(at + length);
        mended.extend_from_slice(&line[at..end]);
        at = end;
    }
    (halves > 0).then_some(mended)
}

/// Strings and integers are ids. (Fractions, which JSON-RPC only discourages, MCP rules out.)
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

/// The id of a message of which only the beginning is known, if it stands there; else null.
fn id_in_beginning(beginning: &[u8]) -> Value {
    struct Keys<'a>(&'a RefCell<Value>);

    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "id" {
                    let id: Value = map.next_value()?;
                    if is_id(&id) {
                        *self.0.borrow_mut() = id;
                    }
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    let id = RefCell::new(Value::Null);
    // The object has no end, so this always fails; what was seen until then counts.
    let _ended_early = serde_json::Deserializer::from_slice(beginning).deserialize_map(Keys(&id));
    id.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &[u8]) -> (i32, Value) {
        let reply = read(line).unwrap_err().into_line();
        assert_eq!(reply.last(), Some(&b'\n'));
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["jsonrpc"], "2.0");
        (
            i32::try_from(reply["error"]["code"].as_i64().unwrap()).unwrap(),
            reply["id"].clone(),
        )
    }

    #[test]
    fn messages_are_told_apart() {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert_eq!(
            read(request.to_string().as_bytes()),
            Ok(Some(Message::Request(request.clone())))
        );
        let marked = [b"\xef\xbb\xbf ", request.to_string().as_bytes(), b" \r"].concat();
        assert_eq!(read(&marked), Ok(Some(Message::Request(request))));
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(
            read(notification.to_string().as_bytes()),
            Ok(Some(Message::Notification(notification.clone())))
        );
        for response in [
            &br#"{"jsonrpc":"2.0","id":1,"result":{}}"#[..],
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert_eq!(read(response), Ok(Some(Message::Response)));
        }
        for blank in [&b""[..], b"  ", b"\r", b"\xef\xbb\xbf"] {
            assert_eq!(read(blank), Ok(None));
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error_without_an_id() {
        let deep = "[".repeat(100_000);
        for line in [
            &b"not json"[..],
            b"\xff\xfe",
            br#"{"jsonrpc":"2.0","id":2"#,
            b"{\"a\":\"\xff\"}",
            deep.as_bytes(),
            b"{} {}",
        ] {
            assert_eq!(
                refused(line),
                (-32_700, Value::Null),
                "{:?}",
                String::from_utf8_lossy(&line[..line.len().min(40)])
            );
        }
    }

    #[test]
    fn half_a_character_does_not_cost_the_line() {
        for (escaped, want) in [
            (r"\ud83d", "\u{fffd}"),
            (r"a\ude00b", "a\u{fffd}b"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\\ud83d \ud83d\n", "\\ud83d \u{fffd}\n"),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{escaped}"}}"#);
            let want = json!({"jsonrpc": "2.0", "id": 1, "method": want});
            assert_eq!(read(line.as_bytes()), Ok(Some(Message::Request(want))), "{line}");
        }
        assert_eq!(refused(br#"{"id":1,"a":"\ud83d""#), (-32_700, Value::Null));
        assert_eq!(refused(br#"{"id":1,"a":"\u12"#), (-32_700, Value::Null));
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_with_its_id_if_it_has_one() {
        for (line, id) in [
            (&b"[]"[..], Value::Null),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
            (b"5", Value::Null),
            (b"null", Value::Null),
            (br#"{"id":7,"method":"ping"}"#, json!(7)),
            (br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
            (br#"{"jsonrpc":"2.0","id":3,"method":5}"#, json!(3)),
            (br#"{"jsonrpc":"2.0","id":4}"#, json!(4)),
            (
                br#"{"jsonrpc":"2.0","id":4,"method":"ping","result":{}}"#,
                json!(4),
            ),
        ] {
            assert_eq!(refused(line), (-32_600, id), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn parameters_are_an_object_or_nothing() {
        for params in ["[1]", "5", "\"x\""] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{params}}}"#);
            assert_eq!(refused(line.as_bytes()), (-32_602, json!(6)), "{line}");
        }
        let none = br#"{"jsonrpc":"2.0","id":6,"method":"ping","params":null}"#;
        let without = json!({"jsonrpc": "2.0", "id": 6, "method": "ping"});
        assert_eq!(read(none), Ok(Some(Message::Request(without))));
    }

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_where_it_stands_early() {
        for (beginning, id) in [
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"id":1,"x":"aaa"#,
                json!(9),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"tools/call","params":{"id":1,"x":"aaa"#,
                Value::Null,
            ),
            (r#"{"id":"s","#, json!("s")),
            (r#"{"id":{"#, Value::Null),
            ("aaaa", Value::Null),
            ("", Value::Null),
        ] {
            let line = Refusal::too_long(beginning.as_bytes(), 1 << 20).into_line();
            let reply: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(reply["id"], id, "{beginning}");
            assert_eq!(reply["error"]["code"], -32_600);
        }
    }
}
