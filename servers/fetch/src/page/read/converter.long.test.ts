import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { workerFile } from "@refmcp/core/worker-file";
import { expect, it, onTestFinished } from "vitest";
import { pdfOf, twoPagePdf } from "../../../test/files.ts";
import { prose } from "../../../test/pages/write.ts";
import { DOCUMENTS, type Done, type Work } from "./converter.ts";
import { WorkerPool } from "./workers.ts";

const HALF_FORMULAS = [
  "\\(",
  "\\[",
  "$$",
  "$a",
  "\\begin{align}",
  '<img alt="$',
  '<a href="#x">1</a>',
  "<math><mi>",
];

const BEGIN = `<meta property="og:type" content="article"><main><p>NEEDLE ${prose(6, 1)}</p><p>${prose(6, 2)}</p>`;

/** Text that takes hours where an expression is quadratic in it, which ends the test by its time limit. */
const LONG: Readonly<Record<string, string>> = {
  "a script's link": `<p>[x](javascript:${"a".repeat(1_500_000)}</p>`,
  "a refresh after many digits": `<meta http-equiv="refresh" content="${"1".repeat(1_500_000)}">`,
  "blanks in a quote": `<blockquote><pre>${" ".repeat(1_500_000)}x</pre></blockquote>`,
  "items of one list": "<li>x".repeat(100_000),
  ...Object.fromEntries(
    HALF_FORMULAS.map((part) => [
      `half formulas: ${part}`,
      `<script src="/mathjax.js"></script><p>${part.repeat(400_000 / part.length)}</p>`,
    ]),
  ),
};

it.each(Object.entries(LONG))("%s: converting takes linear time", async (_what, html) => {
  const worker = new Worker(workerFile("convert", new URL("converter.ts", import.meta.url).href));
  onTestFinished(() => void worker.terminate());
  const request = {
    html: BEGIN + html,
    url: "https://mill.example/",
    includeLinks: true,
  };
  worker.postMessage({ html: request });
  const [{ done }]: [{ done: Done }] = (await once(worker, "message")) as never;
  expect(done.text).toContain("NEEDLE");
});

/** Zeros that were compressed three times: 1.5 GB in less than 2 kB. */
function bomb(): Buffer {
  const zeros = deflateRawSync(Buffer.alloc(1_000_000), { finishFlush: constants.Z_FULL_FLUSH });
  const inner = Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    ...Array(1_500).fill(zeros),
    Buffer.from([3, 0]),
  ]);
  return deflateSync(deflateSync(inner, { level: 9 }), { level: 9 });
}

/** A PDF of less than 4 kB whose page is such a stream. */
function hostilePdf(): Buffer {
  const stream = bomb();
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>",
    `<< /Length ${stream.length} /Filter [/FlateDecode /FlateDecode /FlateDecode] >>\nstream\n${stream.toString("latin1")}\nendstream`,
  ]);
}

it("a PDF that decodes to gigabytes is given up, outside this process, and the next one is read", async () => {
  const hostile = hostilePdf();
  expect(hostile.length).toBeLessThan(4_000);
  // A slow machine would reach the time limit first.
  const documents = new WorkerPool<Work, { text: string }>({ ...DOCUMENTS, maxMs: 300_000 });
  onTestFinished(() => documents.close());
  const { signal } = new AbortController();
  await expect(documents.run({ pdf: hostile }, signal)).rejects.toThrow(
    "it needed more than 512 MB",
  );
  expect(process.memoryUsage().arrayBuffers).toBeLessThan(200_000_000);
  const { text } = await documents.run({ pdf: twoPagePdf }, signal);
  expect(text).toContain("The second page");
});
