#!/usr/bin/env node
// Drive docs-server with the official TypeScript client, the way an agent host does.
//
//     node drive_typescript.mjs SERVER INDEX [--mode auto|legacy|2026-07-28] [--query WORDS] [--expect PATH]
//     node drive_typescript.mjs --url URL [--token TOKEN] [--ca FILE] [--mode ...] [--query WORDS] [--expect PATH]
//
// Checks what a TypeScript host sees; drive_python.py is the longer list. Prints a line per check, exits 1 if one
// fails. In auto mode this client probes in a process of its own first, so the server is spawned twice.
// With --url a server that runs is asked over HTTP. Node takes the authority to trust, --ca FILE, only when it starts,
// so this program then starts itself again with the variable NODE_EXTRA_CA_CERTS.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: "string", default: "auto" },
    query: { type: "string", default: "leave files out of the index" },
    expect: { type: "string" },
    url: { type: "string" },
    token: { type: "string" },
    ca: { type: "string" },
  },
});
const [server, index] = positionals;
if ((options.url ? server : !index) || !["auto", "legacy", "2026-07-28"].includes(options.mode)) {
  console.error("usage: drive_typescript.mjs SERVER INDEX [--mode auto|legacy|2026-07-28] [--query W] [--expect P]");
  console.error("       drive_typescript.mjs --url URL [--token T] [--ca FILE] and the same options");
  process.exit(2);
}
if (options.ca && process.env.NODE_EXTRA_CA_CERTS !== options.ca) {
  const again = spawnSync(process.execPath, process.argv.slice(1), {
    stdio: "inherit",
    env: { ...process.env, NODE_EXTRA_CA_CERTS: options.ca },
  });
  process.exit(again.status ?? 1);
}

let failed = 0;
function check(holds, what) {
  console.log((holds ? "  ok    " : "  FAIL  ") + what);
  failed += holds ? 0 : 1;
}
const textOf = (result) => result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
const idsOf = (result) => [...textOf(result).matchAll(/^\[(\S+)\] .+ \(\d+(?:\.\d+)?(?:, complete)?\)$/gm)].map((m) => m[1]);

const negotiation = {
  auto: { versionNegotiation: { mode: "auto" } },
  legacy: {},
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
}[options.mode];
const newClient = () => new Client({ name: "docs-index-scripts", version: "1" }, negotiation);
const client = newClient();

const overHttp = (token) => new StreamableHTTPClientTransport(new URL(options.url), {
  requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} },
});
const folder = mkdtempSync(join(tmpdir(), "docs-index-"));
const statuses = join(folder, "statuses");
// The shell stands between client and server only to write the server's exit status down.
const asProcess = () => new StdioClientTransport({
  command: "/bin/sh",
  args: ["-c", '"$@"; echo $? >> "$0"', statuses, server, index],
});
await client.connect(options.url ? overHttp(options.token) : asProcess());

const version = client.getNegotiatedProtocolVersion();
check((version >= "2026-07-28") === (options.mode !== "legacy"), `speaks protocol ${version}`);
if (options.mode !== "2026-07-28") {
  const instructions = client.getInstructions() ?? "";
  check(client.getServerVersion()?.name === "docs-server", `introduces itself: ${client.getServerVersion()?.name}`);
  check(instructions.length > 0 && instructions.length < 500, `has instructions of ${instructions.length} characters`);
}

const { tools } = await client.listTools();
check(tools.map((tool) => tool.name).sort().join() === "get_section,search_docs", "lists two tools");
check(tools.every((tool) => tool.inputSchema.type === "object"), "their arguments are objects");

const search = (args) => client.callTool({ name: "search_docs", arguments: args });
const found = await search({ query: options.query });
const ids = idsOf(found);
check(!found.isError && ids.length >= 1 && ids.length <= 5, `search finds ${ids.length} hits`);
check(found.content.length === 1 && found.structuredContent === undefined, "search answers in one text block alone");
if (options.expect) {
  check(ids.some((id) => id.split("#")[0] === options.expect), `a hit is from ${options.expect}: ${ids.join(" ")}`);
}

const section = await client.callTool({ name: "get_section", arguments: { id: ids[0] } });
check(!section.isError && textOf(section).startsWith(`[${ids[0]}] `), `get_section reads ${ids[0]}`);

for (const [args, names, what] of [
  [{ query: options.query, k: 51 }, "k", "k out of range"],
  [{}, "query", "query missing"],
]) {
  const answer = await search(args);
  check(answer.isError === true && textOf(answer).includes(names), `${what}: ${JSON.stringify(textOf(answer).slice(0, 100))}`);
}
const unknown = await client.callTool({ name: "get_section", arguments: { id: "no/such/page.md#nowhere" } });
check(unknown.isError === true, `an unknown id: ${JSON.stringify(textOf(unknown).slice(0, 100))}`);

try {
  await client.callTool({ name: "no_such_tool", arguments: {} });
  check(false, "an unknown tool is a protocol error");
} catch (problem) {
  check(problem.code === -32602, `an unknown tool is protocol error ${problem.code}`);
}

const many = await Promise.all(Array.from({ length: 50 }, () => search({ query: options.query })));
check(many.every((answer) => textOf(answer) === textOf(found)), "50 calls at once get the same answer");

await client.close();
if (options.url && options.token) {
  const stranger = newClient();
  const refused = await stranger.connect(overHttp(`${options.token}x`))
    .then(() => stranger.listTools())
    .then(() => false, () => true);
  check(refused, "another token is refused");
}
if (options.url) {
  rmSync(folder, { recursive: true });
  process.exit(failed ? 1 : 0);
}
const ended = readFileSync(statuses, "utf8").split("\n").filter(Boolean);
check(ended.length >= 1 && ended.every((status) => status === "0"), `the server ends by itself: exit status ${ended}`);
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
