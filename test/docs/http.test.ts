import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { commonOptions } from "@refmcp/core/run";
import { describe, expect, it } from "vitest";
import { Load } from "../../packages/core/src/engine/load.ts";
import { MAX_VALUES } from "../../packages/core/src/engine/message.ts";
import { HTTP_LIMITS } from "../../packages/core/src/transport/http/settings.ts";
import { ROOT } from "../servers.ts";

const page = await readFile(join(ROOT, "docs", "http.md"), "utf8");
const section = (heading: string) => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
/** A table's rows: the first cell → the others. */
const rowsOf = (text: string) =>
  new Map(
    [...text.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => {
      const [first = "", ...cells] = row.split(/ *\| */);
      return [first, cells];
    }),
  );
const count = (value: number) => value.toLocaleString("en-US");
const mib = (bytes: number) => `${bytes / 1_048_576} MiB`;

describe("docs/http.md", () => {
  it("has the limits that are in force", () => {
    const rows = rowsOf(section("Limits and fairness"));
    const load = new Load();
    const limits = HTTP_LIMITS;
    const { timeoutMs, maxAnswerChars } = commonOptions;
    const expected: Record<string, string[]> = {
      "messages a minute": ["–", count(limits.perMinute)],
      "requests that are running": [count(limits.inFlight), count(limits.inFlight / 2)],
      sessions: [count(limits.sessions), count(limits.sessions / 2)],
      "WebSocket and SSE connections, together": [
        count(limits.sessions),
        count(limits.sessions / 2),
      ],
      "streams of `subscriptions/listen`": [count(load.streams.total)],
      "watched resources": [count(load.watches.total)],
      "size of a message": [mib(limits.messageBytes)],
      "values in a message": [count(MAX_VALUES)],
      "messages in progress, together": [mib(limits.messageBytes * 8)],
      "time of a call": [`${timeoutMs.default / 1_000} s`],
      answer: [`${count(maxAnswerChars.default)} characters`],
      connections: [count(limits.connections)],
      "idle session": [`${limits.idleMs / 60_000} minutes`],
      "unread bytes of a client": [mib(limits.queued)],
      "unread without progress": [`${limits.stalledMs / 1_000} s`],
      "time to send headers, a request": [`10 s, ${limits.requestMs / 1_000} s`],
    };
    for (const [what, cells] of Object.entries(expected))
      expect(rows.get(what)?.slice(0, cells.length), what).toEqual(cells);
  });

  it("names every option for HTTP", () => {
    const options = Object.entries(commonOptions).filter(
      ([, option]) => "heading" in option && option.heading === "HTTP",
    );
    expect(options.length).toBeGreaterThan(10);
    for (const [key, option] of options) {
      const own = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(page).toContain(`--${"flag" in option ? option.flag : own}`);
    }
  });
});
