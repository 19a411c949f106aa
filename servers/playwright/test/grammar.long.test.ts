import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TABLES } from "../src/browser/language/help.ts";
import {
  assertionSentence,
  isSameWording,
  parseScript,
  stepSentence,
} from "../src/browser/language/script.ts";
import { approve } from "../src/browser/store/baselines.ts";
import { ABSENCES, CHECKS, MALFORMED_CHECKS, PICTURES } from "./grammar-checks.ts";
import { EVERY_FORM, formsOfActions, formsOfChecks } from "./grammar-forms.ts";
import { grammarSite, secureSite } from "./grammar-page.ts";
import { AROUND, FILE, MALFORMED_STEPS, STEPS } from "./grammar-steps.ts";
import type { Site } from "./lab.ts";
import { makeTester, type TestTester } from "./testers.ts";

let site: Site;
let lab: TestTester;
/** Its steps wait only briefly, because the elements never appear. */
let hasty: TestTester;
let file: string;

beforeAll(async () => {
  site = await grammarSite();
  lab = await makeTester({ ignoreHttpsErrors: true, stepMs: 200_000 });
  hasty = await makeTester({ stepMs: 1_000 });
  file = join(lab.folder, "notes.txt");
  await writeFile(file, '{"log":{"entries":[]}}\n');
});
afterAll(async () => {
  await lab?.close();
  await hasty?.close();
  await site?.close();
});

/** An assertion without its prefix. */
const named = (text: string) => text.replace(/^expect /, "");
const passing = (texts: readonly string[]) =>
  texts.map((text) => ({ name: named(text), passed: true }));
const withFile = (text: string) => text.replace(FILE, file);

/** Failing assertions wait only briefly: everything except fetched content is there after loading. */
const soon = (text: string) => {
  if (/ within |^(?:no|lcp|fcp|cls|page weight|.* time)\b/.test(text)) return text;
  return `${text} within ${/^(?:expect )?(?:request|response|download)\b/.test(text) ? "20s" : "400ms"}`;
};

/** Passing assertions have as much time as a busy machine may need. */
const patient = (text: string) => (soon(text) === text ? text : `${text} within 200s`);

