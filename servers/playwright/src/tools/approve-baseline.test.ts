import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { picture } from "../../test/fixture.ts";
import { session } from "../../test/session.ts";

// approve-baseline.long.test.ts accepts pictures of runs.
it.each(["../../etc", "..", "a/b", ""])("refuses the name %j", async (baseline) => {
  const talk = await session({ hasBrowser: false });
  const run = join(talk.runs, "20260101-000000-00000000");
  await mkdir(run, { recursive: true });
  await writeFile(join(run, "home.actual.png"), picture(8, 8, [0, 128, 0]));
  const given = { run_id: "20260101-000000-00000000", baseline };
  expect((await talk.call("pw_approve_baseline", given)).isError).toBe(true);
});
