import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DirectoryAllowlist } from "@refmcp/boundary";
import { expect, it, onTestFinished, vi } from "vitest";
import { ChangeWriter, type RecordedRow, RecordTooLarge, readRows, readSummary } from "./record.ts";
import { ChangeStore } from "./store.ts";

function store(days = 30) {
  const directory = mkdtempSync(join(tmpdir(), "refmcp-changes-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const allowed = new DirectoryAllowlist({ configured: [], mode: "off" });
  const open = () => new ChangeStore({ directories: [directory], allowed, enabled: true, days });
  return { directory, open, changes: open() };
}

async function writerFor(changes: Pick<ChangeStore, "slot">): Promise<ChangeWriter> {
  const slot = await changes.slot("db");
  if ("reason" in slot) throw new Error(slot.reason);
  return new ChangeWriter(slot);
}

async function record(
  changes: Pick<ChangeStore, "slot">,
  rows: readonly RecordedRow[],
  undoes?: string,
): Promise<string> {
  const writer = await writerFor(changes);
  for (const row of rows) writer.add(row);
  writer.finish({ database: "db", statements: ["DELETE FROM t"], undoes });
  return writer.committed();
}

const row = { table: "t", key: 1, before: [1, "ä\n\u2028"] };

it("keeps rows and summary of a change, and knows what was undone", async () => {
  const { changes, open } = store();
  const many = Array.from({ length: 5_000 }, (_, at) => ({
    table: "t",
    key: at,
    before: [at, "x".repeat(at % 300)],
  }));
  const first = await record(changes, [row, ...many, { table: "u", key: [1], after: [] }]);
  const [{ path, tables } = { path: "", tables: [] }] = await open().list("db");
  expect([...readRows(path)]).toEqual([row, ...many, { table: "u", key: [1], after: [] }]);
  expect(tables).toEqual([
    { table: "t", inserted: 0, updated: 0, deleted: 5_001 },
    { table: "u", inserted: 1, updated: 0, deleted: 0 },
  ]);
  expect(await changes.list("another")).toEqual([]);
  const undo = await record(changes, [row], first);
  await expect(changes.find("db", first)).rejects.toMatchObject({ kind: "conflict" });
  expect(await changes.find("db", undo)).toMatchObject({ undoes: first });
  // The undo is undone, so the change can be undone again.
  const redo = await record(changes, [row], undo);
  expect(await changes.find("db", first)).toMatchObject({ undoneBy: undefined });
  const again = await record(changes, [row], first);
  expect((await open().list("db")).map(({ id, undoneBy }) => [id, undoneBy])).toEqual([
    [again, undefined],
    [redo, undefined],
    [undo, redo],
    [first, again],
  ]);
  await expect(changes.find("db", "nothing")).rejects.toMatchObject({ kind: "not_found" });
});

it("lists a change that waited for another one after it", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { changes } = store();
  const waiting = await changes.slot("db");
  const other = await record(changes, [row]);
  vi.advanceTimersByTime(1);
  const last = await record({ slot: async () => waiting }, [row]);
  expect((await changes.list("db")).map(({ id }) => id)).toEqual([last, other]);
});

it("does not take the rest of a killed process for a record", async () => {
  const { changes } = store();
  (await writerFor(changes)).add(row);
  const id = await record(changes, [row]);
  const [{ path } = { path: "" }, ...others] = await changes.list("db");
  expect(others).toEqual([]);
  for (let size = statSync(path).size - 1; size >= 0; size -= 7) {
    truncateSync(path, size);
    expect(readSummary(path), String(size)).toBeUndefined();
  }
  expect(id).toBeTruthy();
});

it("refuses more rows or bytes than a record may have, and leaves nothing", async () => {
  const { changes, directory } = store();
  const writer = await writerFor(changes);
  const large = { ...row, before: ["x".repeat(1_048_576)] };
  expect(() => {
    for (let at = 0; at < 65; at++) writer.add(large);
  }).toThrow(RecordTooLarge);
  writer.discard();
  expect(readdirSync(join(directory, "changes"), { recursive: true })).toHaveLength(1);
});

it("drops the oldest changes beyond 1,000, and those older than its days", async () => {
  const { changes, open } = store(1);
  const ids: string[] = [];
  for (let at = 0; at < 1_030; at++) ids.push(await record(changes, [row]));
  const stored = (await open().list("db")).map(({ id }) => id).reverse();
  expect(stored.length).toBeLessThanOrEqual(1_021);
  expect(stored.length).toBeGreaterThanOrEqual(1_000);
  expect(stored).toEqual(ids.slice(-stored.length));
  const old = new Date(Date.now() - 2 * 86_400_000);
  for (const { path } of (await changes.list("db")).slice(1)) utimesSync(path, old, old);
  // A new process checks with its first change.
  const last = await record(open(), [row]);
  expect((await open().list("db")).map(({ id }) => id).sort()).toEqual([last, ids.at(-1)].sort());
  await changes.erase(true);
  expect(await open().list("db")).toEqual([]);
});
