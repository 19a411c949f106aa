// The generated part of docs/http.md: the options for HTTP.
import { optionTable } from "./option-table.mjs";

/** @param {import("./surface.mjs").Server[]} servers */
export function httpParts(servers) {
  const memory = servers.find(({ name }) => name === "memory");
  return {
    options: optionTable(memory?.options.filter(({ heading }) => heading === "HTTP") ?? []),
  };
}
