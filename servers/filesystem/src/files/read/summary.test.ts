import { mkdirSync, writeFileSync } from "node:fs";
import { link, symlink, utimes } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { reporter } from "../tree/reporter.ts";
import { summaryAnswer } from "./summary.ts";

it("summarizes a directory: folders, kinds, years, extremes and duplicates", async () => {
  const { files, put, at, outside } = await scratch();
  const times: [string, string | Uint8Array, string][] = [
    ["d/pictures/a.jpg", Buffer.alloc(40_000, 1), "2021-05-01"],
    ["d/pictures/copy of a.jpg", Buffer.alloc(40_000, 1), "2024-01-01"],
    ["d/pictures/other.jpg", Buffer.alloc(40_000, 2), "2024-01-02"],
    ["d/notes.md", "hello", "2025-03-01"],
    ["d/deep/er/same.txt", "hello", "2025-03-02"],
    ["d/empty", "", "2025-03-03"],
    ["d/empty2", "", "2025-03-04"],
  ];
  for (const [name, content, day] of times) {
    const path = await put(name, content);
    await utimes(path, new Date(day), new Date(day));
  }
  await symlink(outside, at("d/out"));
  expect(summaryAnswer(await files.summarize("d"))).toBe(
    [
      `path: ${at("d")}`,
      "total: 7 files, 117 KiB, 3 directories",
      "by_folder:",
      "  pictures/ 117 KiB, 3 files",
      "  (directly in it) 5 B, 3 files",
      "  deep/ 5 B, 1 file",
      "by_kind:",
      "  images 117 KiB, 3 files",
      "  text 10 B, 2 files",
      "  other 0 B, 2 files",
      "by_year_modified:",
      "  2025 10 B, 4 files",
      "  2024 78 KiB, 2 files",
      "  2021 39 KiB, 1 file",
      "largest:",
      "  39 KiB 2021-05-01 pictures/a.jpg",
      "  39 KiB 2024-01-01 pictures/copy of a.jpg",
      "  39 KiB 2024-01-02 pictures/other.jpg",
      "  5 B 2025-03-02 deep/er/same.txt",
      "  5 B 2025-03-01 notes.md",
      "  0 B 2025-03-03 empty",
      "  0 B 2025-03-04 empty2",
      "oldest:",
      "  39 KiB 2021-05-01 pictures/a.jpg",
      "  39 KiB 2024-01-01 pictures/copy of a.jpg",
      "  39 KiB 2024-01-02 pictures/other.jpg",
      "  5 B 2025-03-01 notes.md",
      "  5 B 2025-03-02 deep/er/same.txt",
      "  0 B 2025-03-03 empty",
      "  0 B 2025-03-04 empty2",
      "newest:",
      "  0 B 2025-03-04 empty2",
      "  0 B 2025-03-03 empty",
      "  5 B 2025-03-02 deep/er/same.txt",
      "  5 B 2025-03-01 notes.md",
      "  39 KiB 2024-01-02 pictures/other.jpg",
      "  39 KiB 2024-01-01 pictures/copy of a.jpg",
      "  39 KiB 2021-05-01 pictures/a.jpg",
      "duplicates: 2 groups; deleting the copies frees 39 KiB",
      '  2 × 39 KiB: "pictures/a.jpg", "pictures/copy of a.jpg"',
      '  2 × 5 B: "deep/er/same.txt", "notes.md"',
    ].join("\n"),
  );
});

it("does not call hard links duplicates, and finds files that differ only at the end", async () => {
  const { files, put, at } = await scratch();
  const bytes = Buffer.alloc(100_000, 1);
  await link(await put("a", bytes), at("b"));
  const other = Buffer.from(bytes);
  other[99_999] = 2;
  await put("c", other);
  expect((await files.summarize(".")).duplicates.groups).toEqual([]);
  await put("d", other);
  expect((await files.summarize(".")).duplicates.groups).toEqual([
    { size: 100_000, paths: ["c", "d"] },
  ]);
});

it("keeps an answer bounded, whatever the names and their number", async () => {
  const { files, put } = await scratch();
  for (let at = 0; at < 60; at++)
    await put(`${"n".repeat(200)}${at}/${"f".repeat(240)}\n${at}`, `same ${at % 30}`);
  const answer = summaryAnswer(await files.summarize("."));
  expect(answer.length).toBeLessThan(20_000);
  expect(answer).toContain("40 more: ");
  expect(answer).toMatch(/\+\d+ more groups; summarize a subdirectory/);
  expect(answer.split("\n").every((line) => /^(?: {2}|\w+:)/.test(line))).toBe(true);
});

it("says that it is incomplete when the time is used up", async () => {
  const { files, at } = await scratch();
  // More than a slice of the walk, which always does one.
  for (let index = 0; index < 5_000; index++) {
    mkdirSync(at(`d${index}`));
    writeFileSync(at(`d${index}`, "a"), "same");
  }
  const late = summaryAnswer(await files.summarize(".", { walkMs: 0, totalMs: 0 }));
  expect(late).toContain("counted: only a part, because the time ran out");
  const unread = summaryAnswer(await files.summarize(".", { totalMs: 0 }));
  expect(unread).toContain("total: 5,000 files");
  expect(unread).toContain("duplicates: none (not all files were compared)");
  expect((await files.info(".", { countingMs: 0 })).below?.isCut).toBe(true);
});

it("stops when it is cancelled, and reports increasing progress", async () => {
  const { files, put } = await scratch();
  await put("a", "x");
  const signal = AbortSignal.abort(new Error("cancelled"));
  await expect(files.summarize(".", { signal })).rejects.toThrow("cancelled");
  const reports: number[] = [];
  const add = reporter((done) => reports.push(done), 0);
  for (const count of [1, 5, 0, 2]) add(count);
  expect(reports).toEqual([1, 6, 8]);
  const silent: number[] = [];
  reporter((done) => silent.push(done), 3_600_000)(7);
  expect(silent).toEqual([]);
});

it("is refused for a file", async () => {
  const { files, put } = await scratch();
  await put("a", "x");
  await expect(files.summarize("a")).rejects.toMatchObject({ code: "not_directory" });
});
