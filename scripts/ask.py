#!/usr/bin/env python3
"""Ask docs-server one question, as an agent host would: spawn it, call search_docs, read the best hit.

    ask.py SERVER INDEX QUESTION

Prints the answer byte for byte as a model gets it, then its size and the time from spawn to answer.
"""
import re
import sys
import time

sys.dont_write_bytecode = True
from raw_client import RawClient, ServerGone, text_of  # noqa: E402

INDENT = "  │ "


def show(text):
    for line in text.rstrip("\n").split("\n"):
        print((INDENT + line).rstrip())


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    server, index, question = sys.argv[1:]
    try:
        with RawClient([server, index], stderr=None) as client:
            found = client.call_tool("search_docs", query=question)
            first_answer = time.perf_counter() - client.spawned
            wire = client.reply_bytes
            began = time.perf_counter()
            client.call_tool("search_docs", query=question)
            again = time.perf_counter() - began
            print(f"\nsearch_docs({{\"query\": {question!r}}})\n")
            show(text_of(found))
            best = re.search(r"^\[(\S+)\] ", text_of(found), re.M)
            if best:
                section = client.call_tool("get_section", id=best.group(1))
                print(f"\nget_section({{\"id\": {best.group(1)!r}}})\n")
                lines = text_of(section).split("\n")
                show("\n".join(lines[:14]))
                if len(lines) > 14:
                    print(f"{INDENT}… {len(lines) - 14} more lines")
    except (ServerGone, RuntimeError, OSError) as problem:
        print(f"ask.py: {problem}", file=sys.stderr)
        return 1
    print()
    print(f"  search answer            {len(text_of(found).encode()):,} bytes of text, {wire:,} bytes on the wire")
    print(f"  spawn to first answer    {first_answer * 1e3:.1f} ms")
    print(f"  the same search again    {again * 1e3:.2f} ms")
    if found.get("isError") or not best:
        print("ask.py: the search found nothing", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
