/** An MCP server that talks over stdin and stdout. */
import { mcpAnswer, type McpRequest } from "./mcp_answers.ts";

const setting = Deno.env.get("MCP_TEST_SETTING") ?? "unset";
const stdout = Deno.stdout.writable.getWriter();
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const answer = mcpAnswer(JSON.parse(line) as McpRequest, "quiet", setting);
    if (answer !== null) await stdout.write(new TextEncoder().encode(`${answer}\n`));
  }
}
