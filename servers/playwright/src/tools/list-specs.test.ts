import { expect, it } from "vitest";
import { project } from "../../test/fixture.ts";
import { folderOf, session } from "../../test/session.ts";

const SPEC = `import { test } from "playwright/test";
for (let n = 0; n < 30; n++) test(\`number \${n}\`, () => {});
`;
const home = await project(await folderOf("list"), {
  "playwright.config.js": `export default { projects: [{ name: "a" }, { name: "b" }] };\n`,
  "many.spec.js": SPEC,
  "other.spec.js": 'import { test } from "playwright/test";\ntest("other", () => {});\n',
});
const talk = await session({ args: ["--project", home], hasBrowser: false });

it("pw_list_specs lists every test of the project once, in pages", async () => {
  const seen: string[] = [];
  let next: object | undefined = {};
  while (next !== undefined) {
    const { data } = await talk.good("pw_list_specs", { limit: 40, ...next });
    expect(data.total).toBe(62);
    seen.push(...(data.tests as string[]));
    next = data.next_cursor === undefined ? undefined : { cursor: data.next_cursor };
  }
  expect(new Set(seen).size).toBe(62);
  expect(seen).toContain("other.spec.js:2 other [b]");
});

it("pw_list_specs narrows by file and title, and reports an empty selection", async () => {
  const { data } = await talk.good("pw_list_specs", { files: ["many"], grep: "number 7$" });
  expect(data.tests).toEqual(["many.spec.js:2 number 7 [a]", "many.spec.js:2 number 7 [b]"]);
  const nothing = await talk.call("pw_list_specs", { grep: "no such title" });
  const without = await (await session({ hasBrowser: false })).call("pw_list_specs");
  for (const [answer, said] of [
    [nothing, "No test of the project"],
    [without, "--project"],
  ] as const)
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(said) });
});
