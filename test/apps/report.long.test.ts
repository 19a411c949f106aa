import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, useViews } from "./host.ts";

/** A page whose appearance depends on its path, and whose title, heading and console contain a hostile text. */
const site = createServer(({ url }, response) => {
  const text = HOSTILE.replaceAll("<", "&lt;");
  response.setHeader("content-type", "text/html");
  response.end(`<!doctype html><title>${text}</title><link rel="icon" href="data:,">
    <h1>${text}</h1><div style="width:200px;height:100px;background:${url === "/new" ? "red" : "blue"}"></div>
    <script>console.error(document.title)</script>`);
});

describe("the report of a run", () => {
  const show = useViews();
  const world = useWorld("playwright");
  let client: Client;
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const args = [...world().args, "--allow-private", "--confirm", "never"];
    client = await connectApps(serverBin("playwright"), args, { env: world().env ?? {} });
  });
  afterAll(async () => {
    await client.close();
    site.close();
  });
  const run = async (path: string, assertions: string[]) => {
    const call = { name: "pw_run_test", arguments: { url: `${origin}${path}`, assertions } };
    return { call, result: await client.callTool(call) };
  };

  it("shows failures, console messages, and images as resources", async () => {
    const { call, result } = await run("/", [
      "h1 contains 'img'",
      "h1 is 'Docs'",
      "no console errors",
    ]);
    const app = await show(client, call, result);
    await app.view.getByRole("heading", { name: "✗ Failed: 2 of 3 checks failed" }).waitFor();
    expect(await app.view.getByRole("img", { name: "passed" }).count()).toBe(1);
    expect(await app.view.getByRole("img", { name: "failed" }).count()).toBe(2);
    const picture = app.view.getByRole("img", { name: /^Screenshot / });
    await picture.waitFor();
    expect(await picture.evaluate((img) => Reflect.get(img, "naturalWidth"))).toBeGreaterThan(500);
    expect(await app.view.locator("pre").textContent()).toContain("owned");
    expect(app.asked.map(({ method }) => method)).toEqual(["resources/read"]);
    await expectHarmless(app);
    await app.page.close();
  });

  it("of a suite has failed tests first, folds many that passed, and names screenshots by their tests", async () => {
    const passing = Array.from({ length: 12 }, (_, number) => ({
      name: `Page ${number + 1} loads`,
      url: `${origin}/`,
      assertions: ["h1 is visible"],
    }));
    const failing = ["Old prices are gone", "The form is sent"].map((name) => ({
      name,
      url: `${origin}/`,
      assertions: ["h1 is 'Docs'"],
    }));
    const call = {
      name: "pw_run_suite",
      arguments: { tests: [...passing, ...failing], timeout_ms: 300_000 },
    };
    const app = await show(client, call, await client.callTool(call));
    const [first] = await app.view.getByRole("listitem").allTextContents();
    expect(first).toContain("Old prices are gone");
    await app.view.getByText("12 passed").click();
    await app.view.getByText("Page 12 loads").waitFor();
    for (const { name } of failing)
      expect(await app.view.locator("summary").getByText(name, { exact: true }).count()).toBe(1);
    await app.view
      .getByRole("img", { name: /^Screenshot (Old prices are gone|The form is sent)$/ })
      .waitFor();
    await app.page.close();
  });

  it("shows why a run did not finish", async () => {
    const { call, result } = await run("/", ["h1 contans 'x'"]);
    const app = await show(client, call, result);
    await app.view.getByText("contans").first().waitFor();
    await app.view.getByRole("heading", { name: "✗ Failed" }).waitFor();
    await app.page.close();
  });

  it.each([
    ["pw_run_suite", "2 tests passed"],
    ["pw_run_specs", "passed"],
  ])("is there for %s", async (name, verdict) => {
    const suite = ["a", HOSTILE].map((test) => ({
      name: test,
      url: `${origin}/`,
      assertions: ["h1 is visible"],
    }));
    const args = name === "pw_run_suite" ? { tests: suite } : { ...world().calls[name] };
    const call = { name, arguments: args };
    const app = await show(client, call, await client.callTool(call));
    await app.view.getByRole("heading", { name: verdict }).waitFor();
    if (name === "pw_run_suite") await expectHarmless(app);
    await app.page.close();
  });
});
