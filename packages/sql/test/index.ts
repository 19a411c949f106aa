export * from "./random.ts";
export * from "./session.ts";
