import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { trace } from "../../test/fixture.ts";
import { session } from "../../test/session.ts";

// inspect-trace.long.test.ts reads the trace of a run.
it("reads a trace in an allowed folder only", async () => {
  const talk = await session({ hasBrowser: false });
  const path = join(talk.folder, "root", "trace.zip");
  const outside = join(talk.folder, "outside.zip");
  for (const file of [path, outside]) await writeFile(file, trace());
  const { text } = await talk.good("pw_inspect_trace", { path });
  expect(text).toContain("Timeout 5000ms exceeded.");
  const refused = await talk.call("pw_inspect_trace", { path: outside });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("outside") });
});
