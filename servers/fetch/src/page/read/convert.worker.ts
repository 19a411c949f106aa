/**
 * The program of the processes: a thread converts one page or document after another, while the main thread ends the process as
 * soon as it uses too much memory, or the server is gone. A thread's own limit does not include what is outside the heap, such as
 * the decoded streams of a PDF.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { dateOf } from "../convert/date.ts";
import type { Done, Work } from "./converter.ts";

/** How often memory is checked, in milliseconds, and how much of it the process needs in addition to the thread's heap. */
const WATCH_MS = 50;
const BASE_MB = 256;

/** Converts a page or document. Each library is loaded on first use, since documents are rare. */
async function convert(work: Work): Promise<Done> {
  if ("html" in work) return (await import("../convert/html.ts")).convertHtml(work.html);
  if ("list" in work) return (await import("../convert/feed.ts")).listOf(work.list);
  if ("pdf" in work) {
    const pages = await (await import("@refmcp/documents/pdf")).pdfPages(work.pdf);
    return { text: pages.join("\n\n"), pages: pages.length };
  }
  const { documentHtml, officeDocument } = await import("@refmcp/documents/office");
  const document = await officeDocument(work.office);
  const { title, creator, modified } = document.facts ?? {};
  const { convertWhole } = await import("../convert/html.ts");
  return {
    title: title?.slice(0, 300),
    byline: creator?.slice(0, 200),
    modified: dateOf(modified),
    text: convertWhole(documentHtml(document), work.writing),
  };
}

function watch(maxMb: number): void {
  const end = () => process.kill(process.pid, "SIGKILL");
  const thread = new Worker(new URL(import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxMb },
    stdout: true,
    stderr: true,
  });
  thread.on("message", (reply) => process.send?.(reply));
  thread.on("error", end);
  process.on("message", (work) => thread.postMessage(work));
  process.on("disconnect", end);
  setInterval(() => {
    if (process.memoryUsage.rss() > (maxMb + BASE_MB) * 1_048_576) end();
  }, WATCH_MS);
}

if (isMainThread) watch(Number(process.argv[2]));
parentPort?.on("message", async (work: Work) => {
  try {
    parentPort?.postMessage({ done: await convert(work) });
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
