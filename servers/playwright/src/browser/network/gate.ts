import type { Socket } from "node:net";

/** Decides what a page may reach, and opens the connection to exactly what was decided. */
export interface Gate {
  /**
   * A connection to `host` (a name or an IP address without brackets).
   *
   * @throws Error where it is refused or nobody answers.
   */
  connect(host: string, port: number): Promise<Socket>;
  /** Whether an error of `connect` was a refusal of the policy. */
  isRefusal(error: unknown): boolean;
  /**
   * Looks at a URL before a page is sent there.
   *
   * @throws ToolError `denied` where the policy refuses it.
   */
  check(url: URL): Promise<void>;
}
