import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { later } from "@refmcp/sql/testing";
import { afterAll, beforeAll } from "vitest";
import { world } from "./fixture.ts";
import { naive } from "./lab.ts";
import { talk } from "./session.ts";

async function open() {
  const shop = await world();
  const questions: string[] = [];
  const [, url = "", , folder = ""] = shop.args;
  const client = await talk([...shop.args, "--allow-write", "--toolsets", "data,dba"], {
    elicit: ({ message }) => {
      questions.push(message);
      return { action: "accept", content: { confirm: true } };
    },
  });
  const path = (name: string) => join(folder, name);
  return {
    ...client,
    world: shop,
    /** Where a file of the allowed directory is. */
    path,
    text: (name: string) => readFile(path(name), "utf8"),
    put: (name: string, text: string) => writeFile(path(name), text),
    /** Runs SQL without the server, as the role. */
    sql: (text: string) => naive(url, text),
    /** The questions to the user during a call. */
    async asked(name: string, args: Record<string, unknown>) {
      questions.length = 0;
      await client.data(name, args);
      return [...questions];
    },
  };
}

type Shop = Awaited<ReturnType<typeof open>>;

/** The fixture's shop for the tests of one file, with a client that sees every tool and confirms everything. */
export function shop(): Shop {
  let opened: Shop | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => {
    await opened?.close();
    await opened?.world.dispose();
  });
  return later(() => opened);
}