describe.concurrent("assertions", () => {
  it("of every form pass", async () => {
    for (const part of [CHECKS.slice(0, 60), CHECKS.slice(60), ABSENCES]) {
      const texts = part.map(([holds]) => patient(holds));
      const report = await lab.run({ url: site.url, assertions: texts });
      expect(report.assertions).toMatchObject(passing(texts));
      expect(report.passed).toBe(true);
    }
  });

  it("of every form fail, with the actual value", async () => {
    for (const part of [CHECKS.slice(0, 60), CHECKS.slice(60)]) {
      const report = await lab.run({
        url: site.url,
        assertions: part.map(([, fails]) => soon(fails)),
      });
      expect(report.passed).toBe(false);
      const wrong = part.flatMap(([, fails, actual], index) => {
        const said = report.assertions[index]?.actual ?? "it passed";
        return said.includes(actual) ? [] : [[fails, actual, said]];
      });
      expect(wrong).toEqual([]);
    }
  });

  it("of every form are reversed by not", async () => {
    const opposite = (text: string) =>
      text.startsWith("not ") ? text.slice(4) : `not ${named(text)}`;
    // A missing or ambiguous element has no text, so a negated text check fails too.
    const decided = CHECKS.filter(([, , actual]) => !/matches h6|Choose one/.test(actual));
    for (const part of [decided.slice(0, 60), decided.slice(60)]) {
      const texts = part.map(([, fails]) => patient(opposite(fails)));
      const report = await lab.run({ url: site.url, assertions: texts });
      expect(report.assertions).toMatchObject(passing(texts));
    }
  });

  it("of absence fail on a page that misbehaves", async () => {
    const report = await lab.run({
      url: `${site.url}/?bad`,
      assertions: ABSENCES.map(([, fails]) => fails),
    });
    for (const [index, [, fails, actual]] of ABSENCES.entries()) {
      expect(report.assertions[index]?.passed, fails).toBe(false);
      expect(report.assertions[index]?.actual, fails).toContain(actual);
    }
  });

  it("of mixed content pass and fail on https pages", async () => {
    const secure = await secureSite(`${site.url}/pixel.svg`);
    const assertions = ["no mixed content"];
    try {
      expect((await lab.run({ url: secure.url, assertions })).passed).toBe(true);
      const mixed = await lab.run({ url: `${secure.url}/mixed`, assertions });
      expect(mixed.assertions[0]?.actual).toContain("/pixel.svg");
    } finally {
      await secure.close();
    }
  });

  it("of inp pass and fail after an interaction only", async () => {
    const run = (assertion: string, steps: string[]) =>
      lab.run({ url: site.url, steps, assertions: [assertion] });
    expect((await run("inp under 20s", [])).assertions[0]?.actual).toBe(
      "the browser has not measured it",
    );
    const steps = ["click button 'Save'", "click button 'Sure'"];
    expect((await run("inp under 60s", steps)).passed).toBe(true);
    expect((await run("inp under 0.01ms", steps)).assertions[0]?.actual).toMatch(/^it is \d+ ms$/);
  });

  it("of screenshots pass if the page looks like its baseline, and fail otherwise", async () => {
    const texts = PICTURES.map(([holds]) => holds);
    const first = await lab.run({ url: site.url, assertions: texts });
    expect(first.assertions.map(({ actual }) => actual)).toEqual(
      texts.map(() =>
        expect.stringMatching(/^there is no baseline '\w+' yet; .*pw_approve_baseline$/),
      ),
    );
    for (const baseline of ["home", "list", "clock", "head"])
      await approve(
        lab.tester.options,
        { runId: first.run_id ?? "", baseline, device: "desktop" },
        async () => {},
      );
    const again = await lab.run({ url: site.url, assertions: texts });
    expect(again.assertions).toMatchObject(passing(texts));
    const failed = await lab.run({ url: site.url, assertions: PICTURES.map(([, fails]) => fails) });
    for (const [index, [, fails, actual]] of PICTURES.entries())
      expect(failed.assertions[index]?.actual, fails).toContain(actual);
  });
});

describe.concurrent("steps", () => {
  it.each([
    ["around the page", AROUND, ["home.png"]],
    ["on the page", STEPS, ["home-1.png", "home-menu.png"]],
  ] as const)("%s work", async (_name, forms, kept) => {
    const steps = forms
      .flatMap((form) => [...form.steps, `expect ${form.effect} within 200s`])
      .map(withFile);
    const report = await lab.run({ url: site.url, steps, evidence: ["screenshot"] });
    expect(report.failed_step).toBeUndefined();
    const pictures = report.artifacts?.map(({ name }) => name) ?? [];
    expect(pictures).toEqual(expect.arrayContaining([...kept]));
    expect(JSON.stringify(report)).not.toContain("hunter2");
  });

  it("of every form report why they fail", async () => {
    const failing = [...AROUND, ...STEPS].flatMap(({ fails, reason, at = "/" }) =>
      fails === undefined || reason === undefined ? [] : [{ fails, reason, at }],
    );
    const reports = await Promise.all(
      failing.map(({ fails, at, reason }) =>
        (/nothing matches|: $|there is no/.test(reason) ? hasty : lab).run({
          url: site.url + at,
          steps: fails.map(withFile),
        }),
      ),
    );
    const wrong = failing.flatMap(({ fails, reason }, index) => {
      const said = reports[index]?.failed_step ?? "it passed";
      return said.includes(reason) ? [] : [[fails.join(), reason, said]];
    });
    expect(wrong).toEqual([]);
  });

  it("that need something missing on the server are errors with a hint", async () => {
    const run = (step: string) => lab.run({ url: site.url, steps: [step] });
    await expect(run("fill 'Email' with secret 'NONE'")).rejects.toMatchObject({
      kind: expect.stringMatching(/^(?:invalid|not_found)$/),
      message: expect.stringContaining("NONE"),
      hint: expect.stringContaining("PW_SECRET_NONE"),
    });
  });
});

