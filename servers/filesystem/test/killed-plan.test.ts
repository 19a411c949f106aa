import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { killedAtChange } from "../../../vitest.kill.ts";
import { isLong } from "../../../vitest.long.ts";
import { scratch } from "./scratch.ts";
import { snapshot } from "./tree.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/**
 * Starts a server, calls move_file with a plan of `count` moves, where some replace a file, and kills it at the
 * `nth` file that it renames, links or unlinks. Then everything must be moved, or nothing, or one undo must restore everything.
 *
 * @returns how many files had been moved.
 */
async function killInPlan(count: number, nth: number): Promise<number> {
  const { root, state, put, files } = await scratch();
  for (let i = 0; i < count; i++) await put(`in/${i}`, `new ${i}`);
  for (let i = 0; i < count; i += 10) await put(`out/${i % 7}/${i}`, `old ${i}`);
  const before = await snapshot(root);
  const moves = Array.from({ length: count }, (_, i) => ({
    source: `in/${i}`,
    destination: `out/${i % 7}/${i}`,
  }));
  const killed = killedAtChange(nth, ["rename", "link", "unlink"]);
  const child = spawn(process.execPath, [...killed, bin, root, "--journal-dir", state], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "killer", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  send({ id: 1, method: "initialize", params });
  send({ method: "notifications/initialized" });
  send({
    id: 2,
    method: "tools/call",
    params: { name: "move_file", arguments: { moves, overwrite: true } },
  });
  const remaining = async () => (await readdir(`${root}/in`)).length;
  expect(await exited).toEqual([null, "SIGKILL"]);
  const moved = count - (await remaining());
  const changes = await files.changes();
  expect(changes.length).toBeLessThanOrEqual(1);
  const [listed] = changes;
  if (listed !== undefined)
    await files.undo(listed.id).catch((error) => {
      if (moved > 0 || !String(error).includes("interrupted and left nothing to undo")) throw error;
    });
  expect(await snapshot(root)).toEqual(before);
  return moved;
}

const [TIMES, MOVES] = isLong ? [12, 1_000] : [3, 150];

it(`restores ${MOVES} moves with one undo after the server was killed at any moment`, async () => {
  let interrupted = 0;
  for (let i = 0; i < TIMES; i++) {
    const moved = await killInPlan(MOVES, 1 + Math.floor((i * MOVES) / TIMES));
    if (moved > 0 && moved < MOVES) interrupted += 1;
  }
  expect(interrupted).toBeGreaterThan(TIMES / 2);
}, 600_000);
