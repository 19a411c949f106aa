import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { beforeAll } from "vitest";
import { server } from "../src/server.ts";
import { ensureBrowser } from "./browser.mjs";
import { type Site, serve } from "./lab.ts";

export { descendantsOf } from "@refmcp/testing";

/** A client of the server in this process, with its own folders. */
export type Session = Awaited<ReturnType<typeof openIn>>;
type Args = Record<string, unknown>;

/** A busy machine is slow: only a call that hangs should end by the limit of the tool. */
const LIMITED = new Set(
  server.tools.flatMap(({ name, input }) => ("timeout_ms" in input.shape ? name : [])),
);
const patient = (name: string, args: Args) =>
  LIMITED.has(name) ? { timeout_ms: 300_000, ...args } : args;

const open: (() => Promise<unknown>)[] = [];

/** Runs after the tests of the file. */
export const atEnd = (close: () => Promise<unknown>): void => void open.push(close);

/** Closes and deletes what the tests of a file opened; `setup.ts` calls it at the file's end. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** A site that is closed after the tests of the file. */
export async function site(...args: Parameters<typeof serve>): Promise<Site> {
  const web = await serve(...args);
  open.push(() => web.close());
  return web;
}

/** A folder that is deleted after the tests of the file. */
export async function folderOf(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `refmcp-playwright-${name}-`));
  open.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** How a session is opened. */
export interface SessionOptions extends ConnectOptions {
  /** False for tools that need no browser: none is started. */
  readonly hasBrowser?: boolean;
  readonly executablePath?: string;
}

/** Opens a session that is closed, with its browser and folder, after the tests of the file. */
export async function session(options: SessionOptions = {}): Promise<Session> {
  const folder = await folderOf("session");
  const opened = await openIn(folder, options);
  open.push(() => opened.connected.close());
  return opened;
}

/** A session that is opened before the first test of the file: without a browser, its tests are skipped. */
export function openedFirst(open: () => Promise<Session> = session): Session {
  const opened = {} as Session;
  beforeAll(async () => Object.assign(opened, await open()));
  return opened;
}

let common: Promise<Session> | undefined;

/**
 * A session with all tools, which the test files of this worker share, since starting a server and its browser takes
 * longer than most calls. It is not for a test that depends on the number of runs or processes, or on secrets.
 */
export function sharedSession(): Promise<Session> {
  common ??= mkdtemp(join(tmpdir(), "refmcp-playwright-shared-")).then((folder) =>
    openIn(folder, { args: ["--toolsets", "default,browse", "--allow-evaluate"] }),
  );
  return common;
}

async function openIn(folder: string, options: SessionOptions) {
  const [runs, root] = [join(folder, "runs"), join(folder, "root")];
  await mkdir(root);
  const args = [
    // A refused connection costs less than a browser.
    options.hasBrowser === false
      ? ["--ws-endpoint", "ws://127.0.0.1:1"]
      : ["--executable-path", options.executablePath ?? (await ensureBrowser()).executablePath],
    ["--output-dir", runs],
    ["--root", root],
    options.args ?? [],
  ].flat();
  const connected = await connectInMemory(server, { ...options, args });
  const call = async (name: string, input: Args = {}, signal?: AbortSignal) =>
    answerOf(
      await connected.client.callTool(
        { name, arguments: patient(name, input) },
        signal === undefined ? undefined : { signal },
      ),
    );
  return {
    folder,
    runs,
    connected,
    call,
    /** Calls a tool that must not fail. */
    async good(name: string, input?: Args) {
      const answer = await call(name, input);
      if (answer.isError) throw new Error(answer.text);
      return answer;
    },
  };
}

/** The answer of a tool, by kind of content. */
export function answerOf(result: Awaited<ReturnType<Connected["client"]["callTool"]>>) {
  const { content, structuredContent, isError } = result;
  const data: Args = Object(structuredContent ?? {});
  return {
    text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    isError: isError === true,
    data,
    links: content.flatMap((block) => (block.type === "resource_link" ? [block] : [])),
    images: content.flatMap((block) => (block.type === "image" ? [block] : [])),
  };
}
