"""A Model Context Protocol client over a process's pipes, in the standard library alone.

In: the command of a server, and which generation of the protocol to speak. Out: parsed answers, and the bytes
that crossed the pipe. It does no more than a measurement or a demonstration needs: one request at a time, no
notifications from the server, no reconnecting.
"""
import json
import selectors
import subprocess
import time

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
CLIENT = {"name": "docs-index-scripts", "version": "1"}
# What each request of the newer generation carries with it.
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {}}


class ServerGone(Exception):
    """The server closed its output, or was silent for too long."""


class RawClient:
    """One server process. `modern` speaks 2026-07-28 (no handshake), else the initialize handshake is made.

    The process is spawned by the constructor; nothing is sent before the first request in the modern
    generation, so that the first answer can be timed from the spawn alone.
    """

    def __init__(self, command, modern=True, timeout=60.0, stderr=subprocess.DEVNULL):
        self.command, self.modern, self.timeout = command, modern, timeout
        self.last_id = 0
        self.reply_bytes = 0
        self.spawned = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        self.waiter = selectors.DefaultSelector()
        self.waiter.register(self.process.stdout, selectors.EVENT_READ)
        self.buffer = b""
        if not modern:
            self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT})
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def request(self, method, params=None):
        """The whole reply message to one request."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method}
        if self.modern:
            params = {**(params or {}), "_meta": META}
        if params is not None:
            message["params"] = params
        self._write(message)
        while True:
            line = self._read_line()
            reply = json.loads(line)
            if reply.get("id") == self.last_id and "method" not in reply:
                self.reply_bytes = len(line)
                return reply

    def call_tool(self, name, **arguments):
        """The result object of a tool call; a protocol error is raised as `RuntimeError`."""
        reply = self.request("tools/call", {"name": name, "arguments": arguments})
        if "error" in reply:
            raise RuntimeError(f"{name}: {reply['error'].get('message')} ({reply['error'].get('code')})")
        return reply["result"]

    def close(self):
        """End of input, as hosts do it; the server's exit status."""
        if self.process.stdin.closed:
            return self.process.returncode
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.waiter.close()
        self.process.stdout.close()
        if self.process.stderr:
            self.process.stderr.close()
        return self.process.returncode

    def _write(self, message):
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ServerGone(f"{self.command[0]} ended before it read the request") from None

    def _read_line(self):
        deadline = time.perf_counter() + self.timeout
        while b"\n" not in self.buffer:
            if not self.waiter.select(max(0.0, deadline - time.perf_counter())):
                raise ServerGone(f"{self.command[0]} gave no answer within {self.timeout:.0f} s")
            piece = self.process.stdout.read1(1 << 16)
            if not piece:
                raise ServerGone(f"{self.command[0]} closed its output (exit status {self.process.wait()})")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


def text_of(result):
    """The text blocks of a tool result, as a model gets them."""
    return "\n".join(block["text"] for block in result.get("content", []) if block.get("type") == "text")
