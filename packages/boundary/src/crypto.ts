/**
 * `node:crypto`, loaded on first use: startup does not need it, and it costs a millisecond and 0.7 MB.
 */
export const crypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");
