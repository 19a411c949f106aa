import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { page } from "./lab.ts";
import { answerOf, folderOf, site } from "./session.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
/** Memory limit of the server's own process, which contains neither Playwright nor page data. */
const MAX_BYTES = 200e6;

/** Pages that use all memory, in the driver or in the browser. */
const MEMORY_PAGES = {
  "/heading": page(`<h1>${"long ".repeat(1_000_000)}</h1>`),
  "/console": page(
    "<h1>Good</h1><script>const line = 'x'.repeat(20e6); for (let n = 0; n < 20; n++) console.error(line + n)</script>",
  ),
  "/dialogs": page(
    "<h1>Good</h1><script>setTimeout(() => { while (true) alert('x'.repeat(1e6)) }, 50)</script>",
  ),
  "/array": page(
    "<h1>Good</h1><script>const all = []; const more = () => { for (let n = 0; n < 1e5; n++) all.push({ n, text: 'x' + n }); setTimeout(more) }; more()</script>",
  ),
  "/buffers": page(
    "<h1>Good</h1><script>const all = []; setInterval(() => { const one = new Uint8Array(64e6); all.push(one.fill(1)) }, 20)</script>",
  ),
  "/nodes": page(
    "<h1>Good</h1><script>setInterval(() => { for (let n = 0; n < 2e4; n++) document.body.append(document.createElement('button')) }, 10)</script>",
  ),
  "/history": page(
    "<h1>Good</h1><script>setInterval(() => { for (let n = 0; n < 1e3; n++) history.pushState('x'.repeat(1e4), '', '?' + n) })</script>",
  ),
  "/title": page(
    "<h1>Good</h1><script>let text = 'x'.repeat(1e6); setInterval(() => { text += text; document.title = text }, 50)</script>",
  ),
} as const;

type MemoryPage = keyof typeof MEMORY_PAGES;
const isMemoryPage = (path: string): path is MemoryPage => path in MEMORY_PAGES;

/**
 * Tests that such pages lose only their own verdicts, while the server stays small and responsive.
 *
 * @param paths some of them.
 */
export function testMemoryPages(
  paths: readonly MemoryPage[] = Object.keys(MEMORY_PAGES).filter(isMemoryPage),
): void {
  let server: Connected;
  let memoryPages: string;
  let fine: string;
  let peak = 0;
  let watch: NodeJS.Timeout;

  beforeAll(async () => {
    memoryPages = (await site(MEMORY_PAGES)).url;
    fine = (await site({ "*": page("<h1>Good</h1>") })).url;
    const { executablePath } = await ensureBrowser();
    const args = ["--executable-path", executablePath, "--output-dir", await folderOf("memory")];
    server = await connectStdio(bin, { args });
    watch = setInterval(() => {
      // proc(5): the second field are resident pages.
      const [, pages] = readFileSync(`/proc/${server.pid}/statm`, "utf8").split(" ");
      peak = Math.max(peak, Number(pages) * 4_096);
    }, 20);
  });
  afterAll(async () => {
    clearInterval(watch);
    await server?.close();
  });

  const run = async (url: string, assertions: string[], timeout = 20_000) =>
    answerOf(
      await server.client.callTool({
        name: "pw_run_test",
        arguments: { url, assertions, timeout_ms: timeout },
      }),
    );

  it.each(paths)("%s loses only its own verdict", async (path) => {
    let isOver = false;
    const running = run(memoryPages + path, [
      "h1 is 'Bad' within 10s",
      "no console errors",
    ]).finally(() => {
      isOver = true;
    });
    let others = 0;
    while (!isOver || others === 0) {
      expect((await server.client.listTools()).tools.length).toBeGreaterThan(5);
      const healthy = await run(fine, ["h1 is 'Good'", "no console errors"], 60_000);
      expect(healthy.text).toMatch(/^All checks passed/);
      others += 1;
      await sleep(2_000);
    }
    const { data, text } = await running;
    expect(data).toMatchObject({
      passed: false,
      assertions: [{ passed: false }, expect.anything()],
    });
    expect(text.length).toBeLessThan(5_000);
    expect(peak).toBeLessThan(MAX_BYTES);
  });
}
