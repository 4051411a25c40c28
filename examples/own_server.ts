// Starts a server as a child, speaks with it over its stdin and stdout, and ends it.
//   deno run -A examples/own_server.ts exec-server
import { connectCommand } from "@exec-server/exec-server";

const [program = "exec-server", ...args] = Deno.args;
await using server = await connectCommand({ program, args: [...args, "--listen", "stdio"] });
const { platformOs, cwd } = await server.info();
console.log(platformOs, cwd);
for (const { name, isDirectory } of await server.files.readDir(".")) console.log(isDirectory ? `${name}/` : name);
