#!/usr/bin/env python3
"""Send a table of good and bad requests to a docs-server over HTTP, and hold its answers against what is right.

    http_probe.py HOST:PORT|URL [--token TOKEN] [--ca FILE] [--allowed-origin ORIGIN] [--only WORDS] [--quiet]

Each row says what is sent, which status must come back, and why that is right. Prints the table; exits 1 if an answer
differs. With --token the rows on tokens are sent too. The server should be started with --rate 0, since everything
comes from one address.
"""
import argparse
import json
import socket
import ssl
import sys
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from raw_client import META, MODERN

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PREFIX = "io.modelcontextprotocol/"
JSON_TYPE = "application/json"
BOTH_TYPES = "application/json, text/event-stream"
BODY_LIMIT = 64 * 1024
MODERN_HEADERS = ("mcp-protocol-version", "mcp-method", "mcp-name", "authorization", "content-type")
OWN_HOST = object()


@dataclass
class Row:
    """One request, and what must come back: `status`, then `code` of a JSON-RPC error, `header` as (name, test), and
    `body` as a test of the parsed answer. `lines` are put into the head as they are; with `bare` the content is sent
    alone, without a head."""

    name: str
    why: str
    status: int | tuple
    code: int | None = None
    header: tuple | None = None
    body: object = None
    method: str = "POST"
    path: str = "/mcp"
    headers: dict = field(default_factory=dict)
    content: bytes = b""
    host: object = OWN_HOST
    chunked: bool = False
    lines: bytes = b""
    bare: bool = False
    needs_token: bool = False
    with_token: bool = True


