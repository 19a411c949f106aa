# One of the servers in a container. In a clone, for example git:
#   docker build --build-arg SERVER=git -t refmcp-git .
#   docker run -i --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -v "$PWD:/work" refmcp-git
ARG SERVER

FROM node:24-bookworm AS build
ARG SERVER
WORKDIR /refmcp
COPY . .
RUN node scripts/setup.mjs
RUN npx -y $(node -p 'require("./package.json").packageManager') --filter "@refmcp/server-$SERVER" pack --pack-destination /packed
RUN npm install --global --prefix /opt/refmcp --no-audit --no-fund /packed/*.tgz \
 && ln -s "refmcp-server-$SERVER" /opt/refmcp/bin/server \
 && node -p '(require(`./servers/${process.env.SERVER}/package.json`).refmcp?.debianPackages ?? []).join(" ")' > /opt/refmcp/debian-packages

FROM node:24-bookworm-slim
ARG SERVER
COPY --from=build /opt/refmcp /opt/refmcp
RUN packages=$(cat /opt/refmcp/debian-packages) && [ -z "$packages" ] || { \
    apt-get update && apt-get install --yes --no-install-recommends $packages && rm -rf /var/lib/apt/lists/*; }
# What the server keeps is in /data. Without a volume of your own, it ends with the container.
RUN install --directory --owner node --group node /data /work
ENV PATH=/opt/refmcp/bin:$PATH \
    XDG_DATA_HOME=/data/share \
    XDG_STATE_HOME=/data/state \
    XDG_CACHE_HOME=/data/cache \
    REFMCP_FILESYSTEM_ROOT=/work \
    REFMCP_GIT_ROOT=/work \
    REFMCP_PLAYWRIGHT_SANDBOX=false
VOLUME /data
WORKDIR /work
USER node
# The MCP Registry compares the name with server.json; GitHub links the image to its repository.
LABEL io.modelcontextprotocol.server.name=io.github.refmcp/server-$SERVER \
    org.opencontainers.image.source=https://github.com/refmcp/refmcp \
    org.opencontainers.image.licenses=MIT
ENTRYPOINT ["server"]
