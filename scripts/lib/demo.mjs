// The harness of `npm start`: plays a server's demo against the real process, as a host would, and compares every
// answer with what the demo expects.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ROOT } from "./setup.mjs";

const color = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
/** @type {(code: string) => (text: string) => string} */
const paint = (code) => (text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint("1");
export const dim = paint("2");
export const green = paint("32");
export const red = paint("31");
export const yellow = paint("33");
const cyan = paint("36");

const WIDTH = 100;
const MAX_LINES = 14;

/**
 * @typedef {object} Result
 * @property {boolean | undefined} [isError]
 * @property {unknown} [structuredContent]
 * @property {{ type: string, text?: string, uri?: string }[]} [content]
 */

/** An answer that is not the expected one. */
class Unexpected extends Error {}

/** The reason why a demo cannot run on this machine. */
class Skipped extends Error {
  /** @param {string} reason @param {{ required?: boolean }} [how] */
  constructor(reason, { required = false } = {}) {
    super(reason);
    this.required = required;
  }
}

/**
 * @typedef {object} Outcome
 * @property {string} name the server
 * @property {"passed" | "failed" | "skipped"} state
 * @property {number} calls how many were made
 * @property {number} ms
 * @property {string} [reason] the expected and the actual result, or why it was skipped
 * @property {boolean} [required] skipped although this project always needs what is missing
 */

/**
 * A running server. `expected` is what the answer must be: an object that the structured answer contains (objects may have
 * further fields, arrays may not have further entries, a regular expression matches a text, a function judges a value), a
 * string or regular expression that the text contains, or `{ fails: /text/ }` for a refusal.
 *
 * @typedef {object} Session
 * @property {(tool: string, given: Record<string, unknown>, expected?: unknown) => Promise<any>} call returns the result
 * @property {(name: string, given: Record<string, string>, expected?: unknown) => Promise<any>} prompt returns the result
 * @property {() => Promise<void>} close
 */

/**
 * What a demo gets.
 *
 * @typedef {object} Harness
 * @property {string} folder an empty temporary folder
 * @property {string} root the folder of this clone
 * @property {(text: string) => void} say prints a line of the transcript
 * @property {(text: string) => void} announce prints a line in any case
 * @property {(what: string, holds: boolean) => void} check something else that must be true
 * @property {(reason: string, how?: { required?: boolean }) => never} skip ends a demo that cannot run here; `required` makes
 *   `npm start` fail
 * @property {(server: string, options?: { era?: "legacy" | "modern", args?: string[], env?: Record<string, string>,
 *   elicit?: (question: { message: string }) => import("@modelcontextprotocol/client").ElicitResult }) =>
 *   Promise<Session>} connect starts `servers/<server>/dist/bin.js`
 */

/**
 * Plays one demo: a module `servers/<name>/demo.mjs` with `title` (what it shows, a short sentence) and `demo(harness)`. It
 * prints the transcript if `verbose`, and nothing otherwise; it never throws.
 *
 * @param {string} name the server
 * @param {{ title: string, demo: (harness: Harness) => Promise<void> }} module
 * @param {{ verbose?: boolean, announce?: (line: string) => void }} [options]
 * @returns {Promise<Outcome>}
 */
export async function play(name, { title, demo }, { verbose = false, announce = print } = {}) {
  const folder = await mkdtemp(join(tmpdir(), `refmcp-${name}-`));
  const transcript = verbose ? print : () => {};
  /** @type {Awaited<ReturnType<typeof open>>[]} */
  const sessions = [];
  const started = performance.now();
  let calls = 0;
  /** @type {Pick<Outcome, "state" | "reason" | "required">} */
  let outcome = { state: "passed" };
  transcript(`\n${bold(name)}: ${title}`);
  try {
    await demo({
      folder,
      root: ROOT,
      say: (text) => transcript(`\n  ${text}`),
      announce,
      check(what, holds) {
        if (!holds) throw new Unexpected(what);
      },
      skip(reason, how) {
        throw new Skipped(reason, how);
      },
      async connect(server, options = {}) {
        const session = await open(server, options, transcript, () => (calls += 1));
        sessions.push(session);
        return session;
      },
    });
  } catch (error) {
    outcome = outcomeOf(/** @type {Error} */ (error), sessions, verbose);
  } finally {
    for (const session of sessions) await session.close().catch(() => {});
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
  return { name, calls, ms: performance.now() - started, ...outcome };
}

/** @type {(error: Error, sessions: { log: string[] }[], verbose: boolean) => Pick<Outcome, "state" | "reason" | "required">} */
function outcomeOf(error, sessions, verbose) {
  if (error instanceof Skipped)
    return { state: "skipped", reason: error.message, required: error.required };
  const reason = error instanceof Unexpected || !verbose ? error.message : inspect(error);
  const logged = sessions.flatMap(({ log }) => log).slice(-5);
  return { state: "failed", reason: [reason, ...logged.map((line) => `log: ${line}`)].join("\n") };
}

/**
 * @param {string} server
 * @param {NonNullable<Parameters<Harness["connect"]>[1]>} options
 * @param {(line: string) => void} transcript
 * @param {() => void} count
 * @returns {Promise<Session & { log: string[] }>}
 */
async function open(server, { era = "modern", args = [], env = {}, elicit }, transcript, count) {
  const started = performance.now();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, "servers", server, "dist", "bin.js"), ...args],
    // In addition to the few variables that hosts pass on.
    env,
    stderr: "pipe",
  });
  /** @type {string[]} */
  const log = [];
  transport.stderr?.on("data", (chunk) => log.push(...String(chunk).trimEnd().split("\n")));
  const client = new Client(
    { name: "refmcp-start", version: "1.0.0" },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  if (elicit !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      transcript(`  ${cyan("?")} the server asks the user: ${params.message}`);
      const answer = elicit(params);
      transcript(`  ${cyan("!")} the user: ${answer.action === "accept" ? "yes" : "no"}`);
      return answer;
    });
  }
  await client.connect(transport);
  const opening = era === "legacy" ? "2025-11-25, opened by initialize" : "2026-07-28, stateless";
  const { tools } = await client.listTools();
  transcript(
    dim(`\n  ── ${server} over stdio, ${opening}; ${tools.length} tools, ready in ${ms(started)}`),
  );

  /**
   * @template {object} Got
   * @param {string} label
   * @param {() => Promise<Got>} work
   * @param {(result: Got) => string} textOf
   * @param {any} expected
   */
  const step = async (label, work, textOf, expected) => {
    if (expected === undefined) throw new Unexpected(`${label}\nstates no expectation`);
    count();
    const begun = performance.now();
    const result = await work().catch((error) => {
      throw new Unexpected(
        `${server}: ${clip(label, WIDTH * 2)}\nexpected an answer\ngot      ${error.message}`,
      );
    });
    const took = ms(begun);
    const remaining = WIDTH - took.length - 4;
    transcript(`  ${bold(clip(`→ ${label}`, remaining - 1).padEnd(remaining))}${dim(took)}`);
    const failed = "isError" in result && result.isError === true;
    const text = textOf(result);
    for (const line of linesOf(text)) transcript(`    ${failed ? red(line) : line}`);
    const wrong = mismatch(result, text, expected);
    if (wrong === undefined) return result;
    throw new Unexpected(
      [
        `${server}: ${clip(label, WIDTH * 2)}`,
        `expected ${wrong.expected}`,
        `got      ${wrong.actual.trimEnd().split("\n").slice(0, MAX_LINES).join("\n         ")}`,
      ].join("\n"),
    );
  };
  return {
    log,
    call: (tool, input, expected) =>
      step(
        `${tool} ${JSON.stringify(input)}`,
        () => client.callTool({ name: tool, arguments: input }),
        shownOf,
        expected,
      ),
    prompt: (name, input, expected) =>
      step(
        `prompt ${name} ${JSON.stringify(input)}`,
        () => client.getPrompt({ name, arguments: input }),
        ({ messages }) =>
          messages
            .map(({ content }) => ("text" in content ? content.text : content.type))
            .join("\n"),
        expected,
      ),
    close: () => client.close(),
  };
}