def message(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def packed(value):
    return json.dumps(value).encode()


def post(name, why, status, value=None, headers=None, raw=None, **more):
    """A POST of JSON, with the headers that any client sends; a header of None is left out."""
    content = raw if raw is not None else packed(value)
    base = {"Content-Type": JSON_TYPE, "Accept": BOTH_TYPES}
    return Row(name, why, status, headers={**base, **(headers or {})}, content=content, **more)


def modern(name, why, status, method="tools/call", params=None, meta=META, headers=None, **more):
    """A request of 2026-07-28 with the headers that mirror it."""
    params = dict(SEARCH if params is None else params)
    if meta is not None:
        params["_meta"] = meta
    mirrored = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if isinstance(params.get("name"), str):
        mirrored["Mcp-Name"] = params["name"]
    return post(name, why, status, message(method, params), {**mirrored, **(headers or {})}, **more)


SEARCH = {"name": "search_docs", "arguments": {"query": "index"}}


def initialize(version="2025-11-25"):
    return message("initialize", {"protocolVersion": version, "capabilities": {},
                                  "clientInfo": {"name": "docs-index-scripts", "version": "1"}})


def without(values, key):
    return {name: value for name, value in values.items() if name != key}


def is_text(answer):
    content = answer["result"]["content"]
    return len(content) == 1 and content[0]["type"] == "text" and not answer["result"].get("isError")


def lists(names):
    return lambda value: set(names) <= {name.strip().lower() for name in value.split(",")}


def rows(port, allowed_origin):
    local, foreign = allowed_origin or f"http://localhost:{port}", "https://evil.example"
    preflight = {"Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": ", ".join(MODERN_HEADERS)}
    hello = initialize()

    yield from (
        # Who may ask: a page of another site must reach nothing, by whatever name it calls this machine.
        post("Host of another site", "a rebound name must not reach a local server", 403, hello, host="evil.example"),
        post("Host 0.0.0.0", "a name that is not this server's", 403, hello, host="0.0.0.0:1"),
        post("Host localhost", "the loopback has three names, at any port", 200, hello, host="localhost"),
        post("Host [::1]", "the loopback has three names", 200, hello, host=f"[::1]:{port}"),
        post("no Host", "HTTP/1.1 requires one", (400, 403), hello, host=None),
        post("two Hosts", "which of them counts would be a guess", (400, 403), hello,
             headers={"host": "evil.example"}),
        post("Origin of another site", "the protocol says 403", 403, hello, {"Origin": foreign}),
        post("Origin null", "a sandboxed frame or a file is nobody known", 403, hello, {"Origin": "null"}),
        post("Origin on the same host name, longer", "origins are compared whole", 403, hello,
             {"Origin": f"{local}.evil.example"}),
        post("Origin allowed", "a page of this machine may call, and is told so", 200, hello, {"Origin": local},
             header=("access-control-allow-origin", lambda value: value in (local, "*"))),
        post("no Origin", "programs send none", 200, hello),
        Row("preflight, Origin allowed", "a browser asks first, with the headers of 2026-07-28", (200, 204),
            method="OPTIONS", headers={"Origin": local, **preflight},
            header=("access-control-allow-headers", lists(MODERN_HEADERS))),
        Row("preflight, Origin of another site", "nothing is allowed to it", 403, method="OPTIONS",
            headers={"Origin": foreign, **preflight}),
        # What is accepted and sent.
        post("Accept both types", "as the protocol says", 200, hello),
        post("Accept JSON alone", "every answer is JSON", 200, hello, {"Accept": JSON_TYPE}),
        post("Accept anything", "JSON is something", 200, hello, {"Accept": "*/*"}),
        post("no Accept", "HTTP says: then anything goes", 200, hello, {"Accept": None}),
        post("Accept an event stream alone", "no answer is one", 406, hello, {"Accept": "text/event-stream"}),
        post("Accept HTML alone", "no answer is HTML", 406, hello, {"Accept": "text/html"}),
        post("Content-Type with a charset", "a parameter changes nothing", 200, hello,
             {"Content-Type": "application/json; charset=utf-8"}),
        post("Content-Type of plain text", "a form of another site could send it unasked", 415, hello,
             {"Content-Type": "text/plain"}),
        post("no Content-Type", "the same", 415, hello, {"Content-Type": None}),
        # Methods and paths.
        Row("GET", "there is no stream to listen to", 405, method="GET", headers={"Accept": "text/event-stream"},
            header=("allow", lists(["post"]))),
        Row("DELETE", "there is no session to end", 405, method="DELETE", header=("allow", lists(["post"]))),
        post("PUT", "not a method of the protocol", 405, hello, method="PUT"),
        post("another path", "nothing is there", 404, hello, path="/"),
        post("a longer path", "nothing is there", 404, hello, path="/mcp/more"),
        post("a slash at the end", "the same address to those who type it", 200, hello, path="/mcp/"),
        Row("/healthz", "the process answers", 200, method="GET", path="/healthz"),
        Row("/readyz", "an index is served", 200, method="GET", path="/readyz"),
        # Bodies.
        post("no JSON", "JSON-RPC: parse error", 400, raw=b"{nope", code=-32700),
        post("no UTF-8", "JSON is UTF-8", 400, raw=b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', code=-32700),
        post("nothing", "an empty text is no JSON", 400, raw=b"", code=-32700),
        post("JSON nested 20,000 deep", "refused by the parser, not by the stack", 400, raw=b"[" * 20_000,
             code=-32700),
        post("an array", "one message to a request", 400, [], code=-32600),
        post("a batch", "batches ended with 2025-06-18", 400, [hello, hello], code=-32600),
        post("an object that is no message", "it has no method", 400, {"a": 1}, code=-32600),
        post("a response", "nothing was asked of the client", 400, {"jsonrpc": "2.0", "id": 9, "result": {}},
             code=-32600),
        post("64 KiB and more", "over --max-body-bytes", 413, raw=b" " * (BODY_LIMIT + 1)),
        post("64 KiB and more in chunks", "the length need not be told before", 413, raw=b" " * (BODY_LIMIT + 1),
             chunked=True),
        post("a small body in chunks", "a form that proxies use", 200, hello, chunked=True),
        # Heads.
        post("10,000 headers", "far over what any client sends", 431, hello,
             lines=b"".join(b"x-%d: y\r\n" % number for number in range(10_000))),
        post("a header of 100 KiB", "far over what any client sends", 431, hello, {"X-Long": "y" * 102_400}),
        Row("no HTTP", "not a request line", 400, bare=True, content=b"\x16\x03\x01\x02\x00\x01\r\n\r\n"),
    )

    yield from (
        # 2026-07-28: each request carries its version, and headers that mirror it.
        modern("modern: a call", "complete in itself", 200, body=is_text),
        modern("modern: server/discover", "names the versions", 200, "server/discover", {},
               body=lambda answer: MODERN in answer["result"]["supportedVersions"]),
        modern("modern: tools/list", "says how long it holds", 200, "tools/list", {},
               body=lambda answer: len(answer["result"]["tools"]) >= 2 and "ttlMs" in answer["result"]),
        modern("modern: no Mcp-Method", "required", 400, headers={"Mcp-Method": None}, code=-32020),
        modern("modern: no Mcp-Name", "required for a call", 400, headers={"Mcp-Name": None}, code=-32020),
        modern("modern: Mcp-Name of another tool", "a proxy would have let another call through", 400,
               headers={"Mcp-Name": "get_section"}, code=-32020),
        modern("modern: Mcp-Method of another method", "the same", 400, headers={"Mcp-Method": "tools/list"},
               code=-32020),
        modern("modern: no version header", "required", 400, headers={"MCP-Protocol-Version": None}, code=-32020),
        modern("modern: another version in the header", "header and body must agree", 400,
               headers={"MCP-Protocol-Version": "2025-11-25"}, code=-32020),
        modern("modern: an unknown version", "answered with those that are known", 400,
               meta={**META, PREFIX + "protocolVersion": "2030-01-01"},
               headers={"MCP-Protocol-Version": "2030-01-01"}, code=-32022,
               body=lambda answer: MODERN in answer["error"]["data"]["supported"]),
        modern("modern: no _meta", "header and body must agree", 400, meta=None, code=(-32020, -32602)),
        modern("modern: no clientCapabilities", "a required key of _meta", 400,
               meta=without(META, PREFIX + "clientCapabilities"), code=-32602),
        modern("modern: an unknown method", "the protocol says 404", 404, "foo/bar", {}, code=-32601),
        modern("modern: initialize", "there is none in this version", 404, "initialize", {}, code=-32601),
        modern("modern: an unknown tool", "known only to the method, so 200", 200, params={"name": "nope",
               "arguments": {}}, code=-32602),
        modern("modern: a tool named 5", "not a name", (200, 400), params={"name": 5}, headers={"Mcp-Name": "5"},
               code=-32602),
        modern("modern: arguments out of range", "said to the model, as a result", 200,
               params={"name": "search_docs", "arguments": {"query": "index", "k": 51}},
               body=lambda answer: answer["result"]["isError"] is True),
    )

    for version in LEGACY:
        yield post(f"legacy: initialize {version}", "echoed", 200, initialize(version),
                   body=lambda answer, version=version: answer["result"]["protocolVersion"] == version)
    yield from (
        post("legacy: initialize of an unknown version", "answered with one that is known", 200,
             initialize("1999-01-01"), body=lambda answer: answer["result"]["protocolVersion"] in LEGACY),
        post("legacy: a call", "no session is needed", 200, message("tools/call", SEARCH),
             {"MCP-Protocol-Version": "2025-11-25"}, body=is_text),
        post("legacy: a call without a version header", "counts as 2025-03-26", 200, message("tools/call", SEARCH),
             body=is_text),
        post("legacy: an unknown version in the header", "the protocol says 400", 400, message("tools/list"),
             {"MCP-Protocol-Version": "1999-01-01"}),
        post("legacy: a session id", "there are no sessions, so it names none", 200, message("tools/list"),
             {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "of-somebody-else"}),
        post("legacy: a notification", "taken, and not answered", 202,
             {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    )

    # A token. Host and Origin were looked at before.
    challenge = ("www-authenticate", lambda value: value.lower().startswith("bearer"))
    for name, why, status, path, headers in (
        ("no token", "who may ask is a list", 401, "/mcp", {}),
        ("another token", "not on the list", 401, "/mcp", {"Authorization": "Bearer aaaaaaaaaaaaaaaaaaaaaaaa"}),
        ("a token by another scheme", "only Bearer is known", 401, "/mcp", {"Authorization": "Basic YTpi"}),
        ("Bearer and no token", "malformed, which is 400", 400, "/mcp", {"Authorization": "Bearer "}),
        ("a token in the address", "addresses end in logs", 401, "/mcp?access_token={token}", {}),
    ):
        yield post(name, why, status, hello, headers, path=path, header=challenge, needs_token=True, with_token=False)
    yield Row("/healthz without a token", "who watches the process has none", 200, method="GET", path="/healthz",
              needs_token=True, with_token=False)
    yield Row("preflight without a token", "a browser sends none with it", (200, 204), method="OPTIONS",
              headers={"Origin": local, **preflight}, needs_token=True, with_token=False)


class Probe:
    def __init__(self, url, token=None, authority=None, timeout=10.0):
        parts = urlsplit(url)
        self.host, self.secure = parts.hostname, parts.scheme == "https"
        self.port = parts.port or (443 if self.secure else 80)
        self.name = parts.netloc
        self.token, self.timeout = token, timeout
        self.context = ssl.create_default_context(cafile=authority) if self.secure else None

    def bytes_of(self, row):
        if row.bare:
            return row.content
        host = self.name if row.host is OWN_HOST else row.host
        path = row.path.replace("{token}", self.token or "")
        lines = [f"{row.method} {path} HTTP/1.1"]
        lines += [] if host is None else [f"Host: {host}"]
        headers = dict(row.headers)
        if self.token and row.with_token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        content = row.content
        if row.chunked:
            lines.append("Transfer-Encoding: chunked")
            content = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)
        elif row.method not in ("GET", "OPTIONS", "DELETE"):
            lines.append(f"Content-Length: {len(content)}")
        lines.append("Connection: close")
        head = "\r\n".join(lines).encode() + b"\r\n"
        return head + row.lines + b"\r\n" + content

    def send(self, row):
        """Status, headers and body of the answer, or what happened instead of one."""
        try:
            connection = socket.create_connection((self.host, self.port), timeout=self.timeout)
            if self.context:
                connection = self.context.wrap_socket(connection, server_hostname=self.host)
            with connection:
                try:
                    connection.sendall(self.bytes_of(row))
                except OSError:
                    pass  # refused before it was read to its end: the answer may be there all the same
                answer = b""
                while True:
                    try:
                        piece = connection.recv(1 << 16)
                    except ConnectionResetError:
                        break
                    if not piece:
                        break
                    answer += piece
        except OSError as problem:
            return None, {}, repr(problem).encode()
        return parsed(answer)


def parsed(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) < 2 or not words[1].isdigit():
        return None, {}, b"no answer" if not answer else b"no HTTP: " + answer[:60]
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = unchunked(body)
    return int(words[1]), headers, body


def unchunked(body):
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.split(b";")[0] or b"0", 16)
        if not length:
            break
        whole, body = whole + body[:length], body[length + 2:]
    return whole


def faults(row, status, headers, body):
    """What of an answer differs from the row, as a list of short texts."""
    found = []
    wanted = row.status if isinstance(row.status, tuple) else (row.status,)
    if status not in wanted:
        found.append(f"status {status} {body[:80].decode(errors='replace')!r}")
    answer = None
    if row.code is not None or row.body is not None:
        try:
            answer = json.loads(body)
        except ValueError:
            found.append(f"no JSON: {body[:60]!r}")
    if row.code is not None and answer is not None:
        codes = row.code if isinstance(row.code, tuple) else (row.code,)
        code = (answer.get("error") or {}).get("code") if isinstance(answer, dict) else None
        if code not in codes:
            found.append(f"code {code}")
    if row.body is not None and answer is not None:
        try:
            holds = row.body(answer)
        except (KeyError, TypeError, IndexError):
            holds = False
        if not holds:
            found.append(f"body {body[:120].decode(errors='replace')}")
    if row.header is not None:
        name, test = row.header
        if name not in headers:
            found.append(f"no header {name}")
        elif not test(headers[name]):
            found.append(f"{name}: {headers[name]}")
    return found


def shown(value):
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", metavar="HOST:PORT|URL")
    parser.add_argument("--token", help="a token that the server accepts; the others must be refused")
    parser.add_argument("--ca", metavar="FILE", help="the authority that a https server's certificate is from")
    parser.add_argument("--allowed-origin", metavar="ORIGIN", help="an origin that may call (default: localhost)")
    parser.add_argument("--only", metavar="WORDS", default="", help="only rows whose name holds these words")
    parser.add_argument("--quiet", action="store_true", help="print the rows that differ alone")
    args = parser.parse_args(arguments)
    url = args.server if "://" in args.server else f"http://{args.server}/mcp"
    probe = Probe(url, args.token, args.ca)
    sent = differing = 0
    for row in rows(probe.port, args.allowed_origin):
        if args.only not in row.name or (row.needs_token and not args.token):
            continue
        sent += 1
        status, headers, body = probe.send(row)
        found = faults(row, status, headers, body)
        differing += bool(found)
        wanted = shown(row.status) + ("" if row.code is None else f", {shown(row.code)}")
        if found or not args.quiet:
            print(f"{'DIFFERS' if found else 'ok':7}  {row.name:44}  {wanted:22}  {'; '.join(found) or row.why}")
    print(f"{sent} requests, {differing} answers differ")
    return 1 if differing or not sent else 0


if __name__ == "__main__":
    sys.exit(main())
