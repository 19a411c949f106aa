import { afterEach, beforeEach } from "vitest";
import type { GitOptions } from "../src/repository/open/git.ts";
import { git, gitOver, type Scratch, sampleRepository, scratch } from "./fixture.ts";
import { type GitServer, type GitServerOptions, serveGit } from "./http-server.ts";

/** A separate directory for each test of a file that calls `usePlace()`. */
export let place: Scratch;
/** Servers that the test's end closes. */
export const servers: GitServer[] = [];

/** Makes the place before each test of the file that calls this, and takes it and the servers away after it. */
export function usePlace(): void {
  beforeEach(() => {
    place = scratch();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
    place.dispose();
  });
}

/** Options under which the server on loopback may be reached. */
export const LOOPBACK: Partial<GitOptions> = {
  protocols: ["http", "https", "ssh"],
  allowedHosts: ["127.0.0.1"],
};
/** A server over the place. */
export const over = (options: Partial<GitOptions> = LOOPBACK) => gitOver([place.folder], options);

/** An upstream behind a real git http server, and its URL. */
export async function upstream(
  options: GitServerOptions = {},
): Promise<{ url: string; bare: string; server: GitServer }> {
  sampleRepository(place.path("source"));
  git(place.folder, "clone", "--quiet", "--bare", "source", "served/upstream.git");
  const bare = place.path("served", "upstream.git");
  git(bare, "config", "http.receivepack", "true");
  const server = await serveGit(place.path("served"), options);
  servers.push(server);
  return { url: `${server.url}/upstream.git`, bare, server };
}

/** A clone of it, whose origin is the server. */
export async function cloned(
  options: GitServerOptions = {},
): Promise<{ root: string; bare: string; server: GitServer }> {
  const { url, bare, server } = await upstream(options);
  // Not over the server: it lives in this very process, which waits here.
  git(place.folder, "clone", "--quiet", bare, "clone");
  git(place.path("clone"), "config", "remote.origin.url", url);
  return { root: place.path("clone"), bare, server };
}
