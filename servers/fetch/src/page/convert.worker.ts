import { parentPort } from "node:worker_threads";
import type { Done, Work } from "./converter.ts";

/** Converts a page or document. Each library is loaded on first use, since documents are rare. */
async function done(work: Work): Promise<Done> {
  if ("html" in work) return (await import("./extract.ts")).convertHtml(work.html);
  if ("pdf" in work) return await (await import("./pdf.ts")).pdfText(work.pdf);
  const { officeDocument } = await import("./office/index.ts");
  const { html, facts } = await officeDocument(work.office);
  const { convertWhole } = await import("./extract.ts");
  return { ...facts, text: convertWhole(html, work.writing) };
}

parentPort?.on("message", async (work: Work) => {
  try {
    parentPort?.postMessage({ done: await done(work) });
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
