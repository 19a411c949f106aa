import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectHttp, startHttp } from "@refmcp/testing";
import { expect, it, onTestFinished } from "vitest";
import { callReadingTool, ROOT, serverBin, useWorld } from "../servers.ts";

const world = useWorld("filesystem");

it("a built server writes its audit log, and docs/http.md's module serves what it publishes", async () => {
  const text = await readFile(join(ROOT, "docs", "http.md"), "utf8");
  const [, code = ""] = /```js\n(\/\/ metrics\.mjs.*?)```/s.exec(text) ?? [];
  expect(code).toContain("9464");
  const folder = await mkdtemp(join(tmpdir(), "refmcp-calls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const module = join(folder, "metrics.mjs");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: It is a template in the module.
  const print = '.on("listening", () => console.error(`metrics ${server.address().port};`))';
  await writeFile(module, code.replace(".listen(9464", `${print}.listen(0`));
  const server = await startHttp(serverBin("filesystem"), {
    args: [...world().args, "--audit-log", "-"],
    env: { ...world().env, NODE_OPTIONS: `--import ${module}` },
  });
  onTestFinished(() => void server.stop("SIGKILL"));
  const { client, close } = await connectHttp(server.url);
  await callReadingTool(client, world());
  await close();
  const port = /metrics (\d+);/.exec(server.stderr())?.[1];
  const metrics = await (await fetch(`http://127.0.0.1:${port}`)).text();
  expect(metrics).toMatch(/^mcp_calls_total\{tool="\w+",outcome="ok"\} 1$/m);
  await server.stop();
  expect(server.stderr()).toMatch(
    /^\{"time":"[^"]+","principal":"","tool":"\w+","effect":"read",.*"outcome":"ok"\}$/m,
  );
});
