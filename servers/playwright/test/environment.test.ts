import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong, rowsOf } from "../../../vitest.long.ts";
import { NetworkPolicy } from "../src/browser/policy.ts";
import { page } from "./lab.ts";
import { sharedSession, site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

let lab: TestTester;
/** Behind a real policy. */
let fence: TestTester;
beforeAll(async () => {
  lab = await makeTester();
  fence = await makeTester({
    policy: new NetworkPolicy({ denyHosts: ["127.0.0.3"] }),
    stepMs: 2_000,
  });
});
afterAll(async () => {
  await lab?.close();
  await fence?.close();
});

const good = page("<h1>Good</h1>");
const button = (name: string, action: string) => `<button onclick="${action}">${name}</button>`;

describe.concurrent("tabs", () => {
  it("are listed in the answer; if one closes itself, the previous one is current", async () => {
    const { url } = await site({
      "/": page(`<h1>Shop</h1>${button("Sign in", "window.open('/in')")}`),
      "/in": page(`<h1>Sign in</h1>${button("Done", "window.close()")}`),
    });
    const report = await lab.run({
      url,
      steps: [
        "click button 'Sign in'",
        "switch to new tab",
        "expect h1 is 'Sign in'",
        "click button 'Done'",
      ],
      assertions: ["h1 is 'Shop'"],
    });
    expect(report).toMatchObject({ passed: true, notes: [`tab 2 opened: ${url}/in (closed)`] });
  });

  it("that close on the first half of an input have received it", async () => {
    const closing = `<h1>In</h1><button onmousedown="window.close()">Done</button>`;
    const { url } = await site({
      "/": page(`<h1>Shop</h1>${button("Sign in", "window.open('/in')")}`),
      "/in": page(
        `${closing}<input onkeydown="window.close()"><script>onkeydown = () => close()</script>`,
      ),
    });
    for (const step of rowsOf(
      ["click button 'Done'", "press Escape", "press Escape on textbox"],
      1,
    )) {
      const steps = ["click button 'Sign in'", "switch to new tab", "expect h1 is 'In'", step];
      const report = await lab.run({ url, steps, assertions: ["h1 is 'Shop'"] });
      expect(report, step).toMatchObject({
        passed: true,
        notes: [`tab 2 opened: ${url}/in (closed)`],
      });
    }
  });

  it("that close before an input or during a check leave it to the current one", async () => {
    const { url } = await site({
      "/": page(`<h1>Shop</h1>${button("Sign in", "window.open('/in')")}
        ${button("Done", "document.querySelector('h1').textContent = 'Paid'")}`),
      "/in": page(`<h1>In</h1><button style="display: none">Done</button>
        <script>onkeydown = () => fetch("/slow").then(() => close())</script>`),
      "/slow": (_, response) => void setTimeout(() => response.end(), 300),
    });
    const steps = ["click button 'Sign in'", "switch to new tab", "press a"];
    const check = await lab.run({ url, steps, assertions: ["h1 is 'Shop'"] });
    expect(check).toMatchObject({ passed: true });
    const input = await lab.run({
      url,
      steps: [...steps, "click button 'Done'"],
      assertions: ["h1 is 'Paid'"],
    });
    expect(input).toMatchObject({ passed: true });
  });

  it("that close in the middle of an input do not pass it to the current one", async () => {
    const { url, hits } = await site({
      "/": page(
        `<h1>Shop</h1>${button("Sign in", "window.open('/in')")}<input oninput="fetch('/typed')">`,
      ),
      "/in": page(`<h1>In</h1><input oninput="window.close()">`),
      "/typed": good,
    });
    for (const step of rowsOf(
      ["type 'abcdef' into textbox", "fill textbox with 'abc'", "type 'abcdef'"],
      1,
    )) {
      const steps = ["click button 'Sign in'", "switch to new tab", "click textbox", step];
      const report = await lab.run({ url, steps, assertions: ["h1 is 'Shop'"] });
      expect(report.notes, step).toEqual([`tab 2 opened: ${url}/in (closed)`]);
    }
    expect(hits.filter((path) => path === "/typed")).toEqual([]);
  });

  it("leave the next step to the current one, even if they have what it names", async () => {
    const pay = "document.querySelector('h1').textContent = 'Paid'";
    const { url } = await site({
      "/": page(`<h1>Shop</h1>${button("Sign in", "window.open('/in')")}${button("Next", pay)}
        <script>onkeydown = () => { ${pay} }</script>`),
      "/in": page(`<h1>In</h1>${button("Done", "window.close()")}${button("Next", "1")}
        <script>onkeydown = () => close()</script>`),
    });
    const click = ["click button 'Done'", "click button 'Next'"];
    // A key is not refused by a tab that is closing, but lost: one of several runs shows it.
    const press = ["press x", "press y"];
    const runs = rowsOf([click, press, press, press, press, press], 2).map(async (last) => {
      const steps = ["click button 'Sign in'", "switch to new tab", ...last];
      return (await lab.run({ url, steps, assertions: ["h1 is 'Paid'"] })).passed;
    });
    expect(await Promise.all(runs)).toEqual(runs.map(() => true));
  });

  it("reach no forbidden host and no file", async () => {
    const denied = await site({ "*": good }, "127.0.0.3");
    for (const to of rowsOf(
      [denied.url, "file:///etc/passwd", "view-source:file:///etc/passwd"],
      2,
    )) {
      const { url } = await site({
        "/": page(`<h1>Good</h1>${button("go", `window.open('${to}')`)}`),
      });
      const outcome = await fence
        .run({
          url,
          steps: ["click button 'go'", "switch to new tab"],
          assertions: ["body contains 'root:' within 300ms"],
        })
        .catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome, to).toMatchObject({ kind: "denied" });
      else expect(outcome, to).toMatchObject({ passed: false });
    }
    expect(denied.connections()).toBe(0);
  });
});

