import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  hooks: {
    type: "enum",
    values: ["ask", "run", "off"],
    default: "ask",
    heading: "Safety",
    description:
      "Whether a repository's hooks run: ask the user (if nobody can be asked, what a hook would check is refused), run them, or skip them.",
  },
  filters: {
    type: "enum",
    values: ["off", "own"],
    default: "off",
    heading: "Safety",
    description:
      "Filters such as git-lfs and git-crypt: off refuses operations on files that need one; own runs the filters in the user's configuration (global and system), never the repository's.",
  },
  protocols: {
    type: "enum",
    list: true,
    values: ["https", "ssh", "http", "git"],
    default: ["https", "ssh"],
    heading: "Remotes",
    description:
      "Protocols allowed for remotes. Local paths are never allowed (git would run the other repository's hooks), nor remote helpers.",
  },
  allowHosts: {
    type: "string",
    list: true,
    flag: "allow-host",
    valueName: "HOST",
    heading: "Remotes",
    description:
      "A host with a private address that remotes may connect to, for example gitlab.internal.",
  },
});
