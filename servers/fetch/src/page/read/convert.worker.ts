import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type { Done, Work } from "./converter.ts";

/** How often memory is checked, in milliseconds. */
const WATCH_MS = 50;

/** Converts a page or document. Each library is loaded on first use, since documents are rare. */
async function done(work: Work): Promise<Done> {
  if ("html" in work) return (await import("./html/extract.ts")).convertHtml(work.html);
  if ("pdf" in work) return await pdfText(work.pdf);
  const { officeDocument } = await import("./office/index.ts");
  const { html, facts } = await officeDocument(work.office);
  const { convertWhole } = await import("./html/extract.ts");
  return { ...facts, text: convertWhole(html, work.writing) };
}

const MAX_PAGES = 2_000;

/**
 * Extracts the text of a PDF, with an empty line between pages.
 *
 * @throws the library's error for a damaged or encrypted file.
 */
async function pdfText(bytes: Uint8Array): Promise<{ text: string; pages: number }> {
  const { extractText, getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false });
  if (document.numPages > MAX_PAGES)
    throw new Error(`${document.numPages} pages, of which the first ${MAX_PAGES} are read`);
  const { text } = await extractText(document, { mergePages: false });
  return { text: text.join("\n\n"), pages: document.numPages };
}

/**
 * As a process: a thread does the work, while this one ends the process as soon as it uses too much memory, or the server
 * is gone. A thread's own limit does not include decoded streams, which are outside the heap.
 */
function asProcess(maxMb: number): void {
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
    if (process.memoryUsage.rss() > maxMb * 1_048_576) end();
  }, WATCH_MS);
}

if (isMainThread) asProcess(Number(process.argv[2]));
parentPort?.on("message", async (work: Work) => {
  try {
    parentPort?.postMessage({ done: await done(work) });
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
