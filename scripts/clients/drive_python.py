#!/usr/bin/env python3
"""Drive docs-server with the official Python SDK's client, the way an agent host does.

    drive_python.py SERVER INDEX [--mode auto|legacy|2026-07-28] [--query WORDS] [--expect PATH]
    drive_python.py --url URL [--token TOKEN] [--ca FILE] [--mode ...] [--query WORDS] [--expect PATH]

The checks are the promises of the user guide: one text block and no structured copy, mistakes of the model as
results it can read, an unknown tool as a protocol error, an exit with status 0 when the host closes the pipe.
With --url a server that runs is asked over HTTP; --ca names the authority that its certificate is from.
Prints a line per check; exits 1 if one fails.
"""
import argparse
import asyncio
import re
import ssl
import sys
import tempfile
from pathlib import Path

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HIT = re.compile(r"^\[(?P<id>\S+)\] (?P<path>.+) \((?P<score>\d+(?:\.\d+)?)(?P<complete>, complete)?\)$", re.M)
# The shell stands between client and server only to write the server's exit status down.
RECORD_STATUS = '"$@"; echo $? >> "$0"'


class Checks:
    def __init__(self):
        self.failed = 0

    def __call__(self, holds, what):
        print(("  ok    " if holds else "  FAIL  ") + what)
        self.failed += not holds


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def drive(client, args, check):
    modern = args.mode != "legacy"
    check((client.protocol_version >= "2026-07-28") == modern, f"speaks protocol {client.protocol_version}")
    if args.mode != "2026-07-28":  # a pinned client asks nothing before its first call, so it learns neither
        check(client.server_info is not None and client.server_info.name == "docs-server",
              f"introduces itself: {client.server_info and client.server_info.name}")
        instructions = client.instructions or ""
        check(0 < len(instructions) < 500, f"has instructions of {len(instructions)} characters")
        check("search_docs" in instructions and "get_section" in instructions, "the instructions name both tools")

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    check(sorted(tools) == ["get_section", "search_docs"], f"lists two tools: {sorted(tools)}")
    for tool in tools.values():
        schema = tool.input_schema
        check(schema.get("type") == "object" and "$schema" not in schema, f"{tool.name}: a plain object schema")
        check(all(field.get("description") for field in schema["properties"].values()),
              f"{tool.name}: every argument is described")
        check(bool(tool.annotations and tool.annotations.read_only_hint and tool.annotations.open_world_hint is False),
              f"{tool.name}: marked read-only and closed-world")
        check(tool.output_schema is None, f"{tool.name}: no output schema")

    found = await client.call_tool("search_docs", {"query": args.query})
    hits = list(HIT.finditer(text_of(found)))
    check(not found.is_error and 1 <= len(hits) <= 5, f"search finds {len(hits)} hits, 1 to 5 by default")
    check(len(found.content) == 1 and found.structured_content is None, "search answers in one text block alone")
    ids = [hit["id"] for hit in hits]
    check(len(set(ids)) == len(ids), "no hit stands twice")
    if args.expect:
        check(any(i.split("#")[0] == args.expect for i in ids), f"a hit is from {args.expect}: {ids}")
    scores = [float(hit["score"]) for hit in hits]
    check(scores[:1] == [max(scores, default=None)], f"the best hit comes first: {scores}")

    one = await client.call_tool("search_docs", {"query": args.query, "k": 1, "snippet_chars": 0})
    check([h["id"] for h in HIT.finditer(text_of(one))] == ids[:1], "k = 1 is the first hit alone")
    next_page = await client.call_tool("search_docs", {"query": args.query, "k": 1, "offset": 1})
    check([h["id"] for h in HIT.finditer(text_of(next_page))] == ids[1:2], "offset = 1 is the second hit")
    lenient = await client.call_tool("search_docs", {"query": args.query, "k": "2", "snippet_chars": None})
    check(len(HIT.findall(text_of(lenient))) == min(2, len(ids)), 'k = "2" and a null are understood')

    for identifier in ids:
        section = await client.call_tool("get_section", {"id": identifier})
        first_line = text_of(section).split("\n", 1)[0]
        check(not section.is_error and first_line.startswith(f"[{identifier}] "), f"get_section reads {identifier}")
        check(len(section.content) == 1 and section.structured_content is None, "  in one text block alone")

    mistakes = [
        ("search_docs", {"query": args.query, "k": 0}, "k", "k out of range"),
        ("search_docs", {"query": args.query, "k": "many"}, "k", "k is no number"),
        ("search_docs", {"query": args.query, "snippet_chars": 2001}, "snippet_chars", "snippet_chars out of range"),
        ("search_docs", {}, "query", "query missing"),
        ("get_section", {"id": "no/such/page.md#nowhere"}, "search_docs", "an unknown id"),
    ]
    for tool, arguments, names, what in mistakes:
        answer = await client.call_tool(tool, arguments)
        check(answer.is_error and names in text_of(answer), f"{what}: {text_of(answer)[:100]!r}")
    nothing = await client.call_tool("search_docs", {"query": "qqzzxxyyvv"})
    check(not nothing.is_error and "qqzzxxyyvv" in text_of(nothing), f"no hit: {text_of(nothing)[:100]!r}")

    try:
        await client.call_tool("no_such_tool", {})
        check(False, "an unknown tool is a protocol error")
    except MCPError as problem:
        check(problem.error.code == -32602, f"an unknown tool is protocol error {problem.error.code}")
    again = await client.call_tool("search_docs", {"query": args.query})
    check(text_of(again) == text_of(found), "the same question gets the same answer after all that")


