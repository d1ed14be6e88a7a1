"""Measure docs-server, a peer and the floor side by side; runs in the virtual environment that scripts/bench makes.

In (JSON on stdin): the servers' commands, the queries, how often. Out (JSON on stdout): the figures, and the texts
to count tokens of. Calls alternate between the servers, so that a ratio is of one and the same spell of the machine.

Definitions: text bytes are the UTF-8 bytes of the text blocks of a result. Whole bytes are the Python SDK's result
object back to JSON, `model_dump_json(by_alias=True, exclude_none=True)`.
"""
import asyncio
import json
import os
import re
import statistics
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import Client, StdioServerParameters

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from raw_client import RawClient  # noqa: E402

# Hits and characters of a snippet, as the tools take them.
ROWS = [(3, 0), (3, 200), (5, 200), (10, 200), (10, 800), (20, 800)]
OUR_ID = re.compile(r"^\[(\S+)\] ", re.M)


def whole(result):
    return result.model_dump_json(by_alias=True, exclude_none=True)


def texts(result):
    return [block.text for block in result.content if block.type == "text"]


def text_bytes(result):
    return sum(len(text.encode()) for text in texts(result))


def ids(result):
    """Ids of the hits, best first: from structured content, else from lines that begin with [id]."""
    if result.structured_content is not None:
        return [hit["id"] for hit in result.structured_content.get("result", [])]
    return OUR_ID.findall("\n".join(texts(result)))


def spread(values):
    ordered = sorted(values)
    return {"n": len(ordered), "median": statistics.median(ordered), "min": ordered[0],
            "p95": ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]}


def in_turn(names, turn):
    """The servers in another order each time, so that none is always the first."""
    at = turn % len(names)
    return names[at:] + names[:at]


def client_of(server):
    command, *arguments = server["command"]
    return Client(StdioServerParameters(command=command, args=arguments, env={**os.environ, **server["env"]}))


def call_tool(raw, query):
    reply = raw.request("tools/call", {"name": "search_docs", "arguments": {"query": query, "k": 5}})
    return reply


async def payload(servers, names, queries):
    """Sizes of the same searches on both servers; these need no timing, so they go first and warm both up."""
    figures = {name: {"rows": {}} for name in names}
    samples = []
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(client_of(servers[name])) for name in names}
        for name in names:
            figures[name]["tools_list_bytes"] = len(whole(await clients[name].list_tools()).encode())
        for k, chars in ROWS:
            key = f"{k}/{chars}"
            for name in names:
                rows = []
                for query in queries:
                    result = await clients[name].call_tool(
                        "search_docs", {"query": query, "k": k, "snippet_chars": chars})
                    if result.is_error:
                        raise SystemExit(f"{name}: search_docs failed: {texts(result)}")
                    rows.append((text_bytes(result), len(whole(result).encode()), len(ids(result))))
                    samples.append({"server": name, "row": key, "text": "\n".join(texts(result)), "whole": whole(result)})
                text, full, hits = (statistics.fmean(column) for column in zip(*rows))
                figures[name]["rows"][key] = {"text": text, "whole": full, "hits": hits}
        for name in names:
            sizes = []
            for query in queries:
                found = ids(await clients[name].call_tool("search_docs", {"query": query}))
                if found:
                    section = await clients[name].call_tool("get_section", {"id": found[0]})
                    sizes.append((text_bytes(section), len(whole(section).encode())))
            text, full = (statistics.fmean(column) for column in zip(*sizes))
            figures[name]["get_section"] = {"text": text, "whole": full, "n": len(sizes)}
    return figures, samples


async def sdk_latency(servers, names, queries, calls, warm):
    times = {name: [] for name in names}
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(client_of(servers[name])) for name in names}
        for turn in range(warm + calls):
            arguments = {"query": queries[turn % len(queries)], "k": 5}
            for name in in_turn(names, turn):
                began = time.perf_counter()
                await clients[name].call_tool("search_docs", arguments)
                if turn >= warm:
                    times[name].append((time.perf_counter() - began) * 1e3)
    return {name: spread(values) for name, values in times.items()}


def raw_client(server, modern=True):
    os.environ.update(server["env"])
    return RawClient(server["command"], modern=modern)


def raw_latency(servers, names, queries, calls, warm):
    """Per-call times through pipes alone, bytes on the wire, and what memory the processes then hold."""
    raws = {name: raw_client(servers[name]) for name in names}
    times, wire = {name: [] for name in names}, {name: [] for name in names}
    for turn in range(warm + calls):
        for name in in_turn(names, turn):
            began = time.perf_counter()
            call_tool(raws[name], queries[turn % len(queries)])
            if turn >= warm:
                times[name].append((time.perf_counter() - began) * 1e3)
                wire[name].append(raws[name].reply_bytes)
    memory = {name: resident(raws[name].process.pid) for name in names}
    for raw in raws.values():
        raw.close()
    return ({name: spread(values) for name, values in times.items()},
            {name: statistics.fmean(values) for name, values in wire.items()}, memory)


def resident(pid):
    """Resident memory in KiB by kind: `anonymous` is the process's own, `file` is shared with the page cache."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return {kind: int(status[key].split()[0]) for kind, key in (("anonymous", "RssAnon"), ("file", "RssFile"))}


def starts(servers, names, queries, count, modern):
    """ms from the spawn of the process to the first answered call."""
    times = {name: [] for name in names}
    for turn in range(count + 1):  # the first turn only fills the page cache
        for name in in_turn(names, turn):
            with raw_client(servers[name], modern) as raw:
                call_tool(raw, queries[turn % len(queries)])
                if turn:
                    times[name].append((time.perf_counter() - raw.spawned) * 1e3)
    return {name: spread(values) for name, values in times.items()}


def main():
    job = json.load(sys.stdin)
    servers, queries = job["servers"], job["queries"]
    both, every = ["docs-server", "peer"], ["docs-server", "peer", "floor"]
    note = lambda what: print(f"bench: {what}", file=sys.stderr, flush=True)  # noqa: E731
    note("payload")
    roomy = {**servers, "docs-server": servers["docs-server-roomy"]}
    figures, samples = asyncio.run(payload(roomy, both, queries))
    note("start to first answer")
    figures["start"] = {"modern": starts(servers, every, queries, job["starts"], True),
                        "legacy": starts(servers, every, queries, job["starts"], False)}
    note("calls, raw client")
    latency, wire, memory = raw_latency(servers, both, queries, job["calls"], job["warm"])
    figures |= {"raw": latency, "wire": wire, "memory": memory}
    note("calls, SDK client")
    figures["sdk"] = asyncio.run(sdk_latency(servers, both, queries, job["calls"], job["warm"]))
    json.dump({"figures": figures, "samples": samples}, sys.stdout)


if __name__ == "__main__":
    main()
