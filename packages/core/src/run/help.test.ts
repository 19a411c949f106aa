import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import { type HelpFacts, renderHelp } from "./help.ts";
import { serverOptions } from "./options.ts";

const options = defineOptions({
  maxReadChars: {
    type: "integer",
    min: 1000,
    max: 80_000,
    default: 80_000,
    description: "Most characters of one read.",
  },
  journal: {
    type: "flag",
    default: true,
    description: "Keep what a change replaces, so that it can be undone.",
  },
  url: { type: "secret", env: ["DATABASE_URL"], description: "The database." },
  db: {
    type: "secret",
    named: "unique",
    valueName: "URL",
    description: "A database by a name of your own.",
  },
  odd: { type: "flag", hidden: true, description: "For tests." },
});
const toolsets = {
  read: { description: "Reads and searches.", default: true },
  danger: { description: "Loses data permanently.", default: false },
};

function facts(change: Partial<HelpFacts> = {}): HelpFacts {
  return {
    title: "Filesystem",
    packageName: "@refmcp/server-filesystem",
    version: "1.2.3",
    description: "Reads, searches and changes files below the directories that you name.",
    options: serverOptions({ name: "filesystem", options, directories: {}, toolsets }),
    toolsets,
    ...change,
  };
}

describe("renderHelp", () => {
  it("has each option with its range, default and variables, within 80 columns", () => {
    const text = renderHelp(facts());
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const part of [
      "Usage: refmcp-server-filesystem [options] [DIR...] [command]\n",
      "\n  DIR, --root DIR             A directory that the server may access, including\n",
      "\n  --max-read-chars N          Most characters of one read. (1,000 to 80,000;\n                              default 80,000)\n",
      "undone. (default on)",
      "\n  --url SECRET                The database. (also DATABASE_URL)\n",
      "\n  --log-level debug|info|warning|error\n                              How much",
      "\nToolsets\n  read                        Reads and searches. (default)\n",
      "\n  call TOOL [arguments]  ",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("--odd");
  });

  it("shows the options for HTTP, and only them, if asked for them", () => {
    const text = renderHelp(facts({ isHttp: true }));
    expect(text).toContain("\n  --http ADDRESS ");
    expect(text).not.toContain("--read-only");
    expect(renderHelp(facts())).not.toContain("--http ADDRESS");
  });
});
