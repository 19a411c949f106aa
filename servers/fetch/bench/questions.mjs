// Asks forty questions about documentation pages of Debian packages: in how many of them the passages that fetch_many returns have
// the answer, and how much a model reads for it, against reading the page piece by piece until the answer has come. Also runs on
// its own after a build: node servers/fetch/bench/questions.mjs

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { listen, RawClient } from "../../../scripts/lib/bench-kit.mjs";

export const title = "Fetch: questions about pages";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const DOCS = process.env.REFMCP_DOCS ?? "/usr/share/doc";
const BUDGETS = [1_500, 3_000];

/** Pages, and questions about each with what their answer contains. @type {Record<string, [question: string, answer: RegExp][]>} */
const QUESTIONS = {
  "python3-doc/html/tutorial/classes.html": [
    ["How can I make an attribute private?", /name mangling/i],
    [
      "In which order are base classes searched with multiple inheritance?",
      /depth-first, left-to-right/,
    ],
    ["What does nonlocal do?", /nonlocal/],
    ["How do I make my own class iterable?", /__iter__\(\)/],
    [
      "What is the difference between a generator expression and a list comprehension?",
      /more compact but less versatile|memory friendly/,
    ],
  ],
  "python3-doc/html/tutorial/errors.html": [
    ["How do I run cleanup code whether or not an exception happened?", /finally/],
    ["How can I handle several unrelated exceptions raised together?", /ExceptionGroup/],
    ["When does the else clause of try run?", /does not raise an exception/],
  ],
  "postgresql-doc-15/html/sql-createindex.html": [
    ["How do I build an index without locking out writes?", /CONCURRENTLY/],
    ["What is the maximum number of fields in an index?", /\b32\b/],
    ["How do I index only some rows of a table?", /partial index/i],
    ["What does fillfactor mean for B-trees?", /90/],
  ],
  "postgresql-doc-15/html/sql-vacuum.html": [
    [
      "Does a plain vacuum return space to the operating system?",
      /(?:not|only).{0,80}returned to the operating system/s,
    ],
    ["Which lock does VACUUM FULL take?", /ACCESS EXCLUSIVE/],
    ["Can vacuum run inside a transaction?", /cannot be executed inside a transaction block/],
  ],
  "postgresql-doc-15/html/runtime-config-resource.html": [
    ["What is a good value for shared_buffers on a dedicated server?", /25%/],
    ["What is the default of work_mem?", /four megabytes|4MB/],
    ["How many autovacuum memory can each worker use?", /autovacuum_work_mem/],
    [
      "What limits the number of parallel workers of one query node?",
      /max\\?_parallel\\?_workers\\?_per\\?_gather/,
    ],
  ],
  "rust-doc/html/book/ch04-01-what-is-ownership.html": [
    ["What are the rules of ownership?", /There can only be one owner at a time/],
    ["Which types can be copied without moving?", /All the integer types/],
    ["What is the function called that frees memory at the end of a scope?", /`?drop`?/],
    ["How do I deeply copy the heap data of a String?", /clone/],
  ],
  "rust-doc/html/book/ch10-02-traits.html": [
    ["How do I provide a default behavior for a trait method?", /default implementation/i],
    [
      "Can I implement an external trait on an external type?",
      /orphan rule|external traits on external types/,
    ],
    ["How do I require that a generic type implements two traits?", /\+/],
  ],
  "git-doc/git-rebase.html": [
    ["How do I squash commits into the previous one?", /squash/],
    ["How can I undo a rebase that is in progress?", /--abort/],
    ["How do I keep merge commits while rebasing?", /--rebase-merges/],
    ["How do I run the tests after each commit?", /--exec/],
  ],
  "git-doc/git-stash.html": [
    ["How do I stash files that are not tracked?", /--include-untracked/],
    ["How do I recover a stash that was dropped by mistake?", /fsck/],
    ["How do I apply a stash and delete it?", /pop/],
  ],
  "git-doc/git-bisect.html": [
    ["Which exit code skips a commit in an automatic run?", /\b125\b/],
    ["How do I use other words than good and bad?", /--term-(?:old|new)/],
  ],
  "nodejs/api/child_process.html": [
    ["What is the default of maxBuffer?", /1024 \* 1024/],
    ["How do I let a child continue after its parent exits?", /detached/],
    ["Which function starts a Node.js process with a message channel?", /child_process\.fork/],
  ],
  "nodejs/api/fs.html": [
    ["How do I delete a directory with everything in it?", /recursive/],
    ["Which flag opens a file for appending and fails if it exists?", /'?ax'?/],
  ],
};

/** Questions count as answered if a passage matches; most matches of a word alone would be by chance, so pages are long. */
const PIECE = 5_000;

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const pages = Object.entries(QUESTIONS).filter(([page]) => existsSync(join(DOCS, page)));
  const asked = pages.flatMap(([page, questions]) =>
    questions.map(([question, answer]) => ({ page, question, answer })),
  );
  if (asked.length === 0) return;
  const site = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname));
    const body = await readFile(join(DOCS, path)).catch(() => undefined);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html" }).end(body);
  });
  const host = `127.0.0.1:${await listen(site)}`;
  const origin = `http://${host}`;
  const client = new RawClient([process.execPath, BIN, "--allow-host", host]);
  try {
    await client.initialize();
    const rows = [];
    for (const max_length of BUDGETS) {
      let hits = 0;
      let chars = 0;
      for (const { page, question, answer } of asked) {
        const { content } = await client.call("fetch_many", {
          urls: [`${origin}/${page}`],
          question,
          max_length,
        });
        const text = content.map((block) => block.text).join("\n");
        chars += text.length;
        if (answer.test(text)) hits += 1;
        else if (process.env.REFMCP_VERBOSE)
          process.stdout.write(`${max_length} ${page}: ${question}\n`);
      }
      rows.push([
        `question, ${max_length} characters`,
        share(hits, asked.length),
        perQuestion(chars, asked.length),
      ]);
    }
    let read = 0;
    let hits = 0;
    for (const { page, question, answer } of asked) {
      let text = "";
      for (let start = 0; start !== undefined && !answer.test(text); ) {
        const { content } = await client.call("fetch", {
          url: `${origin}/${page}`,
          start_index: start,
          max_length: PIECE,
        });
        text += content.map((block) => block.text).join("\n");
        start = Number(/start_index=(\d+)/.exec(content.at(-1)?.text ?? "")?.[1] ?? Number.NaN);
        if (Number.isNaN(start)) break;
      }
      read += text.length;
      if (!answer.test(text) && process.env.REFMCP_VERBOSE)
        process.stdout.write(`read: ${question}\n`);
      if (answer.test(text)) hits += 1;
    }
    rows.push([
      `pages in pieces of ${PIECE} characters, until the answer`,
      share(hits, asked.length),
      perQuestion(read, asked.length),
    ]);
    report({
      title: `${asked.length} questions about ${pages.length} pages of documentation`,
      columns: ["way", "answer found", "characters read per question"],
      rows,
      notes: [
        "The answer counts as found if the text matches what a person chose as its mark. Reading in pieces ends at the mark, which a model cannot know before it has read it.",
      ],
    });
  } finally {
    await client.close();
    site.closeAllConnections();
    site.close();
  }
}

/** @type {(hits: number, all: number) => string} */
const share = (hits, all) => `${hits} of ${all}`;
/** @type {(chars: number, all: number) => string} */
const perQuestion = (chars, all) => String(Math.round(chars / all));

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bench({
    report: ({ title: heading, columns, rows }) =>
      process.stdout.write(
        `${heading}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n`,
      ),
  });
