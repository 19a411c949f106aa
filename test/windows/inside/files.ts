// Uses the filesystem server in Wine as an attacker, an editor and a user would. Everything is on drive C.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Connected, type ConnectOptions, connectStdio } from "@refmcp/testing/connect";
import { ENVIRONMENT, input, report } from "./lines.ts";

const { bin, hostile, inside } = input<{ bin: string; hostile: string[]; inside: string[] }>();
const TOP = "C:\\Ünï Cödé";
const ROOT = join(TOP, "My Project");
mkdirSync(join(ROOT, "sub"), { recursive: true });
mkdirSync(join(TOP, "My Project-evil"));
writeFileSync(join(TOP, "My Project-evil", "secret.txt"), "TOPSECRET");
writeFileSync(join(ROOT, "notes.txt"), "first\r\nsecond\r\nthird\r\n");
writeFileSync(join(ROOT, "sub", "Größe 1.txt"), "inside\r\n");

/** Starts the server, and ends it afterwards. */
async function using<Result>(
  options: Pick<ConnectOptions, "args" | "roots">,
  work: (connected: Connected) => Promise<Result>,
): Promise<Result> {
  const connected = await connectStdio(bin, { ...options, era: "legacy", env: ENVIRONMENT });
  try {
    return await work(connected);
  } finally {
    await connected.close();
  }
}

async function call({ client }: Connected, name: string, args: Record<string, unknown>) {
  const { isError = false, content } = await client.callTool({ name, arguments: args });
  return {
    isError,
    text: content.map((part) => ("text" in part ? part.text : part.type)).join("\n"),
  };
}

/** Reports the answer to a call. */
async function tell(
  connected: Connected,
  about: string,
  name: string,
  args: Record<string, unknown>,
) {
  report({ about, name, ...(await call(connected, name, args)) });
}

await using({ args: [ROOT, "--journal-dir", join(TOP, "Journal Ä")] }, async (server) => {
  for (const path of hostile) {
    writeFileSync(join(ROOT, "moved.txt"), "");
    for (const [name, args] of [
      ["read_text_file", { path }],
      ["write_file", { path, content: "x" }],
      ["move_file", { source: "moved.txt", destination: path }],
    ] as const)
      report({ about: "hostile", path, name, ...(await call(server, name, args)) });
  }
  for (const path of inside)
    report({ about: "inside", path, ...(await call(server, "read_text_file", { path })) });

  await tell(server, "CRLF", "edit_file", {
    path: "notes.txt",
    edits: [{ oldText: "second\nthird", newText: "zweite\nneu\ndritte" }],
  });
  report({ about: "CRLF file", text: readFileSync(join(ROOT, "notes.txt"), "utf8") });

  // Read and written by a program that has the file open.
  const held = openSync(join(ROOT, "notes.txt"), "r+");
  let refusal: unknown;
  try {
    writeFileSync(join(ROOT, "other.txt"), "");
    renameSync(join(ROOT, "other.txt"), join(ROOT, "notes.txt"));
  } catch (error) {
    refusal = error instanceof Error && "code" in error ? error.code : error;
  }
  report({ about: "plain rename", refusal });
  await tell(server, "held", "edit_file", {
    path: "notes.txt",
    edits: [{ oldText: "first", newText: "1" }],
  });
  const writing = call(server, "edit_file", {
    path: "notes.txt",
    edits: [{ oldText: "first", newText: "erste" }],
  });
  // Its new version is complete when it has a temporary name, and then the attempts to rename it begin.
  while (!readdirSync(ROOT).some((name) => name.endsWith(".tmp"))) await delay(5);
  await delay(100);
  closeSync(held);
  report({ about: "released", ...(await writing) });
  report({ about: "released file", text: readFileSync(join(ROOT, "notes.txt"), "utf8") });

  await tell(server, "write", "write_file", { path: "new.txt", content: "a\nb\n" });
  await tell(server, "move", "move_file", { source: "new.txt", destination: "sub/MOVED.txt" });
  await tell(server, "case", "move_file", {
    source: "sub/moved.txt",
    destination: "sub/Moved.txt",
  });
  await tell(server, "delete", "delete_file", { path: "sub/Moved.txt" });
  const { text } = await call(server, "list_changes", {});
  const [id = ""] = /\b[0-9a-z]{9}-[0-9a-f]{6}\b/.exec(text) ?? [];
  await tell(server, "undo", "undo_change", { id });
  report({ about: "undone file", text: readFileSync(join(ROOT, "sub", "Moved.txt"), "utf8") });
  report({ about: "secret", text: readFileSync(join(TOP, "secret.txt"), "utf8") });
});

const uri = (path: string) =>
  `file:///${path.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/").replace("%3A", ":")}`;
for (const root of [uri(ROOT), uri(ROOT).replace("file:///C:", "file:///c%3A")])
  await using({ args: [], roots: [{ uri: root, name: "root" }] }, async (server) => {
    report({
      about: "roots",
      root,
      ...(await call(server, "read_text_file", { path: "sub/Größe 1.txt" })),
    });
    report({
      about: "roots outside",
      root,
      ...(await call(server, "read_text_file", { path: join(TOP, "secret.txt") })),
    });
  });

// A host starts what --print-config prints for an installed server. npm is not here, so this npx starts the installed one.
const npm = join(TOP, "npm");
const ownBin = join(npm, "node_modules", "@refmcp", "server-filesystem", "dist", "bin.js");
writeFileSync(join(npm, "npx.cmd"), '@"%NODE_PROGRAM%" "%SERVER_BIN%" %3\r\n');
const printed = spawnSync(process.execPath, [ownBin, ROOT, "--print-config"], {
  env: { ...process.env, ...ENVIRONMENT },
  encoding: "utf8",
});
report({ about: "entry", text: printed.stdout });
const [entry] = Object.values<{ command: string; args: string[] }>(
  JSON.parse(printed.stdout).mcpServers,
);
const [first = "", ...others] = entry?.args ?? [];
const started = await connectStdio(first, {
  node: [entry?.command ?? ""],
  args: others,
  env: {
    ...ENVIRONMENT,
    PATH: `${npm};${process.env.PATH}`,
    NODE_PROGRAM: process.execPath,
    SERVER_BIN: ownBin,
  },
});
await tell(started, "entry started", "read_text_file", { path: "sub/Größe 1.txt" });
await started.close();
