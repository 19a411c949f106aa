import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
let agrees = true;
const questions: string[] = [];
let colour = "green";

beforeAll(async () => {
  web = await site({
    "/": (_, response) =>
      void response
        .writeHead(200, { "content-type": "text/html" })
        .end(page(`<h1>Docs</h1><div style="height: 200px; background: ${colour}"></div>`)),
  });
  talk = await session({
    elicit: ({ message }) => {
      questions.push(message);
      return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
    },
  });
});

const compare = () =>
  talk.good("pw_run_test", {
    url: web.url,
    assertions: ["screenshot matches baseline 'home'"],
    evidence: [],
  });

describe("pw_approve_baseline", () => {
  it("accepts what a run saw, which then passes, and what differs fails with a picture of it", async () => {
    const first = await compare();
    expect(first.data.passed).toBe(false);
    expect(first.text).toContain("pw_approve_baseline");
    const baseline = join(talk.baselines, "home.png");

    agrees = false;
    const declined = await talk.call("pw_approve_baseline", { run_id: first.data.run_id, baseline: "home" });
    expect(declined.isError).toBe(true);
    expect(existsSync(baseline), "nothing is written before the user agrees").toBe(false);

    agrees = true;
    const { text } = await talk.good("pw_approve_baseline", { run_id: first.data.run_id, baseline: "home" });
    expect(text).toContain(baseline);
    expect(questions.at(-1)).toContain(baseline);
    expect((await compare()).data.passed).toBe(true);

    colour = "red";
    const different = await compare();
    expect(different.data.passed).toBe(false);
    expect(different.text).toMatch(/\d+ pixels \([\d.]+%\) differ/);
    expect(different.links.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["home.actual.png", "home.diff.png"]),
    );
    await talk.good("pw_approve_baseline", { run_id: different.data.run_id, baseline: "home" });
    expect(questions.at(-1)).toContain("The old picture is lost");
    expect((await compare()).data.passed).toBe(true);
  });

  it("asks nothing where nothing would change", async () => {
    const same = await compare();
    const before = questions.length;
    await talk.good("pw_approve_baseline", { run_id: same.data.run_id, baseline: "home" });
    expect(questions).toHaveLength(before);
  });

  it.each(["../../etc", "..", "a/b", ""])("refuses the name %j", async (baseline) => {
    const { data } = await compare();
    const answer = await talk.call("pw_approve_baseline", { run_id: data.run_id, baseline });
    expect(answer.isError).toBe(true);
  });
});
