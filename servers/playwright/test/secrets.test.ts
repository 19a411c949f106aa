import { expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

const lab = makeTester();

it("secrets include only environment variables with the prefix", async () => {
  const steps = ["fill 'x' with secret 'PATH'"];
  const { kind, message } = await lab.failure({ url: "http://127.0.0.1:1/", steps });
  expect([kind, message]).toEqual(["not_found", expect.stringContaining("available: PASSWORD")]);
});

it("secrets in a URL reach only the site", async () => {
  let authorization = "";
  const web = await site({
    "/": (request, response) => {
      authorization = request.headers.authorization ?? authorization;
      const status = request.headers.authorization === undefined ? 401 : 200;
      const headers = { "content-type": "text/html", "www-authenticate": "Basic realm=x" };
      response.writeHead(status, headers).end(page("<h1>Good</h1>"));
    },
  });
  const url = web.url.replace("http://", "http://ada:open-sesame@");
  const report = await lab.run({ url, assertions: ["h1 is 'Good'"] });
  expect(report.passed).toBe(true);
  expect(authorization).toBe(`Basic ${Buffer.from("ada:open-sesame").toString("base64")}`);
  expect(JSON.stringify(report)).not.toContain("open-sesame");
});

it("secrets bound to origins are used only there", async () => {
  const form = page("<label>Name <input oninput=\"fetch('/got?' + this.value)\"></label>");
  const mine = await site({ "*": form });
  const other = await site({
    "*": form,
    "/frame": page(`<iframe title="in" src="${mine.url}/a"></iframe>`),
  });
  const outside = await site({ "*": page(`<iframe title="in" src="${other.url}/a"></iframe>`) });
  const origins = `https://a.test, ${mine.url}`;
  const env = { PW_SECRET_PIN: "hunter2-bound", PW_SECRET_PIN_ORIGINS: origins };
  const bound = makeTester({ secrets: Secrets.from(env) });
  const fill = (url: string, ...steps: string[]) =>
    bound.run({ url, steps: [...steps, "wait for network idle"] });
  const denied = { kind: "denied", code: "secret" };
  const ways = [["fill label 'Name' with secret 'PIN'"], ["type secret 'PIN' into 'Name'"]];
  for (const steps of ways) {
    expect(await fill(mine.url, ...steps)).toMatchObject({ passed: true });
    expect(mine.hits.join()).toContain("hunter2-bound");
    await expect(fill(other.url, ...steps)).rejects.toMatchObject(denied);
    // By a link or a redirect as well.
    await expect(fill(mine.url, `goto ${other.url}`, ...steps)).rejects.toMatchObject(denied);
  }
  // The document of the field counts, not that of the page.
  const inFrame = "fill label 'Name' in frame 'in' with secret 'PIN'";
  expect((await fill(`${other.url}/frame`, inFrame)).passed).toBe(true);
  await expect(fill(outside.url, inFrame)).rejects.toMatchObject(denied);
  expect(other.hits.join()).not.toContain("hunter2");
  expect(() => Secrets.from({ PW_SECRET_PIN: "x", PW_SECRET_PIN_ORIGINS: "a.test" })).toThrow(
    /not an origin/,
  );
});
