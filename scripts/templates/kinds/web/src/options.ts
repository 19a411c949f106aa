import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  baseUrl: {
    type: "url",
    default: "https://api.example.org/",
    heading: "API",
    description: "Where the API is; paths are added to it.",
  },
  token: {
    type: "secret",
    heading: "API",
    description: "Sent to the API as a bearer token, and nowhere else.",
  },
  allowHost: {
    type: "string",
    list: true,
    valueName: "HOST",
    heading: "Safety",
    description: "Hosts that may be reached although their address is private or this machine's.",
  },
});
