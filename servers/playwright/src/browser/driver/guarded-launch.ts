/**
 * Switches for Chromium in addition to Playwright's, so that nothing bypasses the proxy: QUIC, WebRTC and the browser's
 * own name resolution would. Chromium's documentation on proxies recommends `--host-resolver-rules`.
 */
const SWITCHES = [
  "--disable-quic",
  "--dns-prefetch-disable",
  "--no-pings",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // A pattern that backtracks excessively is matched in linear time instead
  // (https://v8.dev/blog/non-backtracking-regexp).
  "--js-flags=--enable-experimental-regexp-engine-on-excessive-backtracks",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/**
 * Playwright's options for a browser that must stay behind a proxy: its switches, its environment, and no signal
 * handlers, since the caller closes it.
 */
export function guardedLaunch(env: NodeJS.ProcessEnv) {
  return {
    // Playwright turns off the browser's own limit on floods of messages (history, navigation), so one page could block
    // all others.
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
    args: SWITCHES,
    env: harmlessOf(env),
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  };
}

/** The browser's environment, without our variables and without anything that looks like a secret. */
function harmlessOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        !/^(?:REFMCP_|PW_SECRET_)|KEY|TOKEN|SECRET|PASSWORD/i.test(entry[0]),
    ),
  );
}
