import type { IncomingMessage, ServerResponse } from "node:http";
import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Outcome, Service } from "@refmcp/core/internal/protocol/request";
import { META } from "@refmcp/core/internal/protocol/wire";

/** Buckets of a duration in seconds (OpenTelemetry, "Semantic conventions for MCP"). */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Replaces a value that a client made up, so that it starts no new time series. */
const OTHER = "_OTHER";

/** Methods of the protocol that every server has, in addition to those of its definition. */
const PROTOCOL_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
]);

/** Metrics and traces by OpenTelemetry's conventions for MCP. */
export interface Telemetry {
  readonly observe: NonNullable<Service["observe"]>;
  /** Answers a scrape by Prometheus; undefined if metrics are not served. */
  readonly scrape: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Sends what is left, within a second. */
  close(): Promise<void>;
}

/**
 * Starts what was asked for. OpenTelemetry's packages are loaded with this module, never by `import()` themselves: they are
 * CommonJS, of which a bundle's `import()` has no names. Where and how OTLP is sent, its standard
 * variables say (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`).
 *
 * @param gauges current counts, for example of open sessions, by name.
 */
export async function startTelemetry(
  service: Service,
  wanted: { readonly metrics: boolean; readonly otlp: boolean; readonly transport: "pipe" | "tcp" },
  gauges: () => Readonly<Record<string, number>> = () => ({}),
): Promise<Telemetry> {
  const { name, version } = service.identity;
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence, for example to name this copy.
  const resource = resourceFromAttributes({
    "service.name": name,
    "service.version": version,
  }).merge(detectResources({ detectors: [envDetector] }));
  const prometheus = wanted.metrics
    ? new PrometheusExporter({ preventServerStart: true })
    : undefined;
  const otlp = wanted.otlp ? (await import("./otlp.ts")).otlpExporters() : undefined;
  const meters = new MeterProvider({
    resource,
    readers: [
      ...(prometheus === undefined ? [] : [prometheus]),
      ...(otlp === undefined
        ? []
        : [
            new PeriodicExportingMetricReader({
              exporter: otlp.metrics,
              ...intervalOf(process.env),
            }),
          ]),
    ],
  });
  const tracers = new BasicTracerProvider({
    resource,
    spanProcessors: otlp === undefined ? [] : [new BatchSpanProcessor(otlp.spans)],
  });
  const meter = meters.getMeter(name, version);
  const tracer = tracers.getTracer(name, version);
  const propagator = new W3CTraceContextPropagator();
  const durations = meter.createHistogram("mcp.server.operation.duration", {
    unit: "s",
    description: "Duration of a request, from its message to its answer.",
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  meter
    .createObservableGauge("refmcp.server.load", {
      description: "What the process holds now, by kind.",
    })
    .addCallback((result) => {
      for (const [kind, value] of Object.entries(gauges())) result.observe(value, { kind });
    });

  return {
    observe({ method, params, revision }, { ms, result }) {
      const known = service.methods.has(method) || PROTOCOL_METHODS.has(method) ? method : OTHER;
      const isCall = method === "tools/call";
      const target = isCall ? (service.tool(String(params.name))?.name ?? OTHER) : undefined;
      const attributes: Attributes = {
        "mcp.method.name": known,
        "mcp.protocol.version": revision.version,
        "network.transport": wanted.transport,
        ...(isCall ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": target } : {}),
        ...errorOf(result),
      };
      durations.record(ms / 1000, attributes);
      if (otlp === undefined) return;
      const carrier = {
        traceparent: params._meta?.[META.traceparent],
        tracestate: params._meta?.tracestate,
      };
      const parent = propagator.extract(ROOT_CONTEXT, carrier, {
        get: (from: typeof carrier, key) => {
          const value = key === "traceparent" ? from.traceparent : from.tracestate;
          return typeof value === "string" ? value : undefined;
        },
        keys: Object.keys,
      });
      const endTime = Date.now();
      const span = tracer.startSpan(
        target === undefined ? known : `${known} ${target}`,
        { kind: SpanKind.SERVER, attributes, startTime: endTime - ms },
        parent,
      );
      if ("error.type" in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    },
    scrape: prometheus?.getMetricsRequestHandler.bind(prometheus),
    async close() {
      const last = Promise.all([meters.shutdown(), tracers.shutdown()]).catch(() => undefined);
      await Promise.race([last, new Promise((next) => setTimeout(next, 1_000).unref())]);
    },
  };
}

/** How often metrics are sent, which the SDK for a whole Node.js process reads, and its parts do not. */
function intervalOf({ OTEL_METRIC_EXPORT_INTERVAL: text = "" }: NodeJS.ProcessEnv) {
  if (!/^[1-9]\d{0,8}$/.test(text)) return {};
  return {
    exportIntervalMillis: Number(text),
    exportTimeoutMillis: Math.min(Number(text), 30_000),
  };
}

function errorOf(result: Outcome["result"]): Attributes {
  if (result === "ok") return {};
  if (typeof result === "string") return { "error.type": result };
  return { "error.type": String(result), "rpc.response.status_code": String(result) };
}
