import { expect, it } from "vitest";
import { ABSENCES, CHECKS, formsSite } from "../../../test/forms.ts";
import { page } from "../../../test/lab.ts";
import { site as siteOf } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";
import { NetworkPolicy } from "../policy.ts";

const site = await formsSite();
const lab = makeTester({ ignoreHttpsErrors: true });

/** Failing assertions wait only briefly: everything except fetched content is there after loading. */
const soon = (text: string) => {
  if (/ within |^(?:expect\(|no|lcp|fcp|cls|page weight|.* time)\b/.test(text)) return text;
  return `${text} within ${/^(?:expect )?(?:request|response|download)\b/.test(text) ? "20s" : "400ms"}`;
};
/** Passing assertions have as much time as a busy machine may need. */
const patient = (text: string) => (soon(text) === text ? text : `${text} within 200s`);

it("every form of an assertion passes", async () => {
  for (const part of [CHECKS.slice(0, 60), [...CHECKS.slice(60), ...ABSENCES]]) {
    const assertions = part.map(([holds]) => patient(holds));
    const report = await lab.run({ url: site.url, assertions });
    expect(report.assertions.filter(({ passed }) => !passed)).toEqual([]);
    expect(report.passed).toBe(true);
  }
});

it("every form of an assertion fails, with the actual value", async () => {
  for (const part of [CHECKS.slice(0, 60), CHECKS.slice(60)]) {
    const assertions = part.map(([, fails]) => soon(fails));
    const report = await lab.run({ url: site.url, assertions });
    const wrong = part.flatMap(([, fails, actual], index) => {
      const { passed, actual: said = "" } = report.assertions[index] ?? { passed: true };
      return !passed && said.includes(actual) ? [] : [[fails, actual, said]];
    });
    expect(wrong).toEqual([]);
  }
});

it("every form of an assertion of absence fails on a bad page, late errors too", async () => {
  const assertions = ABSENCES.map(([, fails]) => fails);
  const report = await lab.run({ url: `${site.url}/?bad`, assertions });
  expect(report.assertions.map(({ passed, actual }) => [passed, actual])).toEqual(
    ABSENCES.map(([, , actual]) => [false, expect.stringContaining(actual)]),
  );
  expect(report.notes?.join()).toContain("late and bad");
});

it("every form of an assertion of failed requests lists each, with the boundary's reason", async () => {
  const policy = new NetworkPolicy({ allowHosts: [], denyHosts: [], allowPrivate: false });
  const guarded = makeTester({ policy });
  const images = ["http://10.1.2.3/x.png", "http://169.254.169.254/y.png", "/missing.png"];
  const body = images.map((src) => `<img alt="" src="${src}">`).join("");
  const { url } = await siteOf({ "/": page(`<h1>Mixed</h1>${body}`) });
  const assertions = ["no failed requests", "no console errors"];
  const { assertions: [requests, errors] = [], notes } = await guarded.run({ url, assertions });
  for (const said of [notes?.join(), errors?.actual])
    expect(said).toMatch(
      /Failed to load resource: [\w:]+ \(http:\/\/10\.1\.2\.3\/x\.png, blocked by this server: .*private.*; --allow-host 10\.1\.2\.3 allows it\)/,
    );
  expect(requests?.actual).toMatch(
    /3 failed requests.*x\.png: blocked by this server: .*private.*y\.png: blocked by.*\/missing\.png: 404/s,
  );
});
