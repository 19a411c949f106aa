import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Clone, cloneWorkspace } from "../new/clone.ts";
import { ROOT } from "../servers.ts";

const execute = promisify(execFile);

/** Programs that every system has: the shell, those that npm's and pnpm's scripts call, and those that PostgreSQL needs for root. */
const SYSTEM = ["sh", "dirname", "sed", "uname", "id"];
const PROGRAMS = ["node", "npm", "npx", "git", ...SYSTEM];

/** The visible result of a command. */
export interface Seen {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An entry of `mcpServers`. */
export interface Entry {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string> | undefined;
}

/** A person with a fresh clone, their own home directory, and nothing but Node.js, npm and git. */
export interface Newcomer {
  readonly clone: Clone;
  readonly home: string;
  /** Runs a program in the clone, with everything but the `without` programs on the PATH. */
  run(program: string, args: readonly string[], without?: readonly string[]): Promise<Seen>;
  /** Starts an entry as a desktop application does: in `/`, with a minimal environment and without roots. */
  start(entry: Entry): Promise<Client>;
  dispose(): Promise<void>;
}

export async function newcomer(): Promise<Newcomer> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "refmcp-newcomer-")));
  const clone = await cloneWorkspace({ whole: true });
  const folderOf = async (name: string, programs: readonly string[]) => {
    const folder = join(home, name);
    await mkdir(folder);
    for (const program of programs) await symlink(locate(program), join(folder, program));
    return folder;
  };
  const path = await folderOf("bin", PROGRAMS);
  const poor = await folderOf("poor-bin", ["git", ...SYSTEM]);
  const shared = await sharedDownloads();
  const clients: Client[] = [];
  return {
    clone,
    home,
    async run(program, args, without = []) {
      const programs = PROGRAMS.filter((name) => !without.includes(name));
      const PATH =
        without.length === 0 ? path : await folderOf(`bin-without-${without.join("-")}`, programs);
      const env = { HOME: home, PATH, ...shared };
      return execute(join(PATH, program), args, {
        cwd: clone.root,
        env,
        maxBuffer: 64 * 1_048_576,
      }).then(
        (seen) => ({ code: 0, ...seen }),
        (error: Seen) => error,
      );
    },
    async start({ command, args, env = {} }) {
      const client = new Client({ name: "claude-ai", version: "0.1.0" }, { capabilities: {} });
      clients.push(client);
      const environment = { HOME: home, PATH: poor, ...env };
      await client.connect(
        new StdioClientTransport({ command, args, env: environment, cwd: "/", stderr: "ignore" }),
      );
      return client;
    },
    async dispose() {
      for (const client of clients) await client.close();
      await clone.dispose();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The path of a program on this machine. */
function locate(program: string): string {
  if (program === "node") return process.execPath;
  const file = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  if (file === undefined) throw new Error(`There is no ${program} on this machine's PATH.`);
  return file;
}

/** The caches and settings of this machine's npm and pnpm, so that not everything is downloaded again. */
async function sharedDownloads(): Promise<Record<string, string>> {
  const setting = async (name: string) =>
    (await execute("npm", ["config", "get", name, "--loglevel=silent"])).stdout.trim();
  const modules = await readFile(join(ROOT, "node_modules", ".modules.yaml"), "utf8");
  const store = /"?storeDir"?: "?([^"\n]+?)"?,?\n/.exec(modules)?.[1];
  return {
    npm_config_cache: await setting("cache"),
    npm_config_userconfig: await setting("userconfig"),
    npm_config_registry: await setting("registry"),
    ...(store !== undefined && { npm_config_store_dir: store }),
  };
}
