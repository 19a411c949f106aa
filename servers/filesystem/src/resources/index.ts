// Written by `pnpm generate`.
import file from "./file.ts";

export const resources = [file];
