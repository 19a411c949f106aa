import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
let agrees = true;
const questions: string[] = [];
let color = "green";

/** A page that looks different in every frame, by up to `shades` of gray. */
const restless = (shades: number) =>
  page(`<canvas></canvas><script>
    const context = document.querySelector("canvas").getContext("2d");
    const noise = () => {
      const image = context.createImageData(300, 150);
      for (let i = 0; i < image.data.length; i += 4)
        image.data.set([150 + Math.random() * ${shades}, 150, 150, 255], i);
      context.putImageData(image, 0, 0);
      requestAnimationFrame(noise);
    };
    noise();
  </script>`);

beforeAll(async () => {
  web = await site({
    "/shimmering": restless(2),
    "/moving": restless(100),
    "/": (_, response) =>
      void response
        .writeHead(200, { "content-type": "text/html" })
        .end(page(`<h1>Docs</h1><div style="height: 200px; background: ${color}"></div>`)),
  });
  talk = await session({
    elicit: ({ message }) => {
      questions.push(message);
      return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
    },
  });
});

const compare = (path = "/", baseline = "home") =>
  talk.good("pw_run_test", {
    url: web.url + path,
    assertions: [`screenshot matches baseline '${baseline}'`],
    evidence: [],
  });

describe("pw_approve_baseline", () => {
  it("accepts a run's screenshot, which then passes; a difference fails with an image of it", async () => {
    const first = await compare();
    expect(first.data.passed).toBe(false);
    expect(first.text).toContain("pw_approve_baseline");
    const baseline = join(talk.baselines, "home.png");

    agrees = false;
    const declined = await talk.call("pw_approve_baseline", {
      run_id: first.data.run_id,
      baseline: "home",
    });
    expect(declined.isError).toBe(true);
    expect(existsSync(baseline), "writes nothing before the user agrees").toBe(false);

    agrees = true;
    const { text } = await talk.good("pw_approve_baseline", {
      run_id: first.data.run_id,
      baseline: "home",
    });
    expect(text).toContain(baseline);
    expect(questions.at(-1)).toContain(baseline);
    expect((await compare()).data.passed).toBe(true);

    color = "red";
    const different = await compare();
    expect(different.data.passed).toBe(false);
    expect(different.text).toMatch(/\d+ pixels \([\d.]+%\) differ/);
    expect(different.links.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["home.actual.png", "home.diff.png"]),
    );
    await talk.good("pw_approve_baseline", { run_id: different.data.run_id, baseline: "home" });
    expect(questions.at(-1)).toContain("The old image is lost");
    expect((await compare()).data.passed).toBe(true);
  });

  it("treats a page whose frames differ only by a shade as still", async () => {
    const again = async (path: string, baseline: string) => {
      const first = await compare(path, baseline);
      await talk.good("pw_approve_baseline", { run_id: first.data.run_id, baseline });
      return compare(path, baseline);
    };
    const shimmering = await again("/shimmering", "shades");
    expect(shimmering.data.passed, shimmering.text).toBe(true);
    const moving = await again("/moving", "motion");
    expect(moving.text).toContain("keeps changing");
  });

  it("does not ask if nothing would change", async () => {
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
