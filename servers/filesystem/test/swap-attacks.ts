import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectInMemory } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { server } from "../src/server.ts";

const SECRET = "TOP-SECRET-OUTSIDE";
const SWAPPER = fileURLToPath(new URL("swapper.mjs", import.meta.url));
const LANES = 20;

/** Runs `work` while another process swaps `name`; returns the number of swaps. */
async function whileSwapping(
  name: string,
  kind: "file" | "directory",
  target: string,
  work: () => Promise<void>,
): Promise<number> {
  const child = spawn(process.execPath, [SWAPPER, name, kind, target], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  let last = "";
  child.stdout.on("data", (chunk: Buffer) => {
    last += chunk.toString();
  });
  try {
    await work();
  } finally {
    child.stdin.end();
    await once(child, "close");
  }
  return Number(last.trim());
}

/** Reads and writes while another process swaps part of the path for a link that leads outside. */
export function resistsSwaps(count: { reads: number; writes: number; timeoutMs?: number }): void {
  describe("swapped during an operation", () => {
    let top = "";
    let root = "";
    let outside = "";
    let connected: Connected | undefined;

    beforeEach(async () => {
      top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-swap-")));
      root = join(top, "root");
      outside = join(top, "root-evil");
      await mkdir(root);
      await mkdir(outside);
      await writeFile(join(outside, "secret.txt"), SECRET);
      connected = await connectInMemory(server, {
        args: [
          root,
          "--journal-days",
          "0",
          "--journal-dir",
          join(top, "state"),
          "--confirm",
          "never",
        ],
      });
    });
    afterEach(async () => {
      await connected?.close();
      await rm(top, { recursive: true, force: true });
    });

    /** Runs as many calls at once as there are lanes; returns their texts, and whether they failed. */
    const calls = (name: string, argsOf: (lane: number) => Record<string, unknown>) =>
      Promise.all(
        Array.from({ length: LANES }, async (_, lane) => {
          const { content = [], isError } =
            (await connected?.client.callTool({ name, arguments: argsOf(lane) })) ?? {};
          const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
          return { text, failed: isError === true };
        }),
      );

    it(
      `a file for a link: ${count.reads.toLocaleString("en-US")} reads show no outside content (CVE-2025-53109)`,
      async () => {
        await writeFile(join(root, "file.txt"), "honest");
        const seen = { honest: 0, refused: 0, leaked: 0 };
        const target = join(outside, "secret.txt");
        const swaps = await whileSwapping(join(root, "file.txt"), "file", target, async () => {
          // At least this many, and until both outcomes occurred, which proves a real race.
          const isOneSided = () => seen.leaked === 0 && (seen.honest === 0 || seen.refused === 0);
          for (let i = 0; i < count.reads || isOneSided(); i += LANES) {
            for (const { text } of await calls("read_text_file", () => ({ path: "file.txt" }))) {
              if (text.includes(SECRET)) seen.leaked += 1;
              else if (text.startsWith("honest")) seen.honest += 1;
              else seen.refused += 1;
            }
          }
        });
        expect(seen.leaked).toBe(0);
        expect(swaps).toBeGreaterThan(100);
      },
      count.timeoutMs,
    );

    it(
      `a folder for a link: ${count.writes.toLocaleString("en-US")} writes change nothing through it`,
      async () => {
        await mkdir(join(root, "folder"));
        let written = 0;
        let refused = 0;
        const swaps = await whileSwapping(join(root, "folder"), "directory", outside, async () => {
          for (let i = 0; i < count.writes || written === 0 || refused === 0; i += LANES) {
            const made = await calls("write_file", (lane) => ({
              path: `folder/new-${lane}.txt`,
              content: `${i}`,
            }));
            for (const { failed } of made) {
              if (failed) refused += 1;
              else written += 1;
            }
          }
        });
        expect(await readdir(outside)).toEqual(["secret.txt"]);
        expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe(SECRET);
        expect(swaps).toBeGreaterThan(100);
      },
      count.timeoutMs,
    );
  });
}
