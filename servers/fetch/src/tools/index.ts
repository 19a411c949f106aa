// Written by `pnpm generate`.
import fetch from "./fetch.ts";
import fetchFind from "./fetch-find.ts";
import fetchMany from "./fetch-many.ts";

export const tools = [fetch, fetchFind, fetchMany];