/**
 * The expected and the actual result, if they differ.
 *
 * @type {(result: Result, text: string, expected: any) => { expected: string, actual: string } | undefined}
 */
function mismatch(result, text, expected) {
  const failed = result.isError === true;
  if (expected.fails instanceof RegExp) {
    if (failed && expected.fails.test(text)) return undefined;
    return { expected: `a refusal that matches ${expected.fails}`, actual: text };
  }
  if (failed) return { expected: `an answer: ${briefly(expected)}`, actual: text };
  if (typeof expected === "string" || expected instanceof RegExp) {
    const holds = typeof expected === "string" ? text.includes(expected) : expected.test(text);
    return holds ? undefined : { expected: `a text with ${briefly(expected)}`, actual: text };
  }
  return difference(expected, result.structuredContent, "the answer");
}

/**
 * The first place where `actual` differs from `expected`.
 *
 * @type {(expected: any, actual: any, place: string) => { expected: string, actual: string } | undefined}
 */
function difference(expected, actual, place) {
  const differs = { expected: `${place} to be ${briefly(expected)}`, actual: briefly(actual) };
  if (typeof expected === "function") return expected(actual) ? undefined : differs;
  if (expected instanceof RegExp)
    return typeof actual === "string" && expected.test(actual) ? undefined : differs;
  if (typeof expected !== "object" || expected === null)
    return Object.is(expected, actual) ? undefined : differs;
  if (typeof actual !== "object" || actual === null) return differs;
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length))
    return differs;
  for (const [key, value] of Object.entries(expected)) {
    const mismatch = difference(
      value,
      actual[key],
      Array.isArray(expected) ? `${place}[${key}]` : `${place}.${key}`,
    );
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

/** A value on one line; a function by its name, which describes the check. @param {unknown} value */
function briefly(value) {
  if (typeof value === "function")
    return value.name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return clip(
    inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, compact: true }),
    400,
  );
}

