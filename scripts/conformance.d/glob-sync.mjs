// Lets the conformance suite start on Node 20: it imports globSync from "fs", which came with Node 22. Loaded before
// it (node --import), this gives that import a module of its own, with all of "fs" and a globSync that says what is
// missing; no server scenario calls it.
import { register } from "node:module";
import * as fs from "node:fs";

if (!("globSync" in fs)) {
  const module = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
  const complete = module(`
    export * from "node:fs";
    export { default } from "node:fs";
    export function globSync() { throw new Error("globSync needs Node 22"); }
  `);
  register(module(`
    export function resolve(specifier, context, next) {
      const asked = specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/");
      return asked ? { url: ${JSON.stringify(complete)}, shortCircuit: true } : next(specifier, context);
    }
  `));
}
