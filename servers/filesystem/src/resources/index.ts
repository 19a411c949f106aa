// Written by `pnpm generate`.
import changes from "./changes.ts";
import file from "./file.ts";

export const resources = [changes, file];
