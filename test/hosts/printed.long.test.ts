import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { allHosts, type Host } from "../../packages/refmcp/src/hosts/hosts.ts";
import { READY } from "../conformance/ready.ts";
import { ROOT } from "../servers.ts";

const run = promisify(execFile);
const REFMCP = join(ROOT, "packages", "refmcp", "dist", "bin.js");
/** One host of each form of an entry. All servers print the same forms. */
const FORMS: readonly string[] = ["claude-desktop", "vscode", "codex", "goose", "opencode", "vibe"];

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "refmcp-printed-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(READY)("the entry of the %s server that refmcp prints", (name) => {
  const forms = name === "filesystem" ? FORMS : FORMS.slice(0, 1);
  const hosts = allHosts().filter(({ id }) => forms.includes(id));

  it.each(hosts)("for $id starts it, from / and with a poor PATH", async (host) => {
    const { stdout, stderr } = await run(process.execPath, [
      REFMCP,
      name,
      ...(name === "fetch" ? [] : [folder]),
      "--print-config",
      host.id,
    ]);
    expect(stderr).toContain(host.title);
    const { command, args, env } = startOf(host, stdout, name);
    const transport = new StdioClientTransport({
      command,
      args,
      env: { PATH: "/usr/bin:/bin", HOME: folder, ...env },
      cwd: "/",
    });
    const client = new Client({ name: host.id, version: "1.0.0" });
    try {
      await client.connect(transport);
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    } finally {
      await client.close();
    }
  });
});

/** Reads the entry as the host does: the command, its arguments and its variables. */
function startOf({ id, format, keyPath }: Host, text: string, name: string) {
  const file: unknown =
    format === "yaml" ? parseYaml(text) : format === "toml" ? parseToml(text) : JSON.parse(text);
  const servers = keyPath.reduce<unknown>((inner, key) => Object(inner)[key], file);
  const entry = Object(servers)[name];
  const { command, cmd = command, args = [], env, envs = env, environment = envs } = Object(entry);
  const [first, ...rest] = [cmd, ...args].flat().map(String);
  if (first === undefined) throw new Error(`The entry for ${id} starts nothing: ${text}`);
  return { command: first, args: rest, env: Object(environment) };
}
