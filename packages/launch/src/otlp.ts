import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";

/** Exporters that the standard `OTEL_*` variables configure. */
export const otlpExporters = () => ({
  metrics: new OTLPMetricExporter(),
  spans: new OTLPTraceExporter(),
});
