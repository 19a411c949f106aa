// Written by `pnpm generate`.
import artifact from "./artifact.ts";
import artifactFile from "./artifact-file.ts";
import help from "./help.ts";

export const resources = [artifact, artifactFile, help];
