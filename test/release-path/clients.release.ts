import { describe } from "vitest";
import { SDKS } from "../clients/clients.ts";
import { installSdks } from "../clients/install.ts";
import { CALLED, testClients } from "../clients/suite.ts";

describe.each(SDKS.map((sdk) => [sdk.name, sdk] as const))("the client of %s", (_name, client) => {
  testClients([client], { servers: CALLED, install: installSdks });
});
