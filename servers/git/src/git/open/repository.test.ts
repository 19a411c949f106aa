import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { emptyRepository, git, gitOver } from "../../../test/fixture.ts";
import { place, useTestDirectory } from "../../../test/upstream.ts";

useTestDirectory();

it("reads contents of at most 64 MiB in all, and leaves out missing objects", async () => {
  const root = emptyRepository(place.path("repo"));
  const stored = (name: string, size: number) => {
    writeFileSync(`${root}/${name}`, Buffer.alloc(size, name));
    return git(root, "hash-object", "-w", name).trim();
  };
  const [small, large, another] = [stored("a", 10), stored("b", 40 << 20), stored("c", 40 << 20)];
  const repository = await gitOver([root]).open(root, new AbortController().signal);
  const contents = await repository.contents([large, another, "0".repeat(40), small, small]);
  expect([...contents].map(([oid, { length }]) => [oid, length])).toEqual([
    [large, 40 << 20],
    [small, 10],
  ]);
});
