import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/core/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bringBrowser } from "./browser.mjs";
import { page } from "./lab.ts";
import { answerOf, folderOf, site } from "./session.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
/** What the process of the protocol may ever take: it has neither Playwright nor anything of a page. */
const MAX_BYTES = 200e6;

/** Pages that take all the memory that they get, where they can: in the driver or in the browser. */
const EATERS = {
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

type Eater = keyof typeof EATERS;
const isEater = (path: string): path is Eater => path in EATERS;

/**
 * Tests that pages cost their own verdicts only, while the server stays small and answers.
 *
 * @param paths some of them.
 */
export function eatAll(paths: readonly Eater[] = Object.keys(EATERS).filter(isEater)): void {
  let server: Connected;
  let eaters: string;
  let fine: string;
  let peak = 0;
  let watch: NodeJS.Timeout;

  beforeAll(async () => {
    eaters = (await site(EATERS)).url;
    fine = (await site({ "*": page("<h1>Good</h1>") })).url;
    const { executablePath } = await bringBrowser();
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

  it.each(paths)("%s costs its own verdict only", async (path) => {
    let isOver = false;
    const eating = run(eaters + path, ["h1 is 'Bad' within 10s", "no console errors"]).finally(() => {
      isOver = true;
    });
    let others = 0;
    while (!isOver || others === 0) {
      expect((await server.client.listTools()).tools.length).toBeGreaterThan(5);
      const healthy = await run(fine, ["h1 is 'Good'", "no console errors"], 60_000);
      expect(healthy.text).toMatch(/^All checks passed/);
      others += 1;
    }
    const { data, text } = await eating;
    expect(data).toMatchObject({ passed: false, assertions: [{ passed: false }, expect.anything()] });
    expect(text.length).toBeLessThan(5_000);
    expect(peak).toBeLessThan(MAX_BYTES);
  });
}
