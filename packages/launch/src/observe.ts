import type { CommonOptionValues } from "@refmcp/core/internal/define/common-options";
import type { Log } from "@refmcp/core/internal/log";
import type { Service } from "@refmcp/core/internal/protocol/request";
import type { Telemetry } from "./telemetry.ts";

/** What observes the requests of a process. */
export interface Observed {
  /** Answers a scrape of the metrics; undefined if they are not served. */
  readonly scrape: Telemetry["scrape"];
  /** Current counts to show with the metrics, by name. */
  gauges: () => Readonly<Record<string, number>>;
  /** Writes and sends what is left. */
  close(): Promise<void>;
}

/**
 * Starts what the options ask for: metrics, traces, an audit log. Only then its code is loaded and requests are timed.
 *
 * @param transport what clients are connected by, as OpenTelemetry names it.
 */
export async function observe(
  service: Service,
  { metrics, otlp, auditLog }: CommonOptionValues,
  transport: "pipe" | "tcp",
  log: Log,
): Promise<Observed> {
  const observed = { scrape: undefined, gauges: () => ({}), close: async () => undefined };
  if (!metrics && !otlp && auditLog === undefined) return observed;
  const audit =
    auditLog === undefined
      ? undefined
      : (await import("./audit.ts")).auditTo(auditLog, service, log);
  const telemetry =
    metrics || otlp
      ? await (await import("./telemetry.ts")).startTelemetry(
          service,
          { metrics, otlp, transport },
          () => observed.gauges(),
        )
      : undefined;
  service.observe = (request, outcome) => {
    audit?.observe(request, outcome);
    telemetry?.observe(request, outcome);
  };
  return Object.assign(observed, {
    scrape: telemetry?.scrape,
    close: async () => {
      await Promise.all([audit?.close(), telemetry?.close()]);
    },
  });
}
