import { expect, it } from "vitest";
import { INSTALL_MS } from "../servers.ts";
import { useFixture } from "./fixture.ts";
import { fetchProgram } from "./programs.ts";
import { faultsOf, runSuite } from "./scenarios.ts";

// The release path runs the suite that the lockfile pins.
const endpoint = useFixture();

it(
  "a server built on core passes all active scenarios of the released suite, without a warning",
  async () => {
    const suite = await fetchProgram("earlierSuite");
    const { code, output, scenarios } = await runSuite(suite, endpoint(), ["--suite", "active"]);
    expect(scenarios.size).toBe(30);
    for (const [name, checks] of scenarios) expect(faultsOf(checks), name).toEqual([]);
    expect(code, output.slice(-2000)).toBe(0);
  },
  INSTALL_MS,
);
