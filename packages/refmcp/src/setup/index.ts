export { runDoctor } from "./doctor.ts";
export type { SetupIo } from "./io.ts";
export { runSetup } from "./setup.ts";
