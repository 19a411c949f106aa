import type { Request } from "playwright";

/**
 * Whether a request asks the server to hold its response until there is a message, in the words of a known protocol.
 * Nothing else tells a long poll from data that is late, so any other request is waited for.
 */
export function isLongPoll(request: Request): boolean {
  if (!/^(?:fetch|xhr)$/.test(request.resourceType()) || !URL.canParse(request.url())) return false;
  const { pathname, searchParams } = new URL(request.url());
  switch (request.method()) {
    case "GET": {
      const transport = searchParams.get("transport");
      return (
        // Engine.IO (Socket.IO); the request without a session begins one, and has its response at once.
        (transport === "polling" && searchParams.has("sid")) ||
        // SignalR of ASP.NET, and that of ASP.NET Core.
        (transport === "longPolling" && /\/poll$/.test(pathname)) ||
        (searchParams.has("id") && request.headers()["x-signalr-user-agent"] !== undefined) ||
        // CouchDB and PouchDB.
        (searchParams.get("feed") === "longpoll" && /\/_changes$/.test(pathname))
      );
    }
    case "POST":
      return (
        // SockJS: server, session, transport.
        /\/\d{3}\/[^/]+\/xhr(?:_streaming)?$/.test(pathname) ||
        // Bayeux (CometD, Faye).
        /"channel"\s*:\s*"\/meta\/connect"/.test(request.postData() ?? "")
      );
    default:
      return false;
  }
}
