/** Whether a page can be parsed to a DOM at all: one that is too deep or too large would hang it or overflow the stack. */
import { Parser } from "htmlparser2";

/** Limits within which a DOM neither hangs nor overflows the stack. */
const DEPTH = 400;
const NODES = 300_000;
const ATTRIBUTES = 2_000;

/** Elements without an end tag. */
const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);

/**
 * Whether a page can be parsed to a DOM, by its depth, nodes, and attributes per element. Unclosed elements count as
 * open, as in a DOM; the scan itself is linear.
 */
export function isParsable(html: string): boolean {
  let depth = 0;
  let nodes = 0;
  let attributes = 0;
  let modest = true;
  const parser = new Parser(
    {
      onopentagname(name) {
        nodes += 1;
        attributes = 0;
        if (!VOID.has(name)) depth += 1;
        if (depth > DEPTH || nodes > NODES) stop();
      },
      onattribute() {
        attributes += 1;
        if (attributes > ATTRIBUTES) stop();
      },
      ontext() {
        nodes += 1;
        if (nodes > NODES) stop();
      },
      onclosetag(name) {
        if (!VOID.has(name)) depth -= 1;
      },
    },
    { decodeEntities: false },
  );
  function stop(): void {
    modest = false;
    parser.pause();
  }
  for (let at = 0; at < html.length && modest; at += 65_536)
    parser.write(html.slice(at, at + 65_536));
  return modest;
}