/** A result for people: data as JSON, text unchanged. @param {Result} result */
function shownOf(result) {
  if (result.structuredContent !== undefined && result.isError !== true)
    return compact(Object(result.structuredContent));
  return (result.content ?? [])
    .map((block) => block.text ?? `[${block.type}${block.uri ? ` ${block.uri}` : ""}]`)
    .join("\n");
}

/** JSON with one line for each entry, and texts of several lines shown as such. @param {object} value */
function compact(value) {
  return Object.entries(value)
    .flatMap(([key, entry]) => {
      if (typeof entry === "string" && entry.includes("\n"))
        return [
          `${key}:`,
          ...entry
            .trimEnd()
            .split("\n")
            .map((line) => `  ${line}`),
        ];
      if (Array.isArray(entry) && entry.length > 0 && typeof entry[0] === "object")
        return [`${key}:`, ...entry.map((item) => `  ${JSON.stringify(item)}`)];
      return [`${key}: ${JSON.stringify(entry)}`];
    })
    .join("\n");
}

/** @param {string} text */
function linesOf(text) {
  const lines = text.trimEnd().split("\n");
  const visible = lines.slice(0, MAX_LINES).map((line) => clip(line, WIDTH - 4));
  if (lines.length > MAX_LINES) visible.push(dim(`… ${lines.length - MAX_LINES} more lines`));
  return visible;
}

/** @param {string} text @param {number} most */
function clip(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** @param {number} since */
function ms(since) {
  return `${(performance.now() - since).toFixed(1)} ms`;
}

/** @param {string} line */
export function print(line) {
  process.stdout.write(`${line}\n`);
}
