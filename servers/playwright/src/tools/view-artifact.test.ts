import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { picture } from "../../test/fixture.ts";
import { session } from "../../test/session.ts";

const LOG = Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join("");
const talk = await session({ hasBrowser: false });
const run = join(talk.runs, "one");
await mkdir(run, { recursive: true });
await writeFile(join(run, "home.png"), picture(3_000, 200, [10, 20, 30]));
await writeFile(join(run, "log.txt"), LOG);
await writeFile(join(run, "film.webm"), "x");
await writeFile(join(run, "home.trace.zip"), "x");
await writeFile(join(talk.folder, "private.txt"), "private");
await symlink(join(talk.folder, "private.txt"), join(run, "link.txt"));

it("pw_view_artifact shows the first screenshot, scaled for a model", async () => {
  const { images, text } = await talk.good("pw_view_artifact", { run_id: "one" });
  expect(images).toEqual([expect.objectContaining({ mimeType: "image/png" })]);
  const image = PNG.sync.read(Buffer.from(images[0]?.data ?? "", "base64"));
  expect([image.width, image.height]).toEqual([1_500, 100]);
  expect([...image.data.subarray(0, 4)]).toEqual([10, 20, 30, 255]);
  expect(text).toContain("3000x200 px, shown at 1/2");
});

it("pw_view_artifact returns a text in parts, without loss", async () => {
  let whole = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const args = { run_id: "one", name: "log.txt", offset };
    const { text } = await talk.good("pw_view_artifact", args);
    const [note, next] = /\n\[characters .*continue with offset (\d+)\]$/.exec(text) ?? [];
    whole += note === undefined ? text : text.slice(0, -note.length);
    offset = next === undefined ? undefined : Number(next);
  }
  expect(whole).toBe(LOG);
});

it.each([
  [{ name: "../private.txt" }, "has no artifact"],
  [{ name: "link.txt" }, "has no artifact"],
  [{ name: "hme.png" }, "film.webm, home.png"],
  [{ run_id: "../one" }, "There is no run"],
  [{ name: "film.webm" }, "neither a picture nor a text"],
  [{ name: "home.trace.zip" }, "npx playwright show-trace"],
])("pw_view_artifact refuses %j", async (args, said) => {
  const answer = await talk.call("pw_view_artifact", { run_id: "one", ...args });
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain(said);
  expect(answer.text).not.toContain("private\n");
});