async def drive_process(args, check):
    with tempfile.TemporaryDirectory() as folder:
        statuses = Path(folder, "statuses")
        command = StdioServerParameters(
            command="/bin/sh", args=["-c", RECORD_STATUS, str(statuses), args.server, args.index])
        async with Client(command, mode=args.mode, read_timeout_seconds=30) as client:
            await drive(client, args, check)
        ended = statuses.read_text().split() if statuses.exists() else []
        check(ended == ["0"], f"the server ends by itself when its input closes: exit status {ended}")


async def drive_url(args, check):
    verify = ssl.create_default_context(cafile=args.ca) if args.ca else True

    def http_client(token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # What the environment names as a proxy has no part in this.
        return httpx2.AsyncClient(headers=headers, verify=verify, timeout=30, trust_env=False)

    async with http_client(args.token) as http:
        async with Client(streamable_http_client(args.url, http_client=http), mode=args.mode,
                          read_timeout_seconds=30) as client:
            await drive(client, args, check)
    if args.token:
        async with http_client(args.token + "x") as http:
            try:
                async with Client(streamable_http_client(args.url, http_client=http), mode=args.mode,
                                  read_timeout_seconds=30) as client:
                    await client.list_tools()
                refused = False
            except Exception as problem:  # the SDK's, or a group of them, by mode
                refused = bool(problem)
        check(refused, "another token is refused")


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", nargs="?")
    parser.add_argument("index", nargs="?")
    parser.add_argument("--url", help="a server that runs, instead of a program and an index")
    parser.add_argument("--token", help="sent as a bearer token")
    parser.add_argument("--ca", metavar="FILE", help="PEM file of the authority to trust")
    parser.add_argument("--mode", default="auto", choices=("auto", "legacy", "2026-07-28"))
    parser.add_argument("--query", default="leave files out of the index")
    parser.add_argument("--expect", metavar="PATH", help="a page that must be among the hits")
    args = parser.parse_args()
    if bool(args.url) == bool(args.server) or (args.server and not args.index):
        parser.error("either SERVER and INDEX, or --url URL")
    check = Checks()
    await (drive_url if args.url else drive_process)(args, check)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
