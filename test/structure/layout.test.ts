import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { layoutProblems, nameProblems } from "./layout.ts";

const TOOL = 'export default tool({\n  name: "fetch_page",\n});\n';
const MANIFEST = {
  name: "@refmcp/server-fetch",
  type: "module",
  license: "MIT",
  engines: { node: ">=20.19" },
  bin: { "refmcp-server-fetch": "dist/bin.js" },
  files: ["dist", "skills", "THIRD_PARTY_NOTICES", "sbom.cdx.json"],
  mcpName: "io.github.refmcp/server-fetch",
};
const EMPTY =
  "README.md demo.mjs evals/tasks.ts tsconfig.json vitest.config.ts test/attacks.test.ts test/contract.test.ts test/fixture.ts src/bin.ts src/context.ts src/options.ts src/server.ts src/page/web.ts src/tools/fetch.test.ts";
let folder = "";

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-layout-"));
  for (const file of EMPTY.split(" ")) await put(file, "");
  await put("src/tools/fetch.ts", TOOL);
  await put("package.json", JSON.stringify(MANIFEST));
});
afterEach(() => rm(folder, { recursive: true }));

it("finds no problem in a server that follows the layout", () => {
  expect(layoutProblems(folder)).toEqual([]);
});

it.each([
  ["src/extra.ts", "", /^src\/extra\.ts: move it into the domain folder/],
  [
    "src/tools/extra.ts",
    TOOL,
    /^src\/tools\/extra\.ts has no test: write extra\.test\.ts next to it, or call fetch_page/,
  ],
  ["src/tools/write/fetch.ts", TOOL, /is in the folder write, but in the toolset undefined/],
  [
    "src/tools/fetch.ts",
    "",
    /^src\/tools\/fetch\.ts has "export default tool\(" 0 times: define one tool/,
  ],
  [
    "src/tools/fetch.ts",
    TOOL + "\n".repeat(80),
    /^src\/tools\/fetch\.ts has 83 lines.*: move its work into the domain\.$/,
  ],
  [
    "src/tools/fetch.ts",
    `${TOOL}const x = "" as never;\n`,
    /^src\/tools\/fetch\.ts casts \(as never\): let the types be inferred/,
  ],
  [
    "src/tools/fetch.ts",
    `${TOOL}// isError\n`,
    /^src\/tools\/fetch\.ts uses the protocol \(isError\): .*throw a ToolError\.$/,
  ],
  [
    "src/tools/fetch.ts",
    `import "@modelcontextprotocol/client";\n${TOOL}`,
    /imports @modelcontextprotocol\/client: only @refmcp\/core/,
  ],
  [
    "src/tools/fetch.ts",
    `${TOOL}console.log("");\n`,
    /^src\/tools\/fetch\.ts uses console\.log: .*call\.log/,
  ],
  [
    "src/page/web.ts",
    'import "../context.ts";\n',
    /^src\/page\/web\.ts imports \.\.\/context\.ts: the domain must not depend on MCP/,
  ],
  [
    "src/page/web.ts",
    "AbortSignal.timeout(1);\n",
    /^src\/page\/web\.ts uses AbortSignal\.timeout.*: use startDeadline/,
  ],
  ["bench/extra.mjs", "", /^bench\/extra\.mjs is not a benchmark: export title and bench\(\)/],
  [
    "package.json",
    '{ "name": "@refmcp/server-fetch" }',
    /^package\.json: set "type" to "module"\.$/,
  ],
])("names the file and what to do: %s (%#)", async (file, text, sentence) => {
  await put(file, text);
  expect(layoutProblems(folder)).toContainEqual(expect.stringMatching(sentence));
});

it.each(["test/attacks.test.ts", "evals/tasks.ts", "demo.mjs"])(
  "reports %s if it is missing",
  async (file) => {
    await rm(join(folder, file));
    expect(layoutProblems(folder)).toEqual([
      `${file} is missing: every server has it, though it may be small. Copy it from another server and adapt it.`,
    ]);
  },
);

it("names a tool that the demo still calls after it was renamed", async () => {
  await put("demo.mjs", 'await session.call("fetch_old"); await session.call("fetch_new");');
  expect(nameProblems(folder, "fetch", ["fetch_new"])).toEqual([
    "demo.mjs names fetch_old, which is neither a tool nor a prompt: update it.",
  ]);
  expect(nameProblems(folder, "fetch", ["get"])).toEqual([]);
});
