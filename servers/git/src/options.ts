import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  hooks: {
    type: "enum",
    values: ["ask", "run", "off"],
    default: "ask",
    heading: "Safety",
    description:
      "What is done about a repository's hooks on commit, merge and checkout: ask the user (off where nobody can be asked), run them, or leave them out.",
  },
  filters: {
    type: "enum",
    values: ["off", "own"],
    default: "off",
    heading: "Safety",
    description:
      "Filters such as git-lfs and git-crypt: off refuses work on the files that need one; own runs those of the user's own configuration (global and system), never the repository's.",
  },
  protocols: {
    type: "enum",
    list: true,
    values: ["https", "ssh", "http", "git"],
    default: ["https", "ssh"],
    heading: "Remotes",
    description: "How remotes may be reached; local paths and remote helpers never are.",
  },
  allowHosts: {
    type: "string",
    list: true,
    flag: "allow-host",
    valueName: "HOST",
    heading: "Remotes",
    description:
      "A host that remotes may reach although its address is private, for example gitlab.internal.",
  },
});
