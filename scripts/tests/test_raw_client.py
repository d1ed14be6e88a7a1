"""The raw client waits for the right reply, and never for ever."""
import sys
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import RawClient, ServerGone, text_of  # noqa: E402


def server(body):
    return [sys.executable, "-c", "import json, sys, time\n" + textwrap.dedent(body)]


ECHO = server("""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}))
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"] + 1000, "result": "of another request"}))
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": asked}), flush=True)
""")


class RawClientTest(unittest.TestCase):
    def test_the_reply_is_the_one_with_the_id_of_the_request(self):
        with RawClient(ECHO) as client:
            for number in (1, 2, 3):
                asked = client.request("tools/list")["result"]
                self.assertEqual((asked["id"], asked["method"]), (number, "tools/list"))
        self.assertEqual(client.process.returncode, 0)

    def test_the_modern_generation_sends_no_handshake_and_names_its_version(self):
        with RawClient(ECHO) as client:
            asked = client.request("tools/call", {"name": "x", "arguments": {}})["result"]
        self.assertEqual(asked["id"], 1)
        self.assertEqual(asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28")

    def test_the_legacy_generation_begins_with_initialize(self):
        with RawClient(ECHO, modern=False) as client:
            asked = client.request("tools/list")["result"]
        self.assertEqual((asked["id"], asked.get("params")), (2, None))

    def test_a_server_that_ends_is_named(self):
        with self.assertRaisesRegex(ServerGone, "exit status 3"):
            with RawClient(server("sys.stdin.readline(); sys.exit(3)")) as client:
                client.request("tools/list")

    def test_a_silent_server_is_given_up(self):
        with self.assertRaisesRegex(ServerGone, "no answer within"):
            with RawClient(server("sys.stdin.read()"), timeout=0.2) as client:
                client.request("tools/list")

    def test_a_protocol_error_is_raised(self):
        refusing = server("""
            asked = json.loads(sys.stdin.readline())
            print(json.dumps({"id": asked["id"], "error": {"code": -32602, "message": "no"}}), flush=True)
            sys.stdin.read()
        """)
        with self.assertRaisesRegex(RuntimeError, "-32602"), RawClient(refusing) as client:
            client.call_tool("x")

    def test_text_is_that_of_the_text_blocks(self):
        blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": ""}, {"type": "text", "text": "b"}]
        self.assertEqual(text_of({"content": blocks}), "a\nb")


if __name__ == "__main__":
    unittest.main()