describe.concurrent("downloads", () => {
  it("are listed without secrets", async () => {
    const { url } = await site({
      "/": page(`<h1>Good</h1><a href="/x" id="get">get</a>`),
      "/x": (_, response) =>
        void response
          .writeHead(200, {
            "content-disposition": "attachment; filename=hunter2%20%26%20more.txt",
          })
          .end("text"),
    });
    const report = await lab.run({ url, steps: ["click #get", "expect download '*.txt'"] });
    expect(report.failed_step).toBeUndefined();
    expect(JSON.stringify(report)).not.toContain("hunter2");
  });

  it("are cancelled if endless, and nothing of them is kept", async () => {
    let sent = 0;
    let isClosed = false;
    const { url } = await site({
      "/": page(`<h1>Good</h1><a href="/x" id="get">get</a><script>setInterval(async () => {
        const answer = await fetch("/closed");
        if ((await answer.text()) === "yes") document.querySelector("h1").textContent = "Closed";
      }, 100)</script>`),
      "/closed": (_, response) => void response.end(isClosed ? "yes" : "no"),
      "/x": (_, response) => {
        response.writeHead(200, { "content-disposition": "attachment; filename=big.bin" });
        const chunk = Buffer.alloc(1_000_000);
        const more = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
          sent += chunk.length;
        };
        response.on("drain", more);
        response.on("close", () => {
          isClosed = true;
        });
        more();
      },
    });
    const report = await lab
      .run({
        url,
        steps: [
          "click #get",
          "wait for h1 is 'Closed' within 60s",
          "expect download 'big.bin' within 300ms",
        ],
      })
      .catch((error: unknown) => error);
    expect(report).toMatchObject({
      failed_step: expect.stringMatching(/downloads: "big.bin" .*canceled.*20 MiB/),
      artifacts: [],
    });
    expect(sent).toBeGreaterThan(20 * 1024 * 1024);
  });

  it("reach no forbidden host", async () => {
    const denied = await site({ "*": good }, "127.0.0.3");
    const { url } = await site({
      "/": page(`<h1>Good</h1><a href="${denied.url}/x" download="x.txt">get</a>`),
    });
    const run = fence.run({
      url,
      steps: ["click link 'get'", "expect download 'x.txt' within 1s"],
    });
    await expect(
      run.then(
        ({ passed }) => passed,
        ({ kind }) => kind,
      ),
    ).resolves.toBeOneOf([false, "denied"]);
    expect(denied.connections()).toBe(0);
  });
});

describe.concurrent("mocked requests", () => {
  it("get their response even before the page is opened, unlike other requests", async () => {
    const { url, hits } = await site({
      "/": page(
        "<h1>…</h1><script>fetch('/api/users').then((got) => got.json()).then((all) => { document.querySelector('h1').textContent = all.length + ' users' }, () => { document.querySelector('h1').textContent = 'none' })</script>",
      ),
      "/api/users": "[1,2,3]",
    });
    const h1 = async (...steps: string[]) => {
      const report = await lab.run({ url, steps, assertions: ["h1 is 'x' within 500ms"] });
      return report.assertions[0]?.actual;
    };
    expect(await h1()).toBe('its text is "3 users"');
    const asked = hits.length;
    expect(await h1("mock GET /api/users with '[]'")).toBe('its text is "0 users"');
    expect(await h1("block /api/users")).toBe('its text is "none"');
    if (isLong) expect(await h1("mock **/users with 500")).toBe('its text is "none"');
    expect(hits.slice(asked).filter((path) => path.startsWith("/api"))).toEqual([]);
    expect(await h1("mock POST /api/users with '[]'")).toBe('its text is "3 users"');
  });

  it("accept only files that the server may read", async () => {
    const talk = await sharedSession();
    const root = join(talk.folder, "root");
    await writeFile(join(root, "users.json"), '["Ada"]');
    await writeFile(join(talk.folder, "private.json"), '["root"]');
    const { url } = await site({
      "/": page(
        "<h1>Good</h1><pre></pre><script>fetch('/u').then((got) => got.text()).then((text) => { document.querySelector('pre').textContent = text })</script>",
      ),
    });
    const run = (file: string) =>
      talk.call("pw_run_test", {
        url,
        steps: [`mock /u with file '${file}'`],
        assertions: ["pre is '[\"Ada\"]'"],
      });
    expect((await run(join(root, "users.json"))).data).toMatchObject({ passed: true });
    for (const other of [join(talk.folder, "private.json"), "../private.json", "/etc/passwd"])
      expect(await run(other), other).toMatchObject({
        isError: true,
        text: expect.not.stringContaining("Ada"),
      });
  });

  it("make no other host reachable", async () => {
    const denied = await site({ "*": good }, "127.0.0.3");
    const { url } = await site({
      "/": page(`<h1>Good</h1><iframe title="in" src="${denied.url}/a"></iframe>`),
    });
    const report = await fence.run({
      url,
      steps: [`mock ${denied.url}/a with '<h2>Mocked</h2><img src=${denied.url}/b>'`],
      assertions: ["h2 in frame 'in' is 'Mocked'"],
    });
    expect(report.passed).toBe(true);
    expect(denied.connections()).toBe(0);
    await expect(
      fence.run({
        url,
        steps: [`mock ${denied.url}/** with '<h1>x</h1>'`, `goto ${denied.url}/a`],
      }),
    ).rejects.toMatchObject({ kind: "denied" });
  });
});
