import { readFile } from "node:fs/promises";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../../../vitest.long.ts";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

let lab: TestTester;
beforeAll(async () => {
  lab = await makeTester();
});
afterAll(() => lab?.close());

describe("secrets", () => {
  it("are in no answer or artifact, wherever the page puts them", async () => {
    const secret = "hunter2 & more";
    const { url, hits } = await site({
      "*": page(`<h1>Good</h1><form action="/in"><label>Password <input name="p" oninput="
        document.title = this.value; document.querySelector('h1').textContent = this.value;
        console.error('typed ' + this.value); history.replaceState(0, '', '/?p=' + encodeURIComponent(this.value));
        fetch('/log?p=' + encodeURIComponent(this.value))"></label><button>Go</button></form>`),
    });
    const report = await lab.run({
      url,
      steps: [
        "fill label 'Password' with secret 'PASSWORD'",
        "wait for network idle",
        "expect title is '[secret PASSWORD]'",
        "click button 'Go'",
      ],
      assertions: [
        "h1 is 'x' within 100ms",
        "url is 'x' within 100ms",
        "title is 'x' within 100ms",
      ],
      evidence: ["screenshot", "trace", "har"],
    });
    expect(hits.join()).toContain("hunter2");
    expect(report.failed_step).toBeUndefined();
    const forms = [secret, encodeURIComponent(secret), "hunter2+%26+more", "hunter2 &amp; more"];
    for (const form of forms) expect(JSON.stringify(report)).not.toContain(form);
    expect(report.artifacts?.map(({ name }) => name)).toEqual(expect.arrayContaining(["home.har"]));
    expect(report.notes?.join()).toContain("no trace: the run uses a secret");
    for (const artifact of report.artifacts ?? []) {
      const file = await readFile(artifact.path);
      for (const form of forms)
        expect(file.includes(form), `${artifact.name} holds ${form}`).toBe(false);
    }
  });

  it("are masked in screenshots, even in text fields", async () => {
    const { url } = await site({
      "/": page(
        "<label>Name <input style='position: fixed; top: 0; left: 0; width: 200px; height: 40px'></label>",
      ),
    });
    const colors = async (steps: string[]) => {
      const report = await lab.run({ url, steps, evidence: ["screenshot"] });
      const [picture] = report.artifacts?.filter(({ name }) => name.endsWith(".png")) ?? [];
      const png = PNG.sync.read(await readFile(picture?.path ?? ""));
      const at = (x: number, y: number) => [
        ...png.data.subarray((y * png.width + x) * 4).subarray(0, 3),
      ];
      return [at(20, 20), at(150, 30)];
    };
    // The color of Playwright's masks.
    const mask = [255, 0, 255];
    expect(await colors(["fill label 'Name' with secret 'PASSWORD'"])).toEqual([mask, mask]);
    const typed = ["type secret 'PASSWORD' into label 'Name'", "press Tab"];
    expect(await colors(typed)).toEqual([mask, mask]);
    expect(await colors(["fill label 'Name' with 'ada'"])).not.toContainEqual(mask);
  });

  it("include only environment variables with the prefix", async () => {
    const found = await lab.failure({
      url: "http://127.0.0.1:1/",
      steps: ["fill 'x' with secret 'PATH'"],
    });
    expect(found).toMatchObject({
      kind: "not_found",
      message: expect.stringContaining("available: PASSWORD"),
    });
  });

  it("in a URL reach only the site", async () => {
    let authorization = "";
    const made = await site({
      "/": (request, response) => {
        authorization = request.headers.authorization ?? authorization;
        const known = request.headers.authorization !== undefined;
        response
          .writeHead(known ? 200 : 401, {
            "content-type": "text/html",
            "www-authenticate": "Basic realm=x",
          })
          .end(page("<h1>Good</h1>"));
      },
    });
    const url = made.url.replace("http://", "http://ada:open-sesame@");
    const report = await lab.run({ url, assertions: ["h1 is 'Good'"] });
    expect(report.passed).toBe(true);
    expect(Buffer.from(authorization.replace("Basic ", ""), "base64").toString()).toBe(
      "ada:open-sesame",
    );
    expect(JSON.stringify(report)).not.toContain("open-sesame");
  });

  it("bound to origins are used only there", async () => {
    const form = page(
      "<h1>Good</h1><label>Name <input oninput=\"fetch('/got?' + encodeURIComponent(this.value))\"></label>",
    );
    const mine = await site({ "*": form });
    const other = await site({
      "*": form,
      "/frame": page(`<iframe title="in" src="${mine.url}/a"></iframe>`),
    });
    const outside = await site({ "*": page(`<iframe title="in" src="${other.url}/a"></iframe>`) });
    const bound = await makeTester({
      secrets: Secrets.from({
        PW_SECRET_PIN: "hunter2-bound",
        PW_SECRET_PIN_ORIGINS: `https://a.test, ${mine.url}`,
      }),
    });
    const fill = (url: string, ...steps: string[]) =>
      bound.run({ url, steps: [...steps, "wait for network idle"] });
    try {
      const ways = [["fill label 'Name' with secret 'PIN'"], ["type secret 'PIN' into 'Name'"]];
      for (const steps of rowsOf(ways, 2)) {
        expect(await fill(mine.url, ...steps)).toMatchObject({ passed: true });
        expect(mine.hits.join()).toContain("hunter2-bound");
        await expect(fill(other.url, ...steps)).rejects.toMatchObject({
          kind: "denied",
          code: "secret",
        });
        // By a link or a redirect as well.
        await expect(fill(mine.url, `goto ${other.url}`, ...steps)).rejects.toMatchObject({
          kind: "denied",
        });
      }
      // The document of the field counts, not that of the page.
      expect(
        await fill(`${other.url}/frame`, "fill label 'Name' in frame 'in' with secret 'PIN'"),
      ).toMatchObject({
        passed: true,
      });
      await expect(
        fill(outside.url, "type secret 'PIN' into label 'Name' in frame 'in'"),
      ).rejects.toMatchObject({ kind: "denied" });
      expect(other.hits.join()).not.toContain("hunter2");
    } finally {
      await bound.close();
    }
    expect(() => Secrets.from({ PW_SECRET_PIN: "x", PW_SECRET_PIN_ORIGINS: "a.test" })).toThrow(
      /not an origin/,
    );
  });

  it("cannot be read by assertions, letter by letter", async () => {
    const { url } = await site({
      "/": page("<main><label>Name <input></label><label>Other <input value=x></label></main>"),
    });
    const assertions = [
      "label 'Name' has value matches /^h/ within 100ms",
      "not label 'Name' has value matches /^x/ within 100ms",
      "input has value contains 'h' within 100ms",
      "first input has value contains 'hunter' within 100ms",
      "label 'Other' has value 'x'",
      "label 'Name' is not empty",
    ];
    const report = await lab.run({
      url,
      steps: ["fill 'Name' with secret 'PASSWORD'"],
      assertions,
    });
    expect(report.assertions.map(({ passed }) => passed)).toEqual([
      ...[false, false, false, false, true, true],
    ]);
    expect(report.assertions[0]?.actual).toBe(
      "it is a field with a secret, or shows one, so it is not read",
    );
  });
});
