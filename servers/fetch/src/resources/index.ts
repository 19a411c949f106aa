// Written by `pnpm generate`.
import snapshot from "./snapshot.ts";
import snapshotRaw from "./snapshot-raw.ts";

export const resources = [snapshot, snapshotRaw];
