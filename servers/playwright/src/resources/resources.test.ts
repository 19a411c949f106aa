import { PNG } from "pngjs";
import { beforeAll, expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { openedFirst, site } from "../../test/session.ts";

const web = await site({ "/": page("<h1>Docs</h1>") });

const talk = openedFirst();
let runId: string;
const changes: string[] = [];
const read = async (uri: string) =>
  Object((await talk.connected.client.readResource({ uri })).contents[0]);

beforeAll(async () => {
  const { client } = talk.connected;
  client.setNotificationHandler("notifications/resources/list_changed", ({ method }) => {
    changes.push(method);
  });
  await client.listen({ resourcesListChanged: true });
  const args = { url: web.url, assertions: ["h1 is 'x' within 1ms"] };
  runId = String((await talk.good("pw_run_test", args)).data.run_id);
});

it("resources contain a run's artifacts, as linked in the answer, and notify of changes", async () => {
  await expect.poll(() => changes.length).toBeGreaterThan(0);
  const { resources } = await talk.connected.client.listResources();
  const uris = resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("pw://runs/"));
  expect(uris.map((uri) => uri.split("/").at(-1))).toEqual(["home.png", "report.json"]);
  const { blob, mimeType } = await read(`pw://runs/${runId}/home.png`);
  expect(mimeType).toBe("image/png");
  expect(PNG.sync.read(Buffer.from(blob, "base64"))).toMatchObject({ width: 1280, height: 720 });
  const report = JSON.parse((await read(`pw://runs/${runId}/report.json`)).text);
  expect(report).toMatchObject({ url: web.url, passed: false });
});

it("resources complete runs and the artifacts of one", async () => {
  const complete = async (name: string, value: string, args: Record<string, string> = {}) =>
    (
      await talk.connected.client.complete({
        ref: { type: "ref/resource", uri: "pw://runs/{run_id}/{artifact}" },
        argument: { name, value },
        context: { arguments: args },
      })
    ).completion.values;
  expect(await complete("run_id", runId.slice(0, 8))).toEqual([runId]);
  expect(await complete("artifact", "rep", { run_id: runId })).toEqual(["report.json"]);
});

it("resources are readable by the answer's link, unlike any other file", async () => {
  const run = await talk.good("pw_run_test", { url: web.url });
  const [link] = run.links;
  expect(link).toMatchObject({ name: "home.png", mimeType: "image/png" });
  expect(link?.uri).toMatch(/^file:\/\/\/.*\/home\.png$/);
  const picture = { uri: link?.uri, mimeType: "image/png", blob: expect.any(String) };
  expect(await read(link?.uri ?? "")).toMatchObject(picture);
  const folder = String(link?.uri).split("/").slice(0, -1).join("/");
  for (const other of [
    "file:///etc/passwd",
    `file:///etc/${run.data.run_id}/home.png`,
    `${folder}/../../../etc/passwd`,
    `${folder}/nothing.png`,
    "pw://runs/..%2F..%2Fetc/passwd",
    `pw://runs/${runId}/..%2F..%2Fetc%2Fpasswd`,
  ])
    await expect(read(other), other).rejects.toThrow(
      /no run|no artifact|not an artifact|not found|no resource/i,
    );
});
