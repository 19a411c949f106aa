import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type HttpProcess, rawSession, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, SERVERS, serverBin } from "../servers.ts";
import { CAPABILITIES, likelyAnswer } from "./client.ts";
import { HTTP_ROWS } from "./page-http.ts";
import { STDIO_ROWS } from "./page-rows.ts";
import { probeLauncher } from "./probe.ts";
import { Recorder } from "./recorder.ts";
import { REVISIONS, type Revision } from "./revisions.ts";

const launch = probeLauncher();
const CLIENT = { name: "test", version: "1" };
/** The content of the page by row and revision. */
const said = new Map<string, ReadonlyMap<string, string>>();

beforeAll(async () => {
  const page = await readFile(join(ROOT, "docs", "protocol.md"), "utf8");
  for (const table of page.matchAll(/^\|.*\|\n(?:\|.*\|\n)+/gm)) {
    const [head = [], , ...rows] = table[0].trim().split("\n").map(cellsOf);
    for (const [first = "", ...cells] of rows)
      for (const name of first in STDIO_ROWS ? [first] : first.split(", ")) {
        expect(said.has(name), `${name} is there twice`).toBe(false);
        said.set(name, new Map(cells.map((cell, index) => [head[index + 1] ?? "", cell])));
      }
  }
});

/** The cells of a line of a table. */
const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** The column of a revision. */
const saidOf = (revision: Revision, rows: readonly string[]) =>
  Object.fromEntries(rows.map((row) => [row, said.get(row)?.get(revision)]));

it("docs/protocol.md has a row for everything that is checked, and no other", () => {
  expect([...said.keys()].sort()).toEqual(
    [...Object.keys(STDIO_ROWS), ...Object.keys(HTTP_ROWS)].sort(),
  );
  for (const [row, cells] of said) expect([...cells.keys()], row).toEqual([...REVISIONS]);
});

it.each(SERVERS)(
  "%s declares log messages and takes their level, as docs/protocol.md says",
  async (name) => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT };
    const { lines } = await rawSession(
      serverBin(name),
      [
        { id: 1, method: "initialize", params },
        { method: "notifications/initialized" },
        { id: 2, method: "logging/setLevel", params: { level: "debug" } },
      ]
        .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
        .join(""),
    );
    const answers = lines.map((line) => JSON.parse(line));
    expect(answers.find(({ id }) => id === 1).result.capabilities.logging).toEqual({});
    expect(answers.find(({ id }) => id === 2).result).toEqual({});
  },
);

let listening: HttpProcess;
beforeAll(async () => {
  listening = await startHttp(launch().file);
});
afterAll(() => listening?.stop());

describe.each(REVISIONS)("docs/protocol.md, %s", (revision) => {
  it("describes what is supported over stdio", async () => {
    const asked: string[] = [];
    const recorder = new Recorder(launch("--toolsets", "all"), revision, {
      capabilities: {
        ...CAPABILITIES[revision],
        ...(revision < "2025-11-25" ? {} : { sampling: { tools: {} } }),
      },
      answer(method, params) {
        asked.push(method);
        return likelyAnswer(method, params);
      },
    });
    const opening = await recorder.open();
    const values: Record<string, string> = {};
    for (const [row, look] of Object.entries(STDIO_ROWS))
      values[row] = await look({ recorder, opening, asked });
    expect(await recorder.finish()).toEqual([]);
    expect(saidOf(revision, Object.keys(STDIO_ROWS))).toEqual(values);
  });

  it("describes what is supported over Streamable HTTP", async () => {
    const values: Record<string, string> = {};
    for (const [row, look] of Object.entries(HTTP_ROWS))
      values[row] = await look(listening.url, revision);
    expect(saidOf(revision, Object.keys(HTTP_ROWS))).toEqual(values);
  });
});
