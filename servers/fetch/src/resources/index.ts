// Written by `pnpm generate`.
import snapshot from "./snapshot.ts";

export const resources = [snapshot];
