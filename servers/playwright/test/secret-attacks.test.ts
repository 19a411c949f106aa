import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { unpack } from "../src/browser/store/zip.ts";
import type { RunReport } from "../src/browser/verdict/report.ts";
import type { Site } from "./lab.ts";
import { ATTACKS, type Attack, PAGES, SECRETS } from "./secret-attacks.ts";
import { site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

let lab: TestTester;
let web: Site;
beforeAll(async () => {
  const server = createServer();
  // A WebSocket that sends each short frame back.
  server.on("upgrade", ({ headers }, socket) => {
    const accept = createHash("sha1").update(
      `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`,
    );
    socket.on("data", (frame: Buffer) => {
      const data = frame.subarray(6).map((byte, at) => byte ^ (frame[2 + (at % 4)] ?? 0));
      if (frame[0] === 0x81) socket.write(Buffer.concat([Buffer.from([0x81, data.length]), data]));
    });
  });
  const pages = Object.fromEntries(Object.entries(PAGES).map(([name, html]) => [`/${name}`, html]));
  web = await site(
    {
      ...pages,
      "/": PAGES.mirrors,
      "/api": (request, response) => {
        response.setHeader("x-echo", request.url ?? "");
        request.pipe(response);
      },
    },
    "127.0.0.1",
    server,
  );
  lab = await makeTester({ secrets: new Secrets(Object.entries(SECRETS)) });
});
afterAll(() => lab?.close());

/** What came out of a run: its answer without times and names of files, its pictures, and the text of everything. */
interface Out {
  readonly report: RunReport;
  readonly pictures: readonly Buffer[];
  readonly text: string;
}

const look = { limit: 40, budget: 8_000 };
const EVIDENCE = ["full_page", "trace", "har", "network", "a11y"] as const;
/** Where the texts of all evidence are read; elsewhere only the picture, which is quicker. */
const isDeep = (on: string, steps: readonly string[]) =>
  on === "socket" || (on === "mirrors" && steps.length === 1);

async function run(on: string, steps: readonly string[], checks: readonly string[]): Promise<Out> {
  const report = await lab.run({
    url: `${web.url}/${on === "mirrors" ? "" : on}`,
    steps: [...steps, "wait for network idle"],
    assertions: checks.map((one) => (/^no /.test(one) ? one : `${one} within 50ms`)),
    look,
    evidence: isDeep(on, steps) ? [...EVIDENCE] : ["full_page"],
  });
  const files = await Promise.all(
    (report.artifacts ?? []).map(async ({ name, path }) =>
      name.endsWith(".zip")
        ? [...(await unpack(path))].map(([inner, data]) => ({ name: inner, data: Buffer.from(data) }))
        : [{ name, data: await readFile(path) }],
    ),
  );
  const all = files.flat();
  return {
    report,
    pictures: all.filter(({ name }) => name.endsWith(".png")).map(({ data }) => data),
    text: JSON.stringify([report, ...all.map(({ name, data }) => [name, data.toString("utf8")])]),
  };
}

/** Makes the runs of an attack with one of its two secrets. */
async function attacked(
  {
    on = "mirrors",
    writes = ["fill 'Token' with secret 'KEY'"],
    steps = [],
    checks = [],
    later,
    secrets = ["KEY", "ELSE"],
  }: Attack,
  which: 0 | 1,
) {
  const first = await run(
    on,
    [...writes.map((one) => one.replace(`'${secrets[0]}'`, `'${secrets[which]}'`)), ...steps],
    checks,
  );
  return later === undefined
    ? [first]
    : [first, await run(later.on ?? "mirrors", later.steps, later.checks ?? [])];
}

/** Attacks that differ only in their checks share their runs. */
const groupOf = ({ attack: _, checks: _checks, ...rest }: Attack) => JSON.stringify(rest);
const shared = new Map<string, Promise<Out[][]>>();
function outOf(attack: Attack): Promise<Out[][]> {
  const key = groupOf(attack);
  const checks = ATTACKS.filter((one) => groupOf(one) === key).flatMap((one) => one.checks ?? []);
  const found =
    shared.get(key) ??
    attacked({ ...attack, checks }, 0).then(async (one) => [one, await attacked({ ...attack, checks }, 1)]);
  shared.set(key, found);
  return found;
}

/** An answer, the same for both secrets: without times, with the name of the first. */
function shownOf(
  { report: { durationMs, run_id, artifacts, assertions, ...rest } }: Out,
  { secrets = ["KEY", "ELSE"], checks = [] }: Attack,
) {
  const own = assertions.filter(({ name }) => checks.some((one) => name.startsWith(one)));
  const names = artifacts?.map(({ name }) => name);
  return JSON.stringify([own, rest, names], undefined, 1)
    .replaceAll(`[secret ${secrets[1]}]`, `[secret ${secrets[0]}]`)
    .replaceAll(`'${secrets[1]}'`, `'${secrets[0]}'`);
}

/** Four characters in a row, in any letter case. */
const partsOf = (value: string) =>
  Array.from({ length: Math.max(1, value.length - 3) }, (_, at) => value.slice(at, at + 4).toLowerCase());

describe("a secret stays in the server if a model tries to", () => {
  it.each(ATTACKS)("$attack", async (attack) => {
    const [one = [], other = []] = await outOf(attack);
    const [, second] = attack.secrets ?? ["KEY", "ELSE"];
    for (const [index, out] of one.entries()) {
      const twin = other[index];
      expect(shownOf(out, attack)).toBe(twin && shownOf(twin, attack));
      expect(out.pictures.map((picture, at) => twin?.pictures[at]?.equals(picture))).toEqual(
        out.pictures.map(() => true),
      );
    }
    const [first] = one;
    if (attack.refused === undefined && attack.later === undefined)
      expect(first?.report.failed_step).toBeUndefined();
    else if (attack.refused !== undefined) expect(first?.report.failed_step).toContain(attack.refused);
    // The guesses in the sentences are parts of the first secret only.
    const text = other.map((out) => out.text.toLowerCase()).join();
    const value = Object.entries(SECRETS).find(([name]) => name === second)?.[1] ?? "";
    expect(partsOf(value).filter((part) => text.includes(part))).toEqual([]);
    if (value.length < 8) return;
    for (const form of [
      Buffer.from(value).toString("hex"),
      ...[0, 1, 2].map((shift) =>
        Buffer.from("-".repeat(shift) + value)
          .toString("base64")
          .slice(shift + 1, -4)
          .toLowerCase(),
      ),
    ])
      expect(text).not.toContain(form);
  });
});
