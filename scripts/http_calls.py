"""Searches over HTTP as agents make them, on a connection that is kept; in the standard library alone.

In: a server's URL. Out: the text of each answer, or `CallFailed`. Nothing is tried a second time: a test of a server
wants to see each failure.
"""
import http.client
import json
import threading
import time
from urllib.parse import urlsplit

from raw_client import META, MODERN

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
           "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "search_docs"}


class CallFailed(Exception):
    """No answer, another status than 200, or an error in the place of a result."""


def body_of(query, number=1):
    """One search as the body of a request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
        "name": "search_docs", "arguments": {"query": query}, "_meta": META}}).encode()


class Caller:
    """One connection to a server; it is opened by the first call."""

    def __init__(self, url, timeout=30.0):
        parts = urlsplit(url)
        self.path = parts.path or "/"
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.connection.close()

    def search(self, query):
        """The text of the answer to one query."""
        self.number += 1
        try:
            self.connection.request("POST", self.path, body_of(query, self.number), HEADERS)
            response = self.connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as problem:
            self.connection.close()
            raise CallFailed(f"no answer: {problem!r}") from None
        if response.status != 200:
            raise CallFailed(f"status {response.status}: {body[:200]!r}")
        try:
            answer = json.loads(body)
            if answer["id"] != self.number:
                raise CallFailed(f"the answer to request {answer['id']}, not to {self.number}")
            result = answer["result"]
            text = "\n".join(block["text"] for block in result["content"])
        except (ValueError, KeyError, TypeError):
            raise CallFailed(f"no result: {body[:200]!r}") from None
        if result.get("isError"):
            raise CallFailed(f"an error for the model: {text[:200]}")
        return text


class Crowd:
    """Threads that call one after the other until told to stop, each on a connection of its own. `failures` are texts,
    `seconds` the time of each call that was answered."""

    def __init__(self, url, queries, threads=2, pause=0.0):
        self.url, self.queries, self.pause = url, queries, pause
        self.failures, self.seconds = [], []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(number,), daemon=True) for number in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    @property
    def answered(self):
        return len(self.seconds)

    def wait_for(self, more, limit=60.0):
        """Until so many more calls were answered or failed."""
        wanted, deadline = self.answered + len(self.failures) + more, time.monotonic() + limit
        while self.answered + len(self.failures) < wanted:
            if time.monotonic() > deadline:
                self.failures.append(f"no {more} calls within {limit:.0f} s")
                return
            time.sleep(0.005)

    def _call(self, turn):
        with Caller(self.url) as caller:
            while not self._ended.is_set():
                began = time.perf_counter()
                try:
                    caller.search(self.queries[turn % len(self.queries)])
                    self.seconds.append(time.perf_counter() - began)
                except CallFailed as problem:
                    self.failures.append(str(problem))
                turn += 1
                self._ended.wait(self.pause)