describe("an invalid sentence", () => {
  const sentences = [
    ...MALFORMED_CHECKS.map((one) => ["assertions", ...one] as const),
    ...MALFORMED_STEPS.map((one) => ["steps", ...one] as const),
  ];

  it.each(sentences)("%s: %s", async (list, marked, expected) => {
    const before = site.hits.length;
    const at = marked.indexOf("‸");
    const text = marked.replace("‸", "");
    const error = await lab.run({ url: site.url, [list]: [text] }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ToolError)) throw new Error("it can be parsed");
    const [title, sentence, caret = "", example] = error.message.split("\n");
    expect(title).toBe(`${list}[0] cannot be parsed:`);
    expect(sentence).toBe(`  ${text}`);
    expect(caret.indexOf("^") - 2).toBe(at);
    expect(caret).toContain(expected);
    expect(example).toMatch(/^ {2}for example: \S/);
    expect(error).toMatchObject({ kind: "invalid", code: "grammar" });
    expect(error.hint).toContain("pw://help/assertions");
    expect(site.hits.length, "no page is asked for").toBe(before);
  });
});

describe("the tables of this test", () => {
  it("contain every form of an assertion, passing and failing", () => {
    const all = [...CHECKS, ...ABSENCES, ...PICTURES, ["no mixed content", "no mixed content", ""]];
    for (const side of [0, 1]) {
      const seen = formsOfChecks(all.map((form) => form[side] ?? ""));
      expect(EVERY_FORM.checks.filter((form) => !seen.has(form))).toEqual([]);
    }
  });

  it("contain every form of a step, and a failing version of each that can fail", () => {
    const all = [...AROUND, ...STEPS];
    const seen = formsOfActions(all.flatMap(({ steps }) => steps));
    expect(EVERY_FORM.actions.filter((form) => !seen.has(form))).toEqual([]);
    const refused = formsOfActions(all.flatMap(({ fails }) => fails ?? []));
    expect(EVERY_FORM.actions.filter((form) => !refused.has(form))).toEqual(
      EVERY_FORM.neverRefused,
    );
  });
});

describe("the reference", () => {
  it("has examples that mean the same in their canonical wording, as every other wording of their form does", () => {
    const { checks, targets, steps } = TABLES;
    const examples = (topics: typeof checks) => topics.flatMap(([, all]) => all);
    const sentences = [
      ...[...examples(checks), ...examples(targets).map((one) => `${one} exists`)].map((text) => ({
        text,
        list: "assertions",
      })),
      ...examples(steps).map((text) => ({ text, list: "steps" })),
    ];
    expect(sentences.length).toBeGreaterThan(120);
    for (const { text, list } of sentences) {
      const canonical = canonicalOf(text, list);
      expect(canonicalOf(canonical, list), text).toBe(canonical);
      expect(
        isSameWording(text, canonical) || /`|m$|2xx|attribute|header|wait for h1/.test(text),
        `${text}: ${canonical}`,
      ).toBe(true);
    }
  });

  it("is in README.md", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const topics of Object.values(TABLES))
      for (const example of topics.flatMap(([, all]) => all))
        expect(readme).toContain(example.replaceAll("|", "\\|"));
  });
});

/** A sentence in the language's own words. */
function canonicalOf(text: string, list: string): string {
  const { steps, assertions } =
    list === "steps" ? parseScript([text], []) : parseScript([], [text]);
  return [
    ...steps.map((one) => stepSentence(one)),
    ...assertions.map((one) => assertionSentence(one)),
  ].join();
}
