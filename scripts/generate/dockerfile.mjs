// servers/NAME/Dockerfile: an image built from a clone. `refmcp.container` in a server's package.json lists the Debian packages
// and environment variables that it needs.
import { needsDirectory } from "./launch.mjs";

/**
 * @param {import("./surface.mjs").Server} server what `--describe` prints, with the package's manifest
 * @returns {string} the whole file
 */
export function dockerfile(server) {
  const { name, title, packageName, manifest } = server;
  const { packages = [], env = {} } = manifest.refmcp?.container ?? {};
  const [program] = Object.keys(manifest.bin);
  const takesDirectory = needsDirectory(server);
  const example = takesDirectory ? `-v "$PWD:/work" refmcp-${name}` : `refmcp-${name}`;
  const variables = {
    PATH: "/opt/refmcp/bin:$PATH",
    XDG_DATA_HOME: "/data/share",
    XDG_STATE_HOME: "/data/state",
    XDG_CACHE_HOME: "/data/cache",
    ...env,
  };
  return `# ${title} in a container, written by \`pnpm generate\`. In a clone:
#   docker build -f servers/${name}/Dockerfile -t refmcp-${name} .
#   docker run -i --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges ${example}

FROM node:24-bookworm AS build
WORKDIR /refmcp
COPY . .
RUN node scripts/setup.mjs
RUN npx -y ${"$"}(node -p 'require("./package.json").packageManager') --filter ${packageName} pack --pack-destination /packed
RUN npm install --global --prefix /opt/refmcp --no-audit --no-fund /packed/*.tgz

FROM node:24-bookworm-slim
${
  packages.length === 0
    ? ""
    : `RUN apt-get update \\
 && apt-get install --yes --no-install-recommends ${packages.join(" ")} \\
 && rm -rf /var/lib/apt/lists/*
`
}COPY --from=build /opt/refmcp /opt/refmcp
# What the server keeps is in /data. Without a volume of your own, it ends with the container.
RUN install --directory --owner node --group node /data /work
ENV ${Object.entries(variables)
    .map(([key, value]) => `${key}=${value}`)
    .join(" \\\n    ")}
VOLUME /data
WORKDIR /work
USER node
# Over stdio the container ends with its client. Over HTTP (REFMCP_${name.toUpperCase()}_HTTP) the server reports its own state.
HEALTHCHECK CMD ${JSON.stringify(["node", "-e", healthCheck(name)])}
# The MCP Registry compares the name with server.json; GitHub links the image to its repository.
LABEL io.modelcontextprotocol.server.name=${manifest.mcpName} \\
    org.opencontainers.image.source=https://github.com/refmcp/refmcp \\
    org.opencontainers.image.licenses=${manifest.license}
ENTRYPOINT ["${program}"]
${takesDirectory ? 'CMD ["/work"]\n' : ""}`;
}

/** Asks `/healthz` of the address that the server listens on, whatever its form and certificate. @param {string} name */
function healthCheck(name) {
  const prefix = `process.env.REFMCP_${name.toUpperCase()}`;
  return [
    `const at = ${prefix}_HTTP`,
    `const cert = ${prefix}_TLS_CERT`,
    "const colon = at?.lastIndexOf(':')",
    "const to = at?.startsWith('unix:') ? { socketPath: at.slice(5) } : { host: at?.slice(0, Math.max(colon, 0)).replace('[', '').replace(']', '') || '127.0.0.1', port: at?.slice(colon + 1) }",
    "const end = (ok) => process.exit(ok ? 0 : 1)",
    "if (at) require(cert ? 'https' : 'http').get({ ...to, path: '/healthz', rejectUnauthorized: false }, ({ statusCode }) => end(statusCode === 200)).on('error', () => end(false))",
  ].join("; ");
}
