import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { texts, use } from "../../test/use.ts";
import readMultipleFiles from "./read-multiple-files.ts";

it("returns texts and errors in order, within the budget", async () => {
  const { files, put } = await scratch();
  await put("a.txt", "alpha\n");
  await put("long.txt", "words\n".repeat(20_000));
  const [answer = ""] = texts(
    await use(readMultipleFiles, files, { paths: ["a.txt", "none.txt", "long.txt"] }),
  );
  expect(answer).toMatch(/1\/3 a\.txt \[The only line\..*\]\nalpha\n=== /);
  expect(answer).toMatch(/2\/3 none\.txt \[Error: .*does not exist/);
  expect(answer).toMatch(/3\/3 long\.txt \[Lines 1–[\d,]+ of 20,000\. Continue with offset=\d+\./);
  expect(answer.length).toBeLessThanOrEqual(20_000);
});
