export * from "./disk.ts";
export * from "./random.ts";
export * from "./session.ts";
