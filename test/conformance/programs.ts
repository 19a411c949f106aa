import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** The Node.js that the official programs need; it comes from the npm registry, as they do. */
const NODE = "node@22";

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(
    new URL("../node_modules/@modelcontextprotocol/conformance/package.json", import.meta.url),
    "utf8",
  ),
);

/** The official programs, each in one version exactly, and the file that runs it. */
export const PROGRAMS = {
  /** The version that the workspace has, whose schemas the protocol tests read. */
  suite: { spec: `@modelcontextprotocol/conformance@${manifest.version}`, file: "dist/index.js" },
  earlierSuite: { spec: "@modelcontextprotocol/conformance@0.1.16", file: "dist/index.js" },
  inspector: { spec: "@modelcontextprotocol/inspector@2.12.0", file: "clients/launcher/build/index.js" },
} as const;

/** What a program wrote, and its exit code. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that is there to run. */
export type Program = (args: readonly string[], cwd: string) => Promise<Outcome>;

/** Gets a program through npx, with the Node.js that it needs; it is then run without npx, which takes a second. */
export async function fetchProgram(name: keyof typeof PROGRAMS): Promise<Program> {
  const { spec, file } = PROGRAMS[name];
  const { stdout } = await execute("npx", ["-y", "-p", NODE, "-p", spec, "-c", "node -p process.execPath"]);
  const node = stdout.trim();
  // The program stands beside the node package: node_modules/node/bin/node.
  const modules = join(dirname(node), "..", "..");
  const script = join(modules, spec.slice(0, spec.lastIndexOf("@")), file);
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
