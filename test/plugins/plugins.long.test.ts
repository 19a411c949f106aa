import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT, SERVERS, serverFolder } from "../servers.ts";
import { type Vendor, type VendorName, vendorOf } from "./vendors.ts";

const SKILLS = SERVERS.flatMap((name) => readdirSync(join(serverFolder(name), "skills")));
const homes: string[] = [];
afterAll(async () => {
  for (const home of homes) await rm(home, { recursive: true, force: true });
});

/** A vendor's program with a new home, for the tests of a suite, which are skipped where it cannot be installed. */
function useVendor(name: VendorName) {
  let vendor: Vendor | string = "";
  beforeAll(async () => {
    vendor = await vendorOf(name);
    if (typeof vendor !== "string") homes.push(vendor.home);
  }, 600_000);
  return ({ skip }: { skip: (reason: string) => never }): Vendor =>
    typeof vendor === "string" ? skip(vendor) : vendor;
}

const printing = (text: string) => ({ code: 0, output: expect.stringContaining(text) });

describe("Claude Code", () => {
  const vendor = useVendor("claude");

  it("accepts the marketplace and the plugin", async (ctx) => {
    const { run } = vendor(ctx);
    expect(await run("plugin", "validate", "--strict", ROOT)).toMatchObject(
      printing("Validation passed"),
    );
  });

  it("installs the plugin of the clone, with its skills, and its server answers in the project", async (ctx) => {
    const { run, project } = vendor(ctx);
    expect(await run("plugin", "marketplace", "add", ROOT)).toMatchObject(
      printing("Successfully added"),
    );
    expect(await run("plugin", "install", "refmcp@refmcp")).toMatchObject(
      printing("Successfully installed"),
    );
    const details = await run("plugin", "details", "refmcp");
    for (const skill of SKILLS) expect(details).toMatchObject(printing(skill));
    const { output } = await run("mcp", "list");
    expect(output).toMatch(
      new RegExp(`^plugin:refmcp:refmcp: node .*bin\\.js ${project} .*Connected$`, "m"),
    );
  });
});

describe("Gemini CLI", () => {
  const vendor = useVendor("gemini");

  it("accepts and links the extension of the clone, whose server answers in the project", async (ctx) => {
    const { run, project } = vendor(ctx);
    expect(await run("extensions", "validate", ROOT)).toMatchObject(
      printing("successfully validated"),
    );
    expect(await run("extensions", "link", ROOT, "--consent")).toMatchObject(
      printing("linked successfully"),
    );
    const { output } = await run("mcp", "list");
    expect(output).toMatch(
      new RegExp(`refmcp \\(from refmcp\\): node .*bin\\.js ${project} .*Connected`),
    );
  });
});
