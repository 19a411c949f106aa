import { connectHttp, startHttp } from "@refmcp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCollector } from "../../packages/launch/test/fixtures/collector.ts";
import { callReadingTool, serverBin, useWorld } from "../servers.ts";

/** Tests the built servers: OpenTelemetry's packages are CommonJS, which a bundle can load in ways that fail only there. */
export function testObservation(names: readonly string[]): void {
  describe.each(names)("the built %s server", (name) => {
    const world = useWorld(name);

    it("serves metrics, sends metrics and spans by OTLP, and writes its audit log", async () => {
      const { url, received } = await startCollector();
      const server = await startHttp(serverBin(name), {
        args: [...world().args, "--metrics", "--otlp", "--audit-log", "-"],
        env: { ...world().env, OTEL_EXPORTER_OTLP_ENDPOINT: url },
      });
      onTestFinished(() => void server.stop("SIGKILL"));
      const { client, close } = await connectHttp(server.url);
      await callReadingTool(client, world());
      await close();
      const metrics = await (await fetch(new URL("/metrics", server.url))).text();
      expect(metrics).toMatch(
        /^mcp_server_operation_duration_count\{.*mcp_method_name="tools\/call".*gen_ai_tool_name="\w+".*\} 1$/m,
      );
      await server.stop();
      expect(new Set(received.map(({ path }) => path))).toEqual(
        new Set(["/v1/metrics", "/v1/traces"]),
      );
      expect(JSON.stringify(received)).toContain("tools/call ");
      expect(server.stderr()).toMatch(
        /^\{"time":"[^"]+","principal":"","tool":"\w+","effect":"read",.*"outcome":"ok"\}$/m,
      );
    });
  });
}
