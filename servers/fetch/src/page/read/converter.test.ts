import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { prose } from "../../../test/pages/write.ts";
import { Converter } from "./converter.ts";
import { WorkerPool } from "./workers.ts";

const request = (html: string) =>
  ({ html, url: "https://mill.example/", format: "markdown", includeLinks: true }) as const;
const page = (rest: string): string => `<main><p>${prose(6, 1)}</p>${rest}</main>`;

it("a short page does not wait for any of three long ones", async () => {
  const converter = new Converter();
  onTestFinished(() => converter.close());
  const { signal } = new AbortController();
  const ended: string[] = [];
  const convert = async (name: string, html: string) => {
    await converter.html(request(html), signal);
    ended.push(name);
  };
  const long = page("<p>The river bends <b>here</b>, and the mill stands.</p>".repeat(6_500));
  await Promise.all([
    ...["long 1", "long 2", "long 3"].map((name) => convert(name, long)),
    convert("short", page("")),
  ]);
  expect(ended[0]).toBe("short");
});

it.each([
  ["that waits for a busy machine is finished", 0, true],
  ["that takes too much CPU time is given up", 1_000_000, false],
])("a page %s", async (_what, user, isFinished) => {
  const pages = new WorkerPool({ max: 1, kind: "thread", cpuMs: 1, maxMs: 300_000, maxMb: 512 });
  onTestFinished(() => pages.close());
  const cpu = vi.spyOn(process, "cpuUsage").mockReturnValue({ user, system: 0 });
  onTestFinished(() => cpu.mockRestore());
  const html = page("<p>The mill stands.</p>".repeat(1_000));
  const converted = pages.run({ html: request(html) }, new AbortController().signal);
  if (isFinished)
    expect(await converted).toMatchObject({ text: expect.stringContaining("The mill") });
  else await expect(converted).rejects.toThrow("converting it took more than");
});

it("only converters load the DOM: nothing that the server's own thread loads imports it", () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const [, from = ""] of readFileSync(path, "utf8").matchAll(
      /^(?:import|export) (?!type )[^;]*? from "(.*)";/gm,
    ))
      if (from.startsWith(".")) visit(join(dirname(path), from));
      else packages.add(from);
  };
  for (const entry of [
    "../../server.ts",
    "../../context.ts",
    "../../tools/fetch.ts",
    "../../tools/fetch-find.ts",
    "../download/web.ts",
  ])
    visit(join(dirname(fileURLToPath(import.meta.url)), entry));
  expect(seen.size).toBeGreaterThan(15);
  expect([...packages]).toContain("@refmcp/boundary/answer");
  expect([...packages].filter((name) => /linkedom|readability|mdream|unpdf/.test(name))).toEqual(
    [],
  );
});
