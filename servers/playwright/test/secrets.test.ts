import { describe, expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

const lab = makeTester();

describe("secrets", () => {
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
    const bound = makeTester({
      secrets: Secrets.from({
        PW_SECRET_PIN: "hunter2-bound",
        PW_SECRET_PIN_ORIGINS: `https://a.test, ${mine.url}`,
      }),
    });
    const fill = (url: string, ...steps: string[]) =>
      bound.run({ url, steps: [...steps, "wait for network idle"] });
    const ways = [["fill label 'Name' with secret 'PIN'"], ["type secret 'PIN' into 'Name'"]];
    for (const steps of ways) {
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
    expect(() => Secrets.from({ PW_SECRET_PIN: "x", PW_SECRET_PIN_ORIGINS: "a.test" })).toThrow(
      /not an origin/,
    );
  });
});
