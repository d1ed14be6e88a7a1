// A JSON array of strings on stdin; a JSON array of their lengths in o200k tokens on stdout.
import { readFileSync } from "node:fs";

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const texts = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => countTokens(text))));
