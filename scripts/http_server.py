#!/usr/bin/env python3
"""Start docs-server on a free port of this machine, and stop it again; in the standard library alone.

    http_server.py SERVER INDEX [OPTION...] -- COMMAND [ARGUMENT...]

Runs COMMAND while the server runs, with {url} in its arguments replaced by the server's URL, and exits with its
status; with 1 if the server did not end well when it was told to. As a module: `HttpServer`, a context manager.
"""
import collections
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit


class DidNotStart(Exception):
    """The server ended, or said nothing of its URL for too long."""


class HttpServer:
    """One server process. Its URL is read from the line of its log that says it is serving; `lines` keeps the end of
    the log. `before` is put before the command, to pin the process to a core for example."""

    def __init__(self, program, index, *options, port=0, before=(), environment=None, timeout=30.0):
        self.command = [*before, str(program), str(index), "--http", f"127.0.0.1:{port}", *map(str, options)]
        self.lines = collections.deque(maxlen=2000)
        self.url = None
        self._serving = threading.Event()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        errors="replace", env={**os.environ, **(environment or {})})
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        started = self._serving.wait(timeout)
        if not started or self.url is None:
            self.process.kill()
            self.process.wait()
            self._reader.join()
            said = "\n".join(self.lines) or "nothing"
            raise DidNotStart(f"{' '.join(self.command)}\ndid not serve (exit status {self.process.returncode}); "
                              f"it said:\n{said}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return urlsplit(self.url).port

    def _read_log(self):
        for line in self.process.stderr:
            line = line.rstrip("\n")
            self.lines.append(line)
            if self.url is None:
                self.url = url_of(line)
                if self.url is not None:
                    self._serving.set()
        self.process.stderr.close()
        self._serving.set()

    def stop(self, how=signal.SIGTERM, timeout=40.0):
        """Tells the server to end; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        return self.process.returncode


def url_of(line):
    """The URL in the log line that says the server is serving; nothing in any other line."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if isinstance(entry, dict) and str(entry.get("message", "")).startswith("serving"):
        return entry.get("url")
    return None


def resident_kib(pid):
    """The process's own memory (RssAnon), in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise OSError(f"the system says nothing of the memory of process {pid}")


def descriptor_count(pid):
    """How many files and sockets the process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def main(arguments):
    if "-h" in arguments[:1] or "--help" in arguments[:1]:
        print(__doc__.strip())
        return 0
    if "--" not in arguments or arguments.index("--") < 2:
        print("http_server.py: usage: SERVER INDEX [OPTION...] -- COMMAND [ARGUMENT...]", file=sys.stderr)
        return 2
    cut = arguments.index("--")
    try:
        with HttpServer(*arguments[:cut]) as server:
            command = [argument.replace("{url}", server.url) for argument in arguments[cut + 1:]]
            status = subprocess.run(command, check=False).returncode
            stopped = server.stop()
    except DidNotStart as problem:
        print(f"http_server.py: {problem}", file=sys.stderr)
        return 1
    if stopped != 0:
        print("\n".join(server.lines), file=sys.stderr)
        print(f"http_server.py: the server ended with status {stopped}", file=sys.stderr)
    return status or int(stopped != 0)


if __name__ == "__main__":
    # As a signal, so that the server is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
