import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { unpackExtension } from "@anthropic-ai/mcpb";
import { build } from "esbuild";
import { inject } from "vitest";
import { aptInstall } from "../../scripts/lib/apt.mjs";
import { windowsNode } from "../../scripts/lib/npm-programs.mjs";
import { makeBundle } from "../../scripts/release/bundle.mjs";
import { FOR_NODE } from "../bundle.ts";

/** Node.js for Windows under Wine, with its own drive C. */
export interface Windows {
  /** The folder of this system that is drive C there. */
  readonly driveC: string;
  /**
   * Bundles a program of `inside/` and runs it there.
   *
   * @param input what it gets as JSON
   * @returns the JSON lines that it printed
   */
  run(program: string, input: unknown): Promise<Line[]>;
}

/** The limit of hooks that may install Wine, start it and run all calls of a file in it. */
export const START_MS = 900_000;

/** A line that a program in Wine printed. */
export type Line = Readonly<Record<string, unknown>>;

let started: Promise<Windows | string> | undefined;

/** Windows, started once for all test files. Where it is unavailable, the suite is skipped with the reason. */
export async function windows(): Promise<Windows> {
  started ??= start();
  const there = await started;
  if (typeof there !== "string") return there;
  Reflect.get(globalThis, Symbol.for("refmcp.skip"))?.(there);
  throw new Error(there);
}

async function start(): Promise<Windows | string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return "Wine runs Node.js only on Linux x64 here";
  const missing = (await isRunnable("wine"))
    ? undefined
    : await aptInstall(["wine", "wine64"], { say });
  if (missing !== undefined || !(await isRunnable("wine")))
    return `needs Wine: ${missing ?? "it does not start"}`;
  const node = await windowsNode();
  const folder = await mkdtemp(join(inject("shared"), "windows-"));
  const prefix = join(folder, "prefix");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    // Wine converts file names to the encoding of the locale.
    LC_ALL: "C.UTF-8",
    // Neither Mono nor Gecko is installed.
    WINEDLLOVERRIDES: "mscoree,mshtml=",
    // Wine 8 reports Windows 7.
    NODE_SKIP_PLATFORM_CHECK: "1",
  };
  await promisify(execFile)("wine", ["wineboot", "--init"], { env });
  return {
    driveC: join(prefix, "drive_c"),
    async run(program, input) {
      const own = await mkdtemp(join(folder, "run-"));
      await build({
        entryPoints: [join(import.meta.dirname, "inside", `${program}.ts`)],
        outdir: own,
        outExtension: { ".js": ".mjs" },
        ...FOR_NODE,
        // Without it, esbuild runs zod's modules in an order that fails.
        splitting: true,
      });
      await writeFile(join(own, "input.json"), JSON.stringify(input));
      // Node.js under Wine cannot use a Unix pipe.
      const [output, errors] = await Promise.all(
        ["out", "err"].map((name) => open(join(own, name), "w")),
      );
      const child = spawn("wine", [node, `${program}.mjs`], {
        cwd: own,
        env,
        stdio: ["ignore", output?.fd ?? "ignore", errors?.fd ?? "ignore"],
      });
      try {
        const [code] = await once(child, "close");
        const [text, said] = await Promise.all(
          ["out", "err"].map((name) => readFile(join(own, name), "utf8")),
        );
        if (code !== 0)
          throw new Error(`${program} ended with ${code}:\n${text?.slice(-2_000)}\n${said}`);
        return (text ?? "")
          .split("\n")
          .filter(Boolean)
          .map((line): Line => JSON.parse(line));
      } finally {
        await Promise.all([output?.close(), errors?.close()]);
        await promisify(execFile)("wineserver", ["-k"], { env }).catch(() => undefined);
      }
    },
  };
}

const isRunnable = (program: string) =>
  promisify(execFile)("which", [program]).then(
    () => true,
    () => false,
  );

const say = (line: string) => void process.stderr.write(`${line}\n`);

const unpacked = new Map<string, Promise<string>>();

/** The program of a server as in its MCP bundle for all platforms, unpacked once. */
export function bundledBin(server: string): Promise<string> {
  const known = unpacked.get(server) ?? unpack(server);
  unpacked.set(server, known);
  return known;
}

async function unpack(server: string): Promise<string> {
  const folder = await mkdtemp(join(inject("shared"), "windows-bundle-"));
  const mcpbPath = await makeBundle(server, folder);
  const outputDir = join(folder, server);
  if (!(await unpackExtension({ mcpbPath, outputDir, silent: true })))
    throw new Error(`The bundle of ${server} cannot be unpacked.`);
  await rm(mcpbPath);
  return join(outputDir, "dist", "bin.js");
}

/** How Wine names a path of this system: its root is drive Z. */
export const onZ = (path: string): string => `Z:${path.replaceAll("/", "\\")}`;

/** An argument for a program in Wine: `text`, or its name there if it is an existing path. */
export const inWine = (text: string): string =>
  text.startsWith("/") && existsSync(text) ? onZ(text) : text;
