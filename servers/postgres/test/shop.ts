import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { afterAll, beforeAll } from "vitest";
import { world } from "./fixture.ts";
import { naive } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

/** The fixture's shop, with a client that sees every tool and confirms everything. */
export interface Shop extends Talk {
  readonly world: World;
  /** The allowed directory for files. */
  path(name: string): string;
  text(name: string): Promise<string>;
  put(name: string, text: string): Promise<void>;
  /** Runs SQL without the server, as the role. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** The questions to the user. */
  readonly questions: string[];
}

/** A shop for the tests of one file. */
export function shop(
  more: readonly string[] = ["--allow-write", "--toolsets", "data,dba"],
): () => Shop {
  let open: Shop | undefined;
  beforeAll(async () => {
    const made = await world();
    const questions: string[] = [];
    const [, url = "", , folder = ""] = made.args;
    const client = await talk([...made.args, ...more], {
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "accept", content: { confirm: true } };
      },
    });
    const path = (name: string) => join(folder, name);
    open = {
      ...client,
      world: made,
      path,
      questions,
      text: (name) => readFile(path(name), "utf8"),
      put: (name, text) => writeFile(path(name), text),
      sql: (text) => naive(url, text),
    };
  });
  afterAll(async () => {
    await open?.close();
    await open?.world.dispose();
  });
  return () => {
    if (open === undefined) throw new Error("The shop is not open yet.");
    return open;
  };
}
