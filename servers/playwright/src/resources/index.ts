// Written by `pnpm generate`.
import artifact from "./artifact.ts";
import baselines from "./baselines.ts";
import doctor from "./doctor.ts";
import help from "./help.ts";

export const resources = [artifact, baselines, doctor, help];
