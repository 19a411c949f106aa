import { readFile } from "node:fs/promises";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unpack } from "../src/browser/look/zip.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

let lab: TestTester;
beforeAll(async () => {
  lab = await makeTester();
});
afterAll(() => lab?.close());

describe("secrets", () => {
  it("come back in no answer and no artifact, however the page twists them", async () => {
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
        "expect title contains 'hunter2'",
        "click button 'Go'",
      ],
      assertions: ["h1 is 'x' within 100ms", "url is 'x' within 100ms", "title is 'x' within 100ms"],
      evidence: ["screenshot", "trace", "har", "a11y"],
    });
    expect(hits.join()).toContain("hunter2");
    expect(report.failed_step).toBeUndefined();
    const forms = [secret, encodeURIComponent(secret), "hunter2+%26+more", "hunter2 &amp; more"];
    for (const form of forms) expect(JSON.stringify(report)).not.toContain(form);
    expect(report.artifacts?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["home.har", "home.trace.zip"]),
    );
    for (const artifact of report.artifacts ?? []) {
      const files = artifact.name.endsWith(".zip")
        ? [...(await unpack(artifact.path)).values()]
        : [await readFile(artifact.path)];
      if (artifact.name.endsWith(".zip"))
        expect([...(await unpack(artifact.path)).keys()].filter((name) => /\.jpe?g$/.test(name))).toEqual([]);
      for (const file of files)
        for (const form of forms)
          expect(Buffer.from(file).includes(form), `${artifact.name} holds ${form}`).toBe(false);
    }
  });

  it("are painted over in screenshots, in fields that show what they hold too", async () => {
    const { url } = await site({
      "/": page(
        "<label>Name <input style='position: fixed; top: 0; left: 0; width: 200px; height: 40px'></label>",
      ),
    });
    const colours = async (steps: string[]) => {
      const report = await lab.run({ url, steps, evidence: ["screenshot"] });
      const [picture] = report.artifacts?.filter(({ name }) => name.endsWith(".png")) ?? [];
      const png = PNG.sync.read(await readFile(picture?.path ?? ""));
      const at = (x: number, y: number) => [...png.data.subarray((y * png.width + x) * 4).subarray(0, 3)];
      return [at(20, 20), at(150, 30)];
    };
    // The colour of Playwright's masks.
    const mask = [255, 0, 255];
    expect(await colours(["fill label 'Name' with secret 'PASSWORD'"])).toEqual([mask, mask]);
    expect(await colours(["focus label 'Name'", "type secret 'PASSWORD'", "press Tab"])).toEqual([
      mask,
      mask,
    ]);
    expect(await colours(["fill label 'Name' with 'ada'"])).not.toContainEqual(mask);
  });

  it("of the environment are not for steps unless they are named for it", async () => {
    const found = await lab.failure({ url: "http://127.0.0.1:1/", steps: ["fill 'x' with secret 'PATH'"] });
    expect(found).toMatchObject({
      kind: "not_found",
      message: expect.stringContaining("there are PASSWORD"),
    });
  });

  it("in a URL are for the site only", async () => {
    let authorization = "";
    const made = await site({
      "/": (request, response) => {
        authorization = request.headers.authorization ?? authorization;
        const known = request.headers.authorization !== undefined;
        response
          .writeHead(known ? 200 : 401, { "content-type": "text/html", "www-authenticate": "Basic realm=x" })
          .end(page("<h1>Good</h1>"));
      },
    });
    const url = made.url.replace("http://", "http://ada:open-sesame@");
    const report = await lab.run({ url, assertions: ["h1 is 'Good'"] });
    expect(report.passed).toBe(true);
    expect(Buffer.from(authorization.replace("Basic ", ""), "base64").toString()).toBe("ada:open-sesame");
    expect(JSON.stringify(report)).not.toContain("open-sesame");
  });
});
