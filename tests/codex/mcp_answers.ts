/** As much of an MCP server as a client needs: a tool that says what it is told to. */
export interface McpRequest {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } };
}

/**
 * The answer to one message; null to a notification.
 *
 * @param setting What the configuration gave to the server.
 */
export function mcpAnswer({ id, method, params }: McpRequest, name: string, setting: string): string | null {
  if (id === undefined) return null;
  const result = resultOf(method, params ?? {}, name, setting);
  const answer = result === null ? { error: { code: -32601, message: `no ${method} here` } } : { result };
  return JSON.stringify({ jsonrpc: "2.0", id, ...answer });
}

function resultOf(method: string, params: NonNullable<McpRequest["params"]>, name: string, setting: string) {
  if (method === "initialize") {
    const { protocolVersion = "" } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1" } };
  }
  if (method === "tools/list") {
    const inputSchema = { type: "object", properties: { text: { type: "string" } } };
    return { tools: [{ name: "say", description: "says it", inputSchema }] };
  }
  if (method !== "tools/call") return null;
  return { content: [{ type: "text", text: `${name} says ${params.arguments?.text}, ${setting}` }] };
}
