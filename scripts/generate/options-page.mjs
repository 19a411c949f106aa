// docs/options.md: the options that every server has.

/** The whole page. The names of the hosts are in docs/hosts.md. @param {import("./surface.mjs").Server[]} servers */
export function optionsPage([first]) {
  return `# Options of every server

Written by \`pnpm generate\` from the definitions. Each server's README lists its own options, and \`--help\` prints both. In the
environment, replace \`NAME\` with the name of the server: \`REFMCP_GIT_READ_ONLY=1\`. The command line takes precedence.

${first?.commonOptionTable.replace(/; one of claude-desktop, [^|]*?\./, ".")}
[Running a server over HTTP](http.md) explains the HTTP options, and [security](security.md) what they protect against. [Hosts](hosts.md) has the names for \`--print-config\`.
`;
}
