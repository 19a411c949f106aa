import { afterEach, beforeEach } from "vitest";
import type { GitOptions } from "../src/git/open/machine.ts";
import { git, gitOver, type Scratch, sampleRepository, scratch } from "./fixture.ts";
import { type GitServer, type GitServerOptions, serveGit } from "./http-server.ts";

/** A separate directory for each test of a file that calls `useTestDirectory()`. */
export let place: Scratch;
/** Servers that are closed after the test. */
export const servers: Pick<GitServer, "close">[] = [];

/** Creates the folder before each test of the calling file, and removes it and the servers afterwards. */
export function useTestDirectory(): void {
  beforeEach(() => {
    place = scratch();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
    place.dispose();
  });
}

/** Options that allow the server on loopback. */
export const LOOPBACK: Partial<GitOptions> = {
  protocols: ["http", "https", "ssh"],
  allowedHosts: ["127.0.0.1"],
};
/** A server for the folder. */
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
  // Not through the server: it runs in this process, which is blocked here.
  git(place.folder, "clone", "--quiet", bare, "clone");
  git(place.path("clone"), "config", "remote.origin.url", url);
  return { root: place.path("clone"), bare, server };
}
