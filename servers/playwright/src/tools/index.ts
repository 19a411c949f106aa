// Written by `pnpm generate`.
import browseAct from "./browse-act.ts";
import browseClose from "./browse-close.ts";
import browseEvaluate from "./browse-evaluate.ts";
import browseOpen from "./browse-open.ts";
import compare from "./compare.ts";
import exportSpec from "./export-spec.ts";
import inspectPage from "./inspect-page.ts";
import listSpecs from "./list-specs.ts";
import runSpecs from "./run-specs.ts";
import runSuite from "./run-suite.ts";
import runTest from "./run-test.ts";
import viewArtifact from "./view-artifact.ts";

export const tools = [
  browseAct,
  browseClose,
  browseEvaluate,
  browseOpen,
  compare,
  exportSpec,
  inspectPage,
  listSpecs,
  runSpecs,
  runSuite,
  runTest,
  viewArtifact,
];
