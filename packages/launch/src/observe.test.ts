import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { modernCall, openSession, post, startProbe } from "../../core/test/fixtures/http.ts";
import { startCollector } from "../test/fixtures/collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

/** A call that succeeds, one that fails, one of a tool that does not exist, and one in a session. */
async function fourCalls(url: URL): Promise<void> {
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  const calls = [
    modernCall("probe_say", { text: "secret-argument" }, { traceparent }),
    modernCall("probe_fail", { how: "error" }),
    modernCall("made-up-by-a-client", {}),
  ];
  for (const { message, headers } of calls) await (await post(url, message, headers)).text();
  const session = await openSession(url);
  await (await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session)).text();
}

it("serves metrics to Prometheus, by OpenTelemetry's conventions, to authenticated callers only", async () => {
  const token = "a-token-with-more-than-32-characters";
  const headers = { authorization: `Bearer ${token}` };
  const probe = await startProbe(["--metrics", "--auth-token-env", "T"], { env: { T: token } });
  onTestFinished(() => probe.close());
  const metrics = new URL("/metrics", probe.url);
  expect((await fetch(metrics)).status).toBe(401);
  for (const [name, how] of [
    ["probe_fail", "error"],
    ["made-up-by-a-client", ""],
  ] as const) {
    const { message, headers: repeated } = modernCall(name, { how });
    await (await post(probe.url, message, { ...repeated, ...headers })).text();
  }
  const text = await (await fetch(metrics, { headers })).text();
  expect(text).toMatch(
    /^mcp_server_operation_duration_count\{.*mcp_method_name="tools\/call".*gen_ai_tool_name="probe_fail".*error_type="tool_error".*\} 1$/m,
  );
  expect(text).toMatch(/gen_ai_tool_name="_OTHER".*error_type="-32602"/);
  expect(text).not.toContain("made-up");
  expect(text).toMatch(/^refmcp_server_load\{kind="inFlight".*\} 0$/m);
});

it("sends metrics and spans by OTLP, each span in the trace of its caller", async () => {
  const { url, received } = await startCollector();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
  onTestFinished(() => void delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT);
  const probe = await startProbe(["--otlp"]);
  await fourCalls(probe.url);
  await probe.close();
  const traces = received
    .filter(({ path }) => path === "/v1/traces")
    .map(({ body }) => JSON.parse(body));
  const spans = traces.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap((one: { scopeSpans: { spans: object[] }[] }) =>
      one.scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "tools/call probe_echo",
      "tools/call probe_fail",
      "tools/call _OTHER",
      "initialize",
      "tools/list",
    ]),
  );
  expect(spans.find(({ name }) => name === "tools/call probe_echo")).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    kind: 2,
  });
  const all = JSON.stringify(received);
  expect(all).toContain("mcp.server.operation.duration");
  expect(all).not.toContain("secret-argument");
  expect(all).not.toContain("made-up");
});

it("is configured by the standard variables: the interval, the service and its attributes", async () => {
  const { url, received } = await startCollector();
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_METRIC_EXPORT_INTERVAL: "50",
    OTEL_SERVICE_NAME: "team-memory",
    OTEL_RESOURCE_ATTRIBUTES: "service.instance.id=copy-1",
  };
  Object.assign(process.env, variables);
  onTestFinished(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const probe = await startProbe(["--otlp"]);
  onTestFinished(() => probe.close());
  await fourCalls(probe.url);
  const sent = () => received.filter(({ path }) => path === "/v1/metrics");
  await expect.poll(() => sent().length).toBeGreaterThan(0);
  for (const text of ["team-memory", "service.instance.id", "copy-1", "service.version"])
    expect(sent()[0]?.body).toContain(text);
});

it("appends a line for each tool call to the audit log, without its contents", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-audit-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "audit.jsonl");
  const probe = await startProbe(["--audit-log", file]);
  await fourCalls(probe.url);
  await probe.close();
  const text = await readFile(file, "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { principal: "", tool: "probe_echo", effect: "read", outcome: "ok" },
    { tool: "probe_fail", outcome: "tool_error" },
    { tool: null, effect: null, outcome: -32602 },
  ]);
  expect(lines.every(({ ms, answer_characters: size }) => Number.isInteger(ms) && size > 0)).toBe(
    true,
  );
  expect(text).not.toMatch(/secret-argument|made-up/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});
