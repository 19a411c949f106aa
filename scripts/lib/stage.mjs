// The stage of `npm start`: plays a scene against a real server process, as a host would, and prints what is said.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ROOT } from "./setup.mjs";

const color = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code) => (text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint("1");
export const dim = paint("2");
const green = paint("32");
const red = paint("31");
const cyan = paint("36");

const WIDTH = 100;
const MOST_LINES = 14;

/**
 * Plays one scene and prints it.
 *
 * A scene is a module `servers/<name>/scene.mjs` with `title` (what happens, a short sentence) and
 * `scene(stage)`. The stage offers:
 *
 * - `folder`: an empty temporary folder of this scene;
 * - `root`: the folder of this clone;
 * - `say(text)`: a line of the narrator;
 * - `connect(server, { era, args, elicit })`: starts `servers/<server>/dist/bin.js` and returns a session with
 *   `call(tool, arguments)`, `read(uri)`, `prompt(name, arguments)`, `close()`; each prints what it sent, what came
 *   back and how long it took, and returns the result.
 *
 * @param {string} name the server
 * @param {{ title: string, scene: (stage: object) => Promise<void> }} play
 * @returns {Promise<number>} the number of calls made
 */
export async function perform(name, play) {
  const folder = await mkdtemp(join(tmpdir(), `refmcp-${name}-`));
  const sessions = [];
  let calls = 0;
  print(`\n${bold(name)}  ${play.title}`);
  try {
    await play.scene({
      folder,
      root: ROOT,
      say: (text) => print(`\n  ${text}`),
      async connect(server, options = {}) {
        const session = await open(server, options, () => (calls += 1));
        sessions.push(session);
        return session;
      },
    });
    return calls;
  } finally {
    for (const session of sessions) await session.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function open(server, { era = "modern", args = [], elicit }, count) {
  const started = performance.now();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, "servers", server, "dist", "bin.js"), ...args],
    stderr: "inherit",
  });
  const client = new Client(
    { name: "refmcp-start", version: "1.0.0" },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  if (elicit !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      print(`  ${cyan("?")} the server asks the user: ${params.message}`);
      const answer = elicit(params);
      print(`  ${cyan("!")} the user: ${answer.action === "accept" ? "yes" : "no"}`);
      return answer;
    });
  }
  await client.connect(transport);
  const opening = era === "legacy" ? "2025-11-25, opened by initialize" : "2026-07-28, stateless";
  const { tools } = await client.listTools();
  print(dim(`\n  ── ${server} over stdio, ${opening}; ${tools.length} tools, ready in ${ms(started)}`));

  const timed = async (label, work, show) => {
    count();
    const begun = performance.now();
    const result = await work();
    const took = ms(begun);
    const line = `→ ${label}`;
    print(`  ${bold(clip(line, WIDTH - took.length - 4).padEnd(WIDTH - took.length - 4))}${dim(took)}`);
    const failed = result.isError === true;
    for (const shown of linesOf(show(result))) print(`    ${failed ? red(shown) : shown}`);
    return result;
  };
  let isOpen = true;
  return {
    client,
    call: (tool, given = {}) =>
      timed(
        `${tool} ${JSON.stringify(given)}`,
        () => client.callTool({ name: tool, arguments: given }),
        (result) => textOf(result),
      ),
    read: (uri) =>
      timed(
        `read ${uri}`,
        () => client.readResource({ uri }),
        (result) =>
          result.contents
            .map((part) => part.text ?? `${part.mimeType}, ${part.blob.length} base64`)
            .join("\n"),
      ),
    prompt: (name, given = {}) =>
      timed(
        `prompt ${name} ${JSON.stringify(given)}`,
        () => client.getPrompt({ name, arguments: given }),
        (result) => result.messages.map((message) => message.content.text ?? message.content.type).join("\n"),
      ),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await client.close();
    },
  };
}

/** What a person wants to see of a result: data as indented JSON, text as it is. */
function textOf(result) {
  if (result.structuredContent !== undefined && result.isError !== true)
    return compact(result.structuredContent);
  return result.content
    .map((block) => block.text ?? `[${block.type}${block.uri ? ` ${block.uri}` : ""}]`)
    .join("\n");
}

/** JSON with one line for each entry, and texts of several lines shown as such. */
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

function linesOf(text) {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, MOST_LINES).map((line) => clip(line, WIDTH - 4));
  if (lines.length > MOST_LINES) shown.push(dim(`… ${lines.length - MOST_LINES} more lines`));
  return shown;
}

function clip(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function ms(since) {
  return `${(performance.now() - since).toFixed(1)} ms`;
}

export function print(line) {
  process.stdout.write(`${line}\n`);
}

export { green };
