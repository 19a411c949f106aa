import { parentPort } from "node:worker_threads";
import type { Work } from "./converter.ts";

parentPort?.on("message", async (work: Work) => {
  try {
    // Each on its first use: most servers never see a PDF.
    if ("html" in work) {
      const { convertHtml } = await import("./extract.ts");
      parentPort?.postMessage({ conversion: convertHtml(work.html) });
    } else {
      const { pdfText } = await import("./pdf.ts");
      parentPort?.postMessage({ pdfText: await pdfText(work.pdf) });
    }
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
});
