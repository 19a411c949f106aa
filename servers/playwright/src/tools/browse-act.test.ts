import { expect, it } from "vitest";
import { page, SHOP } from "../../test/lab.ts";
import { folderOf, openedFirst, session, sharedSession, site } from "../../test/session.ts";
import { CALL, makeDrivers } from "../../test/testers.ts";
import { Sessions } from "../browser/run/sessions.ts";
import { RunStore } from "../browser/store/runs.ts";

const { url } = await site({ "/": SHOP, "/next": page("<h1>Next</h1>") });
const talk = openedFirst(sharedSession);

const call = (tool: string, name: string, args: Record<string, unknown> = {}) =>
  talk.call(`pw_browse_${tool}`, { session: name, ...args });
const open = (name: string) => talk.good("pw_browse_open", { session: name, url });
const act = (name: string, ...steps: string[]) => call("act", name, { steps });
const close = (name: string) => talk.good("pw_browse_close", { session: name });

it("browser sessions are offered only with their toolset, and pw_browse_evaluate only with its option", async () => {
  const offered = async (...args: string[]) => {
    const { connected } = await session({ args, hasBrowser: false });
    const { tools } = await connected.client.listTools();
    await connected.close();
    return tools.map(({ name }) => name).filter((name) => name.startsWith("pw_browse"));
  };
  expect(await offered("--allow-evaluate")).toEqual([]);
  const three = ["pw_browse_act", "pw_browse_close", "pw_browse_open"];
  expect(await offered("--toolsets", "all")).toEqual(three);
  expect(await offered("--toolsets", "all", "--allow-evaluate")).toContain("pw_browse_evaluate");
});

it("browser sessions keep the page between calls, with targets, screenshots and new console lines", async () => {
  const { data } = await open("shop");
  expect(data).toMatchObject({ status: 200, title: "Docs", console: [], artifacts: [] });
  expect(data.targets).toEqual(expect.arrayContaining(["textbox 'Name'", "button 'Add'"]));
  const fill = "fill textbox 'Name' with 'Desk lamp'";
  const added = await act("shop", fill, "click button 'Add'", "screenshot 'list'");
  expect(added.data).toMatchObject({ console: ["error: added 1"] });
  expect(added.data.snapshot).toBeUndefined();
  expect(added.links.map(({ name }) => name)).toEqual(["page-list.png"]);
  const lamps = expect.stringContaining("Desk lamp");
  expect((await call("act", "shop")).data).toMatchObject({ snapshot: lamps, console: [] });
  const failed = await act("shop", "expect h1 is 'Chairs' within 50ms", "goto /next");
  expect(failed.data.failed_step).toContain("expect h1 is 'Chairs' within 50ms: its text is");
  expect(failed.data.url).toBe(`${url}/`);
  // Assertions see everything since the session was opened.
  const assertions = ["li count is 1", "h1 is 'Chairs' within 50ms", "no console errors"];
  const checked = await call("act", "shop", { assertions });
  expect(checked.data.assertions).toEqual([
    { name: "li count is 1", passed: true },
    { name: "h1 is 'Chairs' within 50ms", passed: false, actual: 'its text is "Lamps"' },
    expect.objectContaining({ actual: expect.stringContaining('the first: "added 1') }),
  ]);
  const next = await call("act", "shop", { steps: ["goto /next"], snapshot: true });
  const snapshot = expect.stringContaining("Next");
  expect(next.data).toMatchObject({ url: `${url}/next`, snapshot });
  expect((await close("shop")).text).toContain("closed");
});

it("browser sessions explain a wrong name, a closed session and a wrong sentence; one that failed to open does not count", async () => {
  const dead = await call("open", "dead", { url: "http://127.0.0.1:1/" });
  expect(dead.text).toContain("127.0.0.1:1");
  expect((await act("nobody")).text).toMatch(/There is no session.*pw_browse_open/s);
  for (const name of ["a", "b", "c"]) await open(name);
  expect((await call("open", "a", { url })).text).toContain("already open");
  expect((await act("a", "clik 'x'")).text).toContain("click");
  expect((await call("open", "d", { url })).text).toContain("a, b, c");
  await close("b");
  expect((await act("b")).text).toContain("it was closed with pw_browse_close");
  await open("d");
  for (const name of ["a", "c", "d"]) await close(name);
  expect((await call("open", "../x", { url })).isError).toBe(true);
});

it("browser sessions evaluate JavaScript and return its value, its error or why it cannot be returned", async () => {
  await open("code");
  const value = async (expression: string) => (await call("evaluate", "code", { expression })).text;
  expect(await value("document.querySelector('h1').textContent")).toBe('"Lamps"');
  expect(await value("async () => ({ list: [1n, undefined] })")).toBe('{"list":["1",null]}');
  expect(await value("undefined")).toBe("undefined");
  expect(await value("nothing.at.all")).toContain("nothing is not defined");
  expect(await value("const a = {}; a.a = a; a")).toMatch(/circular reference|failed/);
  expect((await value("'x'.repeat(1e6)")).length).toBeLessThan(20_001);
  await close("code");
});

it("browser sessions are closed when idle, and say so", async () => {
  const drivers = await makeDrivers();
  const runs = new RunStore({ folder: await folderOf("idle") });
  const sessions = new Sessions({ drivers, runs, changed: () => undefined, idleMs: 60 });
  await sessions.open("idle", { url, steps: [] }, CALL);
  const act = async () => sessions.act("idle", { steps: [] }, CALL);
  await expect.poll(() => act().catch(String), { interval: 200 }).toContain("no call used it for");
});
