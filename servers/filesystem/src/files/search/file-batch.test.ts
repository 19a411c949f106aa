import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { withDirectory } from "../open-path.ts";
import { walk } from "../tree/walk.ts";
import { FileBatch, filesIn } from "./file-batch.ts";

it("has the files of a walk from any of them on, and keeps their directories open until it is released", async () => {
  const { files, root, put } = await scratch();
  const names = ["a/1.txt", "a/2.txt", "a/b/3.txt", "c/ä ö.txt", "c/5.txt"].sort();
  for (const name of names) await put(name, name);
  const batch = new FileBatch();
  await withDirectory(files.guard, root, (directory) =>
    walk(files.guard, directory, {}, (met) => {
      if (met.type === "file") batch.add(met);
      return undefined;
    }),
  );
  const contents = (start: number) =>
    [...filesIn(batch.text(start))].flatMap(({ at, names }) =>
      names.map((name) => readFileSync(`${at}/${name}`, "utf8")),
    );
  for (let start = 0; start < names.length; start++) {
    expect(contents(start)).toEqual(batch.paths.slice(start));
  }
  expect(batch.paths).toEqual(names);
  batch.release();
  if (process.platform === "linux") expect(() => contents(0)).toThrow();
});

it("is full before it keeps too many directories open", async () => {
  const { files, root, put } = await scratch();
  for (let index = 0; index < 200; index++) await put(`d${index}/f.txt`, "x");
  const sizes: number[] = [];
  let batch = new FileBatch();
  await withDirectory(files.guard, root, (directory) =>
    walk(files.guard, directory, {}, (met) => {
      if (met.type === "file") batch.add(met);
      if (batch.isFull) {
        sizes.push(batch.paths.length);
        batch.release();
        batch = new FileBatch();
      }
      return undefined;
    }),
  );
  batch.release();
  expect(sizes).toEqual([64, 64, 64]);
});
