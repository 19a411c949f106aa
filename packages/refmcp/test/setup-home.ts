import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { parse } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { onTestFinished } from "vitest";
import { HOST_NAMES, HOSTS, type HostName } from "../src/hosts/hosts.ts";
import { installedHosts } from "../src/setup/machine.ts";
import { runSetup } from "../src/setup/setup.ts";

/** The hosts whose files setup writes. */
export const WRITTEN = HOST_NAMES.filter((id) => id !== "json" && HOSTS[id].format !== "yaml");

/** A program with two tools; `--fail` makes it end with a message. */
const SERVER = `
if (process.argv.includes("--read-only")) { console.error("Out of tea."); process.exit(3); }
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const result = method === "tools/list" ? { tools: [{}, {}] } : {};
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});`;

/** A home directory of a made machine, without any host, and the project `shop`. */
export function makeHome(changed: Parameters<typeof runSetup>[1] = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-setup-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, "home");
  const shop = join(home, "shop");
  const bin = join(base, "refmcp.cjs");
  mkdirSync(shop, { recursive: true });
  writeFileSync(bin, SERVER);
  const env: Record<string, string | undefined> = {
    APPDATA: join(home, "Roaming"),
    LOCALAPPDATA: join(home, "Local"),
    ...changed.env,
  };
  const machine = { home, platform: "linux" as NodeJS.Platform, ...changed, env };
  let output = "";
  return {
    env,
    home,
    shop,
    bin,
    /** Runs setup; with answers, at a terminal. */
    async setup(argv: readonly string[], answers?: string) {
      output = "";
      const input = Object.assign(new PassThrough(), { isTTY: answers !== undefined });
      input.end(answers);
      const place = { cwd: home, bin, stateDirectories: [join(base, "state")] };
      const terminal = { write: (text: string) => (output += text) };
      const code = await runSetup(argv, { input, output: terminal, ...place, ...machine });
      return { code, output };
    },
    fileOf: (id: HostName) => installedHosts([id], machine)[0]?.file ?? "",
    write(file: string, content: string | Uint8Array): string {
      const path = join(home, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
  };
}

/** A host's file, read as the host does. */
export function dataOf(file: string, id: HostName): unknown {
  const text = readFileSync(file, "utf8").replace("\uFEFF", "");
  return HOSTS[id].format === "toml"
    ? parseToml(text)
    : parse(text, [], { allowTrailingComma: true });
}
