import { mcpAnswer, type McpRequest } from "./mcp_answers.ts";

/**
 * An MCP server that is reached over HTTP, until `resources` end. Requests outside of its one session are refused, so
 * that headers which got lost on their way show.
 *
 * @returns Its URL.
 */
export function listenForMcp(resources: AsyncDisposableStack): string {
  const session = crypto.randomUUID();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.method === "GET") return new Response(null, { status: 405 }); // no stream of its own
    if (request.method === "DELETE") return new Response(null, { status: 200 });
    const message = await request.json() as McpRequest;
    if (message.method !== "initialize" && request.headers.get("mcp-session-id") !== session) {
      return new Response("no such session", { status: 404 });
    }
    const answer = mcpAnswer(message, "loud", request.headers.get("x-mcp-test-setting") ?? "unset");
    if (answer === null) return new Response(null, { status: 202 });
    const headers = { "content-type": "text/event-stream", "mcp-session-id": session };
    return new Response(`event: message\ndata: ${answer}\n\n`, { headers });
  });
  resources.defer(() => server.shutdown());
  return `http://127.0.0.1:${server.addr.port}/mcp`;
}
