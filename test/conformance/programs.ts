import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { NODES, nodeProgram, npmPackages } from "../../scripts/lib/npm-programs.mjs";

const execute = promisify(execFile);

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(
    new URL("../node_modules/@modelcontextprotocol/conformance/package.json", import.meta.url),
    "utf8",
  ),
);

/** The version of the official suite that `pnpm conformance --newest` asks for instead of the workspace's. */
const asked = process.env["REFMCP_CONFORMANCE"];
/** Whether the suite is the one that the expectations were written for, with its numbers of scenarios. */
export const IS_PINNED = asked === undefined || asked === manifest.version;

/** The official programs, each in an exact version, with the file that runs it. */
export const PROGRAMS = {
  /** The workspace's version, whose schemas the protocol tests read. */
  suite: {
    name: "@modelcontextprotocol/conformance",
    version: asked ?? manifest.version,
    file: "dist/index.js",
  },
  inspector: {
    name: "@modelcontextprotocol/inspector",
    version: "2.12.0",
    file: "clients/launcher/build/index.js",
  },
} as const;

/** A program's output and exit code. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An installed program. */
export type Program = (args: readonly string[], cwd: string) => Promise<Outcome>;

/** The official programs need Node.js 22; the release path runs Node.js 24 anyway, which npm does not have for macOS. */
async function programNode(): Promise<string> {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  return (await nodeProgram(24 in NODES ? 24 : 22)).program;
}

/** Installs a program, and the Node.js that it needs. */
export async function fetchProgram(name: keyof typeof PROGRAMS): Promise<Program> {
  const { name: packageName, version, file } = PROGRAMS[name];
  const node = await programNode();
  const script = (await npmPackages({ [packageName]: version }))(join(packageName, file));
  return async (args, cwd) => {
    try {
      const done = await execute(node, [script, ...args], { cwd, maxBuffer: 2 ** 26 });
      return { code: 0, stdout: done.stdout, stderr: done.stderr };
    } catch (error) {
      const {
        code,
        stdout = "",
        stderr = "",
      }: { code?: unknown; stdout?: string; stderr?: string } = Object(error);
      if (typeof code !== "number") throw error;
      return { code, stdout, stderr };
    }
  };
}
