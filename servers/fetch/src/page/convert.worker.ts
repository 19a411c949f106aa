import { parentPort } from "node:worker_threads";
import type { Done, Work } from "./converter.ts";

/** Converts what was asked for; each library is loaded on its first use, as most servers never see a document. */
async function done(work: Work): Promise<Done> {
  if ("html" in work) return { conversion: (await import("./extract.ts")).convertHtml(work.html) };
  if ("pdf" in work) return { document: await (await import("./pdf.ts")).pdfText(work.pdf) };
  const { officeDocument } = await import("./office/index.ts");
  const { html, facts } = await officeDocument(work.office);
  const { convertWhole } = await import("./extract.ts");
  return { document: { ...facts, text: convertWhole(html, work.writing) } };
}

parentPort?.on("message", async (work: Work) => {
  try {
    parentPort?.postMessage(await done(work));
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
