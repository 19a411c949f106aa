import { NODES } from "../../scripts/lib/npm-programs.mjs";
import { testInstalled } from "../packed/installed.ts";
import { tarballOf } from "../release/release.ts";
import { SERVERS } from "../servers.ts";

/** The requested versions, or those that neither the release path (20 and 24) nor `test/packed` (the one that runs this) has. */
function nodesToTry(asked: string | undefined): number[] {
  if (asked !== undefined) return asked.split(",").map(Number);
  const covered = [20, 24, Number(process.versions.node.split(".")[0])];
  return Object.keys(NODES)
    .map(Number)
    .filter((major) => !covered.includes(major));
}

// From the npm registry; REFMCP_SMOKE_NODES=24 takes one of them.
testInstalled(
  nodesToTry(process.env["REFMCP_SMOKE_NODES"]).map((major) => ({
    major,
    eras: ["legacy", "modern"],
  })),
  () => Promise.all([...SERVERS.map((name) => `server-${name}`), "refmcp"].map(tarballOf)),
);
