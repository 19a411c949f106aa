import { describe, expect, it } from "vitest";
import { searcherOf } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";
import type { TextMatches } from "./answer.ts";

describe("pages of text", () => {
  it.each(["content", "files", "counts"] as const)(
    "pages through %s without repeat or gap",
    async (mode) => {
      const content: Record<string, string> = {};
      for (let i = 0; i < 23; i++) content[`d${i % 5}/f${i}`] = "y\nx\n".repeat((i % 4) + 1);
      const tree = await makeTree(content);
      const search = searcherOf(tree);
      const whole = await search({ mode, limit: 1000 });
      expect(whole.next_cursor).toBeUndefined();
      const flat = ({ files }: TextMatches) =>
        files.flatMap(
          ({ path, lines, matches }) =>
            matches?.map(({ line }) => `${path}:${line}`) ?? [`${path}=${lines}`],
        );
      for (const limit of [1, 7]) {
        const paged: string[] = [];
        let cursor: string | undefined;
        do {
          const page: TextMatches = await search({ mode, limit, cursor });
          expect(page.total_files).toBe(cursor === undefined ? 23 : undefined);
          expect(flat(page).length).toBeLessThanOrEqual(limit);
          paged.push(...flat(page));
          cursor = page.next_cursor;
        } while (cursor !== undefined);
        expect(paged).toEqual(flat(whole));
      }
      const first = await search({ mode, limit: 1 });
      await expect(search({ mode, pattern: "y", cursor: first.next_cursor })).rejects.toMatchObject(
        {
          kind: "invalid",
        },
      );
    },
  );
});
