-- For wrk: searches over HTTP, the queries of a file in turn; at the end one line of JSON with the figures.
-- In: the variable QUERIES names a file with a query a line. All requests are made before the first is sent.
local requests, turn = {}, 0

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(byte) return string.format("\\u%04x", byte:byte()) end) .. '"'
end

function init()
  local headers = {
    ["Content-Type"] = "application/json",
    ["Accept"] = "application/json, text/event-stream",
    ["MCP-Protocol-Version"] = "2026-07-28",
    ["Mcp-Method"] = "tools/call",
    ["Mcp-Name"] = "search_docs",
  }
  for line in io.lines(os.getenv("QUERIES")) do
    local body = '{"jsonrpc":"2.0","id":' .. (#requests + 1) .. ',"method":"tools/call","params":{"name":"search_docs",'
      .. '"arguments":{"query":' .. quoted(line) .. '},"_meta":{'
      .. '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},'
      .. '"io.modelcontextprotocol/clientInfo":{"name":"docs-index-scripts","version":"1"}}}}'
    requests[#requests + 1] = wrk.format("POST", wrk.path, headers, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"p50_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f,'
      .. '"failed":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
