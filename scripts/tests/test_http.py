"""The server over HTTP, asked from outside, and the programs that ask it.

The server is the one in the folder DOCS_INDEX_PROGRAMS, its index DOCS_INDEX_GUIDE; scripts/test sets both.
"""
import contextlib
import http.server
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import http_probe  # noqa: E402
from http_calls import Caller, CallFailed, Crowd  # noqa: E402
from http_server import DidNotStart, HttpServer, url_of  # noqa: E402

PROGRAMS = os.environ.get("DOCS_INDEX_PROGRAMS")
INDEX = os.environ.get("DOCS_INDEX_GUIDE")
TOKEN = "of-the-tests-0123456789abcdef"


def serve(*options):
    return HttpServer(Path(PROGRAMS) / "docs-server", INDEX, "--rate", "0", *options)


def probe(*arguments):
    """Exit status and output of the probe."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = http_probe.main(arguments)
    return status, said.getvalue()


@unittest.skipUnless(PROGRAMS and INDEX, "needs the programs and the guide's index")
class OurServer(unittest.TestCase):
    def test_every_request_of_the_table_is_answered_as_it_should_be(self):
        with serve() as server:
            status, said = probe(server.url, "--quiet")
            self.assertEqual(status, 0, said)
        self.assertEqual(server.process.returncode, 0)

    def test_with_tokens_too(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = Path(folder, "tokens")
            tokens.write_text(f"tests {TOKEN}\n")
            tokens.chmod(0o600)
            with serve("--token-file", tokens) as server:
                status, said = probe(server.url, "--token", TOKEN, "--quiet")
                self.assertEqual(status, 0, said)
                self.assertNotIn(TOKEN, "\n".join(server.lines))

    def test_another_origin_can_be_allowed(self):
        with serve("--allow-origin", "https://app.example") as server:
            status, said = probe(server.url, "--allowed-origin", "https://app.example", "--only", "rigin")
            self.assertEqual(status, 0, said)

    def test_calls_are_answered_on_one_connection(self):
        with serve() as server:
            with Caller(server.url) as caller:
                first = caller.search("leave files out of the index")
                self.assertIn("[building.md", first)
                self.assertEqual(caller.search("leave files out of the index"), first)
            with Crowd(server.url, ["index", "section"], threads=2) as crowd:
                crowd.wait_for(40)
            self.assertEqual(crowd.failures, [])
            self.assertGreaterEqual(crowd.answered, 40)

    def test_a_server_that_cannot_start_is_told_with_its_reason(self):
        with self.assertRaisesRegex(DidNotStart, "no-such.idx"):
            HttpServer(Path(PROGRAMS) / "docs-server", "no-such.idx")


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers all requests in one way: that of the server's `status` and `body`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_OPTIONS = do_DELETE = do_PUT = do_POST

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def answering(status, body):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.status, server.body = status, body
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


class Programs(unittest.TestCase):
    def test_the_probe_sees_wrong_answers(self):
        with answering(200, b'{"jsonrpc":"2.0","id":1,"result":{}}') as url:
            status, said = probe(url, "--only", "Host of another site")
            self.assertEqual(status, 1)
            self.assertIn("status 200", said)
            status, said = probe(url, "--only", "modern: a call")
            self.assertEqual(status, 1, "a result without content")
            status, said = probe(url, "--only", "no Origin")
            self.assertEqual(status, 0, said)
        with answering(400, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600}}') as url:
            self.assertEqual(probe(url, "--only", "a batch")[0], 0)
            status, said = probe(url, "--only", "no JSON")
            self.assertEqual(status, 1)
            self.assertIn("code -32600", said)
        with answering(401, b"") as url:
            status, said = probe(url, "--token", TOKEN, "--only", "no token")
            self.assertEqual(status, 1)
            self.assertIn("no header www-authenticate", said)

    def test_a_probe_of_nobody_fails(self):
        status, said = probe("127.0.0.1:1", "--only", "no Origin")
        self.assertEqual(status, 1)
        self.assertIn("status None", said)
        self.assertEqual(probe("127.0.0.1:1", "--only", "no row is called this")[0], 1)

    def test_rows_have_names_of_their_own_and_reasons(self):
        rows = list(http_probe.rows(1, None))
        self.assertEqual(len({row.name for row in rows}), len(rows))
        self.assertGreater(len(rows), 60)
        self.assertTrue(all(row.why for row in rows))

    def test_the_commands_say_how_they_are_used(self):
        scripts = Path(__file__).resolve().parents[1]
        for name in ("http_probe.py", "http_server.py", "conformance", "load", "replicas"):
            with self.subTest(command=name):
                done = subprocess.run([scripts / name, "--help"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(name, done.stdout)
                done = subprocess.run([scripts / name, "--no-such-option"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(name, done.stderr)

    def test_an_answer_in_chunks_is_put_together(self):
        answer = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                  b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n")
        self.assertEqual(http_probe.parsed(answer)[2], b"abc0123456789")
        self.assertIsNone(http_probe.parsed(b"")[0])
        self.assertIsNone(http_probe.parsed(b"SSH-2.0\r\n\r\n")[0])

    def test_what_is_no_answer_to_the_call_is_a_failure(self):
        for status, body in ((503, b"{}"), (200, b"no JSON"), (200, b'{"id":1,"error":{"code":-32602}}'),
                             (200, b'{"id":7,"result":{"content":[]}}'),
                             (200, b'{"id":1,"result":{"content":[],"isError":true}}')):
            with self.subTest(body=body), answering(status, body) as url, Caller(url) as caller:
                with self.assertRaises(CallFailed):
                    caller.search("x")
        with self.assertRaises(CallFailed), Caller("http://127.0.0.1:1/mcp") as caller:
            caller.search("x")

    def test_the_url_is_read_from_one_line_of_the_log_alone(self):
        serving = json.dumps({"level": "INFO", "message": "serving", "url": "http://127.0.0.1:1/mcp"})
        self.assertEqual(url_of(serving), "http://127.0.0.1:1/mcp")
        for line in ("", "serving", "[]", '{"message":"request","url":"http://127.0.0.1:1/mcp"}', '{"url":"x"}'):
            self.assertIsNone(url_of(line), line)

    def test_a_program_that_serves_nothing_is_told_with_what_it_said(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            program.write_text("#!/bin/sh\necho 'out of luck' >&2\nexit 3\n")
            program.chmod(0o700)
            with self.assertRaisesRegex(DidNotStart, "(?s)exit status 3.*out of luck"):
                HttpServer(program, "x.idx")


if __name__ == "__main__":
    unittest.main()
