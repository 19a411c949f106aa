import { fakeCall } from "@refmcp/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import directoryTree from "../src/tools/directory-tree.ts";
import getFileInfo from "../src/tools/get-file-info.ts";
import searchFiles from "../src/tools/search-files.ts";
import searchText from "../src/tools/search-text.ts";
import { scratch } from "./scratch.ts";
import { use } from "./use.ts";

/** What each tool reports about a small tree, on a clock that moves by this many milliseconds each time it is read. */
async function reports(step: number): Promise<Record<string, number[]>> {
  const { files, put } = await scratch();
  onTestFinished(() => files.close());
  for (let at = 0; at < 20; at++) await put(`d${at}/a.txt`, `text ${at}\n`);
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    now += step;
    return now;
  });
  onTestFinished(() => clock.mockRestore());
  const done: Record<string, number[]> = {};
  const record = async (
    name: string,
    work: (call: ReturnType<typeof fakeCall>) => Promise<unknown>,
  ) => {
    const call = fakeCall();
    await work(call);
    done[name] = call.reported.map((report) => report.done);
  };
  await record("tree", (call) => use(directoryTree, files, { path: "." }, call));
  await record("names", (call) => use(searchFiles, files, { path: ".", pattern: "*" }, call));
  await record("text", (call) => use(searchText, files, { pattern: "text" }, call));
  await record("count", (call) => use(getFileInfo, files, { path: "." }, call));
  clock.mockRestore();
  return done;
}

it("reports the progress of searches, trees and counts that take longer than a second", async () => {
  for (const [name, done] of Object.entries(await reports(200))) {
    expect(done.length, name).toBeGreaterThan(0);
    // Each report is about more than the one before it.
    expect(
      done.every((count, index) => count > (done[index - 1] ?? 0)),
      name,
    ).toBe(true);
  }
});

it("reports nothing about what is done at once", async () => {
  expect(await reports(0)).toEqual({ tree: [], names: [], text: [], count: [] });
});
