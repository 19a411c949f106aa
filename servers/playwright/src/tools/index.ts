// Written by `pnpm generate`.
import approveBaseline from "./approve-baseline.ts";
import exportSpec from "./export-spec.ts";
import inspectPage from "./inspect-page.ts";
import inspectTrace from "./inspect-trace.ts";
import listSpecs from "./list-specs.ts";
import runSpecs from "./run-specs.ts";
import runSuite from "./run-suite.ts";
import runTest from "./run-test.ts";
import viewArtifact from "./view-artifact.ts";

export const tools = [
  approveBaseline,
  exportSpec,
  inspectPage,
  inspectTrace,
  listSpecs,
  runSpecs,
  runSuite,
  runTest,
  viewArtifact,
];
